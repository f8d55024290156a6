// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/**
 * Places of a site that somebody may not read, on one of two sites empty and on the other full: random requests of visitors, of
 * authors with a part of the site, and programs are answered the same by both (SEC-6, ABS-1, DAV-3, SES-126).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, put, remove, rulesPage } from '../support/content.ts'
import type { Fields } from '../support/http.ts'
import { type Request, type TwoSites, twoSites } from './two-sites.ts'

/** Requests of each comparison; `FUZZ=<requests>` looks further. */
const RUNS = Number(process.env.FUZZ ?? 150)

/** Draws the same in every run. */
function drawing(seed: number) {
  let state = seed
  const below = (most: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return (state >> 8) % most
  }
  return { below, pick: <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0] }
}

const HIDDEN = {
  '/secret/x.html': page('<i id="s">s</i>'),
  '/secret/d/index.html': page('x'),
  '/secret/b.bin': 'b',
  '/secret/x': 'no extension',
  '/secret/:r.html': page('<i id="s">r</i>'),
  '/secret/index.html': page('<p>index</p>'),
  '/partner/x.html': page('<div class="x">p</div>'),
}

describe('places that somebody may not read', () => {
  let sites: TwoSites
  before(async () => {
    const credentials = [
      { user: 'part', password: 'part', scope: ['/open/*'] },
      { user: 'reader', password: 'reader', scope: ['/open/*'], write: false },
    ]
    sites = await twoSites({ defaultGet: 'allow', credentials })
    await sites.put({
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/secret/*|/partner/*'],
        ['*', 'MOVE|PUT|POST|DELETE', 'Allow', '/open/*'],
        ['*', 'QUERY', 'Allow', '/*'],
        ['*', 'GET', 'Deny', '/parts/*', '.secret'],
        ['*', 'QUERY', 'Deny', '/secret/*|/partner/x.html'],
      ),
      '/open/a.html': page('<div id="a" class="x">a</div>'),
      '/open/b.css': 'b',
    })
    for (const [path, text] of Object.entries(HIDDEN)) await put(sites.servers[0], path, text)
  })
  after(() => sites.close())

  /** What a write has left is taken away again. */
  async function tidy(): Promise<void> {
    for (const server of sites.servers) {
      for (const path of ['/open/new.html', '/open/b.css', '/open/a.html', '/open/moved.html'])
        if (await server.site.find(path)) await remove(server, path)
    }
    await sites.put({ '/open/a.html': page('<div id="a" class="x">a</div>'), '/open/b.css': 'b' })
  }

  const OUTSIDE = [
    ...['/secret/x.html', '/secret/', '/secret', '/secret/d/', '/secret/d', '/secret/d/index.html', '/secret/b.bin'],
    ...['/secret/x', '/secret/any.html', '/secret/%3Ar.html', '/secret/x.html/y', '/secret/b.bin/', '/partner/x.html'],
  ] as unknown as readonly [string, ...string[]]
  const SELECTORS = ['#s', '.x', 'body', '*', '#none', ':root', 'body:has(i)'] as const
  const TYPES = ['text/html', 'text/css-selector', 'text/plain', 'application/x-www-form-urlencoded'] as const

  it('SEC-6 ABS-1 random requests of a visitor tell nothing of what is there', async () => {
    const { below, pick } = drawing(20261123)
    for (let run = 0; run < RUNS; run++) {
      const method = pick(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'PATCH', 'OPTIONS', 'QUERY', 'COPY', 'LOCK'])
      const target = method === 'MOVE' && below(2) ? '/open/a.html' : pick(OUTSIDE)
      const range = pick([`selector=${pick(SELECTORS)}`, 'selector=i; placement=before', 'bytes=0-3', 'bytes=999-'])
      const fields: Fields = {
        Range: below(2) ? range : undefined,
        Accept: below(3) ? undefined : pick(['text/event-stream', 'multipart/mixed', 'application/json', 'image/png']),
        'If-Match': below(3) ? undefined : pick(['*', '"nope"']),
        'If-None-Match': below(3) ? undefined : pick(['*', '"nope"']),
        'If-Modified-Since': below(6) ? undefined : 'Sun, 06 Nov 2094 08:49:37 GMT',
        Destination: method === 'MOVE' ? pick(OUTSIDE) : undefined,
        'Destination-Range': method === 'MOVE' && !below(3) ? 'selector=body; placement=append' : undefined,
        Overwrite: below(4) ? undefined : pick(['T', 'F']),
        'Content-Type': pick(TYPES),
      }
      const writes = method === 'PUT' || method === 'POST' || method === 'QUERY'
      await sites.same([[method, target, fields, writes ? '<p class="x">x</p>' : undefined]])
    }
  })

  const DEPTHS = ['0', '1', 'infinity'] as const
  const XML: Readonly<Record<string, string>> = {
    PROPFIND: '<propfind xmlns="DAV:"><allprop/></propfind>',
    PROPPATCH: '<propertyupdate xmlns="DAV:"><set><prop><x xmlns="u">v</x></prop></set></propertyupdate>',
    LOCK: '<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype></lockinfo>',
    REPORT:
      '<sync-collection xmlns="DAV:"><sync-token/><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>',
  }
  const FORMS = ['do=folder&name=n', 'do=rename&member=a.html&name=b.html', 'do=delete&member=x.html&sure=yes'] as const
  const PROGRAMS = ['${.x}.count()', '${*}.map(e => e.path())', '${i} from "/secret/*"', 'self'] as const
  /** Times, the tags of answers that name times, lock tokens and ports. */
  const plain = (told: string) =>
    told.replace(
      /\w{3}, \d\d \w{3} [^<]*GMT|\d{4}-\d\d-\d\dT[\d:.]+Z|(?:p|d[01])-[0-9a-f]{64}|[0-9a-f-]{36}|Second-\d+|localhost:\d+|"[0-9a-f]{30,32}"/g,
      '',
    )

  it('DAV-3 random requests of authors tell nothing of what lies outside of their scope', async () => {
    const { below, pick } = drawing(20261124)
    const authors = [sites.mounts('part', 'part'), sites.mounts('reader', 'reader')] as const
    const places = [...OUTSIDE, '/', '/index.html', '/-platform/explain?path=/secret/x.html'] as const
    for (let run = 0; run < RUNS; run++) {
      const method = pick(['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'COPY', 'OPTIONS', 'QUERY', 'PROPFIND'])
      const rare = pick([method, method, 'PROPPATCH', 'MKCOL', 'LOCK', 'UNLOCK', 'REPORT'])
      const isMoved = rare === 'MOVE' || rare === 'COPY'
      const target = isMoved && below(2) ? '/open/a.html' : pick(places as unknown as typeof OUTSIDE)
      const isForm = rare === 'POST' && below(2) === 0
      const body = isForm ? pick(FORMS) : rare === 'QUERY' ? pick(PROGRAMS) : rare === 'PUT' ? 'x' : XML[rare]
      const fields: Fields = {
        Depth: below(2) ? pick(DEPTHS) : undefined,
        Range: below(3) ? undefined : `selector=${pick(SELECTORS)}`,
        'If-Match': below(4) ? undefined : pick(['*', '"nope"']),
        If: below(4)
          ? undefined
          : pick([`<${pick(OUTSIDE)}> (["nope"])`, `<${pick(OUTSIDE)}> (Not ["nope"])`, '(Not <DAV:no-lock>)']),
        Destination: isMoved ? pick(OUTSIDE) : undefined,
        Overwrite: isMoved ? pick(['T', 'F']) : undefined,
        'Lock-Token': rare === 'UNLOCK' ? '<opaquelocktoken:x>' : undefined,
        'Sec-Fetch-Site': isForm ? 'same-origin' : undefined,
        'Content-Type': isForm
          ? 'application/x-www-form-urlencoded'
          : pick(['text/sessel', 'text/css-selector', 'text/xml']),
      }
      const [status = 0] = await sites.same([[rare, target, fields, body]], pick(authors), plain)
      if (status < 300 && target === '/open/a.html') await tidy()
    }
  })

  const PARTS = (secret: string) =>
    `<div id="o">open<i class="secret" data-k="${secret}">${secret}<b id="in">${secret}</b></i></div><ul><li class="secret">${secret}</li><li>x</li></ul><p itemscope itemtype="urn:t:T"><u class="secret" itemprop="v">${secret}</u><u itemprop="w">w</u></p>`
  const T = '@schema T url("urn:t:T");'
  const ASKED: readonly string[] = [
    ...['self', 'self.text()', 'document', '[self]', 'self.children()', 'new b { self }', '${#o}', '${*}.count()'],
    ...[
      '${*}.map(e => e.text())',
      '${*}.map(e => e.attr("data-k"))',
      '${.secret}.count()',
      '${#in}',
      '${li:has(+ li)}',
    ],
    ...['${:contains("ZEBRA")}.count()', '${div:has(.secret)}.count()', '${li}.map(e => e.parent().text())'],
    ...['${li:nth-child(count(.secret))}', '${#o}.first().children()', '${u}.map(e => e.value())', '${p}.first().v'],
    ...[
      `${T} T.search()`,
      `${T} T.search().map(t => t.v)`,
      '(${li} from "/parts/*").count()',
      '${p}.first().properties()',
    ],
    ...['(${i} from "/secret/x.html").count()', '(${*} from "/*").map(e => e.path())', '1', 'request.path'],
  ]

  it('SES-126 SES-127 programs of visitors see nothing of it', async () => {
    const model = `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:t:T"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="v"></div></div>`
    await sites.put({ '/parts/a.html': [page(PARTS('ZEBRA')), page(PARTS('HORSE'))], '/model.html': page(model) })
    const requests = ['/parts/a.html', '/parts/', '/secret/', '/partner/', '/secret/x.html', '/secret/none/'].flatMap(
      path => ASKED.map((program): Request => ['QUERY', path, { 'Content-Type': 'text/sessel' }, program]),
    )
    const statuses = await sites.same(requests)
    expect(statuses.filter(status => status < 300).length).to.be.above(30)
  })
})
