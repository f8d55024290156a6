import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, connect } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const docs = page('<h1>Docs</h1>')
const long = (bytes: number) => 'a'.repeat(bytes)

describe('addresses: decoding', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/docs.html': docs,
      '/a b+c.html': page('plus'),
      '/caf\u00e9.html': page('composed'),
      '/100%.html': page('percent'),
      '/a?b.html': page('question'),
      '/Case.html': page('Case'),
      [`/${long(255)}`]: 'longest segment',
      [`/${`${long(200)}/`.repeat(5)}${long(18)}`]: 'longest path',
      '/rules.html': rulesPage(['*', 'PUT|DELETE|MOVE|PATCH|POST', 'Allow', '/*'], ['*', 'GET', 'Deny', '/secret/*']),
    })
    await put(server, '/secret/plan.html', page('secret'))
  })
  after(() => server.close())

  const same: [name: string, target: string, content: string][] = [
    ['plain', '/docs.html', 'Docs'],
    ['an escaped letter', '/%64ocs.html', 'Docs'],
    ['escaped in lower and upper case', '/%64%6F%63%73%2ehtml', 'Docs'],
    ['a plus is a plus, a space is %20', '/a%20b+c.html', 'plus'],
    ['UTF-8 escapes', '/caf%C3%A9.html', 'composed'],
    ['HTTP-12 decomposed', '/cafe%CC%81.html', 'composed'],
    ['decoded once, not twice', '/100%25.html', 'percent'],
    ['an escaped question mark belongs to the path', '/a%3Fb.html', 'question'],
    ['HTTP-10 the query takes no part', '/docs.html?x=%zz&y=../..//', 'Docs'],
    ['HTTP-10 an empty query', '/docs.html?', 'Docs'],
    ['HTTP-10 absolute form', 'http://localhost/docs.html', 'Docs'],
    ['HTTP-10 absolute form in other letters', 'HTTP://LOCALHOST:1/docs.html?q', 'Docs'],
  ]
  for (const [name, target, content] of same) {
    it(`HTTP-11 ${name}: ${target}`, async () => {
      const { status, text } = await http('GET', target)
      expect(status).to.equal(200)
      expect(text).to.include(content)
    })
  }

  it('HTTP-10 paths are case-sensitive', async () => {
    expect((await http('GET', '/Case.html')).status).to.equal(200)
    expect((await http('GET', '/case.html')).status).to.equal(404)
  })

  it('HTTP-11 limits are met exactly: a segment of 255 and a path of 1,024 bytes', async () => {
    expect((await http('GET', `/${long(255)}`)).text).to.equal('longest segment')
    const path = `/${`${long(200)}/`.repeat(5)}${long(18)}`
    expect(path.length).to.equal(1024)
    expect((await http('GET', path)).text).to.equal('longest path')
  })

  it('HTTP-11 a target of 8,192 bytes is read, one more is 414', async () => {
    const target = `/docs.html?${long(8192 - 11)}`
    expect((await http('GET', target)).status).to.equal(200)
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS', 'QUERY']) {
      expect((await http(method, `${target}a`)).status, method).to.equal(414)
    }
  })

  const refused: [name: string, target: string, read: number, write: number][] = [
    ['a lone percent', '/%', 400, 400],
    ['half an escape', '/a%4', 400, 400],
    ['no hexadecimal digits', '/%zz', 400, 400],
    ['bytes that are not UTF-8', '/%FF.html', 400, 400],
    ['raw bytes beyond ASCII, which no target may hold', '/café.html', 400, 400],
    ['an overlong form of a dot', '/%C0%AE', 400, 400],
    ['NUL', '/a%00.html', 400, 400],
    ['a line end', '/a%0D%0Ab', 400, 400],
    ['a tab', '/a%09b', 400, 400],
    ['U+001F', '/a%1Fb', 400, 400],
    ['U+007F', '/a%7Fb', 400, 400],
    ['an escaped slash', '/a%2Fb', 400, 400],
    ['an escaped slash, lower case', '/secret%2fplan.html', 400, 400],
    ['a backslash', '/secret\\plan.html', 400, 400],
    ['an escaped backslash', '/secret%5Cplan.html', 400, 400],
    ['a dot segment', '/./docs.html', 400, 400],
    ['two dots', '/x/../docs.html', 400, 400],
    ['escaped dots', '/x/%2e%2E/docs.html', 400, 400],
    ['half escaped dots', '/x/.%2e', 400, 400],
    ['an empty segment', '/x//docs.html', 404, 400],
    ['an empty segment at the start', '//docs.html', 404, 400],
    ['two slashes alone', '//', 404, 400],
    ['two slashes at the end', '/x//', 404, 400],
    ['a segment of 256 bytes', `/${long(256)}`, 404, 414],
    ['a segment of 256 bytes in 128 letters', `/${'%C3%A9'.repeat(128)}`, 404, 414],
    ['a path of 1,025 bytes', `/${`${long(200)}/`.repeat(5)}${long(19)}`, 404, 414],
  ]
  for (const [name, target, read, write] of refused) {
    it(`HTTP-11 SEC-2 ${name}: ${target.length > 40 ? `${target.slice(0, 40)}…` : target}`, async () => {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await http(method, target)
        expect(status, method).to.equal(read)
        expect(headers, method).not.to.have.property('location')
      }
      expect((await http('QUERY', target, {}, 'p')).status, 'QUERY').to.equal(read)
      for (const method of ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']) {
        expect((await http(method, target, {}, method === 'PUT' ? 'x' : undefined)).status, method).to.equal(write)
      }
    })
  }

  it('HTTP-11 raw control characters do not pass the parser', async () => {
    for (const byte of [0x00, 0x01, 0x09, 0x1f, 0x7f]) {
      const connection = await connect(server.port)
      connection.send(
        Buffer.concat([Buffer.from('GET /a'), Buffer.of(byte), Buffer.from('b HTTP/1.1\r\nHost: localhost\r\n\r\n')]),
      )
      expect((await connection.receive()).status, `byte ${byte}`).to.equal(400)
      connection.close()
    }
  })

  it('HTTP-11 a fragment sent with the target is 400', async () => {
    expect((await http('GET', '/docs.html#x')).status).to.equal(400)
  })

  it('SEC-2 no spelling reaches a document under another name than the rules see', async () => {
    const spellings = ['/secret/plan.html', '/%73ecret/plan.html', '/secret/%70lan.html', '/secret/plan%2ehtml']
    for (const target of [...spellings, 'http://localhost/secret/plan.html', '/secret/plan.html?x']) {
      expect((await http('GET', target)).status, target).to.equal(401)
    }
    for (const target of [
      '/secret%2Fplan.html',
      '/./secret/plan.html',
      '//secret/plan.html',
      '/x/../secret/plan.html',
    ]) {
      expect((await http('GET', target)).status, target).to.be.oneOf([400, 404])
    }
  })

  it('HTTP-11 one decoded path: what is written under one spelling is read under the others', async () => {
    expect((await http('PUT', '/n%65w%20page.html', {}, page('new'))).status).to.equal(201)
    expect((await http('GET', '/new%20page.html')).text).to.include('new')
    expect((await http('PUT', '/cafe%CC%81/x.txt', {}, 'x')).status).to.equal(201)
    expect((await http('PUT', '/caf%C3%A9/x.txt', {}, 'y')).status).to.equal(200)
  })

  it('HTTP-11 a path reported in a header is percent-encoded again', async () => {
    await put(server, '/café & co/index.html', page('x'))
    const { status, headers } = await http('GET', '/caf%C3%A9%20&%20co?a=b')
    expect(status).to.equal(301)
    expect(headers.location).to.equal('/caf%C3%A9%20%26%20co/?a=b')
    const several = await http('GET', '/a%3Fb.html', { Range: 'selector=body', Accept: 'multipart/mixed' })
    expect(several.text).to.include('\r\nContent-Location: /a%3Fb.html\r\n')
  })

  it('HTTP-11 error documents name the decoded path', async () => {
    const { status, text } = await http('GET', '/secret/caf%C3%A9%20%26%20%3Cb%3E.html')
    expect(status).to.equal(401)
    expect(text).to.include('<dd itemprop="resource">/secret/café &amp; &lt;b&gt;.html</dd>')
  })
})
