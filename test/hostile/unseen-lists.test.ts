/**
 * Two sites whose pages differ only in what a visitor may not read: what composition projects, generates and divides into
 * pages tells nothing of the difference.
 */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../pipeline/compose/composing.ts'
import { page, put, ruleMarkup, rulesPage } from '../support/content.ts'
import { client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { told } from './told.ts'

/** Of different lengths. */
const SECRETS = ['ZEBRA', 'HORSE12']

const items = (secret: string) => `<li class="x ${secret}">${secret}</li>`.repeat(secret.length)

const PAGES: readonly ((secret: string) => string)[] = [
  secret =>
    `<ul id="hid" p:paginate="2">${items(secret)}</ul><ul id="open" class="public" p:paginate="1"><li>a</li><li>b</li></ul>`,
  secret => `<ul class="hid" p:paginate="2">${items(secret)}</ul><div class="public">p</div>`,
  secret => `<div class="hid" r:post="#a"><p>${secret}</p><p:stamp post></p:stamp></div><div class="public">p</div>`,
  secret =>
    `<div class="hid"><p:include selector="#a" resource="/data.html"></p:include></div><div class="public" itemscope itemref="a s">p</div><i id="s" itemprop="q">${secret}</i>`,
  secret =>
    `<div class="hid" p:template="text/liquid" r:xs=".x">{{ xs | size }} ${secret}</div><div class="public" itemscope itemref="s">p</div><i id="s" itemprop="q">${secret}</i>`,
]

/** Which pages of lists are asked for; where there is no list, the document alone. */
const QUERIES = ['', '?paginate:page=2', '?paginate:hid:page=4&paginate:open:page=2']

const SELECTORS = [
  '.public',
  '.public, .hid',
  '.hid',
  '#a',
  '.x',
  '.ZEBRA ~ .public',
  '.hid:has(.ZEBRA) ~ .public',
  'body > .public',
  'html:has(#hid > :nth-child(2)) .public',
  ':nth-child(count(.x))',
  '.public:nth-child(count(.x))',
  '.public:not(:contains(text-of(.ZEBRA)))',
  'body:contains("ZEBRA") .public',
  'link[rel=next]',
  'link[href*="page=3"]',
  'head > :nth-child(3)',
]

describe('lists, stamps and includes that a visitor may not see', () => {
  const servers: TestServer[] = []

  before(async () => {
    for (const secret of SECRETS) {
      const server = await startServer({ site: { defaultGet: 'deny' } })
      servers.push(server)
      await put(
        server,
        '/data.html',
        page(`<article id="a" class="${secret}">${secret}<ul>${items(secret)}</ul></article>`),
      )
      for (const [at, markup] of PAGES.entries()) await put(server, `/p${at}.html`, composed(markup(secret)))
      await put(server, '/rules.html', rulesPage(['*', 'GET', 'Allow', '/p*.html', '.public']))
    }
  })
  after(async () => {
    for (const server of servers) await server.close()
  })

  for (const [at, markup] of PAGES.entries())
    for (const query of markup('').includes('p:paginate') ? QUERIES : QUERIES.slice(0, 1))
      it(`SEC-6 page ${at}${query} answers every selector the same, whatever is hidden`, async () => {
        let shown = 0
        for (const selector of SELECTORS)
          for (const [method, fields] of [
            ['GET', {}],
            ['GET', { Accept: 'multipart/mixed' }],
            ['GET', { Accept: 'application/ld+json' }],
            ['GET', { 'If-None-Match': '*' }],
            ['HEAD', {}],
            ['OPTIONS', {}],
          ] as [string, Fields][]) {
            const answers: string[] = []
            for (const { port } of servers) {
              const answer = await client(port)(method, `/p${at}.html${query}`, {
                Range: `selector=${selector}`,
                ...fields,
              })
              if (answer.status === 206) shown++
              answers.push(told(answer))
            }
            expect(answers[0], `${method} ${selector} ${JSON.stringify(fields)}`).to.equal(answers[1])
          }
        expect(shown, 'parts that were shown').to.be.above(0)
      })

  it('COMP-68 links to the other pages of a list come with what a visitor may read of it, and no others', async () => {
    for (const { port } of servers) {
      const { headers, status } = await client(port)('GET', '/p0.html', { Range: 'selector=.public' })
      expect(status).to.equal(206)
      expect(headers.link).to.contain('paginate:open:page=2>; rel="last"').and.not.contain('title="hid"')
      expect((await client(port)('GET', '/p1.html', { Range: 'selector=.public' })).headers).to.not.have.property(
        'link',
      )
    }
  })

  it('DENY-2 COMP-87 a refusal names the page that was asked for, and not the document that its parts come from', async () => {
    const [server] = servers
    if (!server) throw new Error('there is no server')
    const http = client(server.port)
    await put(
      server,
      '/origin.html',
      page(`<div id="o">${ruleMarkup(['*', 'GET', 'Deny', '/nowhere'])}<ul id="l"></ul></div>`),
    )
    await put(server, '/front.html', composed('<p:include selector="#o" resource="/origin.html"></p:include>'))
    await put(
      server,
      '/front-rules.html',
      rulesPage(['*', 'DELETE|POST', 'Allow', '/front.html', '#o, #o *'], ['*', 'MOVE', 'Allow', '/front.html']),
    )
    const at = { Range: 'selector=#o > div' }
    const to = { Destination: '/front.html', 'Destination-Range': 'selector=#l; placement=append' }
    for (const [method, fields] of [
      ['DELETE', at],
      ['MOVE', { ...at, ...to }],
    ] as [string, Fields][]) {
      const { status, text } = await http(method, '/front.html', fields)
      expect(status, method).to.equal(401)
      expect(text, method).to.contain('/front.html').and.not.contain('origin')
    }
  })
})
