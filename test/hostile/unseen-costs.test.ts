// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selectors of expressions look like templates
/**
 * Parts of a page that cost a lot on one of two sites, fail there, or are lists of another kind: who may not see them gets the
 * same answers from both (SEC-6).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed, PREFIXES } from '../pipeline/compose/composing.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { page, rulesPage } from '../support/content.ts'
import { type Request, type TwoSites, twoSites } from './two-sites.ts'

const TYPE = 'urn:t:Costly'
/** What costs nothing, or all that a request may spend: an include of itself takes all dispatches, long strings all memory. */
const DATA = [
  '<i class="one">a</i>',
  '<i class="one"><p:include selector=".one" resource="/data.html"></p:include></i>',
]
const NUMBERS = ['<b class="n">1</b>', '<b class="n">1</b><b class="two">2</b>']
const LONG = `(let d = s => s + s + s + s + s + s + s + s + s + s; \${.two}.count() == 0 ? 1 : d(d(d(d(d(d(d(d('x')))))))))`
const OPEN = '<div class="public" e:x="1">p<p:stamp x></p:stamp></div>'
const include = '<p:include selector=".one" resource="/data.html"></p:include>'

const PAGES: [what: string, markup: string | readonly [string, string]][] = [
  ['an include before', `<div class="hid">${include}</div>${OPEN}`],
  ['an include behind', `${OPEN}<div class="hid">${include}</div>`],
  ['several includes', `<div>${include}${include}</div>${OPEN}`],
  ['an include around', `<div>${include}<main>${OPEN}</main></div>`],
  ['a template', `<div class="hid" p:template="text/liquid">{{ 1 }}${include}</div>${OPEN}`],
  [
    'a loop of a template',
    [
      `<div p:template="text/liquid">{% for i in (1..2) %}{% endfor %}</div>${OPEN}`,
      `<div p:template="text/liquid">{% for i in (1..9000000) %}{{ i }}{% endfor %}</div>${OPEN}`,
    ],
  ],
  ['an expression', `<div class="hid" e:n="${LONG}">n</div>${OPEN}`],
  ['an expression around', `<main e:n="${LONG}"><u><p:stamp n></p:stamp></u>${OPEN}</main>`],
  [
    'two expressions around',
    `<main e:n="${LONG}" e:m="2">${OPEN}<div class="public"><p:stamp m></p:stamp></div></main>`,
  ],
  [
    'a failing expression around a script',
    [
      `<main e:n="1"><div class="public" j:m="1 + 1">s<p:stamp m></p:stamp></div></main>`,
      `<main e:n="1 / 0 + nothing"><div class="public" j:m="1 + 1">s<p:stamp m></p:stamp></div></main>`,
    ],
  ],
  ['a read resolver', `<div itemscope itemtype="${TYPE}"><b itemprop="v">7</b></div>${OPEN}`],
  [
    'a list without id',
    [
      `<ul p:paginate="1"><li>1</li></ul><ul class="public" id="open" p:paginate="1"><li>a</li><li>b</li></ul>`,
      `<ul><li>1</li></ul><ul class="public" id="open" p:paginate="1"><li>a</li><li>b</li></ul>`,
    ],
  ],
  [
    'a list with the same id',
    [
      `<ul p:paginate="1" id="open"><li>1</li></ul><ul class="public" id="open" p:paginate="1"><li>a</li><li>b</li></ul>`,
      `<ul><li>1</li></ul><ul class="public" id="open" p:paginate="1"><li>a</li><li>b</li></ul>`,
    ],
  ],
  [
    'a list of no length',
    [
      `<ul p:paginate="x" id="y"><li>1</li></ul><ul class="public" id="open" p:paginate="1"><li>a</li><li>b</li></ul>`,
      `<ul id="y"><li>1</li></ul><ul class="public" id="open" p:paginate="1"><li>a</li><li>b</li></ul>`,
    ],
  ],
  [
    'lists of other lengths',
    [`<ul p:paginate="1" id="y"><li>1</li><li>2</li></ul>${OPEN}`, `<ul id="y"><li>1</li><li>2</li></ul>${OPEN}`],
  ],
  ['a look at who asks', [`<div e:n="request.headers.x">n</div>${OPEN}`, `<div e:n="1">n</div>${OPEN}`]],
  [
    'a look at the clock',
    [
      `<div p:template="text/liquid">{{ 'now' | date: '%s' }}</div>${OPEN}`,
      `<div p:template="text/liquid">1</div>${OPEN}`,
    ],
  ],
  ['what each visitor has', [`<div p:transient>n</div>${OPEN}`, `<div>n</div>${OPEN}`]],
  [
    'ids that are there twice',
    [`<i id="v">n</i><div class="public" id="v">a</div>`, `<i>n</i><div class="public" id="v">a</div>`],
  ],
]

const SELECTORS = [
  '.public',
  '.hid',
  'body > *',
  '#open',
  'li',
  '.public:nth-child(2)',
  'head',
  'link',
  'link[rel=last]',
]

describe('what parts cost that a visitor may not see', () => {
  let sites: TwoSites
  before(async () => {
    sites = await twoSites()
    const declared = (markup: string) => page(markup).replace('<html', `<html ${PREFIXES}`)
    await sites.put({
      '/data.html': DATA.map(declared) as [string, string],
      '/numbers.html': NUMBERS.map(page) as [string, string],
      '/model.html': page(
        schema(
          TYPE,
          {},
          property('v', {
            '@read': { markup: `<script itemprop="@read" type="text/sessel">(${LONG}); self</script>` },
          }),
        ),
      ),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Allow', '/p*.html', '.public, head, head *'],
        ['*', 'PUT|DELETE', 'Allow', '/p*.html', '.none'],
      ),
    })
    for (const [at, [, markup]] of PAGES.entries())
      await sites.put({
        [`/p${at}.html`]: typeof markup === 'string' ? composed(markup) : [composed(markup[0]), composed(markup[1])],
      })
  })
  after(() => sites.close())

  for (const [at, [what]] of PAGES.entries())
    it(`SEC-6 ${what}: both sites give the same answers`, async () => {
      const target = `/p${at}.html`
      const requests = SELECTORS.flatMap((selector): Request[] => [['GET', target, { Range: `selector=${selector}` }]])
      const Range = 'selector=.public'
      requests.push(
        ['GET', `${target}?paginate:page=2&paginate:length=1`, { Range }],
        ['GET', target, { Range, Accept: 'multipart/mixed' }],
        ['GET', target, { Range, Accept: 'application/ld+json' }],
        ['PUT', target, { Range, 'If-Match': '"nope"' }, '<i class="none">q</i>'],
      )
      const statuses = await sites.same(requests)
      expect(statuses.filter(status => status === 206).length, 'parts that were shown').to.be.above(0)
    })
})
