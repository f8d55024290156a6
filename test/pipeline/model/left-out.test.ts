import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { noCode } from '../../../pipeline/model/code.ts'
import { NS, page } from '../../support/content.ts'
import { type HostedSite, openHosted } from './hosted.ts'
import { enumeration, groupConstraint, property, schema, shape } from './markup.ts'

const THING = 'https://tides.example/Thing'
const STATE = 'https://tides.example/State'

describe('Data model, declarations without effect in the log (MOD-6, MOD-8)', () => {
  let hosted: HostedSite
  before(async () => {
    hosted = await openHosted(noCode)
  })
  after(() => hosted.close())
  beforeEach(() => {
    hosted.reports.length = 0
  })

  /** What is told about a page after it has been stored. */
  async function told(...declarations: string[]): Promise<object[]> {
    await hosted.put('/model.html', page('<p></p>'))
    await hosted.put('/model.html', page(declarations.join('\n')))
    return hosted.reports
  }
  const finding = (reason: string) => ({ message: 'A declaration is left out', path: '/model.html', reason })
  const method = (fields: string) => `<div itemprop="property" itemscope itemtype="${NS}/Method">${fields}</div>`
  const named = '<meta itemprop="name" content="m">'

  for (const [name, declaration, reason] of [
    ['a schema', `<div itemscope itemtype="${NS}/Schema"></div>`, 'a schema without type'],
    [
      'a property',
      schema(THING, {}, `<div itemprop="property" itemscope itemtype="${NS}/Property"></div>`),
      `a property without name, in the schema of ${THING}`,
    ],
    ['a method without name', schema(THING, {}, method('')), `a method without name, in the schema of ${THING}`],
    ['a method', schema(THING, {}, method(named)), `the method m without implementation, in the schema of ${THING}`],
    [
      'a group constraint',
      schema(THING, {}, groupConstraint({ cardinality: '1..1' })),
      `a group constraint without group, in the schema of ${THING}`,
    ],
    ['an enumeration', enumeration('', 'x'), 'an enumeration without type and name'],
    ['a shape', shape({ selector: 'p' }), 'a shape with neither constraint nor permit'],
  ] as const) {
    it(`MOD-8 ${name}`, async () => expect(await told(declaration)).to.deep.equal([finding(reason)]))
  }

  it('MOD-6 what is declared already', async () => {
    await hosted.put('/first.html', page(schema(THING) + enumeration(STATE, 'x')))
    expect(await told(schema(THING), enumeration(STATE, 'y'))).to.deep.equal([
      finding(`the schema of ${THING}: /first.html declares it already`),
      finding(`the enumeration ${STATE}: /first.html declares it already`),
    ])
    await hosted.put('/first.html', page(''))
  })

  it('nothing about what has effect', async () => {
    expect(await told(schema(THING, {}, property('p')), enumeration(STATE, 'x'))).to.deep.equal([])
  })

  it('once for each version that declares something else, not for other writes', async () => {
    const broken = shape({ selector: 'p' })
    expect(await told(broken)).to.have.length(1)
    await hosted.put('/model.html', page(`${broken}<ul id="list"></ul>`))
    await hosted.append('/model.html', '<li>x</li>')
    await hosted.put('/other.html', page(''))
    expect(hosted.reports).to.have.length(1)
    await hosted.put('/model.html', page(broken + broken))
    expect(hosted.reports).to.have.length(3)
  })

  it('a page full of them is told by its first, and no long text is repeated', async () => {
    expect(await told(shape({ selector: 'p' }).repeat(500))).to.have.length(20)
    hosted.reports.length = 0
    const [report] = await told(schema(`x:${'y'.repeat(5_000)}`, {}, method('')))
    expect(JSON.stringify(report).length).to.be.below(400)
  })
})
