// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** Expressions that authors send to the mount: what they reach, and how each result and failure is answered (SES-126, SES-230 to SES-236). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, put, putAll } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const TEA = 'https://tea.example/Tea'
const tea = (name: string) => `<li class="tea" itemscope itemtype="${TEA}"><b itemprop="name">${name}</b></li>`
const L = `@schema L url("${NS}/1.0");`
const T = `@schema T url("${TEA}");`
const ENDLESS = 'let f = n => n == 0 ? 1 : f(n - 1) + f(n - 1); f(60)'
const SCHEMA = `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${TEA}"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="name"></div></div>`

describe('Expressions on the mount', () => {
  let server: TestServer
  const as = new Map<string, Client>()
  before(async () => {
    const credentials = [
      { user: 'whole', password: 'whole' },
      { user: 'part', password: 'part', scope: ['/m/*'] },
      { user: 'reader', password: 'reader', write: false },
    ]
    server = await startServer({ site: { credentials } })
    const port = Number(new URL(server.mountUrl).port)
    for (const { user } of credentials)
      as.set(user, client(port, { Authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}` }))
    await putAll(server, {
      '/model.html': page(SCHEMA),
      '/m/a.html': page(`<h1>A</h1><ul>${tea('oolong')}${tea('mate')}</ul>`),
      '/m/b.html': page(`<h1>B</h1>${tea('chai')}`),
      '/m/page.html': `<!doctype html><html xmlns:p="${NS}/1.0"><body><p:include selector="#o" resource="/other.html"></p:include></body></html>`,
      '/m/feed.xml': '<feed><title class="tea">Feed</title></feed>',
      '/m/pic.png': Buffer.from([1, 2, 3]),
      '/other.html': page(`<p id="o">${tea('none')}</p>`),
      '/blobs/pic.png': Buffer.from([1]),
    })
  })
  after(() => server.close())

  const query = (user: string, path: string, program: string, fields: Fields = {}) => {
    const ask = as.get(user)
    if (!ask) throw new Error(`nobody is ${user}`)
    return ask('QUERY', path, { 'Content-Type': 'text/sessel', ...fields }, program)
  }

  const ANSWERS: [rule: string, user: string, path: string, program: string, answer: string][] = [
    ['SES-126', 'whole', '/m/a.html', '${li}.count()', '200 2'],
    ['SES-126', 'whole', '/m/', '${li}.count()', '200 3'],
    ['SES-126', 'whole', '/', '${li}.count()', '200 4'],
    ['SES-126', 'whole', '/m/', '${.tea}.count()', '200 4'],
    ['SES-126', 'whole', '/m/a.html', '(${li} from "/other.html").count()', '200 1'],
    ['SES-126', 'whole', '/m/a.html', '(${h1} from "/m/*").map(h => h.text())', '200 ["A","B"]'],
    ['SES-126', 'whole', '/m/a.html', '(${li} from "/none/*").count()', '200 0'],
    ['SES-124', 'whole', '/m/page.html', '${#o}.count()', '200 0'],
    ['SES-126', 'part', '/m/a.html', '(${li} from "/other.html").count()', '200 0'],
    ['SES-126', 'part', '/m/a.html', '(${li} from "/*").count()', '200 3'],
    ['SES-126', 'part', '/m/', '${li}.count()', '200 3'],
    ['DAV-3', 'part', '/', '${li}.count()', '200 3'],
    ['DAV-3', 'part', '/other.html', '1', '404'],
    ['DAV-3', 'part', '/blobs/', '1', '404'],
    ['SES-230', 'reader', '/m/a.html', '1 + 1', '200 2'],
    ['SES-231', 'whole', '/m/b.html', '${h1}.first()', '206 <h1>B</h1>'],
    ['SES-231', 'whole', '/m/b.html', 'new b { "x" }', '206 <b>x</b>'],
    ['SES-232', 'whole', '/m/b.html', '${h1}', '200 [{"$type":"element","$html":"<h1>B</h1>","$source":"/m/b.html"}]'],
    ['SES-232', 'whole', '/m/b.html', '[new b]', '200 [{"$type":"element","$html":"<b></b>"}]'],
    ['SES-232', 'whole', '/m/b.html', '[1, 2.0, "a", null, true, {k: []}]', '200 [1,2.0,"a",null,true,{"k":[]}]'],
    ['SES-232', 'whole', '/m/b.html', 'x => x', '400'],
    ['SES-234', 'whole', '/m/', 'self', '416'],
    ['SES-234', 'whole', '/m/', '(${h1} from self).count()', '416'],
    ['SES-236', 'whole', '/m/a.html', ' \n', '400'],
    ['SES-236', 'whole', '/m/a.html', '1 +', '400'],
    ['SES-236', 'whole', '/m/a.html', '"a" * 2 - {}', '400'],
    ['SES-236', 'whole', '/m/a.html', 'nobody', '400'],
    ['SES-236', 'whole', '/m/a.html', 'throw "x"', '400'],
    ['SES-236', 'whole', '/m/a.html', '1 / 0', '500'],
    ['SES-236', 'whole', '/m/a.html', ENDLESS, '507'],
    ['SES-236', 'whole', '/m/none.html', '1', '404'],
    ['SES-236', 'whole', '/none/', '1', '404'],
    ['SES-236', 'whole', '/m/pic.png', '1', '422'],
    ['SES-126', 'whole', '/m/a.html', `${L} L.DELETE("/m/b.html")`, '400'],
    ['SES-126', 'whole', '/m/a.html', `${L} ${T} L.PUT(new T { name: "x" }, "/m/b.html")`, '400'],
    ['SES-126', 'whole', '/m/a.html', `${T} T.search().count()`, '200 2'],
    ['SES-126', 'part', '/m/a.html', `${T} T.search().count()`, '200 2'],
    ['COMP-139', 'whole', '/m/a.html', '${li:nth-child(count(h1))}.map(l => l.text())', '200 ["oolong"]'],
    ['COMP-139', 'part', '/m/a.html', '${li:nth-child(count(#o, h1))}.map(l => l.text())', '200 ["oolong"]'],
    ['SES-2', 'whole', '/m/a.html', 'request.path', '200 "/m/a.html"'],
    ['SES-2', 'whole', '/m/a.html', 'request.auth.username', '200 null'],
  ]
  for (const [rule, user, path, program, answer] of ANSWERS)
    it(`${rule} ${user} asks ${path} ${program}: ${answer}`, async () => {
      const before = (await server.site.find('/m/b.html'))?.resource.version
      const { status, text } = await query(user, path, program)
      expect(status < 300 ? `${status} ${text}` : String(status)).to.equal(answer)
      expect((await server.site.find('/m/b.html'))?.resource.version).to.equal(before)
    })

  const RANGES: [range: string, program: string, status: number, contentRange: string | undefined, text?: string][] = [
    ['entries=0-1', '[1, 2, 3]', 206, 'entries 0-1/3', '[1,2]'],
    ['entries=1-', '[1, 2, 3]', 206, 'entries 1-2/3', '[2,3]'],
    ['entries=2-9', '[1, 2, 3]', 206, 'entries 2-2/3', '[3]'],
    ['entries=3-4', '[1, 2, 3]', 416, 'entries */3'],
    ['entries=2-1', '[1, 2, 3]', 200, undefined, '[1,2,3]'],
    ['entries=0-0', '1', 416, undefined],
    ['entries=0-0', '${h1}.first()', 416, undefined],
    ['selector=h1', '[1]', 200, undefined, '[1]'],
  ]
  for (const [Range, program, status, contentRange, text] of RANGES)
    it(`SES-233 ${Range} of ${program}: ${status}`, async () => {
      const answer = await query('whole', '/m/a.html', program, { Range })
      expect([answer.status, answer.headers['content-range']]).to.deep.equal([status, contentRange])
      if (text !== undefined) expect(answer.text).to.equal(text)
    })

  it('SES-235 an answer that has not changed is 304', async () => {
    const { headers } = await query('whole', '/m/a.html', '${li}.count()')
    expect(headers.etag).to.be.a('string')
    const again = await query('whole', '/m/a.html', '${li}.count()', { 'If-None-Match': headers.etag })
    expect([again.status, again.text]).to.deep.equal([304, ''])
    await put(server, '/m/a.html', page(`<h1>A</h1><ul>${tea('oolong')}${tea('mate')}</ul><p></p>`))
    expect((await query('whole', '/m/a.html', '${*}.count()', { 'If-None-Match': headers.etag })).status).to.equal(200)
  })

  it('SES-236 HTTP-134 without a type, and with another one, the answer names those that are taken', async () => {
    for (const type of [undefined, 'text/plain']) {
      const answer = await query('whole', '/m/a.html', '1', { 'Content-Type': type })
      expect([answer.status, answer.headers['accept-query']]).to.deep.equal([415, 'text/css-selector, text/sessel'])
    }
    expect((await query('whole', '/m/a.html', '1', { 'Content-Type': 'text/sessel; charset=utf-8' })).status).to.equal(
      200,
    )
  })
})
