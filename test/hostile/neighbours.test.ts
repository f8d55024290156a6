// biome-ignore-all lint/suspicious/noTemplateCurlyInString: programs and rules are written so
/**
 * Two sites of one server that hold other things at the same paths, asked in turns: each answers as on a server of its own,
 * whatever was asked of the other before (JS-38, SEC-6).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { javascript, processor, sessel, trigger } from '../pipeline/react/site.ts'
import { NS, page, put, ruleMarkup } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { Drawing } from './drawing.ts'
import { told } from './told.ts'

/** Requests; `FUZZ=<number>` sends more, from `SEED=<number>`. */
const REQUESTS = Number(process.env.FUZZ ?? 300)
const SEED = Number(process.env.SEED ?? 1)

const HOSTS = ['a.localhost', 'b.localhost'] as const
type Host = (typeof HOSTS)[number]

const TYPE = 'urn:t:Say'
const method = (name: string, code: string) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}">${code}</div>`

/** What a site holds: it differs in content, rights, kinds, schemas and code. */
function files(host: Host): readonly (readonly [path: string, text: string, type?: string])[] {
  const isFirst = host === 'a.localhost'
  const word = isFirst ? 'FIRST' : 'SECOND'
  const here = <T>(one: T, two: T) => (isFirst ? one : two)
  const own = `<ul id="l"><li class="${here('x', 'y')}">${word}</li><li class="x">both</li></ul>`
  const same = '<p xmlns="urn:x"><BR/><b class="x">same</b></p>'
  const refusing = `throw { itemtype: "${NS}/HTTPResponse", status: 403, message: "${word}" }`
  return [
    [
      '/rules.html',
      page(
        [
          ruleMarkup(['*', 'GET|PUT|POST|DELETE|QUERY', 'Allow', '/|/*']),
          ruleMarkup(['*', 'GET', 'Deny', here('/shut/*', '/hidden/*')]),
          ruleMarkup(['*', 'GET', 'Deny', '/parts.html', here('.x', '.y')]),
          ruleMarkup(['*', 'PUT|POST|DELETE', 'Deny', here('/w1.html', '/w2.html')]),
        ].join(''),
      ),
    ],
    [
      '/schema.html',
      page(
        `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${TYPE}">${method('say', sessel('implementation', `"${word}"`))}${method('script', javascript('implementation', `export default () => document.documentElement.textContent + "${word}"`))}${here('', method('more', sessel('implementation', '"more"')))}</div>`,
      ),
    ],
    [
      '/reactions.html',
      page(
        [
          trigger({
            resource: '/guarded.html',
            action: javascript(
              'action',
              `export default ({ request }) => { if (request.query.q && document.querySelector(".${here('x', 'y')}")) ${refusing} }`,
            ),
          }),
          trigger({
            resource: '/same|/same.xml|/same.html'.split('|'),
            action: javascript(
              'action',
              `export default ({ request }) => { if (request.query.q) throw { itemtype: "${NS}/HTTPResponse", status: 200, body: [document.querySelectorAll("BR").length, document.querySelectorAll("br").length, document.body ? 1 : 0, "${word}"].join() } }`,
            ),
          }),
          processor({ resource: '/told.html', action: `Context.response.headers["X-Word"] = "${word}"` }),
        ].join(''),
      ),
    ],
    ['/index.html', page(own)],
    ['/parts.html', page(own)],
    ['/w1.html', page(own)],
    ['/w2.html', page(own)],
    ['/told.html', page('<p>same</p>')],
    // The same bytes.
    ['/guarded.html', page('<p class="y">same</p>')],
    ['/same', same, here('text/html', 'application/xml')],
    ['/same.xml', same],
    ['/same.html', same],
    ['/blob', 'same', here('text/plain', 'text/css')],
    ['/shut/a.html', page(own)],
    ['/hidden/a.html', page(own)],
    [here('/only/a.html', '/only/b.html'), page(own)],
    ['/composed.html', composed(`<div r:x=".x" p:template="text/liquid">{{ x | size }}{{ x | first }}</div>`)],
    ['/say.html', composed(`<main xmlns:t="${TYPE}"><t:say></t:say><i><t:script>in </t:script></i></main>`)],
    ['/more.html', composed(`<main xmlns:t="${TYPE}"><t:more></t:more></main>`)],
    ['/include.html', composed('<p:include selector="#l" resource="/parts.html"/>')],
    ['/count.html', composed(`<b e:n='(\${li} from "/*").count()' j:m="n + 1"><p:stamp m/></b>`)],
    [
      here('/r/:id.html', '/r/:name.html'),
      composed(`<p p:template="text/liquid">{{ request.params.id }}|{{ request.params.name }}</p>`),
    ],
    ['/list.html', composed(`<ul id="l" p:paginate="${here(1, 2)}"><li>1</li><li>2</li><li>3</li></ul>`)],
    ['/mine.html', composed(`<ul id="l" p:transient><li class="x">${word}</li></ul>`)],
  ]
}

const TARGETS = [
  '/',
  '/index.html',
  '/parts.html',
  '/w1.html',
  '/w2.html',
  '/told.html',
  '/guarded.html',
  '/guarded.html?q=1',
  '/same',
  '/same?q=1',
  '/same.xml?q=1',
  '/same.html?q=1',
  '/same.html',
  '/blob',
  '/shut/a.html',
  '/hidden/a.html',
  '/only/a.html',
  '/only/b.html',
  '/composed.html',
  '/say.html',
  '/more.html',
  '/include.html',
  '/count.html',
  '/r/1.html',
  '/list.html',
  '/list.html?page=2',
  '/mine.html',
  '/none.html',
]
const RANGES = [
  'selector=.x',
  'selector=.y',
  'selector=#l',
  'selector=li',
  'selector=BR',
  'selector=:isa("urn:t:Say")',
  'bytes=0-9',
]
const PROGRAMS = [
  '(${li} from "/*").count()',
  '(${.x} from "/*").map(x => x.text())',
  'document.title',
  '1 + 1',
  '@schema Say url("urn:t:Say"); Say',
]

describe('sites of one server', function () {
  this.timeout(3_600_000)
  const servers: TestServer[] = []
  /** Who asks a site on the server of both, and on its own. */
  const asking = new Map<Host, readonly [Client, Client]>()

  before(async () => {
    const settings = { sites: [{ host: 'localhost' }, ...HOSTS.map(host => ({ host }))] }
    const filled = async (...hosts: Host[]) => {
      const server = await startServer({ settings, site: { defaultGet: 'deny' } })
      servers.push(server)
      for (const host of hosts) {
        const hosted = await server.running.hosting.open(host)
        if (!hosted) throw new Error(`no site for ${host}`)
        for (const [path, text, type] of files(host))
          await put({ running: server.running, site: hosted.site }, path, text, type)
      }
      return server
    }
    const visitor = async ({ port }: TestServer, host: Host) => {
      const { headers } = await client(port, { Host: host })('GET', '/told.html')
      return client(port, { Host: host, Cookie: headers['set-cookie']?.split(';')[0] })
    }
    const both = await filled(...HOSTS)
    for (const host of HOSTS) {
      const own = await filled(host)
      asking.set(host, [await visitor(both, host), await visitor(own, host)])
    }
  })
  after(async () => {
    for (const server of servers) await server.close()
  })

  it('JS-38 answer as if they were alone', async () => {
    const made = new Drawing(SEED)
    const seen = new Set<number>()
    let targets: readonly string[] = TARGETS
    for (let i = 0; i < REQUESTS; i++) {
      if (i % 30 === 0) targets = made.few(TARGETS, 5)
      const host = made.one(HOSTS)
      const target = made.one(targets)
      const fields: Record<string, string> = {}
      let name = made.one(['GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'QUERY', 'OPTIONS'])
      let body: string | undefined
      if (name === 'QUERY') {
        fields['Content-Type'] = made.one(['text/sessel', 'text/css-selector'])
        body =
          fields['Content-Type'] === 'text/sessel'
            ? made.one(PROGRAMS)
            : made.one(['.x', 'li', 'BR', ':isa("urn:t:Say")'])
      } else if (name === 'POST' || name === 'PUT' || name === 'DELETE') {
        fields.Range = made.one(['selector=#l', 'selector=li', 'selector=.y'])
        if (name !== 'DELETE') body = `<li class="${made.one(['x', 'y'])}">${i}</li>`
        // A list that is gone would make the rest dull.
        if (fields.Range === 'selector=#l') name = 'POST'
      } else if (made.is(0.3)) {
        fields.Range = made.one(RANGES)
        if (made.is(0.4)) fields.Accept = made.one(['multipart/mixed', 'application/ld+json'])
      }
      const answers: string[] = []
      for (const send of asking.get(host) ?? []) {
        const answer = await send(name, target, fields as Fields, body)
        seen.add(answer.status)
        answers.push(told(answer).replace(/-Version: [0-9a-f]{32}/g, '-Version: K'))
      }
      expect(answers[0], `${i}: ${host} ${name} ${target} ${JSON.stringify(fields)} ${body}`).to.equal(answers[1])
    }
    expect([...seen].sort(), 'statuses').to.include.members([200, 206, 401, 403, 404])
  })
})
