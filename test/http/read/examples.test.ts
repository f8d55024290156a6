import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, tagOf } from '../../support/http.ts'
import { partsOf } from '../../support/multipart.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** `/index.html` of the first example of authorization.md section 20, word for word. */
const PUBLIC_LIST = `<ul id="todo"><li>Milk</li></ul>
<div hidden itemscope itemtype="${NS}/AuthorizationRule">
  <meta itemprop="actor" content="*"><meta itemprop="resource" content="/index.html">
  <meta itemprop="method" content="PUT"><meta itemprop="method" content="DELETE">
  <meta itemprop="selector" content="#todo li"><meta itemprop="action" content="allow">
</div>`

describe('worked examples of the specification', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/index.html': page(PUBLIC_LIST),
      '/team/index.html': page('team'),
      '/team/style.css': 'p{}',
      '/inbox.html': page('<ul id="in"></ul>'),
      '/doc.html': page('<p>x</p>'),
      '/menu.html': page('<ul id="soups"><li id="miso">Miso</li></ul>'),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/team/*'],
        ['users', 'GET', 'Allow', '/team/*'],
        ['*', 'GET', 'Deny', '/inbox.html'],
        ['*', 'POST', 'Allow', '/inbox.html', '#in'],
        ['editors', 'PUT', 'Allow', '/doc.html'],
        ['suspended', 'PUT', 'Deny', '/doc.html'],
        ['u-7', 'PUT', 'Allow', '/doc.html'],
        ['*', 'PUT', 'Deny', '/doc.html'],
        ['*', 'PUT', 'Allow', '/menu.html'],
      ),
    })
  })
  after(() => server.close())

  describe('a public list in a readable page', () => {
    const rows: [method: string, target: string, range: string | undefined, status: number, why: string][] = [
      ['PUT', '/', 'selector=#todo > li:nth-child(1)', 206, 'PATH-4; the first match is a #todo li'],
      ['PUT', '/', 'selector=#todo', 401, 'the ul is not a #todo li'],
      ['PUT', '/index.html', undefined, 401, 'KEY-3'],
      ['DELETE', '/', 'selector=#todo li:nth-child(9)', 416, 'ABS-3'],
    ]
    for (const [method, target, Range, status, why] of rows) {
      it(`${method} ${target} ${Range ?? 'without Range'}: ${status} (${why})`, async () => {
        const body = method === 'PUT' ? '<li>Bread</li>' : undefined
        expect((await http(method, target, { Range }, body)).status).to.equal(status)
      })
    }

    it('OPTIONS / as multipart: 207 (CAP-7)', async () => {
      const received = await http('OPTIONS', '/', { Accept: 'multipart/mixed' })
      expect(received.status).to.equal(207)
      expect(received.reason).to.equal('Multi-Status')
      expect(received.headers).to.include({ vary: 'Authorization, Accept', 'accept-ranges': 'selector' })
      expect(partsOf(received).map(({ headers, text }) => ({ ...headers, text }))).to.deep.equal([
        { Allow: 'GET, HEAD, OPTIONS', text: '' },
        { 'Content-Range': 'selector=#todo li', Allow: 'PUT, DELETE, OPTIONS', text: '' },
      ])
    })
  })

  it('members only: anonymous visitors are refused, without Location', async () => {
    expect((await http('GET', '/team/')).status).to.equal(401)
    const bare = await http('GET', '/team')
    expect(bare.status).to.equal(401)
    expect(bare.headers).not.to.have.property('location')
    expect((await http('GET', '/team/style.css')).status).to.equal(401)
  })

  it('drop box', async () => {
    const { status, text } = await http('POST', '/inbox.html', { Range: 'selector=#in' }, '<li>letter</li>')
    expect({ status, text }).to.deep.equal({ status: 206, text: '<li>letter</li>' })
    expect((await http('GET', '/inbox.html')).status).to.equal(401)
    expect((await http('PUT', '/inbox.html', { Range: 'selector=#nothing' }, '<li>')).status).to.equal(401)
  })

  it('tiers: anonymous 401', async () => {
    expect((await http('PUT', '/doc.html', {}, 'x')).status).to.equal(401)
  })

  it('HTTP-91 the replaced soup', async () => {
    const written = await http('PUT', '/menu.html', { Range: 'selector=#miso' }, '<li id="miso">Miso, large</li>')
    expect(written.status).to.equal(206)
    expect(written.text).to.equal('<li id="miso">Miso, large</li>')
    const head = await http('HEAD', '/menu.html', { Range: 'selector=#miso' })
    expect(tagOf(head)).to.equal(tagOf(written))
  })
})
