// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
/**
 * Kept answers and whoever asks: random requests of several people, each sent as it is and in a form that nothing kept
 * can answer, between random changes. Both forms get the same, whatever others have asked before (HTTP-150, SEC-6).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { javascript, processor, trigger } from '../pipeline/react/site.ts'
import { NS, page, putAll, ruleMarkup } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openSession } from '../support/visitors.ts'
import { Drawing } from './drawing.ts'
import { wholly } from './told.ts'

/** Requests to each face; `FUZZ=<number>` sends more, from `SEED=<number>`. */
const REQUESTS = Number(process.env.FUZZ ?? 125)
const SEED = Number(process.env.SEED ?? 1)

const LIST = '<ul id="l"><li class="a">1</li><li class="b">2</li><li class="b">3</li></ul>'
const LONG = 'a line that repeats itself and can be compressed\n'.repeat(60)

const RULES = [
  ['*', 'GET', 'Allow', '/|/*'],
  ['users', 'GET', 'Deny', '/for-guests.txt|/for-guests.html'],
  ['bob', 'GET', 'Deny', '/not-bob.*'],
  ['*', 'GET', 'Deny', '/members/*'],
  ['users', 'GET', 'Allow', '/members/*'],
  ['*', 'HEAD', 'Deny', '/no-head.txt|/no-head.html'],
  ['*', 'GET', 'Deny', '/shut.${request.headers.x-shut}'],
  ['*', 'HEAD', 'Deny', '/headless.${request.headers.x-no-head}'],
  ['*', 'GET', 'Deny', '/by-query.html|/by-query.txt', '.${request.query.hide}'],
  ['*', 'GET', 'Deny', '/part.html', '.b'],
  ['bob', 'GET', 'Allow', '/part.html', '.b'],
  ['*', 'GET', 'Deny', '/hidden.html'],
] as const

const FILES: Record<string, string> = {
  '/rules.html': page(RULES.map(rule => ruleMarkup(rule)).join('')),
  '/reactions.html': page(
    [
      processor({ resource: '/changed-304.html', status: '304', action: 'Context.response.headers["X-Seen"] = "304"' }),
      processor({ resource: '/changed-206.html', status: '206', action: 'Context.response.headers["X-Seen"] = "206"' }),
      trigger({
        resource: '/guarded.html',
        when: 'Context.request.headers["x-open"] == null',
        action: javascript('action', `export default () => { throw { itemtype: "${NS}/HTTPResponse", status: 418 } }`),
      }),
      trigger({ resource: '/guarded.html', method: 'HEAD', action: 'Context.request' }),
    ].join(''),
  ),
  '/index.html': page(LIST),
  '/dir/index.html': page(`<p>index</p>${LIST}`),
  '/page.html': page(LIST),
  '/long.html': page(LIST + LONG),
  '/long.txt': LONG,
  '/a.txt': 'x',
  '/style.css': LONG,
  '/data.xml': '<a><b class="a">1</b><b class="b">2</b></a>',
  '/for-guests.txt': 'guests',
  '/for-guests.html': page(LIST),
  '/not-bob.txt': 'not bob',
  '/not-bob.html': page(LIST),
  '/members/a.txt': 'members',
  '/members/a.html': page(LIST),
  '/no-head.txt': 'x',
  '/no-head.html': page(LIST),
  '/headless.txt': 'x',
  '/headless.html': page(LIST),
  '/shut.txt': 'x',
  '/shut.html': page(LIST),
  '/by-query.html': page(LIST),
  '/part.html': page(LIST),
  '/hidden.html': page(`<p class="a" id="h">hidden</p>${LIST}`),
  '/changed-304.html': page(LIST),
  '/changed-206.html': page(LIST),
  '/guarded.html': page(LIST),
  '/composed.html': composed(
    `<div r:x=".a" p:template="text/liquid">{{ x | size }}</div>${LIST}<p:include selector="#l" resource="/page.html"/>`,
  ),
  '/includes-hidden.html': composed(
    '<main><p:include selector="#h" resource="/hidden.html"/></main><p class="a">x</p>',
  ),
  '/by-header.html': composed('<p class="a" p:template="text/liquid">{{ request.headers["x-word"] }}</p>'),
  '/by-language.html': composed('<p class="a" j:w=\'request.headers["accept-language"]\'><p:stamp w/></p>'),
  '/by-method.html': composed('<p class="a" p:template="text/liquid">{{ request.method }} {{ request.path }}</p>'),
  '/by-host.html': composed('<p class="a" p:template="text/liquid">{{ request.host }} {{ request.headers.host }}</p>'),
  '/by-auth.html': composed('<p class="a" e:n="request.auth.username"><p:stamp n></p:stamp></p>'),
  '/sometimes-auth.html': composed(
    '<p class="a" e:n="request.query.q == null ? 1 : request.auth.username"><p:stamp n></p:stamp></p>',
  ),
  '/by-request-document.html': composed(
    '<main class="a"><p:include selector="[itemprop=path]" resource="request:"/></main>',
  ),
  '/found-request.html': composed(
    '<main r:x="[itemprop=headers] [itemprop=x-word]"><p:stamp x/></main><p class="a">x</p>',
  ),
  '/list.html': composed(`<ul id="l" p:paginate="2"><li class="a">1</li><li class="b">2</li><li class="b">3</li></ul>`),
  '/mine.html': composed(`<ul id="l" p:transient><li class="a">1</li></ul><p class="b">x</p>`),
  '/r/:id.html': composed('<p class="a" p:template="text/liquid">{{ request.params.id }}</p>'),
}

const TARGETS = [
  ...Object.keys(FILES).filter(path => !path.includes(':')),
  '/',
  '/dir',
  '/dir/',
  '/dir?x=1',
  '/r/1.html',
  '/r/2.html?page=1',
  '/%70age.html',
  '/page.html?',
  '/page.html?a',
  '/list.html?page=2',
  '/list.html?page=2&page=1',
  '/by-query.html?hide=a',
  '/by-query.html?hide=b',
  '/by-query.html?hide=b&hide=a',
  '/sometimes-auth.html?q=1',
  'http://localhost/page.html',
  'http://other.localhost/by-host.html',
  '/none.html',
  '/none.txt?x',
]

/** Values of fields, some of them odd; undefined sends none. */
const FIELDS: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  Host: ['localhost', 'LOCALHOST', 'localhost:80', 'localhost.', 'other.localhost', 'x.localhost:8080'],
  Accept: [
    'text/html',
    '*/*',
    'application/ld+json',
    'application/ld+json;q=0.5, text/html;q=0.4',
    'multipart/mixed',
    ['text/html', 'application/ld+json'],
    '',
    'text/html;q=0',
    'APPLICATION/LD+JSON',
  ],
  'Accept-Encoding': [
    'gzip',
    'br',
    'gzip, br',
    'GZIP',
    'gzip;q=0',
    'identity;q=0',
    '*',
    '*;q=0',
    'br;q=0.5, gzip;q=0.4',
    '',
    ['gzip;q=0', 'br'],
  ],
  'Accept-Language': ['de', 'en'],
  Range: [
    'selector=.a',
    'selector=.b',
    'selector= .b',
    'selector=.b; entries=0-0',
    'selector=#l',
    'selector=.none',
    'selector=li:nth-child(',
    'selector=.a; placement=append',
    'SELECTOR=.a',
    'bytes=0-3',
    'bytes=0-1,4-5',
    'bytes=99999-',
    'bytes=-2',
    'rows=1',
    '',
    ['selector=.a', 'selector=.b'],
  ],
  'X-Word': ['one', 'two'],
  'X-Shut': ['txt', 'html'],
  'X-No-Head': ['txt', 'html'],
  'X-Open': ['1'],
  'X-Forwarded-Proto': ['https', 'http'],
  'X-Forwarded-Host': ['other.localhost', 'localhost'],
  Forwarded: ['proto=https;host=other.localhost'],
  Authorization: ['Basic eDp5', 'Bearer x'],
  Prefer: ['return=minimal'],
  'Cache-Control': ['no-cache', 'only-if-cached'],
  Pragma: ['no-cache'],
  Origin: ['http://listed.example', 'http://elsewhere.example', 'null'],
  'Sec-Fetch-Site': ['cross-site'],
  'Last-Event-ID': ['1-1'],
}

describe('kept answers and whoever asks', function () {
  this.timeout(3_600_000)
  let server: TestServer
  let http: Client
  const cookies: (string | undefined)[] = [undefined, undefined, 'platform_session=nonsense', 'other=1']

  before(async () => {
    server = await startServer({
      settings: { trustProxy: true },
      site: { defaultGet: 'deny', cors: ['http://listed.example'] },
    })
    http = client(server.port)
    await putAll(server, FILES)
    for (const sub of ['bob', 'ann']) cookies.push(await openSession(server, { sub }))
    const guest = (await http('GET', '/page.html')).headers['set-cookie']?.split(';')[0]
    cookies.push(guest, guest, `x=1; ${guest}`, `${guest}; ${guest}`)
  })
  after(() => server.close())

  it('HTTP-150 on the public surface', async () => {
    const made = new Drawing(SEED)
    const tags: string[] = ['"x"', '*']
    let [targets, names] = [TARGETS, Object.keys(FIELDS)]
    for (let i = 0; i < REQUESTS; i++) {
      // A few requests again and again, so that they meet what was kept for others.
      if (i % 40 === 0) [targets, names] = [made.few(TARGETS, 3), made.few(Object.keys(FIELDS), 3)]
      const to = made.one(targets)
      const fields: Record<string, string | readonly string[]> = {}
      for (const name of names)
        if (made.is(0.4)) fields[name] = made.one((FIELDS[name] ?? ['']).slice(0, made.is(0.7) ? 2 : 99))
      if (to.startsWith('http')) delete fields.Host
      const cookie = made.one(cookies)
      if (cookie !== undefined) fields.Cookie = cookie
      if (made.is(0.2))
        fields['If-None-Match'] = made.is(0.8) ? made.one(tags) : [made.one(tags), made.one(tags)].join(', ')
      const method = made.one(['GET', 'GET', 'HEAD'])
      const request = [method, to, fields] as const
      if (made.is(0.04)) {
        const path = made.one([...targets.filter(each => each in FILES), made.one(Object.keys(FILES))])
        const text = FILES[path] ?? ''
        await putAll(server, {
          [path]:
            path.endsWith('.txt') || path.endsWith('.css') ? text + i : text.replace('</body>', `<i>${i}</i></body>`),
        })
      }
      // Copies that are being compressed are not ready for the first who asks.
      for (let tries = 0; ; tries++) {
        const plain = await http(...request)
        const past = await http(method, to, { ...fields, 'Content-Length': '1' }, 'x')
        const tag = plain.headers.etag
        if (tag !== undefined && tags.length < 8) tags.push(tag)
        else if (tag !== undefined) tags[2 + (i % 6)] = tag
        const [one, two] = [wholly(plain), wholly(past)]
        if (one === two) break
        if (tries < 3 && /encoding/i.test(one + two)) {
          await new Promise(done => setTimeout(done, 20))
          continue
        }
        expect(one, `${i}: ${method} ${to} ${JSON.stringify(fields)}`).to.equal(two)
      }
    }
  })

  it('SEC-6 what somebody may write shows in no answer that others get', async () => {
    const other = await startServer({ site: { defaultGet: 'deny' } })
    try {
      const rules = [
        ['*', 'GET', 'Allow', '/drop.html', '.open'],
        ['*', 'POST', 'Allow', '/drop.html', '[data-key="${request.headers.x-word}"]'],
      ] as const
      await putAll(other, {
        '/drop.html': page('<div id="in" data-key="one"></div><p class="open">x</p>'),
        '/rules.html': page(rules.map(rule => ruleMarkup(rule)).join('')),
      })
      const ask = client(other.port)
      const asked = (word: string) => ask('GET', '/drop.html', { Range: 'selector=#in ~ .open', 'X-Word': word })
      expect((await asked('two')).status).to.equal(401)
      for (let i = 0; i < 3; i++) expect((await asked('one')).status).to.equal(206)
      expect((await asked('two')).status).to.equal(401)
    } finally {
      await other.close()
    }
  })
})
