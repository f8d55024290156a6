/** Writes of the mount are writes of the site: validation, events, atomicity, and the way around it for repairs (DAV-6 to DAV-8). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { shape } from '../../pipeline/model/markup.ts'
import { page, put, remove } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { basic, changesNothing, outcomeOf, shown, startWire, to, type Wire } from '../wire.ts'

const GOOD = page('<h1>heading</h1>')
const BAD = page('<p>no heading</p>')
const RAW = { 'Platform-Write': 'raw' }
const credentials = [
  { user: 'chief', password: 'c', scope: ['/*'], write: true },
  { user: 'part', password: 'p', scope: ['/closed/*'], write: true },
  { user: 'reader', password: 'r', scope: ['/*'], write: false },
]

describe('the pipeline behind the mount', () => {
  let wire: Wire
  let dav: Client
  let as: (user: string) => Client
  before(async () => {
    wire = await startWire({ site: { credentials, maxBody: '200KiB' } })
    as = user => client(wire.port, { Authorization: basic(user, user.slice(0, 1)) })
    dav = as('chief')
    await put(wire.server, '/model.html', page(shape({ resource: '/closed/*', constraint: ':has(h1)' })))
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    await put(wire.server, '/closed/good.html', GOOD)
    await put(wire.server, '/open/good.html', GOOD)
    await put(wire.server, '/open/bad.html', BAD)
    await put(wire.server, '/open/x.txt', 'x')
  })

  const REFUSED: [name: string, method: string, path: string, fields: Fields, body: string | undefined][] = [
    ['a new document', 'PUT', '/closed/new.html', {}, BAD],
    ['a replaced document', 'PUT', '/closed/good.html', {}, BAD],
    ['an element', 'PUT', '/closed/good.html', { Range: 'selector=h1' }, '<p>x</p>'],
    ['COPY of a document', 'COPY', '/open/bad.html', to('/closed/new.html'), undefined],
    ['MOVE of a document', 'MOVE', '/open/bad.html', to('/closed/new.html'), undefined],
    ['MOVE over a document', 'MOVE', '/open/bad.html', to('/closed/good.html'), undefined],
    ['COPY of a collection with it', 'COPY', '/open/', to('/closed/open/'), undefined],
    ['MOVE of a collection with it', 'MOVE', '/open/', to('/closed/open/'), undefined],
    ['MOVE over a whole collection', 'MOVE', '/open/', to('/closed/'), undefined],
  ]
  for (const [name, method, path, fields, body] of REFUSED)
    it(`DAV-6 DAV-8 422 and nothing done for ${name}`, () =>
      changesNothing(wire.server, async () => {
        const answer = await dav(method, path, fields, body)
        expect(answer.status, answer.text).to.equal(422)
        expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
        expect(answer.text.match(/itemtype="[^"]*\/ns\/Error"/g)).to.have.length(1)
        expect(answer.text, 'the document of the pipeline').to.include('<div itemprop="detail"><div')
      }))

  it('DAV-8 tells which member was refused', async () => {
    const { text } = await dav('MOVE', '/open/', to('/closed/open/'))
    expect(text).to.include('bad.html')
  })

  it('DAV-6 DELETE of an element that a shape needs is 409', () =>
    changesNothing(wire.server, async () => {
      expect((await dav('DELETE', '/closed/good.html', { Range: 'selector=h1' })).status).to.equal(409)
    }))

  it('DAV-6 an event for every whole write, and what visitors see', async () => {
    const eventsOf = async (path: string) => (await wire.server.site.store.events(path)).length
    const count = await eventsOf('/closed/good.html')
    await dav('PUT', '/closed/good.html', {}, page('<h1>two</h1>'))
    expect(await eventsOf('/closed/good.html')).to.equal(count + 1)
    expect(await shown(wire.visitor, '/closed/good.html')).to.include('two')
    await dav(
      'PROPPATCH',
      '/closed/good.html',
      {},
      '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x/></D:prop></D:set></D:propertyupdate>',
    )
    expect(await eventsOf('/closed/good.html'), 'properties are no events').to.equal(count + 1)
  })

  it('DAV-6 the type is that of the name, as on the public surface', async () => {
    await dav('PUT', '/open/t.html', { 'Content-Type': 'application/octet-stream' }, GOOD)
    expect((await wire.visitor('GET', '/open/t.html')).headers['content-type']).to.match(/^text\/html/)
  })

  it('DAV-6 GET is never composed', async () => {
    await put(wire.server, '/open/part.html', page('<p id="inner">inner</p>'))
    const text = page('<link rel="include" href="/open/part.html"><template></template>')
    await dav('PUT', '/open/whole.html', {}, text)
    expect((await dav('GET', '/open/whole.html')).text).to.equal(text)
  })

  it('DAV-7 raw writes store what a constraint refuses, and are heard of', async () => {
    for (const path of ['/closed/raw.html', '/closed/good.html']) {
      const before = (await wire.server.site.store.events(path)).length
      expect((await dav('PUT', path, RAW, BAD)).status, path).to.be.oneOf([201, 204])
      expect(await shown(wire.visitor, path)).to.equal(BAD)
      expect((await wire.server.site.store.events(path)).length).to.equal(before + 1)
    }
    expect((await dav('PUT', '/closed/raw.html', {}, BAD)).status, 'without it as ever').to.equal(422)
    expect((await dav('COPY', '/open/bad.html', to('/closed/copy.html', RAW))).status).to.equal(201)
    expect((await dav('MOVE', '/open/bad.html', to('/closed/move.html', RAW))).status).to.equal(201)
    for (const name of ['raw', 'copy', 'move']) await remove(wire.server, `/closed/${name}.html`)
  })

  it('DAV-7 403 for credentials that have no whole site', () =>
    changesNothing(wire.server, async () => {
      for (const user of ['part', 'reader'])
        expect(outcomeOf(await as(user)('PUT', '/closed/good.html', RAW, BAD)), user).to.equal('403 Forbidden')
    }))

  it('DAV-7 visitors cannot', () =>
    changesNothing(wire.server, async () => {
      expect((await wire.visitor('PUT', '/closed/good.html', RAW, BAD)).status).to.be.oneOf([401, 403])
    }))
})
