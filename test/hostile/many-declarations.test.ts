/** What a site declares, however much of it, holds up nobody while it decides about a request (SEC-12). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { checkingValues, findingInstances } from '../../pipeline/model/instance-check.ts'
import { itemElements, valueReader } from '../../pipeline/model/items.ts'
import { extractingReactions } from '../../pipeline/react/declared/extract.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import type { ElementNode } from '../../pipeline/tree/nodes.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { schema as methodSchema } from '../pipeline/compose/site-of-one-case.ts'
import { groupConstraint, property, schema, shape } from '../pipeline/model/markup.ts'
import { request, trigger } from '../pipeline/react/site.ts'
import { NS, page, put, putAll, rulesPage } from '../support/content.ts'
import { takesLess } from '../support/cost.ts'
import { type Client, client } from '../support/http.ts'
import { leavesTheLoop } from '../support/loop-hold.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { stepsOf } from '../support/steps.ts'

const TYPE = 'urn:t:T'
const item = `<p itemscope itemtype="${TYPE}"></p>`
const many = (count: number, each: (i: number) => string) => Array.from({ length: count }, (_, i) => each(i)).join('')

/** Types whose names have all the same hash (FNV-1a): anybody finds two ends for that among some 65,000, and these serve again and again. */
function typesAlike(doublings: number): string[] {
  let types = ['urn:t:0rnw', 'urn:t:hpba'].flatMap(start => [`${start}53zx`, `${start}cpad`])
  for (let i = 2; i < doublings; i++) types = types.flatMap(type => [`${type}33zx`, `${type}epad`])
  return types
}

describe('many declarations', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    await putAll(server, { '/rules.html': rulesPage(['*', 'GET|PUT|POST', 'Allow', '*']) })
  })
  after(() => server.close())

  const declare = (...markup: string[]) => put(server, '/declared.html', page(markup.join('')))
  const write = async (path: string, body: string) =>
    (await send('PUT', path, { 'Content-Type': 'text/html' }, body)).status

  it('REA-30 many triggers, each with a gate', async () => {
    const when = (i: number) => `Context.request.headers["x-a"] == "v${i}"`
    await declare(many(10_000, i => trigger({ resource: '/t.html', method: 'PUT', when: when(i), action: '1' })))
    await leavesTheLoop(async () => expect(await write('/t.html', page('x'))).to.be.oneOf([200, 201]))
  })

  const reactionsIn = (items: readonly ElementNode[]) =>
    atOnce(extractingReactions(items, { ns: NS, schemaHost: '' }, (type, own) => type === own))?.reactions

  it('REA-4 a request that holds an element with many names', async () => {
    const names = Array.from({ length: 16_000 }, (_, i) => (i + 1000).toString(36)).join(' ')
    const action = request('action', { url: '/u' }, `<i itemprop="${names}">x</i>`)
    const items = itemElements(parseDocument('html', trigger({ action })).root)
    expect(await takesLess(100, () => reactionsIn(items))).to.have.length(1)
  })

  it('REA-4 a request that holds more elements than a call has arguments', () => {
    const { root } = parseDocument('html', trigger({ action: request('action', { url: '/u' }, '<p>x</p>') }))
    const items = itemElements(root)
    const around = items[1]?.childNodes[1] as ElementNode
    around.childNodes = new Array(130_000).fill(around.childNodes[0])
    expect(reactionsIn(items)?.[0]?.action).to.deep.equal([{ properties: [['url', '/u']] }])
  })

  it('MOD-6 many schemas, the names of which have one hash', async () => {
    const schemas = typesAlike(12).map(type => schema(type))
    const declared = page(schemas.join(''))
    await leavesTheLoop(async () => {
      await put(server, '/alike.html', declared)
      await put(server, '/alike.html', page('x'))
    })
  })

  it('MOD-14 what descends from what among many schemas', async () => {
    await declare(many(2000, i => schema(`${TYPE}${i}`, { parent: TYPE })))
    const { model } = server.site
    const raw = { schemas: [], enums: [], shapes: [], ...model.document('/declared.html') }
    expect(stepsOf(model.withDocument('/other.html', raw).inheriting())).to.be.at.least(10)
  })

  it('MOD-112 items of a schema of many properties', async () => {
    const declared = many(4000, i => property(`p${i}`, { cardinality: '0..1', unique: `g${i}`, group: `g${i % 100}` }))
    const groups = many(100, i => groupConstraint({ group: `g${i}`, cardinality: '0..n' }))
    await declare(schema(TYPE, {}, declared, groups))
    await leavesTheLoop(async () => expect(await write('/t.html', page(item.repeat(2000)))).to.be.oneOf([200, 201]))
  })

  it('MOD-94 elements in a shape of many permits', async () => {
    await declare(shape({ selector: 'ul', permit: Array.from({ length: 6000 }, (_, i) => `li:has(b) > .c${i}`) }))
    await leavesTheLoop(async () =>
      expect(await write('/t.html', page(`<ul>${'<li>x</li>'.repeat(600)}</ul>`))).to.equal(422),
    )
  })

  it('COMP-54 many overloads of one method', async () => {
    const parameters = Array.from({ length: 20 }, (_, k) => `a${k}`)
    const overloads = Array.from({ length: 1000 }, () => ({ name: 'm', parameters, sessel: '"x"' }))
    await declare(methodSchema(TYPE, overloads))
    const calls = `<!doctype html><html xmlns:t="${TYPE}"><title>x</title><body>${'<t:m></t:m>'.repeat(400)}</body></html>`
    await put(server, '/calls.html', calls)
    await leavesTheLoop(async () => expect((await send('GET', '/calls.html')).status).to.equal(503))
    await put(server, '/calls.html', calls.replace(/(<t:m><\/t:m>)+/, '<t:m></t:m>'))
    expect((await send('GET', '/calls.html')).text).to.include('<body>x</body>')
  })

  for (const [what, more] of [
    ['of values that are missing', { cardinality: '1..1' }],
    ['of schemas that cannot be used', { references: 'odd' }],
  ] as const)
    it(`MOD-112 no more violations ${what} are kept than an answer lists`, async () => {
      await declare(
        schema(
          TYPE,
          {},
          many(30, i => property(`p${i}`, more)),
        ),
      )
      const document = parseDocument('html', item.repeat(1000))
      const instances = atOnce(findingInstances(server.site.model, { document }))
      expect(instances).to.have.length(1000)
      expect(atOnce(checkingValues(server.site.model, instances, valueReader(NS)))).to.have.length(100)
    })
})
