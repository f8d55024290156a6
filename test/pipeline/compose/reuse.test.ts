/** Composed answers are given again as long as nothing changes that they were made of, and no longer. */

import { expect } from 'chai'
import fc from 'fast-check'
import { after, before, describe, it } from 'mocha'
import { compose } from '../../../pipeline/compose/compose.ts'
import { pageLanguages } from '../../../pipeline/compose/connected.ts'
import type { Reads } from '../../../pipeline/compose/reads.ts'
import { createJavaScript } from '../../../pipeline/language/javascript/javascript.ts'
import { isPlain } from '../../../pipeline/read/representation.ts'
import { serializeDocument } from '../../../pipeline/tree/serialize.ts'
import { NS, page, put, remove } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { anonymousViewer, composed } from './composing.ts'

/** Documents that pages read, and pages; every page has a part of each kind now and then. */
const PARTS = ['/a.html', '/b.html', '/dir/c.html', '/dir/d.html']
const PAGES = ['/p1.html', '/p2.html', '/r/:id.html']
const READ = ['/p1.html', '/p2.html', '/r/1.html', '/r/2.html', '/p1.html?q=1']

const word = fc.constantFrom('red', 'green', 'blue')
const part = fc
  .array(fc.tuple(word, word), { maxLength: 3 })
  .map(items => page(items.map(([c, t]) => `<i class="${c}" id="${t}">${t}</i>`).join('')))
const directive = fc.oneof(
  word.map(c => `<div r:x=".${c}"><p:stamp x/></div>`),
  word.map(
    c =>
      `<ul r:x=".${c}" p:template="text/liquid">{% for i in x %}<li>{{ i['@id'] }}{{ i['@text'] }}</li>{% endfor %}</ul>`,
  ),
  word.map(c => `<b e:n="\${.${c}}.count()"><p:stamp n/></b>`),
  word.map(c => `<b e:n='(\${.${c}} from "/dir/*").count()'><p:stamp n/></b>`),
  fc.tuple(word, fc.constantFrom(...PARTS)).map(([c, path]) => `<p:include selector="#${c}" resource="${path}"/>`),
  word.map(c => `<p:include selector="#${c}" resource="/dir/*"/>`),
  fc.constant('<i p:template="text/liquid">{{ request.query.q }}{{ request.params.id }}</i>'),
  fc.constant('<t:say></t:say>'),
)
const body = fc
  .array(directive, { maxLength: 3 })
  .map(parts => composed(`<main xmlns:t="urn:t:Say">${parts.join('')}</main>`))
const schema = (text: string) =>
  page(
    `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:t:Say"><div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="say"><div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">"${text}"</script></div></div></div>`,
  )
const write = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...PARTS, '/other.html'), part) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...PAGES), body) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...PARTS, ...PAGES, '/r/1.html'), fc.constant(undefined)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('/schema.html'), word.map(schema)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('/r/1.html'), body) },
)

const languages = pageLanguages(createJavaScript())

/** Rounds of one write and a look at every page: so many past the sockets, and a few over HTTP. */
const ROUNDS = Number(process.env.FUZZ ?? 200)
const HTTP_ROUNDS = 50
/** Milliseconds; nothing is said about time. */
const PATIENCE = 120_000 + ROUNDS * 60

describe('Reuse of composed answers', () => {
  let server: TestServer
  let send: Client
  let cookie: string

  before(async () => {
    server = await startServer()
    send = client(server)
    cookie = (await send('GET', '/')).headers['set-cookie']?.split(';')[0] ?? ''
  })
  after(() => server.close())

  const get = (path: string) => send('GET', path, { Cookie: cookie })

  /** What serves a target now, and how it is composed. */
  async function served(target: string) {
    const [path = '', query] = target.split('?')
    const { site } = server
    const own = await site.find(path)
    const template = own || !path.startsWith('/r/') ? undefined : await site.find('/r/:id.html')
    const held = own ?? template
    if (!held) return undefined
    const params = own ? undefined : new Map([['id', /(\d)\.html$/.exec(path)?.[1] ?? '']])
    return { held, anew: () => compose(site, held, anonymousViewer(path, query), languages, params) }
  }

  /** What composing anew gives, past everything that is kept. */
  async function fresh(target: string): Promise<string | undefined> {
    const found = await served(target)
    if (!found) return undefined
    const { held, anew } = found
    if (isPlain(server.site, held)) return Buffer.from(held.bytes ?? []).toString()
    const composition = await anew().catch(() => undefined)
    return composition && serializeDocument(composition.tree)
  }

  type Writes = readonly (readonly [string, string | undefined])[]

  /** Carries out writes one after another. */
  async function writing(writes: Writes, look: (path: string) => Promise<void>): Promise<void> {
    for (const path of [...PARTS, ...PAGES, '/other.html', '/schema.html', '/r/1.html'])
      if (await server.site.find(path)) await remove(server, path)
    await put(server, '/schema.html', schema('hi'))
    for (const [path, content] of writes) {
      if (content !== undefined) await put(server, path, content)
      else if (await server.site.find(path)) await remove(server, path)
      await look(path)
    }
  }

  /** What the server answers equals what composing anew gives. */
  const overHttp = (writes: Writes) =>
    writing(writes, async path => {
      for (const target of READ) {
        const expected = await fresh(target)
        const answer = await get(target)
        expect(answer.status === 200 ? answer.text : undefined, `${target} after ${path}`).to.equal(expected)
      }
    })

  let kept = 0
  let given = 0

  /** What is kept, as long as its reads hold and the model is the same, equals what composing anew gives. */
  async function pastSockets(writes: Writes): Promise<void> {
    const { site } = server
    const memory = new Map<string, { text: string; reads: Reads; model: unknown }>()
    await writing(writes, async path => {
      for (const target of READ) {
        const found = await served(target)
        const before = memory.get(target)
        const holds = before !== undefined && before.model === site.model && before.reads.hold(site)
        const composition = found && !isPlain(site, found.held) ? await found.anew().catch(() => undefined) : undefined
        if (holds) {
          given++
          expect(composition && serializeDocument(composition.tree), `${target} after ${path}`).to.equal(before.text)
        }
        memory.delete(target)
        if (!composition || composition.reads.personal || composition.reads.fleeting) continue
        kept++
        memory.set(target, {
          text: holds ? before.text : serializeDocument(composition.tree),
          // What was read first has to hold as long as what is read now.
          reads: holds ? before.reads : composition.reads,
          model: site.model,
        })
      }
    })
  }

  const length = 20
  const seeds = [
    ['a fixed seed', 1],
    ['a fresh seed', undefined],
  ] as const
  for (const [what, seed] of seeds) {
    const property = (check: (writes: Writes) => Promise<void>, rounds: number) =>
      fc.assert(fc.asyncProperty(fc.array(write, { minLength: length, maxLength: length }), check), {
        numRuns: Math.max(1, Math.round(rounds / length)),
        ...(seed !== undefined && { seed }),
      })
    it(`COMP-4 an answer of the server equals a fresh composition, with ${what}`, () =>
      property(overHttp, HTTP_ROUNDS)).timeout(PATIENCE)
    it(`COMP-4 a kept composition equals a fresh one, with ${what}`, async () => {
      kept = 0
      given = 0
      await property(pastSockets, ROUNDS / seeds.length)
      expect(given, 'answers that were given again').to.be.above(kept / 4)
    }).timeout(PATIENCE)
  }

  describe('is exact', () => {
    const about = (html: string) => page(html)
    it('COMP-4 a write elsewhere leaves it: pages that read by class, id and glob', async () => {
      for (const path of [...PARTS, '/other.html']) await put(server, path, about('<i class="red" id="red">1</i>'))
      await put(server, '/other.html', about(''))
      await put(server, '/p1.html', composed('<div r:x=".red"><p:stamp x/></div>'))
      const { site } = server
      const held = await site.find('/p1.html')
      if (!held) throw new Error('not stored')
      const viewer = anonymousViewer('/p1.html')
      const { reads } = await compose(site, held, viewer, languages)
      expect(reads.hold(site)).to.equal(true)
      await put(server, '/other.html', about('<b class="else">x</b>'))
      expect(reads.hold(site), 'a document that holds nothing of it').to.equal(true)
      await put(server, '/other.html', about('<b class="red">x</b>'))
      expect(reads.hold(site), 'a document that may hold something').to.equal(false)
    })

    it('SEC-12 what a page was made of counts as bytes of each answer that is kept of it', async () => {
      const documents = 12
      for (let i = 0; i < documents; i++) await put(server, `/counted/${i}.html`, page('<i class="counted">1</i>'))
      await put(server, '/all.html', composed('<div r:x=".counted"><p:stamp x/></div>'))
      const held = await server.site.find('/all.html')
      if (!held) throw new Error('not stored')
      const { reads } = await compose(server.site, held, anonymousViewer('/all.html'), languages)
      expect(reads.bytes).to.be.within(documents * 100, documents * 400)
    })
    it('COMP-4 SEC-12 what a kept page has searched for is not searched again after each commit elsewhere', async () => {
      const searches = Array.from({ length: 200 }, (_, i) => `<b e:x="(\${.red.n${i}} from '/none/*').count()"></b>`)
      for (const path of [...PARTS, '/other.html']) await put(server, path, page('<i class="red">1</i>'))
      await put(server, '/many.html', composed(searches.join('')))
      const { site } = server
      const held = await site.find('/many.html')
      if (!held) throw new Error('not stored')
      const { reads } = await compose(site, held, anonymousViewer('/many.html'), languages)
      const { documentsWith } = site
      let searched = 0
      site.documentsWith = (...asked) => {
        searched++
        return documentsWith.apply(site, asked)
      }
      try {
        for (const [path, body, most] of [
          ['/other.html', '<i class="red else">x</i>', 0],
          ['/a.html', '<i class="red">2</i>', 0],
          ['/a.html', '<i class="blue">2</i>', 200],
          ['/a.html', '', 0],
        ] as const) {
          await put(server, path, page(body))
          searched = 0
          expect(reads.hold(site)).to.equal(true)
          expect(searched, `${path} ${body}`).to.equal(most)
        }
      } finally {
        site.documentsWith = documentsWith
      }
    })
  })
})
