/**
 * What a page was put together of is free again with the next collection of young memory. V8 places closures that are
 * assigned to properties, accessors of object literals, and what closures that are generators need, among what lives long:
 * everything that they reach then stays until a collection of the whole memory, which takes ten times as long.
 */

import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { compose } from '../../../pipeline/compose/compose.ts'
import { pageLanguages } from '../../../pipeline/compose/connected.ts'
import { createJavaScript } from '../../../pipeline/language/javascript/javascript.ts'
import { compile, evaluate } from '../../../pipeline/language/sessel/sessel.ts'
import { serializeDocument } from '../../../pipeline/tree/serialize.ts'
import { collect } from '../../support/collect.ts'
import { page, put, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { unhurried } from '../../support/unhurried.ts'
import { anonymousViewer, composed } from './composing.ts'
import { schema } from './site-of-one-case.ts'

// Whatever survives often is given a place among what lives long when it is made, if V8 saw it survive: also because other
// tests of this process kept it, or a busy machine was late. What is measured here must not hang on that.
setFlagsFromString('--no-allocation-site-pretenuring')

const TIMES = 10

const ROUNDS = 40

/**
 * Expects that less than so many bytes stay, of each time that something is done, after collections of young memory alone.
 * Other work of the process leaves something now and then, so that one round of several is enough.
 */
async function leaves(limit: number, work: () => Promise<unknown>): Promise<void> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS && least >= limit; round++) {
    for (let i = 0; i < TIMES; i++) await work()
    collect()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < TIMES; i++) await work()
    await setImmediate()
    for (let i = 0; i < 3; i++) collect({ type: 'minor' })
    least = Math.min(least, (process.memoryUsage().heapUsed - before) / TIMES)
  }
  expect(least).to.be.below(limit)
}

/** Keeps what is made for a while, as a process does that has much to do. */
async function keepMany(make: () => Promise<unknown>): Promise<void> {
  const kept: unknown[] = []
  for (let i = 0; i < 600; i++) {
    kept.push(await make())
    if (kept.length > 100) kept.splice(0, 50)
  }
}

const POSTS = Array.from(
  { length: 20 },
  (_, i) => `<article class="post" itemscope><h2 itemprop="title">Post ${i}</h2><p itemprop="text">text</p></article>`,
).join('')

const LINES = '<p>A line of the page.</p>'.repeat(100)

describe('What is left of a composition', () => {
  let server: TestServer
  const languages = pageLanguages(createJavaScript())

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    const say = schema('urn:t', [{ name: 'say', sessel: 'new p { "hello" }' }])
    await put(server, '/parts.html', page(`<nav id="nav">${LINES}</nav>${POSTS}`))
    await put(server, '/schema.html', page(say))
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT', 'Allow', '*']))
  })
  after(() => server.close())

  const cases: [what: string, body: string, kilobytes?: number][] = [
    ['an include', `<p:include selector="#nav" resource="/parts.html"/>`],
    ['a method', `<main xmlns:t="urn:t"><t:say/>${LINES}</main>`],
    ['expressions', `<main e:n="(0 + 1)" e:m='[n, 2].map(x => x * 2)'><p:stamp n m/>${LINES}</main>`],
    [
      'a binding and a template',
      `<ul r:posts=".post" p:template="text/liquid">{% for p in posts %}<li><b>{{ p.title }}</b> {{ p.text }}</li>{% endfor %}</ul>${LINES}`,
      64,
    ],
    ['pages of a list', `<ul r:posts=".post" p:paginate="5"><p:stamp posts/></ul>${LINES}`],
  ]
  for (const [what, body, kilobytes = 36] of cases)
    it(`${what}: young memory`, async () => {
      await put(server, '/page.html', composed(body))
      const file = await server.site.find('/page.html')
      if (!file) throw new Error('the page is not stored')
      const composeOnce = () => compose(server.site, file, anonymousViewer('/page.html'), languages)
      await keepMany(composeOnce)
      await leaves(kilobytes * 1024, async () => serializeDocument((await composeOnce()).tree))
    })

  it('an element that is written through a page: young memory', async () => {
    await put(server, '/list.html', page(`<ul id="list"><li>1</li></ul>${LINES}`))
    await put(server, '/page.html', composed(`<p:include selector="#list" resource="/list.html"/>${LINES.repeat(4)}`))
    const send = client(server)
    await leaves(100 * 1024, async () => {
      const { status } = await send('PUT', '/page.html', { Range: 'selector=#list' }, '<ul id="list"><li>2</li></ul>')
      expect(status).to.equal(206)
    })
  })

  it('an expression: young memory', async () => {
    const program = compile('[1, 2].map(x => x + 1).count()')
    await leaves(36 * 1024, async () => {
      const big = Array.from({ length: 1_000 }, (_, i) => [i])
      const names = { get: (name: string) => (name === 'big' ? BigInt(big.length) : undefined) }
      const host = { ns: 'https://ns.example', names } as unknown as Parameters<typeof evaluate>[1]
      expect(evaluate(program, host, unhurried())).to.deep.equal({ value: 2n })
    })
  })
})
