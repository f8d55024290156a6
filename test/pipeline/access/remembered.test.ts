/** What sites remember of answers about paths, each and all together. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Remembered } from '../../../pipeline/access/access-rules.ts'
import { KeptTogether } from '../../../pipeline/kept-together.ts'

describe('SEC-12 answers about paths that are the same for everybody', () => {
  const ask = (answers: Remembered<string>, count: number, length = 400) => {
    for (let i = 0; i < count; i++) answers.set(`GET /${i}`.padEnd(length, 'x'), 'allow')
  }
  const first = 'GET /0'.padEnd(400, 'x')

  it('are remembered as many as fit for all sites; the site that remembered something longest ago forgets its own', () => {
    const together = new KeptTogether<object>(1024 * 1024)
    const sites = Array.from({ length: 4 }, () => new Remembered<string>(together))
    for (const each of sites.slice(0, 3)) ask(each, 350)
    expect(sites.map(each => each.get(first))).to.deep.equal(['allow', 'allow', 'allow', undefined])
    for (const each of sites.slice(3)) ask(each, 350)
    expect(sites.map(each => each.get(first))).to.deep.equal([undefined, 'allow', 'allow', 'allow'])
    expect(together.bytes).to.be.within(1024 * 1024 * 0.8, 1024 * 1024)
  })

  it('are a thousand for each, and none about long paths', () => {
    const together = new KeptTogether<object>(Number.POSITIVE_INFINITY)
    const answers = new Remembered<string>(together)
    ask(answers, 1_000, 30)
    expect(answers.get('GET /0'.padEnd(30, 'x'))).to.equal('allow')
    ask(answers, 3, 501)
    answers.set('GET /another', 'deny')
    expect([answers.get('GET /another'), answers.get('GET /0'.padEnd(30, 'x'))]).to.deep.equal(['deny', undefined])
    expect(answers.get('GET /0'.padEnd(501, 'x'))).to.equal(undefined)
    ask(answers, 900, 30)
    expect(together.bytes).to.be.within(800 * 140, 900 * 140)
  })
})
