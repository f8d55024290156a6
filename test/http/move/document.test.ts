import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, tagOf } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, textOf } from '../write-checks.ts'

const DOC = page('<p id="p">document</p>')

describe('MOVE of a whole resource', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'MOVE', 'Allow', '/*'],
        ['*', 'MOVE', 'Deny', '/kept/*'],
        ['*', 'MOVE|PUT|DELETE', 'Deny', '/no/*'],
        ['*', 'GET', 'Deny', '/hidden/*'],
      ),
    )
    await put(server, '/kept/a.html', DOC)
    await put(server, '/folder/a.html', DOC)
  })
  after(() => server.close())
  beforeEach(async () => {
    await put(server, '/a.html', DOC)
    await put(server, '/b.html', page('b'))
    await put(server, '/blob.bin', Buffer.of(0, 255, 1))
  })

  const move = (from: string, to: string, fields = {}) => http('MOVE', from, { Destination: to, ...fields })

  it('HTTP-108 destination free: created, source gone; bytes, tag and elements go along', async () => {
    const tag = tagOf(await http('GET', '/a.html'))
    const answer = await move('/a.html', '/new/place.html')
    expect(answer.status).to.equal(204)
    expect(answer.body).to.have.length(0)
    expect(answer.headers).not.to.have.property('content-length')
    expect(answer.headers['cache-control']).to.equal('no-store')
    expect((await http('GET', '/a.html')).status).to.equal(404)
    const read = await http('GET', '/new/place.html')
    expect(read.text).to.equal(DOC)
    expect(tagOf(read)).to.equal(tag)
    expect((await http('GET', '/new/place.html', selecting('#p'))).status).to.equal(206)
  })

  it('HTTP-81 the answer carries the stored tag', async () => {
    const answer = await move('/a.html', '/tagged.html')
    expect(tagOf(answer)).to.equal(tagOf(await http('GET', '/tagged.html')))
  })

  it('HTTP-108 destination taken: replaced, also with Overwrite: T', async () => {
    for (const fields of [{}, { Overwrite: 'T' }, { Overwrite: 'x' }]) {
      await put(server, '/a.html', DOC)
      await put(server, '/b.html', page('b'))
      expect((await move('/a.html', '/b.html', fields)).status).to.equal(204)
      expect(await textOf(server, '/b.html')).to.equal(DOC)
      expect((await http('GET', '/a.html')).status).to.equal(404)
    }
  })

  it('HTTP-108 with Overwrite: F a taken destination is 412, a free one is not', async () => {
    const answer = await leavesAlone(server, ['/a.html', '/b.html'], () =>
      move('/a.html', '/b.html', { Overwrite: 'F' }),
    )
    expect(failureOf(answer)).to.equal('412 PreconditionFailed')
    const twice = await move('/a.html', '/b.html', { Overwrite: ['T', 'F'] })
    expect(failureOf(twice)).to.equal('412 PreconditionFailed')
    expect((await move('/a.html', '/free1.html', { Overwrite: 'f' })).status).to.equal(204)
  })

  it('HTTP-108 blobs move too, onto documents as well', async () => {
    expect((await move('/blob.bin', '/moved.bin')).status).to.equal(204)
    expect([...(await http('GET', '/moved.bin')).body]).to.deep.equal([0, 255, 1])
    await put(server, '/onto', page('x'), 'text/html')
    expect((await move('/moved.bin', '/onto')).status).to.equal(204)
    expect((await http('GET', '/onto')).headers['content-type']).to.equal('application/octet-stream')
    expect((await http('GET', '/onto', selecting('p'))).status).to.equal(422)
  })

  it('HTTP-108 a large blob moves, too', async () => {
    const bytes = Buffer.alloc(1_000_000, 7)
    await put(server, '/large.bin', bytes)
    expect((await move('/large.bin', '/dir/large.bin')).status).to.equal(204)
    expect((await http('GET', '/dir/large.bin')).body.equals(bytes)).to.equal(true)
  })

  it('HTTP-14 HTTP-105 a path or Destination ending in / is the index', async () => {
    expect((await move('/a.html', '/d/')).status).to.equal(204)
    expect(await textOf(server, '/d/index.html')).to.equal(DOC)
    expect((await move('/d/', '/e/index.html')).status).to.equal(204)
    expect((await http('GET', '/d/')).status).to.equal(404)
    expect((await http('GET', '/e/')).text).to.equal(DOC)
    await put(server, '/e/other.html', DOC)
    expect((await move('/e/', '/f.html')).status).to.equal(204)
    expect((await http('GET', '/e/other.html')).status).to.equal(200)
  })

  it('HTTP-105 Destination may be a URL of this host; query and fragment are ignored; names are decoded', async () => {
    const cases = [
      [`http://localhost:${server.port}/u1.html`, '/u1.html'],
      [`HTTPS://LOCALHOST:${server.port}/u2.html?x#y`, '/u2.html'],
      ['/u3.html?query=/x', '/u3.html'],
      ['/caf%C3%A9%20u4.html', '/caf%C3%A9%20u4.html'],
      ['/cafe%CC%81%20u5.html', '/caf%C3%A9%20u5.html'],
    ] as const
    for (const [destination, path] of cases) {
      await put(server, '/a.html', DOC)
      expect((await move('/a.html', destination)).status, destination).to.equal(204)
      expect((await http('GET', path)).status, destination).to.equal(200)
    }
  })

  const refused: [name: string, path: string, fields: Fields, failure: string][] = [
    ['no Destination', '/a.html', {}, '422 MoveMissingHeaders'],
    ['two of them', '/a.html', { Destination: ['/x.html', '/y.html'] }, '400 BadRequest'],
    ['source missing', '/none.html', { Destination: '/x.html' }, '404 NotFound'],
    ['source missing, destination taken', '/none.html', { Destination: '/b.html' }, '404 NotFound'],
    ['destination is the source', '/a.html', { Destination: '/a.html' }, '403 IllegalMove'],
    ['destination is the source, otherwise spelled', '/a.html', { Destination: '/%61.html' }, '403 IllegalMove'],
    ['another host', '/a.html', { Destination: 'http://other.example/a2.html' }, '502 BadGateway'],
    ['another port', '/a.html', { Destination: 'http://localhost:1/a2.html' }, '502 BadGateway'],
    ['no absolute path', '/a.html', { Destination: 'b.html' }, '400 InvalidPath'],
    ['an empty Destination', '/a.html', { Destination: '' }, '400 InvalidPath'],
    ['dots', '/a.html', { Destination: '/x/../b.html' }, '400 InvalidPath'],
    ['escaped dots', '/a.html', { Destination: '/x/%2e%2e/b.html' }, '400 InvalidPath'],
    ['an escaped slash', '/a.html', { Destination: '/x%2Fb.html' }, '400 InvalidPath'],
    ['a backslash', '/a.html', { Destination: '/x\\b.html' }, '400 InvalidPath'],
    ['NUL', '/a.html', { Destination: '/x%00.html' }, '400 InvalidPath'],
    ['a bad escape', '/a.html', { Destination: '/x%zz.html' }, '400 InvalidPath'],
    ['an empty segment', '/a.html', { Destination: '/x//b.html' }, '400 InvalidPath'],
    ['two slashes', '/a.html', { Destination: '//b.html' }, '400 InvalidPath'],
    ['a segment of 256 bytes', '/a.html', { Destination: `/${'x'.repeat(256)}` }, '414 UriTooLong'],
    ['more than 8,192 bytes', '/a.html', { Destination: `/b?${'x'.repeat(8192)}` }, '414 UriTooLong'],
    ['a directory', '/a.html', { Destination: '/folder' }, '409 Conflict'],
    ['below a file', '/a.html', { Destination: '/b.html/c.html' }, '409 Conflict'],
    ['reserved path', '/.platform/a.html', { Destination: '/x.html' }, '403 Reserved'],
    ['reserved Destination', '/a.html', { Destination: '/.platform/a.html' }, '403 Reserved'],
    ['reserved Destination, escaped', '/a.html', { Destination: '/%2Eplatform/a.html' }, '403 Reserved'],
    ['reserved Destination as URL', '/a.html', { Destination: 'http://localhost/-platform/x' }, '502 BadGateway'],
    ['login paths', '/a.html', { Destination: '/-platform/x.html' }, '403 Reserved'],
    ['the source is denied', '/kept/a.html', { Destination: '/x.html' }, '401 /kept/a.html'],
    ['the destination is denied', '/a.html', { Destination: '/kept/b.html' }, '401 /kept/b.html'],
    ['both are denied', '/kept/a.html', { Destination: '/no/b.html' }, '401 /kept/a.html'],
    ['a missing source that may not be read', '/hidden/x.html', { Destination: '/x.html' }, '401 /hidden/x.html'],
    ['a missing source where the destination is denied', '/none.html', { Destination: '/no/x' }, '401 /no/x'],
  ]
  for (const [name, path, fields, failure] of refused) {
    it(`HTTP-105 HTTP-108 AMV-3 ${name}: ${failure}`, async () => {
      const answer = await leavesAlone(server, ['/a.html', '/b.html', '/kept/a.html', '/x.html'], () =>
        http('MOVE', path, fields),
      )
      expect(failureOf(answer)).to.equal(failure)
      expect(answer.headers).not.to.have.property('location')
    })
  }

  it('AMV-3 MOVE on both paths is enough: no PUT, DELETE or POST is asked', async () => {
    expect((await http('DELETE', '/a.html')).status).to.equal(401)
    expect((await http('PUT', '/granted.html', {}, DOC)).status).to.equal(401)
    expect((await move('/a.html', '/granted.html')).status).to.equal(204)
  })

  it('HTTP-108 what may be moved need not be readable', async () => {
    await put(server, '/hidden/y.html', DOC)
    expect((await http('GET', '/hidden/y.html')).status).to.equal(401)
    expect((await move('/hidden/y.html', '/shown.html')).status).to.equal(204)
  })

  it('HTTP-13 a long way down and back: folders come and go with their files', async () => {
    await move('/a.html', '/x/y/z/a.html')
    expect((await http('GET', '/x/y/z/a.html')).status).to.equal(200)
    await move('/x/y/z/a.html', '/a.html')
    expect(await textOf(server, '/a.html')).to.equal(DOC)
  })

  it('HTTP-30 the moved document has a date not older than what it replaced', async () => {
    const before = await http('GET', '/b.html')
    await move('/a.html', '/b.html')
    const now = await http('GET', '/b.html')
    const time = (text: string | undefined) => Date.parse(text ?? '')
    expect(time(now.headers['last-modified'])).to.be.at.least(time(before.headers['last-modified']))
  })
})
