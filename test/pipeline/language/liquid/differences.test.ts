import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { CORPUS } from '../../../bench/liquid/corpus.ts'
import { differences, differenceTable } from '../../../bench/liquid/differences.ts'
import { SUITE, suiteDifferences, suiteTable } from '../../../bench/liquid/suite.ts'

/** A written list; `npm run bench -- liquid --write` makes them anew. Tables are aligned by the formatter. */
const bare = (text: string): string => text.replace(/ |--+/g, '').trim()
const list = (name: string) => bare(readFileSync(new URL(`../../../bench/liquid/${name}`, import.meta.url), 'utf8'))

describe('The dialect and liquidjs as it comes', () => {
  it('section 15: every difference has a reason', async () => {
    expect(CORPUS).to.have.length.at.least(500)
    const found = await differences()
    expect(found.filter(({ reason }) => reason === undefined)).to.deep.equal([])
  })

  it('section 15: the written list is the one that is measured', async () => {
    expect(list('differences.md').endsWith(bare(await differenceTable()))).to.equal(true)
  })
})

describe('The dialect and the suite of the package liquid', () => {
  it('every difference has a reason', async () => {
    expect(SUITE).to.have.length.at.least(160)
    expect((await suiteDifferences()).filter(({ reason }) => reason === undefined)).to.deep.equal([])
  })

  it('the written list is the one that is measured', async () => {
    expect(list('suite.md').endsWith(bare(await suiteTable()))).to.equal(true)
  })
})
