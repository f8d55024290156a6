import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('failures of the server itself', () => {
  let server: TestServer
  let http: Client
  const restore: (() => void)[] = []

  before(async () => {
    server = await startServer({ settings: { limits: { leaseWait: '60ms' } } })
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<p>x</p>'),
      '/w/page.html': page('<p>x</p>'),
      '/rules.html': rulesPage(['*', '*', 'Allow', '/w/*']),
    })
  })
  after(() => server.close())
  afterEach(() => {
    for (const undo of restore.splice(0)) undo()
  })

  /** Makes a look at what is stored fail, as a broken disk would. */
  function breakStore(error: unknown): void {
    const { site } = server
    const { find, findParsed } = site
    site.find = site.findParsed = () => Promise.reject(error)
    restore.push(() => Object.assign(site, { find, findParsed }))
  }

  it('HTTP-170 something unexpected is 500 Internal, and tells nothing of its cause', async () => {
    breakStore(new Error('disk at /secret/place broke: password=hunter2'))
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'MOVE', 'QUERY']) {
      const fields = {
        Destination: '/w/x.html',
        Range: method === 'POST' ? 'selector=p' : undefined,
        'Content-Type': 'text/css-selector',
      }
      const { status, headers, text } = await http(
        method,
        '/w/page.html',
        fields,
        method === 'GET' || method === 'HEAD' ? undefined : 'p',
      )
      expect(status, method).to.equal(500)
      expect(headers['cache-control'], method).to.equal('no-store')
      expect(headers['x-content-type-options'], method).to.equal('nosniff')
      if (method !== 'HEAD') expect(text, method).to.include('content="Internal"')
      expect(text, method).not.to.match(/secret|hunter2|Error:|\.ts/)
    }
  })

  it('whatever is thrown, even nothing', async () => {
    for (const thrown of [undefined, null, 'text', 7, { status: 200, headers: { 'X-Evil': '1' } }]) {
      breakStore(thrown)
      const { status, headers } = await http('GET', '/page.html?unkept')
      expect(status).to.equal(500)
      expect(headers).not.to.have.property('x-evil')
      for (const undo of restore.splice(0)) undo()
    }
  })

  it('and the next request is answered as ever', async () => {
    breakStore(new Error('once'))
    expect((await http('GET', '/page.html?a')).status).to.equal(500)
    for (const undo of restore.splice(0)) undo()
    expect((await http('GET', '/page.html?a')).status).to.equal(200)
  })

  it('HTTP-171 a path that others keep busy for too long is 503 with Retry-After, and nothing is written', async () => {
    let release = () => {}
    const held = server.site.leases.hold(
      server.site.store.name,
      ['/w/page.html'],
      () => new Promise<void>(resolve => (release = resolve)),
    )
    for (const [method, fields, body] of [
      ['PUT', {}, 'busy'],
      ['PUT', { Range: 'selector=p' }, '<p>busy</p>'],
      ['DELETE', {}, undefined],
      ['MOVE', { Destination: '/w/elsewhere.html' }, undefined],
    ] as const) {
      const { status, headers, text } = await http(method, '/w/page.html', fields, body)
      expect(status, method).to.equal(503)
      expect(headers['retry-after'], method).to.match(/^\d+$/)
      expect(text, method).to.include('content="Unavailable"')
    }
    expect((await http('GET', '/w/page.html')).text, 'reads go on').to.include('<p>x</p>')
    expect((await http('PUT', '/w/other.html', {}, page('y'))).status, 'other paths too').to.equal(201)
    release()
    await held
    expect((await http('PUT', '/w/page.html', { Range: 'selector=p' }, '<p>free</p>')).status).to.equal(206)
  })
})
