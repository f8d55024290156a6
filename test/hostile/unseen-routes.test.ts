/**
 * Random requests to two sites of which one has files that their sender may not read, beside routes, forms, methods, templates,
 * reactions and states of items: nobody tells a file from none (SEC-6).
 */

import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { answering, processor, sessel, trigger } from '../pipeline/react/site.ts'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { Drawing } from './drawing.ts'
import { type TwoSites, twoSites } from './two-sites.ts'

/** Requests; `FUZZ=<number>` looks further, from `SEED=<number>`. */
const REQUESTS = Number(process.env.FUZZ ?? 200)
const SEED = Number(process.env.SEED ?? 1)

const meta = (name: string, content: string) => `<meta itemprop="${name}" content="${content}">`
const item = (type: string, ...inside: string[]) => `<div hidden itemscope itemtype="${type}">${inside.join('')}</div>`
const METHOD = `<div itemprop="property" itemscope itemtype="${NS}/Method">${meta('name', 'greet')}${sessel('implementation', '"Hello " + request.path')}</div>`
const state = (value: string) =>
  `<p id="state" itemscope itemtype="urn:x:Task" itemid="urn:x:1"><b id="now" itemprop="state">${value}</b></p>`
const PARTS = page(`<ul id="in"><li>1</li><li>2</li></ul>${state('a')}`)
const INCLUDED = ['#in', '#state'].map(id => `<p:include selector="${id}" resource="/parts.html"></p:include>`).join('')

const FILES = {
  '/rules.html': rulesPage(
    ['*', 'GET', 'Allow', '/r/*|/d/*', '.pub, #own, .pub *'],
    ['*', 'POST|PUT|DELETE', 'Allow', '/r/*|/d/*|/plain/*', '#in, #in *, #state, #state *'],
    ['*', 'MOVE|PATCH', 'Allow', '/m/*'],
    ['*', 'POST|DELETE', 'Allow', '/m/*', '#in, #in *'],
    ['*', 'GET', 'Allow', '/open/*|/d/*/'],
    ['*', 'POST', 'Allow', '/open/form.html'],
    ['*', 'PUT', 'Allow', '/made/*'],
    ['*', 'QUERY', 'Allow', '/open/*'],
  ),
  '/model.html': page(
    item(`${NS}/Schema`, meta('type', 'urn:x:Greeter'), METHOD) +
      item(`${NS}/Schema`, meta('type', 'urn:x:Task'), item('', '')) +
      item(
        `${NS}/TransitionConstraint`,
        meta('selector', "[itemtype='urn:x:Task']"),
        meta('property', 'state'),
        meta('from', 'a'),
        meta('to', 'b'),
      ),
  ),
  '/reactions.html': page(
    trigger({ resource: '/r/*', method: 'GET', selector: '.pub b', action: answering(299, 'selected') }) +
      trigger({
        resource: '/{r,d,m,plain}/t*',
        when: 'Context.request.method == "OPTIONS"',
        action: answering(299, 'X').replace('"X"', '"" + (Context.request.params.name ?? "none")'),
      }) +
      processor({
        resource: '/{r,m,plain}/*',
        action: 'Context.response.headers["x-name"] = Context.request.params.name ?? "none"',
      }),
  ),
  '/r/:name.html': composed(
    `<p class="pub">p <b>b</b></p>${INCLUDED}<p class="pub" p:template="text/liquid">{{ request.params.name | size }}</p>
<ul id="own" p:transient><li>0</li></ul><section class="pub" p:paginate="2"><i>1</i><i>2</i><i>3</i></section><div class="hid">h</div>`,
  ),
  '/m/:name.html': composed(INCLUDED),
  '/plain/:name.html': page('<ul id="in"><li>1</li></ul>'),
  '/d/:name/index.html': composed(`<p class="pub">p</p>${INCLUDED}`),
  '/open/form.html': composed(
    '<h1 p:template="text/liquid">{{ request.body.title }}</h1>',
    `<base href="/made/x.html"><title>t</title>`,
  ),
}

const SECRET = page('<p class="x">secret</p><b>b</b>')
/** Of the second site alone. */
const HIDDEN: [name: string, text: string, type?: string][] = [
  ['h1', SECRET],
  ['h2', composed('<p class="x">{{ 1 }}</p><p:include selector="#none" resource="/none.html"></p:include>')],
  ['h3', 'x', 'image/png'],
  ['h4', page(`<div class="x">${state('z').replaceAll('id="', 'class="').replace('itemclass', 'itemid')}</div>`)],
  ['t5', composed('<ul class="x" p:transient><li>0</li></ul>')],
  ['t6', ''],
]
const NAMES = [...HIDDEN.map(([name]) => name), 'n7', 't8']
const FOLDERS = ['/r/', '/r/', '/m/', '/plain/']
const SELECTORS = [
  ['.pub', '#own', '#in', '#in li', '#state', '#now', 'section i', 'p.pub > b', 'b', '.hid', '.x', '#none', 'body'],
  [
    '*',
    '.pub, .x',
    '.x, .pub',
    '#in:has(li)',
    'p:contains("secret"), .pub',
    ':is(.x, #in)',
    '#own li',
    'html',
    'i ~ i',
  ],
].flat()
const PROGRAMS = [
  ['.x', '/r/h1.html'],
  ['.pub', '/r/*'],
].map(([css, from]) => `(\${${css}} from "${from}").count()`)
const BODIES = ['<li>n</li>', '', '<a>', '<b id="now" itemprop="state">b</b>', state('b'), '<ul id="in"></ul>', 'text']

class Making extends Drawing {
  range(): string {
    return `selector=${this.one(SELECTORS)}${this.is(0.2) ? `; placement=${this.one(['before', 'after', 'append'])}` : ''}`
  }
  path(): string {
    if (this.is(0.15)) return `/d/${this.one(NAMES)}${this.one(['', '/', '/index.html'])}`
    if (this.is(0.1)) return this.one(['/open/form.html', '/made/x.html', '/d/', '/r/', '/parts.html'])
    return `${this.one(FOLDERS)}${this.one(NAMES)}.html${this.is(0.1) ? '?paginate:page=2' : ''}`
  }
  fields(): Record<string, string> {
    const fields: Record<string, string> = {}
    if (this.is(0.85)) fields.Range = this.range()
    if (this.is(0.2)) fields.Accept = this.one(['multipart/mixed', 'application/ld+json', 'text/html', '*/*'])
    if (this.is(0.2)) fields[this.one(['If-Match', 'If-None-Match'])] = this.one(['*', '"x"', '"00-00"'])
    if (this.is(0.1)) fields['If-Unmodified-Since'] = 'Mon, 01 Jan 2001 00:00:00 GMT'
    return fields
  }
}

describe('random requests beside routes', function () {
  this.timeout(3_600_000)
  let sites: TwoSites

  before(async () => {
    sites = await twoSites()
    const [, second] = sites.servers
    await sites.put({ ...FILES, '/parts.html': PARTS })
    for (const [name, text, type] of HIDDEN) {
      for (const folder of new Set(FOLDERS)) await put(second, `${folder}${name}.html`, text, type)
      await put(second, `/d/${name}`, text, type ?? 'text/html')
    }
  })
  after(() => sites.close())

  it('SEC-6 ABS-1 ABS-2 tell no file from none', async () => {
    const made = new Making(SEED)
    for (let i = 0; i < REQUESTS; i++) {
      if (i % 20 === 0) await sites.put({ '/parts.html': PARTS })
      const method = made.one(
        'GET GET GET HEAD POST POST POST PUT PUT DELETE DELETE MOVE MOVE PATCH OPTIONS QUERY LOCK COPY PROPFIND'.split(
          ' ',
        ),
      )
      const path = made.path()
      const fields = made.fields()
      let body: string | undefined
      if (method === 'POST' || method === 'PUT') {
        body = made.one(BODIES)
        if (made.is(0.2)) {
          fields['Content-Type'] = 'application/x-www-form-urlencoded'
          body = 'title=x&name=h1'
        }
      } else if (method === 'QUERY') {
        delete fields.Range
        fields['Content-Type'] = made.one(['text/css-selector', 'text/sessel'])
        body = made.one(['.pub', '*', '1 + 1', ...PROGRAMS])
      } else if (method === 'MOVE') {
        // Whoever may move the whole learns by that what is there.
        const isWhole = !path.startsWith('/m/') && made.is(0.2)
        fields.Destination = isWhole ? made.path() : (path.split('?')[0] ?? '')
        if (!isWhole) Object.assign(fields, { Range: made.range(), 'Destination-Range': made.range() })
        if (made.is(0.2)) fields.Overwrite = 'F'
      }
      await sites.same([[method, path, fields, body]], undefined, plain)
    }
  })
})

const plain = (text: string) =>
  text
    .replace(/w-[0-9a-f]{32}/g, 'w-K')
    .replace(/localhost:\d+|127\.0\.0\.1:\d+/g, 'HOST')
    .replace(/-Version: [0-9a-f]{32}/g, '-Version: K')
    .replace(/Retry-After: \d+/g, 'Retry-After: N')
