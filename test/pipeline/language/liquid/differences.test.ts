import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { CORPUS } from '../../../bench/liquid/corpus.ts'
import { differences, differenceTable } from '../../../bench/liquid/differences.ts'

/** The written list; `npm run bench -- liquid --write` makes it anew. */
const LIST = new URL('../../../bench/liquid/differences.md', import.meta.url)

describe('The dialect and liquidjs as it comes', () => {
  it('section 15: every difference has a reason', async () => {
    expect(CORPUS).to.have.length.at.least(500)
    const found = await differences()
    expect(found.filter(({ reason }) => reason === undefined)).to.deep.equal([])
  })

  it('section 15: the written list is the one that is measured', async () => {
    // Tables are aligned by the formatter.
    const bare = (text: string): string => text.replace(/ |--+/g, '').trim()
    expect(bare(readFileSync(LIST, 'utf8')).endsWith(bare(await differenceTable()))).to.equal(true)
  })
})
