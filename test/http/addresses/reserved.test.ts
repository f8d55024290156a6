import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('addresses: reserved prefixes', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { brand: 'acme-site' } })
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      // Everything is allowed to everybody: what is refused here is refused by no rule.
      '/rules.html': rulesPage(['*', '*', 'Allow', '/*']),
    })
  })
  after(() => server.close())

  const targets = [
    '/.acme-site/page.html',
    '/.acme-site/',
    '/.acme-site',
    '/%2Eacme-site/page.html',
    '/.%61cme-site/x/y',
    '/-acme-site/page.html',
    '/-acme-site/',
    '/-acme-site',
    '/%2Dacme-site/oidc/x',
    'http://localhost/.acme-site/page.html',
  ]
  for (const target of targets) {
    it(`HTTP-16 METH-5 writes to ${target} are 403 under every rule`, async () => {
      for (const method of ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']) {
        const { status, text } = await http(method, target, { Destination: '/elsewhere.html' }, page('x'))
        expect(status, method).to.equal(403)
        expect(text, method).to.include('content="Reserved"')
      }
    })

    it(`HTTP-16 reads of ${target} are 404`, async () => {
      expect((await http('GET', target)).status).to.equal(404)
      expect((await http('GET', target, { Range: 'selector=p' })).status).to.equal(404)
      expect((await http('QUERY', target, { 'Content-Type': 'text/css-selector' }, 'p')).status).to.equal(404)
      const head = await http('HEAD', target)
      expect(head.status).to.equal(404)
      expect(head.body.length).to.equal(0)
    })
  }

  it('HTTP-16 selector writes are refused as well', async () => {
    const { status } = await http('POST', '/.acme-site/page.html', { Range: 'selector=body' }, '<p>x</p>')
    expect(status).to.equal(403)
  })

  it('HTTP-16 a MOVE to a reserved Destination is 403, and the source stays', async () => {
    for (const destination of ['/.acme-site/x.html', '/%2eacme-site/x.html', '/-acme-site/x', '/.acme-site/']) {
      expect((await http('MOVE', '/page.html', { Destination: destination })).status, destination).to.equal(403)
    }
    const element = { Range: 'selector=p', 'Destination-Range': 'selector=body; placement=append' }
    expect((await http('MOVE', '/page.html', { ...element, Destination: '/.acme-site/page.html' })).status).to.equal(
      403,
    )
    expect((await http('GET', '/page.html')).status).to.equal(200)
  })

  it('HTTP-16 OPTIONS is never refused', async () => {
    expect((await http('OPTIONS', '/.acme-site/page.html')).status).to.equal(200)
  })

  const ordinary = [
    '/x/.acme-site/y.html',
    '/x/-acme-site/y.html',
    '/.acme-sites/y.html',
    '/.acme/y.html',
    '/.platform/y.html',
    '/-platform/y.html',
    '/acme-site/y.html',
    '/.ACME-SITE/y.html',
  ]
  for (const target of ordinary) {
    it(`HTTP-16 ${target} is ordinary`, async () => {
      expect((await http('PUT', target, {}, page('y'))).status).to.equal(201)
      expect((await http('GET', target)).status).to.equal(200)
    })
  }

  it('HTTP-3 a reserved prefix is 403, not 401, for somebody anonymous whom rules refuse', async () => {
    await put(server, '/deny.html', rulesPage(['*', '*', 'Deny', '/.acme-site/*|/-acme-site/*|/denied/*']))
    expect((await http('PUT', '/.acme-site/x.html', {}, 'x')).status).to.equal(403)
    expect((await http('PUT', '/-acme-site/x.html', {}, 'x')).status).to.equal(403)
    expect((await http('PUT', '/denied/x.html', {}, 'x')).status).to.equal(401)
  })
})
