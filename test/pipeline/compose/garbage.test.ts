/**
 * What a page was put together of is free again with the next collection of young memory. V8 places closures that are
 * assigned to properties, accessors of object literals, and what closures that are generators need, among what lives long:
 * everything that they reach then stays until a collection of the whole memory, which takes ten times as long.
 */

import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { compose } from '../../../pipeline/compose/compose.ts'
import { pageLanguages } from '../../../pipeline/compose/connected.ts'
import { Allowance } from '../../../pipeline/language/allowance.ts'
import { createJavaScript } from '../../../pipeline/language/javascript/javascript.ts'
import { compile, evaluate } from '../../../pipeline/language/sessel/sessel.ts'
import { serializeDocument } from '../../../pipeline/tree/serialize.ts'
import { page, put } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { anonymousViewer, composed } from './composing.ts'
import { schema } from './site-of-one-case.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
setFlagsFromString('--no-expose-gc')

const TIMES = 24

/** Bytes that stay, of each time that something is done, after collections of young memory alone. */
async function left(work: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < 100; i++) await work()
  await setTimeout(10)
  collect()
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < TIMES; i++) await work()
  await setTimeout(10)
  for (let i = 0; i < 3; i++) collect({ type: 'minor' })
  return (process.memoryUsage().heapUsed - before) / TIMES
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
  })
  after(() => server.close())

  const cases: [what: string, body: string][] = [
    ['an include', `<p:include selector="#nav" resource="/parts.html"/>`],
    ['a method', `<main xmlns:t="urn:t"><t:say/>${LINES}</main>`],
    ['expressions', `<main e:n="(0 + 1)" e:m='[n, 2].map(x => x * 2)'><p:stamp n m/>${LINES}</main>`],
    [
      'a binding and a template',
      `<ul r:posts=".post" p:template="text/liquid">{% for p in posts %}<li><b>{{ p.title }}</b> {{ p.text }}</li>{% endfor %}</ul>${LINES}`,
    ],
    ['pages of a list', `<ul r:posts=".post" p:paginate="5"><p:stamp posts/></ul>${LINES}`],
  ]
  for (const [what, body] of cases)
    it(`${what}: young memory`, async () => {
      await put(server, '/page.html', composed(body))
      const file = await server.site.find('/page.html')
      if (!file) throw new Error('the page is not stored')
      const bytes = await left(async () => {
        const { tree } = await compose(server.site, file, anonymousViewer('/page.html'), languages)
        return serializeDocument(tree)
      })
      expect(bytes).to.be.below(24 * 1024)
    }).timeout(20_000)

  it('an expression: young memory', async () => {
    const program = compile('[1, 2].map(x => x + 1).count()')
    const bytes = await left(async () => {
      const big = Array.from({ length: 10_000 }, (_, i) => [i])
      const names = { get: (name: string) => (name === 'big' ? BigInt(big.length) : undefined) }
      const host = { ns: 'https://ns.example', names } as unknown as Parameters<typeof evaluate>[1]
      expect(evaluate(program, host, new Allowance())).to.deep.equal({ value: 2n })
    })
    expect(bytes).to.be.below(24 * 1024)
  }).timeout(20_000)
})
