import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Guard } from '../../../../pipeline/store/commit.ts'
import { requireGuards } from '../../../../pipeline/store/postgres/commit/entries.ts'
import type { CommitState } from '../../../../pipeline/store/postgres/commit/state.ts'

/** A database that answers all that was asked when nobody asks any more, as one that is far away does. */
function farAway() {
  let waiting: (() => void)[] = []
  const seen = { trips: 0, most: 0 }
  function row(): Promise<{ count: number }> {
    if (waiting.length === 0) setImmediate(answer)
    return new Promise(resolve => waiting.push(() => resolve({ count: 1 })))
  }
  function answer(): void {
    seen.trips++
    seen.most = Math.max(seen.most, waiting.length)
    const answered = waiting
    waiting = []
    for (const each of answered) each()
  }
  return { seen, state: { session: { row }, site: { id: 1 } } as unknown as CommitState }
}

describe('guards of a commit to PostgreSQL', () => {
  const guards = (count: number, keys: number): Guard[] =>
    Array.from({ length: count }, (_, i) => ({
      any: [Array.from({ length: keys }, (_, key) => `${i} ${key}`)],
      expect: 'some',
    }))

  for (const [keys, trips] of [
    [1, 16],
    [2, 32],
  ] as const) {
    it(`MOD-51 1,000 of ${keys} keys wait for ${trips} answers, and a bounded number at once`, async () => {
      const { seen, state } = farAway()
      await requireGuards(state, guards(1000, keys))
      expect(seen).to.deep.equal({ trips, most: 64 * keys })
    })
  }
})
