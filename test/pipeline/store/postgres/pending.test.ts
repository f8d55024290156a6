import { expect } from 'chai'
import { describe, it } from 'mocha'
import { mergePending, nothingPending, removeEntries } from '../../../../pipeline/store/postgres/commit/pending.ts'

describe('what commits have to write to PostgreSQL', () => {
  it('MOD-112 one may bring and take more entries than a call has arguments', () => {
    const count = 130_000
    const [into, from] = [nothingPending(), nothingPending()]
    from.entriesCome = new Array(count).fill({ site: 1, key: 'k', id: 1, item: 'come' })
    removeEntries(from, new Array(count).fill({ id: 1, item: 'gone' }))
    mergePending(into, from)
    expect([into.entriesCome.length, into.entriesGone.length]).to.deep.equal([count, count])
  })
})
