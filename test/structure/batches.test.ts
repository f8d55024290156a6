import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { batchesOf, COLLECTING, LONGEST, WAITING } from '../support/batches.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ALL = globSync('test/**/*.test.ts', { cwd: root })

describe('order of the tests', () => {
  it('has every file once', () => {
    expect(batchesOf(ALL).flatMap(({ files }) => files)).to.have.members(ALL)
  })

  it('begins with the longest files, each by itself', () => {
    expect(
      batchesOf(ALL)
        .slice(0, LONGEST.length)
        .map(({ files }) => files),
    ).to.deep.equal(LONGEST.map(file => [file]))
  })

  it('ends with small batches, and has most files in few processes', () => {
    const sizes = batchesOf(ALL)
      .filter(({ kind }) => kind === 'works')
      .map(({ files }) => files.length)
    expect(sizes.at(-1)).to.be.at.most(12)
    expect(sizes.length).to.be.at.most(ALL.length / 24)
  })

  it('has each file by itself where that is asked for', () => {
    expect(batchesOf(ALL, true).map(({ files }) => files)).to.have.deep.members(ALL.map(file => [file]))
  })

  it('has those that collect garbage in one process, where there is little of it', () => {
    const collects = (file: string) => /^import \{ collect \} from/m.test(readFileSync(join(root, file), 'utf8'))
    expect(COLLECTING).to.have.members(ALL.filter(collects))
    expect(batchesOf(ALL).map(({ files }) => files)).to.deep.include(COLLECTING)
  })

  it('names only what there is', () => {
    expect(WAITING.filter(place => !ALL.some(file => file.startsWith(place)))).to.deep.equal([])
  })
})
