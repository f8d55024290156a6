/**
 * Parts of a page that cannot be put together on one of two sites: who may not read them gets the same answers from both,
 * who may is told that the page has failed (SEC-6, COMP-131).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { told } from './told.ts'

/** What one site holds and the other does not: with it, the hidden parts fail. */
const DATA = ['<i class="one">a</i>', '<i class="one">a</i><i class="one">b</i>']

const STAMP = 'https://tides.example/Stamp'
const FAILING = `10 / (2 - \${.one}.count())`
const CODE = `<script itemprop="source" type="text/sessel">${FAILING}</script>`
const SCHEMA = schema(
  STAMP,
  {},
  property('v', { '@read': { markup: `<script itemprop="@read" type="text/sessel">(${FAILING}); self</script>` } }),
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="note"><div itemprop="implementation" itemscope itemtype="${NS}/Sessel">${CODE}</div></div>`,
)
const OPEN = '<div class="public">p</div>'
const PARTS: [what: string, markup: string][] = [
  ['an include', `<div class="hid"><p:include selector=".one" resource="/data.html"></p:include></div>${OPEN}`],
  ['an include at the top', `<p:include selector=".one" resource="/data.html"></p:include>${OPEN}`],
  ['an expression', `<div class="hid" e:n="${FAILING}">n</div>${OPEN}`],
  ['an expression around what may be read', `<main e:n="${FAILING}"><i><p:stamp n></p:stamp></i>${OPEN}</main>`],
  [
    'a template',
    `<div class="hid" p:template="text/liquid">{{ 1 }}<p:include selector=".one" resource="/data.html"></p:include></div>${OPEN}`,
  ],
  [
    'a binding with functions',
    `<div class="hid" r:n="i:nth-child(count(.one)):contains(text-of(.one))">n</div>${OPEN}`,
  ],
  ['a method as element', `<div class="hid"><t:note></t:note></div>${OPEN}`],
  ['a method as attribute', `<div class="hid" t:note="1">n</div>${OPEN}`],
  ['a read resolver', `<div class="hid" itemscope itemtype="${STAMP}"><b itemprop="v">7</b></div>${OPEN}`],
  [
    'lists that are included',
    `<div class="hid"><p:include selector=".one" resource="/data.html"></p:include><ul p:paginate="1" id="a"><li>1</li></ul></div>${OPEN}`,
  ],
]
const SELECTORS = [
  '.public',
  '.hid',
  'i',
  'body > *',
  '.hid ~ .public',
  'html:has(.one) .public',
  ':nth-child(1)',
  '#a',
  'p\\:include',
  '.public:nth-child(2)',
]

describe('parts that fail where a visitor may not see them', () => {
  const servers: TestServer[] = []
  before(async () => {
    for (const data of DATA) {
      const server = await startServer({ site: { defaultGet: 'deny' } })
      servers.push(server)
      await put(server, '/data.html', page(data))
      await put(server, '/model.html', page(SCHEMA))
      for (const [at, [, markup]] of PARTS.entries())
        await put(server, `/p${at}.html`, composed(markup).replace('<html', `<html xmlns:t="${STAMP}"`))
      await put(server, '/rules.html', rulesPage(['*', 'GET|PUT|POST|DELETE', 'Allow', '/p*.html', '.public']))
      await put(server, '/seen-rules.html', rulesPage(['*', 'GET', 'Allow', '/seen*.html', '.hid']))
    }
  })
  after(async () => {
    for (const server of servers) await server.close()
  })

  for (const [at, [what, markup]] of PARTS.entries()) {
    it(`SEC-6 ${what}: both sites give the same answers`, async () => {
      let shown = 0
      for (const selector of SELECTORS)
        for (const [method, fields, body] of [
          ['GET', {}],
          ['GET', { Accept: 'multipart/mixed' }],
          ['GET', { Accept: 'application/ld+json' }],
          ['HEAD', {}],
          ['OPTIONS', {}],
          ['PUT', { 'If-Match': '"nope"' }, '<div class="public">q</div>'],
          ['POST', { 'If-None-Match': '*' }, '<i>q</i>'],
          ['DELETE', { 'If-Match': '"nope"' }],
        ] as [string, Fields, string?][]) {
          const answers: string[] = []
          for (const { port } of servers) {
            const answer = await client(port)(
              method,
              `/p${at}.html`,
              { Range: `selector=${selector}`, ...fields },
              body,
            )
            if (answer.status === 206) shown++
            answers.push(told(answer))
          }
          expect(answers[0], `${method} ${selector} ${JSON.stringify(fields)}`).to.equal(answers[1])
        }
      expect(shown, 'parts that were shown').to.be.above(0)
    })

    it(`COMP-131 ${what}: whoever may read it, or all of the page, gets no part of it`, async () => {
      const [sound, failing] = servers
      if (!sound || !failing) throw new Error('no servers')
      const own = composed(markup.replaceAll('<main', '<main class="hid"')).replace('<html', `<html xmlns:t="${STAMP}"`)
      const isInside = own.includes('class="hid"')
      const status = async ({ port }: TestServer, path: string) =>
        (await client(port)('GET', path, { Range: 'selector=.hid' })).status
      for (const server of servers) await put(server, '/seen.html', own)
      if (isInside) {
        expect(await status(sound, '/seen.html')).to.equal(206)
        expect(await status(failing, '/seen.html')).to.equal(500)
      }
      await put(failing, '/all.html', rulesPage(['*', 'GET', 'Allow', '/seen.html']))
      for (const fields of [{}, { Range: 'selector=.public' }])
        expect((await client(failing.port)('GET', '/seen.html', fields)).status).to.equal(500)
      await put(failing, '/all.html', page(''))
    })
  }

  it('COMP-131 HEAD of the whole fails as ever', async () => {
    const statuses = []
    for (const server of servers) {
      await put(server, '/head.html', composed(PARTS[1]?.[1] ?? ''))
      await put(server, '/head-rules.html', rulesPage(['*', 'HEAD', 'Allow', '/head.html']))
      statuses.push((await client(server.port)('HEAD', '/head.html')).status)
    }
    expect(statuses).to.deep.equal([200, 500])
  })
})
