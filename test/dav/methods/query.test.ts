/** QUERY with a selector over the mount: one document, everything below a path, or the whole site (DAV-49, HTTP-130 to HTTP-134). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Fault } from '../../../pipeline/fault.ts'
import { PartsRoom } from '../../../pipeline/read/elements.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { movingBetween } from '../../support/between.ts'
import { page, putAll } from '../../support/content.ts'
import type { Fields } from '../../support/http.ts'
import { partsOf } from '../../support/multipart.ts'
import { changesNothing, outcomeOf, startWire, type Wire } from '../wire.ts'

describe('QUERY over the wire', () => {
  let wire: Wire
  const query = (path: string, selector: string, fields: Fields = {}) =>
    wire.dav('QUERY', path, { 'Content-Type': 'text/css-selector', ...fields }, selector)

  before(async () => {
    wire = await startWire()
    await putAll(wire.server, {
      '/index.html': page('<h1>Home</h1>'),
      '/posts/may.html': page('<h2 class="title">May</h2>'),
      '/posts/april.html': page('<h2 class="title">April</h2><p>p</p>'),
      '/posts/deep/er.html': page('<h2 class="title">Deep</h2>'),
      '/posts/feed.xml': '<feed><title class="title">Feed</title></feed>',
      '/posts/picture.png': 'png',
      '/pictures/only.png': 'png',
      '/composed.html': page('<link rel="include" href="/posts/may.html">'),
    })
    await wire.dav('MKCOL', '/empty/')
  })
  after(() => wire.server.close())

  const PLACES: [path: string, selector: string, found: string[]][] = [
    ['/', 'h2.title', ['/posts/april.html', '/posts/deep/er.html', '/posts/may.html']],
    ['/posts/', '.title', ['/posts/april.html', '/posts/deep/er.html', '/posts/feed.xml', '/posts/may.html']],
    ['/posts/deep/', 'h2', ['/posts/deep/er.html']],
    ['/posts/may.html', 'h2', ['/posts/may.html']],
    ['/posts/feed.xml', 'title', ['/posts/feed.xml']],
    ['/posts/april.html', 'h2, p', ['/posts/april.html', '/posts/april.html']],
    ['/', 'h1', ['/index.html']],
    ['/composed.html', 'h2', []],
    ['/posts/', 'video', []],
    ['/pictures/', '*', []],
  ]
  for (const [path, selector, found] of PLACES)
    it(`HTTP-133 ${selector} in ${path}: ${found.length} parts`, () =>
      changesNothing(wire.server, async () => {
        const answer = await query(path, selector)
        expect(answer.status).to.equal(found.length > 0 ? 201 : 200)
        expect(partsOf(answer).map(({ headers }) => headers['Content-Location'])).to.deep.equal(found)
      }))

  it('HTTP-130 the worked example', async () => {
    const [part] = partsOf(await query('/posts/may.html', 'h2.title'))
    expect(part?.text).to.equal('<h2 class="title">May</h2>')
    expect(part?.headers).to.include({
      'Content-Location': '/posts/may.html',
      'Content-Range': 'selector=html > body:nth-child(2) > h2:nth-child(1)',
      'Content-Length': '26',
    })
    expect(part?.headers['Content-Type']).to.match(/^text\/html/)
    expect(part?.headers.ETag).to.match(/^"[^"]+-[^"]+"$/)
  })

  it('SEC-12 HTTP-67 HTTP-133 parts do not tell a long path without end, in however many documents', async () => {
    const folder = `${`/${'ä'.repeat(120)}`.repeat(4)}/`
    const paragraphs = page('<p>'.repeat(11_000))
    await putAll(wire.server, { [`${folder}a.html`]: paragraphs, [`${folder}b.html`]: paragraphs })
    expect(outcomeOf(await query(encodeURI(folder), 'p'))).to.match(/^422 InvalidSelector/)
    expect((await query(encodeURI(folder), 'p:first-child')).status).to.equal(201)
  })

  it('SEC-12 HTTP-133 there is room for so much markup in one answer', () => {
    const room = new PartsRoom(1000)
    room.take(10, 600)
    expect(() => room.take(10, 600)).to.throw(Fault, /too many elements for one answer/)
  })

  it('HTTP-131 the tag stands for selector and matches', async () => {
    const { etag } = (await query('/posts/', 'h2')).headers
    expect(etag).to.be.a('string')
    const same = await query('/posts/', 'h2', { 'If-None-Match': etag })
    expect([same.status, same.body.length]).to.deep.equal([304, 0])
    expect((await query('/posts/', 'body h2', { 'If-None-Match': etag })).status).to.equal(201)
    await wire.dav('PUT', '/posts/june.html', {}, page('<h2>June</h2>'))
    expect((await query('/posts/', 'h2', { 'If-None-Match': etag })).status).to.equal(201)
    await wire.dav('DELETE', '/posts/june.html')
    expect((await query('/posts/', 'h2', { 'If-None-Match': etag })).status).to.equal(304)
  })

  for (const [language, asked, found] of [
    ['text/css-selector', 'h2', ['/to/b/1.html', '/to/b/2.html']],
    ['text/sessel', `\${h2}.count()`, undefined],
  ] as const)
    it(`DAV-8 HTTP-133 documents that move meanwhile are found where they are: ${language}`, async () => {
      await putAll(wire.server, { '/to/a/1.html': page('<h2>1</h2>'), '/to/a/2.html': page('<h2>2</h2>') })
      const { store } = wire.server.site
      const { walk } = store
      // The first look is whether anything is there.
      let walks = found ? 2 : 1
      store.walk = async function* (path, options) {
        const members = walk.call(store, path, options)
        if (--walks > 0) return yield* members
        store.walk = walk
        // The folder was listed before the move, and what is in it is read behind it.
        const all: Resource[] = []
        for await (const member of members) all.push(member)
        const [first] = all
        expect((await wire.dav('MOVE', '/to/a/', { Destination: '/to/b/' })).status).to.equal(201)
        if (found && first) yield first
      }
      const answer = await query('/to/', asked, { 'Content-Type': language })
      expect(answer.status).to.equal(found ? 201 : 200)
      if (found) expect(partsOf(answer).map(({ headers }) => headers['Content-Location'])).to.deep.equal(found)
      else expect(answer.text).to.equal('2')
      expect((await wire.dav('DELETE', '/to/')).status).to.equal(204)
    })

  it('DAV-8 SES-126 a program over a folder sees documents that move meanwhile all at once', async () => {
    await putAll(wire.server, { '/to/a/1.html': page('<h2>1</h2>'), '/to/a/2.html': page('<h2>2</h2>') })
    const moved = movingBetween(wire.server.site, '/to/a/2.html', () =>
      wire.dav('MOVE', '/to/a/', { Destination: '/to/b/' }),
    )
    expect((await query('/to/', `\${h2}.count()`, { 'Content-Type': 'text/sessel' })).text).to.equal('2')
    expect((await moved())?.status).to.equal(201)
    expect((await wire.dav('DELETE', '/to/')).status).to.equal(204)
  })

  const REFUSED: [name: string, path: string, selector: string, fields: Fields, outcome: RegExp][] = [
    ['no document', '/none.html', 'p', {}, /^404 NotFound/],
    ['nothing below', '/empty/', 'p', {}, /^404 NotFound/],
    ['no such collection', '/none/', 'p', {}, /^404 NotFound/],
    ['a reserved path', '/-platform/', 'p', {}, /^404 NotFound/],
    ['a blob', '/posts/picture.png', 'p', {}, /^422/],
    ['an empty body', '/posts/', ' \n', {}, /^422/],
    ['an unreadable selector', '/posts/', 'p[', {}, /^422/],
    ['Accept without multipart', '/posts/', 'p', { Accept: 'text/html' }, /^406 NotAcceptable/],
    ['another type', '/posts/', 'p', { 'Content-Type': 'text/plain' }, /^415 UnsupportedMediaType/],
    ['no type', '/posts/', 'p', { 'Content-Type': undefined }, /^415 UnsupportedMediaType/],
    ['JSON', '/posts/', '{}', { 'Content-Type': 'application/json' }, /^415 UnsupportedMediaType/],
  ]
  for (const [name, path, selector, fields, outcome] of REFUSED)
    it(`HTTP-133 HTTP-134 ${outcome.source} for ${name}`, async () => {
      const answer = await query(path, selector, fields)
      expect(outcomeOf(answer)).to.match(outcome)
      if (answer.status === 415) expect(answer.headers['accept-query']).to.equal('text/css-selector, text/sessel')
    })

  for (const Accept of [undefined, '*/*', 'multipart/*', 'multipart/mixed', 'text/html, multipart/mixed;q=0.1'])
    it(`HTTP-133 answers with Accept: ${Accept ?? 'nothing'}`, async () => {
      expect((await query('/posts/', 'h2', { Accept })).status).to.equal(201)
    })

  it('HTTP-134 every language that OPTIONS and 415 name is answered', async () => {
    const { headers } = await wire.dav('OPTIONS', '/posts/')
    const refused = await query('/posts/', 'h2', { 'Content-Type': 'text/plain' })
    expect(headers['accept-query']).to.equal(refused.headers['accept-query'])
    for (const language of (headers['accept-query'] ?? '').split(', '))
      expect(
        (await query('/posts/', language.includes('css') ? 'h2' : '1 + 1', { 'Content-Type': language })).status,
        language,
      ).to.be.oneOf([200, 201])
  })

  it('HTTP-133 401 without credentials', async () => {
    const answer = await wire.stranger('QUERY', '/posts/', { 'Content-Type': 'text/css-selector' }, 'h2')
    expect(answer.status).to.equal(401)
  })
})
