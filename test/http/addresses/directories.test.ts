import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, type Received, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** Everything of a response that does not tell the moment or the session. */
function comparable({ status, headers, text }: Received) {
  const { date: _, 'set-cookie': __, ...stable } = headers
  return { status, headers: stable, text }
}

describe('addresses: directories', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/index.html': page('<h1>Home</h1>'),
      '/blog/index.html': page('<h1>Blog</h1><ul id="posts"><li>one</li></ul>'),
      '/blog/may.html': page('May'),
      '/v1.2/index.html': page('Version'),
      '/bare/page.html': page('no index here'),
      '/closed/index.html': page('closed'),
      '/hidden/index.html': page('hidden'),
      '/open/index.html': page('open'),
      '/half/index.html': page('half'),
      '/taken': 'a file',
      '/rules.html': rulesPage(
        ['*', '*', 'Allow', '/w/*'],
        ['*', 'PUT|DELETE|MOVE', 'Allow', '/blog/*'],
        ['*', 'POST|PUT', 'Allow', '/blog/index.html', '#posts'],
        ['*', 'GET', 'Deny', '/closed/*'],
        ['*', 'GET', 'Deny', '/hidden/'],
        ['*', 'GET', 'Deny', '/half'],
      ),
    })
  })
  after(() => server.close())

  describe('HTTP-13 a path ending in / is its index, for every method', () => {
    const requests: [name: string, method: string, fields: Record<string, string>, body?: string][] = [
      ['GET', 'GET', {}],
      ['HEAD', 'HEAD', {}],
      ['GET by selector', 'GET', { Range: 'selector=h1' }],
      ['HEAD by selector', 'HEAD', { Range: 'selector=h1' }],
      ['GET by selector without match', 'GET', { Range: 'selector=h6' }],
      ['GET of all matches', 'GET', { Range: 'selector=li', Accept: 'multipart/mixed' }],
      ['GET as JSON-LD', 'GET', { Accept: 'application/ld+json' }],
      ['GET of bytes', 'GET', { Range: 'bytes=0-9' }],
      ['OPTIONS', 'OPTIONS', {}],
      ['OPTIONS of a selector', 'OPTIONS', { Range: 'selector=#posts' }],
      ['OPTIONS of every selector', 'OPTIONS', { Accept: 'multipart/mixed' }],
      ['QUERY', 'QUERY', { 'Content-Type': 'text/css-selector' }, 'h1'],
      ['PUT by selector without match', 'PUT', { Range: 'selector=h6' }, '<h6>x</h6>'],
      ['PUT under a failed condition', 'PUT', { 'If-Match': '"x"' }, page('x')],
    ]
    for (const [name, method, fields, body] of requests) {
      it(name, async () => {
        const directory = comparable(await http(method, '/blog/', fields, body))
        const file = comparable(await http(method, '/blog/index.html', fields, body))
        expect(directory).to.deep.equal(file)
      })
    }

    it('/ and /index.html have one tag', async () => {
      const [slash, file] = [await http('GET', '/'), await http('GET', '/index.html')]
      expect(tagOf(slash)).to.equal(tagOf(file))
      expect(slash.text).to.include('Home')
      expect((await http('GET', '/', { 'If-None-Match': tagOf(file) })).status).to.equal(304)
    })

    it('an element written by one name is read by the other', async () => {
      const written = await http('POST', '/blog/', { Range: 'selector=#posts' }, '<li id="two">two</li>')
      expect(written.status).to.equal(206)
      const read = await http('GET', '/blog/index.html', { Range: 'selector=#two' })
      expect(read.text).to.equal('<li id="two">two</li>')
      expect(tagOf(read)).to.equal(tagOf(written))
    })

    it('the canonical path names parts', async () => {
      const { text } = await http('GET', '/blog/', { Range: 'selector=h1', Accept: 'multipart/mixed' })
      expect(text).to.include('\r\nContent-Location: /blog/index.html\r\n')
    })
  })

  it('HTTP-13 directories are implicit, and there is never a listing', async () => {
    expect((await http('PUT', '/w/a/b/c.html', {}, page('deep'))).status).to.equal(201)
    for (const target of ['/w/a/b/', '/w/a/', '/w/', '/bare/', '/nothing/']) {
      const { status, text } = await http('GET', target)
      expect(status, target).to.equal(404)
      expect(text, target).not.to.include('c.html')
    }
    for (const target of ['/w/a/b', '/w/a', '/bare']) expect((await http('GET', target)).status, target).to.equal(404)
  })

  describe('HTTP-14 whole-document writes of a directory mean its index', () => {
    it('PUT stores it as HTML whatever the request says, DELETE removes it', async () => {
      const put = await http('PUT', '/w/d/', { 'Content-Type': 'text/plain' }, page('index'))
      expect(put.status).to.equal(201)
      const read = await http('GET', '/w/d/index.html')
      expect(read.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(read.text).to.include('index')
      expect((await http('PUT', '/w/d/index.html', {}, page('again'))).status).to.equal(200)
      expect((await http('DELETE', '/w/d/')).status).to.equal(204)
      expect((await http('GET', '/w/d/index.html')).status).to.equal(404)
      expect((await http('GET', '/w/d/')).status).to.equal(404)
    })

    it('MOVE from and to a directory moves its index', async () => {
      await http('PUT', '/w/from/', {}, page('moved'))
      await http('PUT', '/w/from/other.html', {}, page('stays'))
      expect((await http('MOVE', '/w/from/', { Destination: '/w/to/' })).status).to.equal(204)
      expect((await http('GET', '/w/to/index.html')).text).to.include('moved')
      expect((await http('GET', '/w/from/')).status).to.equal(404)
      expect((await http('GET', '/w/from/other.html')).text).to.include('stays')
    })

    it('a MOVE of a directory to its own index goes nowhere', async () => {
      await http('PUT', '/w/same/', {}, page('x'))
      expect((await http('MOVE', '/w/same/', { Destination: '/w/same/index.html' })).status).to.equal(403)
    })
  })

  describe('HTTP-15 redirects', () => {
    for (const method of ['GET', 'HEAD']) {
      it(`${method} without slash, with a readable index`, async () => {
        const { status, headers, body } = await http(method, '/blog')
        expect(status).to.equal(301)
        expect(headers).to.include({ location: '/blog/', 'cache-control': 'private, max-age=3600' })
        expect(body.length).to.equal(0)
      })
    }

    const locations: [target: string, location: string][] = [
      ['/blog?a=1&b=%zz', '/blog/?a=1&b=%zz'],
      ['/blog?', '/blog/?'],
      ['/%62log', '/blog/'],
      ['http://localhost/blog?x', '/blog/?x'],
    ]
    for (const [target, location] of locations) {
      it(`${target} goes to ${location}`, async () => {
        expect((await http('GET', target)).headers.location).to.equal(location)
      })
    }

    it('a selector does not change it', async () => {
      const { status, headers } = await http('GET', '/blog', { Range: 'selector=h1' })
      expect({ status, location: headers.location }).to.deep.equal({ status: 301, location: '/blog/' })
    })

    for (const method of ['PUT', 'DELETE', 'POST', 'QUERY']) {
      it(`${method} is never redirected`, async () => {
        const { status, headers } = await http(method, '/blog', { 'Content-Type': 'text/css-selector' }, 'h1')
        expect(status).not.to.equal(301)
        expect(headers).not.to.have.property('location')
      })
    }

    it('a dot in the last segment makes it a file request', async () => {
      expect((await http('GET', '/v1.2')).status).to.equal(404)
      expect((await http('GET', '/v1.2/')).text).to.include('Version')
    })

    it('a file of that name wins', async () => {
      await put(server, '/plain', 'a file', 'text/plain')
      expect((await http('GET', '/plain')).text).to.equal('a file')
    })

    it('no index: 404', async () => {
      expect((await http('GET', '/bare')).status).to.equal(404)
      expect((await http('GET', '/nothing')).status).to.equal(404)
    })

    it('Location never begins with //', async () => {
      for (const target of ['//blog', '//evil.example', '//evil.example/blog', '/%2Fblog', '/\\evil.example']) {
        const { status, headers } = await http('GET', target)
        expect(status, target).to.be.oneOf([400, 404])
        expect(headers, target).not.to.have.property('location')
      }
    })

    it('PATH-3 ABS-6 rules refuse the name without slash: 401 without Location', async () => {
      const { status, headers } = await http('GET', '/closed')
      expect(status).to.equal(401)
      expect(headers).not.to.have.property('location')
      const other = await http('GET', '/half')
      expect(other.status).to.equal(401)
      expect(other.headers).not.to.have.property('location')
    })

    it('PATH-4 a rule for the directory is one for its index', async () => {
      expect((await http('GET', '/hidden/')).status).to.equal(401)
      expect((await http('GET', '/hidden/index.html')).status).to.equal(401)
    })

    it('the redirect goes with the index', async () => {
      await put(server, '/fleeting/index.html', page('x'))
      expect((await http('GET', '/fleeting')).status).to.equal(301)
      await remove(server, '/fleeting/index.html')
      expect((await http('GET', '/fleeting')).status).to.equal(404)
    })
  })

  it('a directory cannot be made where a file is, nor a file where a directory is', async () => {
    await http('PUT', '/w/file', { 'Content-Type': 'text/plain' }, 'x')
    expect((await http('PUT', '/w/file/below.html', {}, page('x'))).status).to.equal(409)
    await http('PUT', '/w/dir/below.html', {}, page('x'))
    expect((await http('PUT', '/w/dir', { 'Content-Type': 'text/plain' }, 'x')).status).to.equal(409)
  })
})

describe('addresses: directories under default deny', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server.port)
    await putAll(server, {
      '/open/index.html': page('open'),
      '/shut/index.html': page('shut'),
      '/rules.html': rulesPage(['*', 'GET', 'Allow', '/open/']),
    })
  })
  after(() => server.close())

  it('HTTP-15 an index that may be read is redirected to, also where only the directory is granted', async () => {
    const { status, headers } = await http('GET', '/open')
    expect(status).to.equal(301)
    expect(headers.location).to.equal('/open/')
    expect((await http('GET', '/open/')).status).to.equal(200)
  })

  it('HTTP-2 nothing can be learnt from a directory that may not be read', async () => {
    const shut = await http('GET', '/shut')
    const missing = await http('GET', '/missing')
    expect(shut.status).to.equal(401)
    expect(missing.status).to.equal(401)
    expect(shut.text.replaceAll('shut', 'X')).to.equal(missing.text.replaceAll('missing', 'X'))
    expect(shut.headers).not.to.have.property('location')
  })
})
