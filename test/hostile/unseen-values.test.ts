// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selectors of expressions look like templates
/**
 * Two sites whose data differ in what a visitor may not read: pages whose hidden parts bind, search, count, sort, render
 * and divide that data answer every request of the visitor the same (SEC-6).
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { property, schema } from '../pipeline/model/markup.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { told } from './told.ts'

const ARTICLE = 'urn:t:Article'
const article = (name: string, at: number) =>
  `<article id="a${at}" class="x ${name}" itemscope itemtype="${ARTICLE}"><b itemprop="name">${name}</b></article>`
/** Of other lengths, numbers and orders. */
const DATA = [
  ['zebra', 'ant', 'horse'],
  ['bee', 'yak', 'cat', 'dog', 'emu12'],
].map(names => page(names.map(article).join('')))

const OPEN =
  '<div class="public" id="v" itemscope itemref="a0 s"><b itemprop="n">p</b></div><div class="mine" id="m">w</div>'
const HIDDEN: [what: string, markup: string][] = [
  ['bindings by type and id', `<div class="hid" r:a="[itemtype='${ARTICLE}']" r:b="#a0"><p:stamp b></p:stamp></div>`],
  [
    'a search',
    '<div class="hid" id="s" itemprop="q" e:n="Article.search().map(a => a.name).join()"><p:stamp n></p:stamp></div>',
  ],
  [
    'a sorted list in pages',
    '<div class="hid"><ul id="l" r:xs=".x" p:template="text/liquid" p:paginate="9">{% assign ys = xs | sort: "name" %}<li>{{ ys.first }}</li></ul></div>',
  ],
  ['numbers', '<div class="hid" e:n="${.x}.count()" title="t"><i><p:stamp n></p:stamp></i></div>'],
  ['what each visitor has', '<div class="hid" id="s" p:transient><p:include selector="#a0"></p:include></div>'],
]

const SELECTORS = ['.public', '.hid', '#a0', '.x', 'body > .mine', 'html:has(.zebra) .public', '.public:nth-child(2)']
const REQUESTS: [method: string, fields: Fields, body?: string][] = [
  ['GET', { Accept: 'multipart/mixed' }],
  ['GET', { Accept: 'application/ld+json' }],
  ['HEAD', {}],
  ['PUT', { 'If-Match': '"nope"' }, '<i class="mine">q</i>'],
  ['POST', { 'If-None-Match': '*' }, '<i>q</i>'],
  ['DELETE', { 'If-Match': '"nope"' }],
  ['MOVE', { Destination: '/p.html', 'Destination-Range': 'selector=#a0; placement=after' }],
  ['MOVE', { Destination: '/none.html', 'Destination-Range': 'selector=#m; placement=append' }],
]

describe('values that a visitor may not see', () => {
  const servers: TestServer[] = []
  before(async () => {
    for (const data of DATA) {
      const server = await startServer({ site: { defaultGet: 'deny' } })
      servers.push(server)
      await put(server, '/data.html', data)
      await put(server, '/model.html', page(schema(ARTICLE, {}, property('name', {}))))
      await put(
        server,
        '/rules.html',
        rulesPage(
          ['*', 'GET', 'Allow', '/p.html', '.public'],
          ['*', 'PUT|DELETE|MOVE', 'Allow', '/p.html', '.mine'],
          ['*', 'POST', 'Allow', '/p.html', '#m'],
        ),
      )
    }
  })
  after(async () => {
    for (const server of servers) await server.close()
  })

  for (const [what, markup] of HIDDEN)
    it(`SEC-6 ${what}: both sites give the same answers`, async () => {
      for (const server of servers) await put(server, '/p.html', composed(markup + OPEN))
      let shown = 0
      const compare = async (method: string, fields: Fields, body?: string) => {
        const answers: string[] = []
        for (const { port } of servers) {
          const answer = await client(port)(method, '/p.html', fields, body)
          if (answer.status === 206) shown++
          answers.push(told(answer))
        }
        expect(answers[0], `${method} ${JSON.stringify(fields)}`).to.equal(answers[1])
      }
      for (const selector of SELECTORS)
        for (const [method, fields, body] of REQUESTS)
          await compare(method, { Range: `selector=${selector}`, ...fields }, body)
      for (const [type, program] of [
        ['text/css-selector', '.x'],
        ['text/sessel', 'Article.search().count()'],
        ['text/sessel', '${.public}.count()'],
      ] as const)
        await compare('QUERY', { 'Content-Type': type }, program)
      for (const method of ['GET', 'OPTIONS', 'PUT', 'DELETE'])
        await compare(method, {}, method === 'PUT' ? 'x' : undefined)
      expect(shown, 'parts that were shown').to.be.above(0)
    })
})
