import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, type RuleLine, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { partsOf } from '../../support/multipart.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const MULTIPART = { Accept: 'multipart/mixed' }

const RULES: RuleLine[] = [
  ['*', 'GET', 'Allow', '/list.html'],
  ['*', 'POST', 'Allow', '/list.html', 'ul#wishes'],
  ['*', '*', 'Allow', '/all.html'],
  ['*', '*', 'Allow', '/element.html', '  #a   li '],
  ['*', 'PUT|QUERY|REPORT|bad token', 'Allow', '/named.html'],
  ['*', 'DELETE', 'Deny', '/named.html', '.x'],
  ['*', 'MOVE|PUT', 'Allow', '/moved.html', 'li'],
  ['*', 'MOVE|PUT', 'Deny', '/denied.html', 'li'],
  ['*', 'PUT', 'Allow', '/denied.html|/moved2.html'],
  ['*', 'GET', 'Deny', '/hidden.html'],
  ['users', 'PUT', 'Allow', '/others.html', '.member'],
  ['*', 'HEAD', 'Allow', '/heads.html'],
  ['*', 'GET', 'Deny', '/heads.html'],
  ['*', 'PUT', 'Allow', '/mixed.html', 'li'],
  ['*', 'PUT', 'Deny', '/mixed.html', 'li.locked'],
  ['*', 'PUT|DELETE', 'Allow', '/order.html', '.b'],
  ['*', 'PUT', 'Allow', '/order.html', '.a'],
  ['*', 'PUT', 'Deny', '/order.html', '.c'],
  ['*', 'POST', 'Allow', '/order.html', '.b'],
  ['*', 'PUT', 'Allow', '/umlaut.html', '#käse'],
]

describe('OPTIONS', () => {
  let server: TestServer
  let http: Client
  const options = (target: string, fields: Fields = {}) => http('OPTIONS', target, fields)
  const allow = async (target: string, fields: Fields = {}) => (await options(target, fields)).headers.allow
  const parts = async (target: string) =>
    partsOf(await options(target, MULTIPART)).map(({ headers }) => [headers['Content-Range'], headers.Allow])

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, { '/rules.html': rulesPage(...RULES), '/list.html': page('<ul id="wishes"></ul>') })
  })
  after(() => server.close())

  it('HTTP-122 the example of the specification', async () => {
    const { status, reason, headers, text } = await options('/list.html', MULTIPART)
    expect({ status, reason }).to.deep.equal({ status: 207, reason: 'Multi-Status' })
    expect(headers).not.to.have.property('allow')
    const boundary = /^multipart\/mixed; boundary=([A-Za-z0-9]{1,70})$/.exec(headers['content-type'] ?? '')?.[1]
    expect(text.split(`--${boundary}`).map(part => part.trim())).to.deep.equal([
      '',
      'Allow: GET, HEAD, OPTIONS',
      'Content-Range: selector=ul#wishes\r\nAllow: POST, OPTIONS',
      '--',
    ])
    expect(await parts('/list.html')).to.deep.equal([
      [undefined, 'GET, HEAD, OPTIONS'],
      ['selector=ul#wishes', 'POST, OPTIONS'],
    ])
  })

  describe('HTTP-121 sets', () => {
    const plain: [name: string, target: string, allow: string][] = [
      ['default-GET alone', '/none.html', 'GET, HEAD, OPTIONS'],
      ['a document rule', '/list.html', 'GET, HEAD, POST, OPTIONS'],
      ['* is written out, never literally', '/all.html', 'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, OPTIONS'],
      ['* on elements stands for less', '/element.html', 'GET, HEAD, PUT, DELETE, POST, OPTIONS'],
      ['methods that a rule names, in order', '/named.html', 'GET, HEAD, PUT, QUERY, REPORT, OPTIONS'],
      ['RULE-9 an Allow of MOVE on elements counts as absent', '/moved.html', 'GET, HEAD, OPTIONS'],
      ['RULE-9 a Deny of MOVE on elements is one of the document', '/denied.html', 'GET, HEAD, OPTIONS'],
      ['denied methods are left out', '/hidden.html', 'OPTIONS'],
      ['rules for others grant nothing', '/others.html', 'GET, HEAD, OPTIONS'],
      ['METH-2 a Deny of GET is one of HEAD', '/heads.html', 'OPTIONS'],
    ]
    for (const [name, target, expected] of plain) {
      it(`${name}: ${target}`, async () => {
        const { status, headers, body } = await options(target)
        expect(status).to.equal(200)
        expect(body.length).to.equal(0)
        expect(headers.allow).to.equal(expected)
      })
    }

    const selected: [name: string, target: string, selector: string, allow: string][] = [
      ['a selector of a rule', '/list.html', 'ul#wishes', 'GET, HEAD, POST, OPTIONS'],
      ['white space inside is collapsed', '/element.html', '#a li', 'GET, HEAD, PUT, DELETE, POST, OPTIONS'],
      ['on both sides', '/element.html', '#a \t  li', 'GET, HEAD, PUT, DELETE, POST, OPTIONS'],
      ['another selector', '/list.html', 'ol', 'GET, HEAD, OPTIONS'],
      ['never MOVE and PATCH', '/all.html', 'li', 'GET, HEAD, PUT, DELETE, POST, OPTIONS'],
      ['DEC-2 a Deny of the element wins', '/mixed.html', 'li.locked', 'GET, HEAD, OPTIONS'],
      [
        'CAP-6 a selector that implies that of a rule',
        '/mixed.html',
        'ul > li:nth-child(2)',
        'GET, HEAD, PUT, OPTIONS',
      ],
      ['a selector that does not parse', '/list.html', 'li[', 'GET, HEAD, OPTIONS'],
      ['beyond ASCII', '/umlaut.html', '#käse', 'GET, HEAD, PUT, OPTIONS'],
    ]
    for (const [name, target, selector, expected] of selected) {
      it(`${name}: ${selector}`, async () => {
        const { status, headers } = await options(target, { Range: `selector=${selector}` })
        expect(status).to.equal(200)
        expect(headers.allow).to.equal(expected)
      })
    }

    it('each document-level method of Allow is one that is not refused', async () => {
      const methods = (await allow('/all.html'))?.split(', ') ?? []
      for (const method of methods) {
        const { status } = await http(
          method,
          '/all.html',
          { Destination: '/all.html' },
          method === 'PUT' ? 'x' : undefined,
        )
        expect(status, method).not.to.be.oneOf([401, 405])
      }
    })
  })

  describe('HTTP-122 forms', () => {
    it('multipart, no rule for elements: 204 without content and type', async () => {
      const { status, headers, body } = await options('/all.html', MULTIPART)
      expect(status).to.equal(204)
      expect(body.length).to.equal(0)
      expect(headers).not.to.have.any.keys('content-type', 'content-length', 'transfer-encoding')
      expect(headers.allow).to.equal('GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, OPTIONS')
    })

    it('a Deny for elements is a rule for elements', async () => {
      expect(await parts('/named.html')).to.deep.equal([
        [undefined, 'GET, HEAD, PUT, QUERY, REPORT, OPTIONS'],
        ['selector=.x', 'OPTIONS'],
      ])
    })

    it('RULE-9 those of MOVE are not', async () => {
      expect((await options('/moved.html', MULTIPART)).status).to.equal(204)
      expect((await options('/denied.html', MULTIPART)).status).to.equal(204)
    })

    it('CAP-8 one part for each selector, in order of place, with what rules of this selector grant', async () => {
      expect(await parts('/order.html')).to.deep.equal([
        [undefined, 'GET, HEAD, OPTIONS'],
        ['selector=.b', 'PUT, DELETE, POST, OPTIONS'],
        ['selector=.a', 'PUT, OPTIONS'],
        ['selector=.c', 'OPTIONS'],
      ])
    })

    it('rules for others show nothing: the first part stands alone', async () => {
      expect(await parts('/others.html')).to.deep.equal([[undefined, 'GET, HEAD, OPTIONS']])
    })

    it('a selector beyond ASCII is UTF-8', async () => {
      const { body } = await options('/umlaut.html', MULTIPART)
      expect(body.toString('utf8')).to.include('\r\nContent-Range: selector=#käse\r\n')
    })

    it('Range and Prefer are ignored', async () => {
      const asked = await options('/list.html', { ...MULTIPART, Range: 'selector=li', Prefer: 'return=representation' })
      expect(asked.status).to.equal(207)
      expect(asked.text).to.equal((await options('/list.html', MULTIPART)).text)
    })

    const accepts: [accept: string, status: number][] = [
      ['multipart/mixed', 207],
      ['Multipart/Mixed;q=0.1, text/html', 207],
      ['multipart/mixed;q=0', 200],
      ['multipart/*', 200],
      ['*/*', 200],
      ['text/html', 200],
    ]
    for (const [accept, status] of accepts) {
      it(`Accept: ${accept} is ${status}`, async () => {
        expect((await options('/list.html', { Accept: accept })).status).to.equal(status)
      })
    }
  })

  it('HTTP-122 framing is strict', async () => {
    const { body, headers } = await options('/order.html', MULTIPART)
    expect(headers['content-length']).to.equal(String(body.length))
    const boundary = /boundary=(.*)$/.exec(headers['content-type'] ?? '')?.[1] ?? ''
    const text = body.toString('latin1')
    expect(text.startsWith(`--${boundary}\r\nAllow: `)).to.equal(true)
    expect(text.endsWith(`--${boundary}--\r\n`)).to.equal(true)
    expect(text.replaceAll('\r\n', '')).not.to.match(/[\r\n]/)
    for (const part of text.split(`--${boundary}\r\n`).slice(1)) expect(part).to.match(/^(\S+: [^\r\n]+\r\n)+\r\n/)
  })

  describe('HTTP-123 headers', () => {
    const forms: [name: string, target: string, fields: Fields][] = [
      ['plain', '/list.html', {}],
      ['selector', '/list.html', { Range: 'selector=li' }],
      ['207', '/list.html', MULTIPART],
      ['204', '/none.html', MULTIPART],
    ]
    for (const [name, target, fields] of forms) {
      it(name, async () => {
        const { headers } = await options(target, fields)
        expect(headers).to.include({
          vary: 'Authorization, Accept',
          'cache-control': 'no-store',
          'accept-query': 'text/css-selector, text/sessel',
          'accept-ranges': 'selector',
        })
        expect(headers).not.to.have.any.keys('etag', 'last-modified')
      })
    }

    it('CAP-9 every language that is named is answered, on every path that has something', async () => {
      const { headers } = await options('/list.html')
      const languages = (headers['accept-query'] ?? '').split(', ')
      expect(languages).to.include('text/css-selector')
      for (const type of languages) {
        const { status } = await http('QUERY', '/list.html', { 'Content-Type': type }, 'li')
        // Expressions need a grant of their own (SES-230).
        expect(status, type).to.equal(type === 'text/sessel' ? 401 : 200)
      }
      for (const target of ['/', '/none.html', '/a.css', '/*'])
        expect((await options(target)).headers['accept-query'], target).to.equal(headers['accept-query'])
    })

    const looks: [target: string, html: boolean][] = [
      ['/', true],
      ['/a/', true],
      ['/a.html', true],
      ['/a.HTM', true],
      ['/a', true],
      ['/v1.2/a', true],
      ['/a.css', false],
      ['/a.b', false],
      ['/v1.2/a.png', false],
    ]
    for (const [target, html] of looks) {
      it(`CAP-4 ${target} ${html ? 'looks' : 'does not look'} like HTML`, async () => {
        expect((await options(target)).headers['accept-ranges']).to.equal(html ? 'selector' : undefined)
      })
    }
  })

  it('HTTP-120 CAP-1 it needs no permission, looks at nothing stored and changes nothing', async () => {
    for (const target of ['/hidden.html', '/none.html', '/none/', '/none']) {
      for (const fields of [{}, { Range: 'selector=#x' }, MULTIPART, { 'If-Match': '"x"' }, { 'If-None-Match': '*' }])
        expect((await options(target, fields)).status, target).to.be.oneOf([200, 204])
    }
    for (const range of ['selector=', 'selector=li[', 'rows=1', 'bytes=0-1', 'x'])
      expect((await options('/list.html', { Range: range })).status, range).to.equal(200)
  })

  it('HTTP-123 OPTIONS * names the methods of the server', async () => {
    const { status, headers, body } = await options('*')
    expect(status).to.equal(204)
    expect(body.length).to.equal(0)
    expect(headers.allow).to.equal('GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS')
    expect((await http('GET', '*')).status).to.equal(400)
  })

  it('PATH-4 a directory and its index have the same answer', async () => {
    await putAll(server, {
      '/dir-rules.html': rulesPage(['*', 'PUT', 'Allow', '/dir/'], ['*', 'POST', 'Allow', '/dir/index.html', 'ul']),
    })
    expect(await allow('/dir/')).to.equal('GET, HEAD, PUT, POST, OPTIONS')
    expect(await allow('/dir/index.html')).to.equal('GET, HEAD, PUT, POST, OPTIONS')
    expect(await parts('/dir/')).to.deep.equal(await parts('/dir/index.html'))
  })
})

describe('OPTIONS under default deny', () => {
  let server: TestServer

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'GET', 'Allow', '/open.html'], ['*', 'GET', 'Allow', '/part.html', 'p']),
    })
  })
  after(() => server.close())

  it('HTTP-121 nothing is granted but what rules say', async () => {
    const http = client(server.port)
    const allow = async (target: string, fields: Fields = {}) => (await http('OPTIONS', target, fields)).headers.allow
    expect(await allow('/none.html')).to.equal('OPTIONS')
    expect(await allow('/open.html')).to.equal('GET, HEAD, OPTIONS')
    expect(await allow('/part.html')).to.equal('GET, HEAD, OPTIONS')
    expect(await allow('/part.html', { Range: 'selector=p' })).to.equal('GET, HEAD, OPTIONS')
    expect(await allow('/part.html', { Range: 'selector=ul' })).to.equal('OPTIONS')
    const several = partsOf(await http('OPTIONS', '/part.html', MULTIPART))
    expect(several.map(({ headers }) => headers)).to.deep.equal([
      { Allow: 'OPTIONS' },
      { 'Content-Range': 'selector=p', Allow: 'GET, HEAD, OPTIONS' },
    ])
  })
})
