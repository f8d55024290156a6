/** Reading, writing and removing files on the mount (DAV-8, DAV-40 to DAV-46). */

import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put } from '../../support/content.ts'
import { type Client, connect, type Fields, requestBytes } from '../../support/http.ts'
import { basic, changesNothing, outcomeOf, property, shown, startWire, type Wire } from '../wire.ts'

const HTML = '<!DOCTYPE html>\r\n<html><body><P  class=x>A\n<ul id=l><li id=a>one<li id=b>two</ul></body></html>\n'
const digest = (algorithm: string, text: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHash(algorithm).update(text).digest(encoding)

describe('files over the wire', () => {
  let wire: Wire
  let dav: Client
  before(async () => {
    wire = await startWire({ site: { maxBody: '200KiB', maxDocument: '100KiB' } })
    dav = wire.dav
    await dav('PUT', '/page.html', {}, HTML)
    await dav('PUT', '/blob.bin', { 'Content-Type': 'application/x-own; a="b"' }, '0123456789')
    await dav('PUT', '/dir/index.html', {}, page('index'))
  })
  after(() => wire.server.close())

  it('DAV-40 gives the stored bytes exactly, under headers that keep them so', async () => {
    const answer = await dav('GET', '/page.html')
    expect(answer.text).to.equal(HTML)
    expect(answer.headers).to.include({
      'content-type': 'text/html',
      'content-length': String(HTML.length),
      etag: `"${digest('sha256', HTML).slice(0, 48)}"`,
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache, no-transform',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    })
    expect(answer.headers['last-modified']).to.match(/GMT$/)
    const head = await dav('HEAD', '/page.html')
    expect(head.headers).to.include({ etag: answer.headers.etag, 'content-length': String(HTML.length) })
    expect((await dav('GET', '/page.html', { 'Accept-Encoding': 'br, gzip', Translate: 'f' })).text).to.equal(HTML)
    expect((await dav('GET', '/blob.bin')).headers['content-type']).to.equal('application/x-own; a="b"')
  })

  it('DAV-41 DAV-36 a time that has not come yet, and the next PUT without one: the later counts as changed', async () => {
    const future = String(Math.floor(Date.now() / 1000) + 86_400)
    for (const [path, type] of [
      ['/future.txt', 'text/plain'],
      ['/future.html', 'text/html'],
    ] as const) {
      await dav('PUT', path, { 'X-OC-Mtime': future, 'Content-Type': type }, 'one')
      const since = (await dav('HEAD', path)).headers['last-modified'] ?? ''
      expect(Date.parse(since)).to.equal(Number(future) * 1000)
      expect((await dav('GET', path, { 'If-Modified-Since': since })).status).to.equal(304)
      for (const text of path.endsWith('.html') ? ['', 'two'] : ['two', 'three']) {
        await dav('PUT', path, { 'Content-Type': type }, text)
        expect((await dav('GET', path, { 'If-Modified-Since': since })).text).to.equal(text)
        expect((await dav('PUT', path, { 'If-Unmodified-Since': since }, 'four')).status).to.equal(412)
      }
      await dav('DELETE', path)
    }
  })

  it('DAV-41 DAV-36 a time that has not come yet, and was taken back by PROPPATCH before the next PUT', async () => {
    const at = (seconds: number) =>
      `<propertyupdate xmlns="DAV:"><set><prop><lastmodified>${seconds}</lastmodified></prop></set></propertyupdate>`
    await dav('PUT', '/taken-back.txt', {}, 'one')
    await dav('PROPPATCH', '/taken-back.txt', {}, at(Math.floor(Date.now() / 1000) + 86_400))
    const since = (await dav('HEAD', '/taken-back.txt')).headers['last-modified'] ?? ''
    await dav('PROPPATCH', '/taken-back.txt', {}, at(1_000_000_000))
    await dav('PUT', '/taken-back.txt', {}, 'two')
    expect((await dav('GET', '/taken-back.txt', { 'If-Modified-Since': since })).text).to.equal('two')
    expect((await dav('PUT', '/taken-back.txt', { 'If-Unmodified-Since': since }, 'three')).status).to.equal(412)
  })

  for (const [field, path] of [
    ['Content-Type', '/long'],
    ['Content-Type', '/._long'],
    ['Content-Language', '/long.html'],
  ] as const)
    it(`SEC-12 HTTP-20 ${path} with a ${field} that each listing would hold is 400`, async () => {
      const body = path.endsWith('.html') ? '' : 'x'
      expect((await dav('PUT', path, { [field]: 'x'.repeat(1025) }, body)).status).to.equal(400)
      expect((await dav('PUT', path, { [field]: 'x'.repeat(1024) }, body)).status).to.equal(201)
      await dav('DELETE', path)
    })

  const RANGES: [name: string, fields: Fields, status: number, range: string | undefined, text: string | undefined][] =
    [
      ['the first bytes', { Range: 'bytes=0-3' }, 206, 'bytes 0-3/10', '0123'],
      ['the last bytes', { Range: 'bytes=-2' }, 206, 'bytes 8-9/10', '89'],
      ['an open end', { Range: 'bytes=7-' }, 206, 'bytes 7-9/10', '789'],
      ['an end beyond', { Range: 'bytes=8-99' }, 206, 'bytes 8-9/10', '89'],
      ['a beginning beyond', { Range: 'bytes=10-' }, 416, 'bytes */10', undefined],
      ['nothing', { Range: 'bytes=-0' }, 416, 'bytes */10', undefined],
      ['an old If-Range', { Range: 'bytes=0-3', 'If-Range': '"old"' }, 200, undefined, '0123456789'],
      ['an unknown unit', { Range: 'lines=1-2' }, 200, undefined, '0123456789'],
      ['no sense', { Range: 'bytes=3-1' }, 200, undefined, '0123456789'],
    ]
  for (const [name, fields, status, range, text] of RANGES)
    it(`DAV-40 ${status} for a range with ${name}`, async () => {
      const answer = await dav('GET', '/blob.bin', fields)
      expect(answer.status).to.equal(status)
      expect(answer.headers['content-range']).to.equal(range)
      if (text !== undefined) expect(answer.text).to.equal(text)
    })

  it('HTTP-58 a draft has no byte to send, as an empty blob has none', async () => {
    for (const path of ['/range-draft.html', '/range-empty.bin']) {
      await dav('PUT', path, {}, '')
      const answer = await dav('GET', path, { Range: 'bytes=0-' })
      expect(answer.status, path).to.equal(416)
      expect(answer.headers['content-range'], path).to.equal('bytes */0')
      for (const fields of [{ Range: 'bytes=-5' }, { Range: 'bytes=0-', 'If-Range': '"old"' }])
        expect((await dav('GET', path, fields)).status, path).to.equal(200)
      await dav('DELETE', path)
    }
  })

  it('DAV-40 several ranges come as parts; If-Range takes the tag', async () => {
    const answer = await dav('GET', '/blob.bin', { Range: 'bytes=0-1,4-5' })
    expect(answer.status).to.equal(206)
    expect(answer.headers['content-type']).to.match(/^multipart\/byteranges; boundary=/)
    expect(answer.text).to.include('bytes 0-1/10').and.include('bytes 4-5/10')
    const { etag } = (await dav('HEAD', '/blob.bin')).headers
    expect((await dav('GET', '/blob.bin', { Range: 'bytes=0-1', 'If-Range': etag })).status).to.equal(206)
  })

  it('DAV-40 a collection is a list of links, never its index', async () => {
    for (const path of ['/dir', '/dir/']) {
      const answer = await dav('GET', path)
      expect(answer.status).to.equal(200)
      expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(answer.text).to.include('href="/dir/index.html"').and.not.include(page('index'))
      const head = await dav('HEAD', path)
      expect([head.status, head.body.length]).to.deep.equal([200, 0])
    }
  })

  it('DAV-12 a file has no slash', async () => {
    for (const method of ['GET', 'HEAD', 'PROPFIND']) expect((await dav(method, '/blob.bin/')).status).to.equal(404)
    expect(outcomeOf(await dav('PUT', '/blob.bin/', {}, 'x'))).to.equal('400 InvalidPath')
    expect(outcomeOf(await dav('PUT', '/fresh/', {}, 'x'))).to.equal('400 InvalidPath')
  })

  it('DAV-41 a change within the same second counts as a change', async () => {
    const dates = async () => (await dav('HEAD', '/quick.txt')).headers['last-modified'] ?? ''
    await dav('PUT', '/quick.txt', { 'X-OC-Mtime': '1773480413' }, 'one')
    const since = await dates()
    expect((await dav('GET', '/quick.txt', { 'If-Modified-Since': since })).status).to.equal(304)
    await dav('PUT', '/quick.txt', { 'X-OC-Mtime': '1773480413' }, 'two')
    expect(await dates()).to.equal(since)
    expect((await dav('GET', '/quick.txt', { 'If-Modified-Since': since })).status).to.equal(200)
    expect((await dav('PUT', '/quick.txt', { 'If-Unmodified-Since': since }, 'three')).status).to.equal(412)
    expect((await dav('GET', '/quick.txt', { Range: 'bytes=0-0', 'If-Range': since })).status).to.equal(200)
  })

  for (const [what, path, set] of [
    ['a PUT', '/old.txt', () => dav('PUT', '/old.txt', { 'X-OC-Mtime': '1773480413' }, 'two')],
    ['a MOVE', '/old2.txt', () => dav('MOVE', '/older.txt', { Destination: '/old2.txt' })],
  ] as const)
    it(`DAV-41 DAV-36 so does ${what} that brings an older time`, async () => {
      await dav('PUT', '/older.txt', { 'X-OC-Mtime': '1773480413' }, 'two')
      await dav('PUT', path, {}, 'one')
      const since = (await dav('HEAD', path)).headers['last-modified'] ?? ''
      await set()
      const older = (await dav('HEAD', path)).headers['last-modified'] ?? ''
      expect(Date.parse(older)).to.equal(1773480413_000)
      expect((await dav('GET', path, { 'If-Modified-Since': since })).text).to.equal('two')
      expect((await dav('PUT', path, { 'If-Unmodified-Since': since }, 'three')).status).to.equal(412)
      const later = { 'If-Modified-Since': 'Fri, 31 Dec 2100 23:59:59 GMT' }
      expect((await dav('GET', path, later)).status).to.equal(304)
    })

  it('DAV-42 201 for new, 204 for replaced, with the tag and without a body', async () => {
    for (const [name, first, second] of [
      ['made.html', page('1'), page('2')],
      ['made.bin', 'one', 'two'],
    ] as const) {
      const made = await dav('PUT', `/new/${name}`, {}, first)
      const replaced = await dav('PUT', `/new/${name}`, {}, second)
      expect([made.status, replaced.status]).to.deep.equal([201, 204])
      for (const [answer, content] of [
        [made, first],
        [replaced, second],
      ] as const) {
        expect(answer.body.length).to.equal(0)
        expect(answer.headers.etag).to.equal(`"${digest('sha256', content).slice(0, 48)}"`)
        expect(answer.headers).to.have.property('last-modified')
        expect(answer.headers).not.to.have.property('location')
      }
      expect((await dav('GET', `/new/${name}`)).text).to.equal(second)
    }
    expect(outcomeOf(await dav('PUT', '/new', {}, 'x'))).to.equal('405 MethodNotAllowed')
  })

  it('DAV-14 parents are made, except where RFC 4918 is wanted', async () => {
    expect((await dav('PUT', '/p/q/r.txt', {}, 'x')).status).to.equal(201)
    expect(await property(dav, '/p/q/', 'resourcetype')).to.equal('collection')
    await dav('DELETE', '/p/q/r.txt')
    expect(await property(dav, '/p/q/', 'resourcetype'), 'stays').to.equal('collection')
    await changesNothing(wire.server, async () => {
      expect(outcomeOf(await dav('MKCOL', '/none/x/'))).to.equal('409 ParentDirectoryMissing')
      expect(outcomeOf(await dav('PUT', '/blob.bin/x.txt', {}, 'x'))).to.match(/^409 /)
    })
    const strict = await startWire({ site: { mountStrictParents: true } })
    expect(outcomeOf(await strict.dav('PUT', '/p/q.txt', {}, 'x'))).to.equal('409 ParentDirectoryMissing')
    await strict.server.close()
  })

  const tag = () => `"${digest('sha256', HTML).slice(0, 48)}"`
  const CONDITIONS: [name: string, path: string, fields: () => Fields][] = [
    ['If-Match with another tag', '/page.html', () => ({ 'If-Match': '"x"' })],
    ['If-Match with a weak tag', '/page.html', () => ({ 'If-Match': `W/${tag()}` })],
    ['If-Match of nothing', '/none.html', () => ({ 'If-Match': '*' })],
    ['If-None-Match: *', '/page.html', () => ({ 'If-None-Match': '*' })],
    ['If-None-Match with the tag', '/page.html', () => ({ 'If-None-Match': tag() })],
    ['If-Unmodified-Since', '/page.html', () => ({ 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' })],
    ['If with another tag', '/page.html', () => ({ If: '(["x"])' })],
  ]
  for (const [name, path, fields] of CONDITIONS)
    it(`DAV-42 412 and the tag for ${name}, by every write`, () =>
      changesNothing(wire.server, async () => {
        for (const method of ['PUT', 'DELETE', 'PROPPATCH', 'MOVE', 'COPY']) {
          if (path === '/none.html' && method !== 'PUT') continue
          const answer = await dav(
            method,
            path,
            { Destination: '/elsewhere.html', ...fields() },
            method === 'PUT' ? page('x') : undefined,
          )
          expect(outcomeOf(answer), method).to.equal('412 PreconditionFailed')
          if (path === '/page.html' && method === 'PUT' && name !== 'If with another tag')
            expect(answer.headers.etag).to.equal(tag())
        }
      }))

  const SUMS: [name: string, fields: Fields, ok: boolean][] = [
    ['OC-Checksum SHA1', { 'OC-Checksum': `SHA1:${digest('sha1', 'sum')}` }, true],
    ['OC-Checksum MD5 in upper case', { 'OC-Checksum': `MD5:${digest('md5', 'sum').toUpperCase()}` }, true],
    ['OC-Checksum SHA256', { 'OC-Checksum': `SHA256:${digest('sha256', 'sum')}` }, true],
    ['Content-MD5', { 'Content-MD5': digest('md5', 'sum', 'base64') }, true],
    ['Content-Digest', { 'Content-Digest': `sha-256=:${digest('sha256', 'sum', 'base64')}:` }, true],
    ['Repr-Digest among others', { 'Repr-Digest': `x=:AA==:, sha-256=:${digest('sha256', 'sum', 'base64')}:` }, true],
    ['wrong OC-Checksum', { 'OC-Checksum': `SHA1:${digest('sha1', 'other')}` }, false],
    ['empty OC-Checksum', { 'OC-Checksum': 'SHA1:' }, false],
    ['wrong Content-MD5', { 'Content-MD5': digest('md5', 'other', 'base64') }, false],
    ['wrong Content-Digest', { 'Content-Digest': `sha-256=:${digest('sha256', 'other', 'base64')}:` }, false],
    ['wrong Repr-Digest', { 'Repr-Digest': `sha-256=:${digest('sha256', 'other', 'base64')}:` }, false],
    [
      'one right and one wrong',
      { 'OC-Checksum': `MD5:${digest('md5', 'sum')}`, 'Content-MD5': digest('md5', 'no', 'base64') },
      false,
    ],
  ]
  for (const [name, fields, ok] of SUMS)
    it(`DAV-43 ${name}: ${ok ? 'stored' : 'nothing stored'}`, async () => {
      for (const path of ['/sum.bin', '/sum.html', '/~$sum.doc']) {
        const send = () => dav('PUT', path, fields, 'sum')
        if (ok) expect((await send()).status, path).to.be.oneOf([201, 204])
        else expect(outcomeOf(await changesNothing(wire.server, send)), path).to.equal('400 ChecksumMismatch')
      }
    })

  const UNSENT: [name: string, fields: Fields, body: string, outcome: string][] = [
    ['Content-Encoding', { 'Content-Encoding': 'gzip' }, 'x', '415 UnsupportedMediaType'],
    ['Content-Range', { 'Content-Range': 'bytes 0-0/2' }, 'x', '400 BadRequest'],
    ['Range: bytes', { Range: 'bytes=0-0' }, 'x', '400 InvalidRange'],
    ['X-Expected-Entity-Length and nothing', { 'X-Expected-Entity-Length': '5' }, '', '400 BadRequest'],
    ['a length over the cap', { 'Content-Length': '300000' }, '', '413 PayloadTooLarge'],
    [
      'a chunked body over the cap',
      { 'Transfer-Encoding': 'chunked' },
      `32000\r\n${'x'.repeat(0x32000)}\r\n1000\r\n${'x'.repeat(0x1000)}\r\n0\r\n\r\n`,
      '413 PayloadTooLarge',
    ],
  ]
  for (const [name, fields, body, outcome] of UNSENT)
    it(`DAV-43 ${outcome} for ${name}`, () =>
      changesNothing(wire.server, async () => {
        for (const path of ['/blob.bin', '/page.html', '/fresh.bin', '/fresh.html', '/~$fresh.doc'])
          expect(outcomeOf(await dav('PUT', path, fields, body)), path).to.equal(outcome)
      }))

  it('DAV-43 chunks without length are normal, empty ones too', async () => {
    const send = (path: string, body: string) => dav('PUT', path, { 'Transfer-Encoding': 'chunked' }, body)
    expect((await send('/chunks.bin', '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')).status).to.equal(201)
    expect((await dav('GET', '/chunks.bin')).text).to.equal('abcde')
    expect((await send('/chunks.bin', '0\r\n\r\n')).status).to.equal(204)
    expect((await dav('GET', '/chunks.bin')).body.length).to.equal(0)
  })

  describe('DAV-44 order of checks', () => {
    /** Several things are wrong; the first in order is told. */
    const ORDER: [name: string, path: string, fields: Fields, status: number][] = [
      ['credentials before the path', '/a/../b', { Authorization: 'Basic eDp5', 'Content-Length': '9999999' }, 401],
      ['the path before reserved ones', '/-platform/%zz', { 'Content-Length': '9999999' }, 400],
      ['reserved before the length', '/-platform/x', { 'Content-Length': '9999999' }, 403],
      ['the length before If', '/page.html', { 'Content-Length': '9999999', If: 'nonsense' }, 413],
      ['If before If-Match', '/page.html', { If: 'nonsense', 'If-Match': '"x"' }, 400],
      ['If-Match before locks', '/locked.txt', { 'If-Match': '"x"' }, 412],
      ['locks before the kind of target', '/lockeddir', {}, 423],
      ['the kind of target before the body', '/dir', { 'OC-Checksum': 'MD5:00' }, 405],
    ]
    before(async () => {
      const LOCK =
        '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
      await dav('PUT', '/locked.txt', {}, 'l')
      await dav('MKCOL', '/lockeddir/')
      for (const path of ['/locked.txt', '/lockeddir/']) await dav('LOCK', path, {}, LOCK)
    })
    for (const [name, path, fields, status] of ORDER)
      it(`${name}: ${status}, in place of 100`, () =>
        changesNothing(wire.server, async () => {
          const connection = await connect(wire.port)
          const { user, password } = wire.server
          const all = { Authorization: basic(user, password), 'Content-Length': '5', Expect: '100-continue', ...fields }
          connection.send(requestBytes('PUT', path, all))
          expect((await connection.receive()).status).to.equal(status)
          connection.close()
        }))

    it('100 comes first where nothing is wrong', async () => {
      const connection = await connect(wire.port)
      const { user, password } = wire.server
      const fields = { Authorization: basic(user, password), 'Content-Length': '2', Expect: '100-continue' }
      connection.send(requestBytes('PUT', '/expected.txt', fields))
      expect((await connection.receive()).status).to.equal(100)
      connection.send('ok')
      expect((await connection.receive()).status).to.equal(201)
      connection.close()
    })

    it('without Expect the body is read away, so that the client sees the answer', async () => {
      const connection = await connect(wire.port)
      const { user, password } = wire.server
      const fields = { Authorization: basic(user, password), 'If-Match': '"x"', 'Content-Length': '150000' }
      connection.send(requestBytes('PUT', '/page.html', fields))
      connection.send(Buffer.alloc(150_000))
      expect((await connection.receive()).status).to.equal(412)
      connection.close()
    })
  })

  describe('DAV-45 selectors', () => {
    before(() =>
      put(
        wire.server,
        '/list.html',
        page('<ul id="l"><li id="a">one</li></ul><include-html src="/part.html"></include-html>'),
      ),
    )

    it('read stored markup, one part or several', async () => {
      const one = await dav('GET', '/list.html', { Range: 'selector=#a' })
      expect([one.status, one.text]).to.deep.equal([206, '<li id="a">one</li>'])
      expect((await dav('GET', '/list.html', { Range: 'selector=.none' })).status).to.equal(416)
      expect((await dav('HEAD', '/list.html', { Range: 'selector=#a' })).body.length).to.equal(0)
    })

    it('write and remove elements as on the public surface', async () => {
      const answers = [
        await dav('PUT', '/list.html', { Range: 'selector=#a' }, '<li id="a">uno</li>'),
        await dav('POST', '/list.html', { Range: 'selector=#l' }, '<li id="b">due</li>'),
        await dav('DELETE', '/list.html', { Range: 'selector=#a' }),
      ]
      expect(answers.map(({ status }) => status)).to.deep.equal([206, 206, 204])
      expect(await shown(wire.visitor, '/list.html')).to.include('<ul id="l"><li id="b">due</li></ul>')
    })

    const REFUSED: [name: string, method: string, path: string, fields: Fields, outcome: string][] = [
      ['POST without selector', 'POST', '/list.html', {}, '422 InvalidRange'],
      ['PUT of bytes', 'PUT', '/list.html', { Range: 'bytes=0-3' }, '400 InvalidRange'],
      ['DELETE of bytes', 'DELETE', '/list.html', { Range: 'bytes=0-3' }, '400 InvalidRange'],
      ['nothing selected', 'PUT', '/list.html', { Range: 'selector=#none' }, '416'],
      ['an unreadable selector', 'PUT', '/list.html', { Range: 'selector=##' }, '422 InvalidSelector'],
      ['a blob', 'PUT', '/blob.bin', { Range: 'selector=p' }, '422'],
      ['nothing there', 'PUT', '/nowhere.html', { Range: 'selector=p' }, '404'],
      ['a collection without slash', 'DELETE', '/dir', { Range: 'selector=p' }, '422'],
      ['a collection', 'POST', '/dir/', { Range: 'selector=p' }, '422'],
    ]
    for (const [name, method, path, fields, outcome] of REFUSED)
      it(`${outcome} for ${name}`, () =>
        changesNothing(wire.server, async () => {
          expect(outcomeOf(await dav(method, path, fields, '<p>x</p>'))).to.match(new RegExp(`^${outcome}`))
        }))
  })

  it('DAV-46 DELETE removes, a collection with all in it', async () => {
    for (const path of ['/gone/a.txt', '/gone/deep/b.html', '/gone/._a.txt', '/gone/~$c.doc'])
      await dav('PUT', path, {}, page('x'))
    await changesNothing(wire.server, async () => {
      for (const Depth of ['0', '1', 'x'])
        expect(outcomeOf(await dav('DELETE', '/gone/', { Depth }))).to.equal('400 BadRequest')
    })
    expect((await dav('DELETE', '/gone/a.txt', { Depth: '0' })).status).to.equal(204)
    expect((await dav('DELETE', '/gone', { Depth: 'infinity' })).status).to.equal(204)
    for (const path of ['/gone', '/gone/', '/gone/a.txt', '/gone/deep/b.html', '/gone/._a.txt', '/gone/~$c.doc'])
      expect(outcomeOf(await dav('DELETE', path)), path).to.equal('404 NotFound')
  })

  it('DAV-8 eight conditional saves at once: one wins', async () => {
    await dav('PUT', '/race.html', {}, page('0'))
    const { etag } = (await dav('HEAD', '/race.html')).headers
    const saves = Array.from({ length: 8 }, (_, i) => dav('PUT', '/race.html', { 'If-Match': etag }, page(`save ${i}`)))
    const statuses = (await Promise.all(saves)).map(({ status }) => status).sort()
    expect(statuses.filter(status => status === 204)).to.deep.equal([204])
    expect(statuses.filter(status => status !== 204).every(status => status === 412 || status === 409)).to.equal(true)
  })

  it('DAV-8, DAV-42 eight saves at once: each is told the tag of its own bytes, and one of them stands', async () => {
    await dav('PUT', '/saved.txt', {}, 'begun')
    const texts = Array.from({ length: 8 }, (_, i) => `save ${i}`)
    const answers = await Promise.all(texts.map(text => dav('PUT', '/saved.txt', {}, text)))
    const tags = texts.map(text => `"${digest('sha256', text).slice(0, 48)}"`)
    expect(answers.map(({ status }) => status)).to.deep.equal(texts.map(() => 204))
    expect(answers.map(({ headers }) => headers.etag)).to.deep.equal(tags)
    const { text, headers } = await dav('GET', '/saved.txt')
    expect(tags[texts.indexOf(text)]).to.equal(headers.etag)
  })
})
