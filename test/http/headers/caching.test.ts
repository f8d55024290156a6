// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { composed } from '../../pipeline/compose/composing.ts'
import { processor, trigger } from '../../pipeline/react/site.ts'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('headers: caching', () => {
  let server: TestServer
  let http: Client
  let returning: Fields
  const read = (target: string, fields: Fields = {}) => http('GET', target, { ...returning, ...fields })

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<p itemscope>x</p>'),
      '/feed.xml': '<feed/>',
      '/dir/index.html': page('x'),
      '/shut.html': page('x'),
      '/rules.html': rulesPage(
        ['*', '*', 'Allow', '/w/*'],
        ['*', 'GET', 'Deny', '/shut.html'],
        ['*', 'GET', 'Deny', '/spoken-${request.headers.x-secret}.*'],
      ),
    })
    const cookie = /^[^;]+/.exec((await http('GET', '/page.html')).headers['set-cookie'] ?? '')?.[0]
    returning = { Cookie: cookie }
  })
  after(() => server.close())

  it('PRIV-1 HTTP-150 what a trigger may refuse is kept by no shared cache', async () => {
    const folders = ['by-trigger', 'by-processor']
    await put(
      server,
      '/reactions.html',
      page(
        trigger({ resource: '/by-trigger/*', when: 'Context.request.auth.username == "bob"', action: '1 / 0' }) +
          processor({ resource: '/by-processor/*', status: '404', action: 'Context.response.body = "none"' }),
      ),
    )
    const told: string[] = []
    for (const folder of folders) {
      await put(server, `/${folder}/a.css`, 'b{}')
      await put(server, `/${folder}/composed.html`, composed('<p class="a" e:n="1">x</p>'))
      for (const [name, fields] of [
        ['a.css', {}],
        ['composed.html', {}],
        ['composed.html', { Range: 'selector=.a' }],
      ] as const) {
        const { headers } = await read(`/${folder}/${name}`, fields)
        told.push(`${headers['cache-control']}; ${headers.vary}`)
      }
    }
    const own = [
      'private, max-age=300; Cookie, Authorization',
      ...Array(2).fill('private, no-cache; Accept, Range, Cookie, Authorization'),
    ]
    const shared = ['public, max-age=300; undefined', ...Array(2).fill('public, max-age=0, s-maxage=5; Accept, Range')]
    expect(told).to.deep.equal([...own, ...shared])
  })

  const blobs: [type: string, cache: string][] = [
    ['text/css', 'public, max-age=300'],
    ['text/css; charset=utf-8', 'public, max-age=300'],
    ['text/javascript', 'public, max-age=300'],
    ['application/javascript', 'public, max-age=300'],
    ['application/x-javascript', 'public, max-age=300'],
    ['image/png', 'public, max-age=300'],
    ['image/svg+xml', 'public, max-age=300'],
    ['font/woff2', 'public, max-age=300'],
    ['application/font-woff', 'public, max-age=300'],
    ['application/vnd.ms-fontobject', 'public, max-age=300'],
    ['application/json', 'no-cache'],
    ['application/pdf', 'no-cache'],
    ['text/plain', 'no-cache'],
    ['video/mp4', 'no-cache'],
    ['application/octet-stream', 'no-cache'],
  ]
  it('HTTP-150 with assetMaxAge 0s, browsers ask each time and get 304', async () => {
    const other = await startServer({ site: { assetMaxAge: '0s' } })
    try {
      await put(other, '/site.css', 'b{}', 'text/css')
      const { headers } = await client(other.port)('GET', '/site.css')
      expect(headers['cache-control']).to.equal('no-cache')
      const again = await client(other.port)('GET', '/site.css', { 'If-None-Match': headers.etag ?? '' })
      expect(again.status).to.equal(304)
    } finally {
      await other.close()
    }
  })

  for (const [type, cache] of blobs) {
    it(`HTTP-150 HTTP-151 ${type}: ${cache}, and no cookie`, async () => {
      const path = `/assets/${blobs.findIndex(([each]) => each === type)}`
      await put(server, path, 'x', type)
      for (const method of ['GET', 'HEAD']) {
        for (const visitor of [returning, {}]) {
          const { status, headers } = await http(method, path, visitor)
          expect(status).to.equal(200)
          expect(headers['cache-control']).to.equal(cache)
          expect(headers).not.to.have.property('set-cookie')
        }
      }
      const range = await http('GET', path, { Range: 'bytes=0-0' })
      expect(range.headers['cache-control']).to.equal(cache)
      expect(range.headers).not.to.have.property('set-cookie')
      const unchanged = await http('GET', path, { 'If-None-Match': '*' })
      expect(unchanged.status).to.equal(304)
      expect(unchanged.headers['cache-control']).to.equal(cache)
      expect(unchanged.headers).not.to.have.property('set-cookie')
    })
  }

  const documents: [name: string, target: string, fields: Fields][] = [
    ['whole', '/page.html', {}],
    ['fragment', '/page.html', { Range: 'selector=p' }],
    ['all matches', '/page.html', { Range: 'selector=p', Accept: 'multipart/mixed' }],
    ['JSON-LD', '/page.html', { Accept: 'application/ld+json' }],
    ['bytes', '/page.html', { Range: 'bytes=0-9' }],
    ['XML', '/feed.xml', {}],
    ['unchanged', '/page.html', { 'If-None-Match': '*' }],
  ]
  for (const [name, target, fields] of documents) {
    it(`HTTP-150 SSN-8 a document without composition, ${name}: no-cache, private where a cookie is set`, async () => {
      const again = await read(target, fields)
      expect(again.headers['cache-control']).to.equal('no-cache')
      expect(again.headers).not.to.have.property('set-cookie')
      const first = await http('GET', target, fields)
      expect(first.headers['cache-control']).to.equal('private, no-cache')
      expect(first.headers).to.have.property('set-cookie')
    })

    it(`HTTP-152 Vary of a document, ${name}`, async () => {
      const members = target === '/feed.xml' ? 'Range' : 'Accept, Range'
      expect((await read(target, fields)).headers.vary).to.equal(members)
      expect((await http('GET', target, fields)).headers.vary).to.equal(`${members}, Cookie, Authorization`)
    })
  }

  it('HTTP-15 HTTP-150 the redirect of a directory', async () => {
    for (const visitor of [returning, {}])
      expect((await http('GET', '/dir', visitor)).headers['cache-control']).to.equal('private, max-age=3600')
  })

  const unstored: [
    name: string,
    method: string,
    target: string,
    fields: Fields,
    body: string | undefined,
    status: number,
  ][] = [
    ['created', 'PUT', '/w/new.html', {}, page('<ul></ul>'), 201],
    ['replaced', 'PUT', '/w/new.html', {}, page('<ul></ul>'), 200],
    ['inserted', 'POST', '/w/new.html', { Range: 'selector=ul' }, '<li>x</li>', 206],
    ['replaced element', 'PUT', '/w/new.html', { Range: 'selector=li' }, '<li>y</li>', 206],
    ['removed element', 'DELETE', '/w/new.html', { Range: 'selector=li' }, undefined, 204],
    ['moved', 'MOVE', '/w/new.html', { Destination: '/w/moved.html' }, undefined, 204],
    ['removed', 'DELETE', '/w/moved.html', {}, undefined, 204],
    ['capabilities', 'OPTIONS', '/page.html', {}, undefined, 200],
    ['bad request', 'GET', '/%zz', {}, undefined, 400],
    ['refused', 'GET', '/shut.html', {}, undefined, 401],
    ['reserved', 'PUT', '/.platform/x', {}, 'x', 403],
    ['not found', 'GET', '/none.html', {}, undefined, 404],
    ['method', 'PROPFIND', '/page.html', {}, undefined, 405],
    ['not acceptable', 'QUERY', '/page.html', { 'Content-Type': 'text/css-selector', Accept: 'text/html' }, 'p', 406],
    ['condition', 'GET', '/page.html', { 'If-Match': '"x"' }, undefined, 412],
    ['no match', 'GET', '/page.html', { Range: 'selector=h6' }, undefined, 416],
    ['selector', 'GET', '/page.html', { Range: 'selector=li[' }, undefined, 422],
    ['unknown', 'PURGE', '/page.html', {}, undefined, 501],
  ]
  for (const [name, method, target, fields, body, status] of unstored) {
    it(`HTTP-150 no-store: ${name}`, async () => {
      const received = await http(method, target, { ...returning, ...fields }, body)
      expect(received.status).to.equal(status)
      expect(received.headers['cache-control']).to.equal('no-store')
    })
  }

  it('HTTP-150 PRIV-1 what rules grant by a header is private, for caches know nothing of the header', async () => {
    await putAll(server, { '/spoken-x.html': page('x'), '/spoken-x.css': 'p{}' })
    expect((await read('/spoken-x.html', { 'X-Secret': 'x' })).status).to.equal(401)
    const { status, headers } = await read('/spoken-x.html')
    expect(status).to.equal(200)
    expect(headers['cache-control']).to.equal('private, no-cache')
    expect((await read('/spoken-x.css')).headers['cache-control']).to.equal('private, max-age=300')
  })
})
