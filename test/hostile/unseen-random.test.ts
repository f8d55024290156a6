/** Random requests of all methods to two sites that differ only in what their sender may not read (SEC-6). */

import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { page, putAll, ruleMarkup } from '../support/content.ts'
import type { Client, Fields } from '../support/http.ts'
import { Drawing } from './drawing.ts'
import { type Request, type TwoSites, twoSites } from './two-sites.ts'

/** Requests to each face; `FUZZ=<number>` looks further, from `SEED=<number>`. */
const REQUESTS = Number(process.env.FUZZ ?? 150)
const SEED = Number(process.env.SEED ?? 1)

/** What the sites hold: the first says this, the second that. */
const WORDS = ['ZEBRA', 'HORSE'] as const
const both = (text: (word: string) => string): readonly [string, string] => [text(WORDS[0]), text(WORDS[1])]

const half = (word: string) =>
  page(`<section class="${word}" title="${word}" itemscope itemtype="https://x.example/${word}"><b id="${word.toLowerCase()}" itemprop="${word}">${word}</b></section>
<ul class="pub" id="l" itemscope itemtype="https://x.example/Open" itemref="r"><li itemprop="name">a</li><li>b</li></ul>
<i id="r" itemprop="${word}" class="${word}">${word}</i>
<div id="in"><q class="${word}">${word}</q></div>`)

const mixed = (word: string) =>
  composed(`<div class="${word}" r:x=".${word}" p:template="text/liquid">{{ x | size }} ${word}</div>
<div class="pub" p:transient id="own">mine</div><p class="pub">{{ 1 }}</p>
<div class="hid"><p:include selector="#${word.toLowerCase()}" resource="/half.html"></p:include></div>`)

const FILES = {
  '/rules.html': page(
    [
      ruleMarkup(['*', 'GET', 'Allow', '/open/*']),
      ruleMarkup(['*', 'PUT|POST|DELETE', 'Allow', '/open/w*']),
      ruleMarkup(['*', 'GET|PUT', 'Allow', '/half.html|/mixed.html', '.pub, .pub *']),
      ruleMarkup(['*', 'POST', 'Allow', '/half.html', '#in']),
      ruleMarkup(['*', 'PUT|MOVE', 'Allow', '/drop/*']),
      ruleMarkup(['*', 'POST', 'Allow', '/drop/']),
      ruleMarkup(['*', 'MOVE|DELETE', 'Allow', '/take/*']),
      ruleMarkup(['*', 'QUERY', 'Allow', '/|/dir/|/open/*']),
      ruleMarkup(['*', 'GET', 'Allow', '/dir/open.html']),
      ruleMarkup(['*', 'HEAD', 'Deny', '/open/no-head.html']),
    ].join(''),
  ),
  '/open/page.html': page('<p id="p" class="pub">open</p><ul id="l"><li>1</li></ul>'),
  '/open/no-head.html': page('<p>x</p>'),
  '/open/code.html': composed('<p p:template="text/liquid">{{ request.query.q }} {{ "now" | size }}</p>'),
  '/open/w.html': page('<ul id="l"><li>1</li></ul>'),
  '/open/x.js': 'x',
  '/half.html': both(half),
  '/mixed.html': both(mixed),
  '/dir/open.html': page('<p class="pub" id="p">open</p>'),
  '/dir/hid.html': both(half),
  '/dir/also.html': both(word => (word === 'ZEBRA' ? half(word) : '')),
  '/drop/page.html': both(word => page(`<p id="p" class="pub ${word}">${word}</p>`)),
  '/drop/blob': both(word => word),
  '/drop/data.xml': both(word => `<a class="${word}">${word}</a>`),
  '/take/page.html': both(word => page(`<p class="${word}">${word}</p>`)),
  '/hidden/page.html': both(word => page(`<p class="${word}">${word}</p>`)),
  '/hidden/blob': both(word => word),
  '/own/page.html': page('<p class="pub">mine</p>'),
  '/own/sub/x.txt': 'mine',
}

const PATHS = [
  ...Object.keys(FILES),
  '/half.html',
  '/mixed.html',
  '/drop/page.html',
  '/drop/',
  '/drop',
  '/hidden/',
  '/hidden',
  '/take/none.html',
  '/hidden/none.html',
  '/hidden/more.html',
  '/hidden/deep',
  '/hidden/deep/',
  '/take2/x',
  '/dir/',
  '/dir/',
  '/dir/also.html',
  '/drop/none.html',
  '/open/',
  '/open',
  '/',
  '/own/',
  '/none',
  '/half.html?page=2&q={{x}}',
  '/open/code.html?q=ZEBRA',
]

/** Put together at random, from seeds. */
class Making extends Drawing {
  simple(): string {
    return this.one([
      '.pub',
      '#l',
      '#in',
      'li',
      'p',
      '*',
      '.ZEBRA',
      '#zebra',
      '[title=ZEBRA]',
      'section',
      'b',
      'q',
      'i',
      'div',
      'body',
      'html',
      '.hid',
      '[itemprop=ZEBRA]',
      '[itemtype$=ZEBRA]',
      '[class^=Z]',
      ':root',
      'title',
      '#own',
    ])
  }
  selector(depth = 0): string {
    const { one } = this
    const inner = () => (depth < 2 ? this.selector(depth + 1) : this.simple())
    let text = this.simple()
    for (let i = 0; i < 3 && this.is(0.45); i++) {
      const kind = this.below(12)
      if (kind < 4) text += one.call(this, [' ', ' > ', ' + ', ' ~ ']) + this.simple()
      else if (kind < 7) text += `:${this.one(['has', 'not', 'is', 'where', 'only'])}(${inner()})`
      else if (kind === 7) text += `:contains(${this.one(['ZEBRA', 'a', '"ZEBRA"', `text-of(${inner()})`])})`
      else if (kind === 8) text += `:nth-child(${this.one(['1', '2', 'odd', `count(${inner()})`, `1 of ${inner()}`])})`
      else if (kind === 9)
        text += `:${this.one(['nth-of-type(1)', 'last-of-type', 'only-of-type', 'empty', 'first-child', 'value-contains("ZEBRA")', 'isa("https://x.example/ZEBRA")'])}`
      else if (kind === 10) text = `${text}, ${inner()}`
      else text += this.one(['[class]', '[id]', '[title]', `[class=attr-of(${inner()}, "class")]`])
    }
    return text
  }
  fields(): Record<string, string> {
    const fields: Record<string, string> = {}
    if (this.is(0.6))
      fields.Range = this.one([
        `selector=${this.selector()}`,
        `selector=${this.selector()}`,
        `selector=${this.selector()}`,
        `selector=${this.selector()}; placement=${this.one(['before', 'after', 'append', 'prepend'])}`,
        `selector=${this.selector()}; entries=0-${this.one(['0', '1', '9'])}`,
        'bytes=0-3',
        'bytes=900-',
        'bytes=-1',
        'rows=1',
      ])
    if (this.is(0.4))
      fields.Accept = this.one([
        'multipart/mixed',
        'application/ld+json',
        'text/html',
        'application/json',
        '*/*',
        'application/problem+json',
      ])
    if (this.is(0.25)) fields['If-Match'] = this.one(TAGS)
    if (this.is(0.25)) fields['If-None-Match'] = this.one(TAGS)
    if (this.is(0.1))
      fields[this.one(['If-Modified-Since', 'If-Unmodified-Since'])] = this.one([
        'Mon, 01 Jan 2001 00:00:00 GMT',
        'Fri, 01 Jan 2100 00:00:00 GMT',
      ])
    if (this.is(0.1)) fields['Accept-Encoding'] = 'gzip, br'
    if (this.is(0.05)) fields.Prefer = 'return=representation'
    return fields
  }
  body(): string {
    return this.one([
      '<li>n</li>',
      '<p class="pub">n</p>',
      '',
      '<a>',
      '<i class="ZEBRA">x</i>',
      `<!DOCTYPE html><p>x`,
      `<li itemscope itemtype="https://platform.example/ns/AuthorizationRule"></li>`,
    ])
  }
}

const TAGS: string[] = ['*', '"x"', '"ZEBRA"']

describe('random requests to two sites', function () {
  this.timeout(3_600_000)
  let sites: TwoSites

  before(async () => {
    const credentials = [
      { user: 'own', password: 'own', scope: ['/own/*'] },
      { user: 'whole', password: 'whole' },
    ]
    sites = await twoSites({ defaultGet: 'deny', credentials })
    await sites.put(FILES)
    const [, second] = sites.servers
    await putAll(second, { '/hidden/more.html': page('HORSE'), '/hidden/deep/x.html': page('HORSE'), '/take2/x': 'x' })
    for (const server of sites.servers)
      for (const path of [
        '/half.html',
        '/drop/page.html',
        '/drop/blob',
        '/drop/data.xml',
        '/hidden/blob',
        '/take/page.html',
      ]) {
        const digest = (await server.site.find(path))?.resource.digest ?? ''
        TAGS.push(`"${digest.slice(0, 48)}"`, `"${'0'.repeat(32)}-${digest.slice(0, 32)}"`)
      }
  })
  after(() => sites.close())

  const plain = (text: string) =>
    text
      .replace(/w-[0-9a-f]{32}/g, 'w-K')
      .replace(/\/[a-z0-9]{16}\.[a-z]+/g, '/NAME')
      .replace(/localhost:\d+/g, 'HOST')
      .replace(/127\.0\.0\.1:\d+/g, 'HOST')
      .replace(/-Version: [0-9a-f]{32}/g, '-Version: K')
      .replace(/Retry-After: \d+/g, 'Retry-After: N')

  it('SEC-6 on the public surface', async () => {
    const made = new Making(SEED)
    for (let i = 0; i < REQUESTS; i++) {
      const method = made.one([
        'GET',
        'GET',
        'GET',
        'HEAD',
        'PUT',
        'PUT',
        'POST',
        'POST',
        'DELETE',
        'MOVE',
        'PATCH',
        'OPTIONS',
        'QUERY',
        'QUERY',
        'PROPFIND',
        'LOCK',
        'COPY',
      ])
      const fields: Record<string, string> = made.fields()
      const path = made.one(PATHS)
      let body: string | undefined
      if (method === 'QUERY') {
        delete fields.Range
        fields['Content-Type'] = made.one(['text/css-selector', 'text/sessel', 'text/plain'])
        body = fields['Content-Type'] === 'text/sessel' ? made.one(PROGRAMS) : made.selector()
      } else if (method === 'PUT' || method === 'POST') {
        body = made.body()
        if (made.is(0.5))
          fields['Content-Type'] = made.one([
            'text/html',
            'application/xml',
            'application/x-www-form-urlencoded',
            'image/png',
          ])
      } else if (method === 'MOVE') {
        fields.Destination = made.one(PATHS).split('?')[0] ?? '/'
        if (made.is(0.5)) {
          fields['Destination-Range'] =
            `selector=${made.selector()}; placement=${made.one(['before', 'after', 'append', 'prepend'])}`
          fields.Destination = path.split('?')[0] ?? '/'
        }
        if (made.is(0.3)) fields.Overwrite = 'F'
      } else if (method === 'GET' && made.is(0.05) && !path.startsWith('/open')) fields.Accept = 'text/event-stream'
      await sites.same([[method, path, fields, body]], undefined, plain)
    }
  })

  it('SEC-10 by a credential for a part of the drive', async () => {
    const made = new Making(SEED + 1)
    const of: readonly Client[] = sites.mounts('own', 'own')
    for (let i = 0; i < REQUESTS; i++) {
      const method = made.one([
        'GET',
        'HEAD',
        'PUT',
        'POST',
        'DELETE',
        'MOVE',
        'COPY',
        'PROPFIND',
        'PROPFIND',
        'PROPPATCH',
        'LOCK',
        'UNLOCK',
        'MKCOL',
        'REPORT',
        'SEARCH',
        'QUERY',
        'OPTIONS',
        'PATCH',
        'ACL',
      ])
      const fields: Record<string, string> = made.is(0.3) ? made.fields() : {}
      const path = made.one([...PATHS, '/own/new.html', '/own/sub/', '/hidden/new.html'])
      if (made.is(0.4)) fields.Depth = made.one(['0', '1', 'infinity'])
      if (made.is(0.3)) fields.If = made.one(IFS)(made.one(PATHS), made.one(TAGS))
      if (method === 'MOVE' || method === 'COPY') fields.Destination = made.one([...PATHS, '/own/a.html', '/own/b/'])
      if (made.is(0.1)) fields['Lock-Token'] = '<urn:uuid:00000000-0000-4000-8000-000000000000>'
      const body = made.one(XML)
      if (/QUERY/.test(method)) fields['Content-Type'] = made.one(['text/css-selector', 'text/sessel'])
      const request: Request = [
        method,
        path,
        fields as Fields,
        method === 'QUERY' ? made.one([made.selector(), ...PROGRAMS]) : body,
      ]
      await sites.same([request], of, text => unlocked(plain(text)))
    }
  })
})

const unlocked = (text: string) =>
  text
    .replace(/"(d.|p)-[0-9a-f-]+(-l[0-9a-f]{16})?"/g, '"d$1-K"')
    .replace(/\d\d?:\d\d(:\d\d)?/g, 'TIME')
    .replace(/Second-\d+/g, 'Second-N')
    .replace(/(urn:uuid|opaquelocktoken):[0-9a-f-]{36}/g, 'TOKEN')
    .replace(/<[^>]*getlastmodified[^>]*>[^<]*/g, '')
    .replace(/<[^>]*creationdate[^>]*>[^<]*/g, '')
    .replace(/quota-(available|used)-bytes>[^<]*/g, 'quota-$1')

const SOURCES = [
  'self',
  'document',
  '"/hidden/page.html"',
  '"/*"',
  '"/dir/*"',
  '"../half.html"',
  '"/half.html", "/*"',
  'null',
]
const PROGRAMS = [
  '1 + 1',
  'self',
  '"ZEBRA".count()',
  'request.path',
  'throw "x"',
  '(',
  '[1, 2, 3].map(x => x)',
  ...['.pub', '.ZEBRA', '#zebra', 'p', '*', 'section', '[itemprop]'].flatMap(css =>
    ['', '.count()', '.first().text()', '.map(x => x.text())'].flatMap(then =>
      ['', ...SOURCES].map(source => `(\${${css}}${source === '' ? '' : ` from ${source}`})${then}`),
    ),
  ),
]

const IFS: readonly ((path: string, tag: string) => string)[] = [
  (_, tag) => `([${tag}])`,
  (_, tag) => `(Not [${tag}])`,
  (path, tag) => `<${path}> ([${tag}])`,
  (path, tag) => `<${path}> (Not [${tag}])`,
  path => `<${path}> (<urn:uuid:00000000-0000-4000-8000-000000000000>)`,
  path => `<${path}> (Not <urn:uuid:00000000-0000-4000-8000-000000000000>)`,
  (path, tag) => `<http://localhost${path}> (Not [${tag}])`,
  (path, tag) => `<http://elsewhere.example${path}> ([${tag}]) <${path}> (Not [${tag}])`,
]

const XML = [
  '',
  'x',
  '<propfind xmlns="DAV:"><allprop/></propfind>',
  '<propfind xmlns="DAV:"><propname/></propfind>',
  '<propfind xmlns="DAV:"><prop><getetag/><lockdiscovery/><getcontentlength/><resourcetype/></prop></propfind>',
  '<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype><owner>x</owner></lockinfo>',
  '<propertyupdate xmlns="DAV:"><set><prop><x xmlns="urn:x">ZEBRA</x></prop></set></propertyupdate>',
  '<sync-collection xmlns="DAV:"><sync-token/><sync-level>infinite</sync-level><prop><getetag/></prop></sync-collection>',
  '<searchrequest xmlns="DAV:"><basicsearch><select><allprop/></select><from><scope><href>/</href><depth>infinity</depth></scope></from></basicsearch></searchrequest>',
]
