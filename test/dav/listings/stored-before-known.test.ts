/**
 * What is stored can be read before the process that has stored it knows so: whoever is shown it there must not be shown
 * something older afterwards (HTTP-4), or keeps that for the newer.
 */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { contentTag, ZERO } from '../../../pipeline/store/tags.ts'
import { digestOf } from '../../../pipeline/tree/document.ts'
import { holdCommits } from '../../support/held-commits.ts'
import { client } from '../../support/http.ts'
import { basic, propertyUpdate, startWire, to, type Wire } from '../wire.ts'

const SYNC = `<D:sync-collection xmlns:D="DAV:"><D:sync-token/><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`

const CREDENTIALS = [
  { user: 'whole', password: 'w' },
  { user: 'partly', password: 'p', scope: ['/d/', '/d/shown*'] },
]

/** Requests that are answered in the time in which one that does not wait would be. */
const MEANWHILE = 30

describe('reads of what is stored and not known yet', () => {
  let wire: Wire
  let letKnow: () => void = () => undefined
  beforeEach(async () => {
    wire = await startWire({ site: { credentials: CREDENTIALS } })
    wire.dav = client(wire.port, { Authorization: basic('whole', 'w') })
    await wire.dav('PUT', '/c/a.html', {}, '<p>old</p>')
    await wire.dav('PUT', '/d/x.txt', {}, 'moved')
    await wire.dav('PUT', '/other.txt', {}, 'other')
    for (const path of ['/q/a.html', '/q/b.html']) await wire.dav('PUT', path, {}, '<p>asked</p>')
    ;({ letKnow } = holdCommits(wire.server.site.store, Number.POSITIVE_INFINITY))
  })
  afterEach(async () => {
    letKnow()
    await wire.server.close()
  })

  const look = (method: string, path: string, fields = {}, body?: string) => wire.dav(method, path, fields, body)

  /** Whether a request is answered before the process knows what it has stored; then it gets to know it. */
  async function isEarly(request: Promise<unknown>): Promise<boolean> {
    let isAnswered = false
    void request.then(() => {
      isAnswered = true
    })
    for (let i = 0; i < MEANWHILE && !isAnswered; i++) await look('GET', '/other.txt')
    const isAnsweredEarly = isAnswered
    letKnow()
    await request
    return isAnsweredEarly
  }

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await new Promise(resolve => setImmediate(resolve))
  }

  const PLACES = [
    ['PROPFIND', '/c/', { Depth: '1' }, ''],
    ['REPORT', '/c/', {}, SYNC],
    ['GET', '/c/', {}, undefined],
  ] as const
  for (const [method, path, fields, body] of PLACES)
    it(`HTTP-4 DAV-50 ${method} ${path} ${JSON.stringify(fields)} tells no tag of a file that GET has not yet`, async () => {
      const { dav, server } = wire
      const digest = await digestOf(Buffer.from('<p>new</p>'))
      const saved = dav('PUT', '/c/a.html', {}, '<p>new</p>')
      await until(async () => (await server.site.store.find('/c/a.html'))?.digest === digest)
      const looked = look(method, path, fields, body)
      expect(await isEarly(looked)).to.equal(false)
      if (method !== 'GET') expect((await looked).text).to.include(contentTag(digest).slice(1, -1))
      expect((await dav('GET', '/c/a.html')).text).to.equal('<p>new</p>')
      expect((await saved).status).to.equal(204)
    })

  it('DAV-46 a folder that is being removed is not shown as an empty one', async () => {
    const { dav, server } = wire
    // It is known as it was.
    expect((await dav('PROPFIND', '/d/', { Depth: '0' })).status).to.equal(207)
    const removed = dav('DELETE', '/d/')
    await until(async () => (await server.site.store.find('/d/')) === undefined)
    const listed = dav('PROPFIND', '/d/', { Depth: '1' })
    await isEarly(listed)
    expect((await listed).status).to.equal(404)
    expect((await removed).status).to.equal(204)
  })

  const READS = [
    ['PROPFIND', 'mount'],
    ['GET', 'mount'],
    ['GET', 'public address'],
  ] as const
  for (const [method, face] of READS)
    it(`HTTP-4 DAV-48 ${method} at the ${face} finds what has been moved when it has left its old place`, async () => {
      const { dav, visitor, server } = wire
      const get = face === 'mount' ? dav : visitor
      expect((await get('GET', '/d/x.txt')).text).to.equal('moved')
      const moved = dav('MOVE', '/d/x.txt', to('/d/y.txt'))
      await until(async () => (await server.site.store.find('/d/y.txt')) !== undefined)
      const got = get(method, '/d/y.txt')
      expect(await isEarly(got)).to.equal(false)
      expect((await got).status).to.be.oneOf([200, 207])
      expect((await get('GET', '/d/x.txt')).status).to.equal(404)
      expect((await moved).status).to.equal(201)
    })

  const BROUGHT = [
    ['PROPFIND', '/e/', { Depth: '1' }, ''],
    ['REPORT', '/e/', {}, SYNC],
    ['GET', '/e/', {}, undefined],
  ] as const
  for (const [method, path, fields, body] of BROUGHT)
    it(`HTTP-4 DAV-48 ${method} shows no folder with its members that is still found at its old place`, async () => {
      const { dav, server } = wire
      expect((await dav('GET', '/d/x.txt')).text).to.equal('moved')
      const moved = dav('MOVE', '/d/', to('/e/'))
      await until(async () => (await server.site.store.find('/e/')) !== undefined)
      const looked = look(method, path, fields, body)
      expect(await isEarly(looked)).to.equal(false)
      expect((await looked).text).to.include('/e/x.txt')
      expect((await dav('GET', '/d/x.txt')).status).to.equal(404)
      expect((await moved).status).to.equal(201)
    })

  it('HTTP-4 DAV-14 PROPFIND shows no folder that a PUT has made before its file is found', async () => {
    const { dav, visitor, server } = wire
    expect((await visitor('GET', '/n/a.html')).status).to.equal(404)
    const saved = dav('PUT', '/n/a.html', {}, '<p>a</p>')
    await until(async () => (await server.site.store.find('/n/')) !== undefined)
    expect(await isEarly(look('PROPFIND', '/', { Depth: '1' }, ''))).to.equal(false)
    expect((await visitor('GET', '/n/a.html')).status).to.equal(200)
    expect((await saved).status).to.equal(201)
  })

  for (const [path, depth] of [
    ['/c/a.html', '0'],
    ['/c/', '1'],
  ] as const)
    it(`HTTP-4 DAV-35 PROPFIND ${path} tells no property before it is known everywhere`, async () => {
      const { dav, server } = wire
      const patched = dav('PROPPATCH', '/c/a.html', {}, propertyUpdate(['{urn:x}mood', 'new']))
      await until(async () => (await server.site.store.find('/c/a.html'))?.properties !== ZERO)
      expect(await isEarly(look('PROPFIND', path, { Depth: depth }, ''))).to.equal(false)
      expect((await patched).status).to.equal(207)
    })

  const CONDITIONAL = [
    ['PUT', {}, 'new', [412]],
    ['DELETE', {}, undefined, [404, 412]],
    ['MOVE', { Destination: '/z.txt' }, undefined, [404, 412]],
  ] as const
  for (const [method, fields, body, statuses] of CONDITIONAL)
    it(`HTTP-37 ${method} is decided by what it is carried out on, not by what was moved away`, async () => {
      const { dav, server } = wire
      const { headers } = await dav('HEAD', '/d/x.txt')
      // It is known to the mount and not held in memory, as it happens to what nobody has read for a while.
      await server.site.follow([{ version: 0, paths: ['/d/x.txt'], raised: [] }])
      expect((await dav('PROPFIND', '/d/x.txt', { Depth: '0' })).status).to.equal(207)
      const moved = dav('MOVE', '/d/', to('/e/'))
      await until(async () => (await server.site.store.find('/e/')) !== undefined)
      const written = dav(method, '/d/x.txt', { 'If-Match': headers.etag, ...fields }, body)
      await isEarly(written)
      expect((await written).status).to.be.oneOf(statuses)
      expect((await moved).status).to.equal(201)
      expect(await server.site.store.find('/d/x.txt')).to.equal(undefined)
    })

  const ABSENT = [
    ['GET', 'public address', '/d/x.txt', {}, undefined],
    ['QUERY', 'mount', '/q/', { 'Content-Type': 'text/css-selector' }, 'p'],
  ] as const
  for (const [method, face, path, fields, body] of ABSENT)
    it(`HTTP-4 ${method} at the ${face} does not tell that something is gone that others are shown`, async () => {
      const { dav, visitor, server } = wire
      const file = path === '/q/' ? '/q/a.html' : path
      const removed = dav('DELETE', file)
      await until(async () => (await server.site.store.find(file)) === undefined)
      // As it happens to what nobody has read for a while.
      await server.site.follow([{ version: 0, paths: [file], raised: [] }])
      const ask = face === 'mount' ? dav : visitor
      expect(await isEarly(ask(method, path, fields, body))).to.equal(false)
      expect((await removed).status).to.equal(204)
    })

  it('SEC-6 DAV-3 QUERY does not wait until what the credential may not see is removed', async () => {
    const { dav, server, port } = wire
    const partly = client(port, { Authorization: basic('partly', 'p') })
    const removed = dav('DELETE', '/d/x.txt')
    await until(async () => (await server.site.store.find('/d/x.txt')) === undefined)
    expect(await isEarly(partly('QUERY', '/d/', { 'Content-Type': 'text/css-selector' }, 'p'))).to.equal(true)
    expect((await removed).status).to.equal(204)
  })

  const HIDDEN = [
    ['PROPFIND', '/d/', { Depth: '1' }, 207],
    ['PROPFIND', '/d/x.txt', { Depth: '0' }, 404],
    ['GET', '/d/x.txt', {}, 404],
  ] as const
  for (const [method, path, fields, status] of HIDDEN)
    it(`SEC-6 DAV-3 ${method} ${path} does not wait until what the credential may not see is removed`, async () => {
      const { dav, server, port } = wire
      const partly = client(port, { Authorization: basic('partly', 'p') })
      const removed = dav('DELETE', '/d/x.txt')
      await until(async () => (await server.site.store.find('/d/x.txt')) === undefined)
      const looked = partly(method, path, fields)
      expect(await isEarly(looked)).to.equal(true)
      expect((await looked).status).to.equal(status)
      expect((await removed).status).to.equal(204)
    })

  it('HTTP-4 what is known is read at once, whatever is stored beside it', async () => {
    const { dav, visitor, server } = wire
    await dav('GET', '/c/a.html')
    const saved = dav('PUT', '/c/b.html', {}, '<p>b</p>')
    await until(async () => (await server.site.store.find('/c/b.html')) !== undefined)
    for (const get of [dav, visitor]) expect((await get('GET', '/c/a.html')).status).to.equal(200)
    letKnow()
    expect((await saved).status).to.equal(201)
  })
})
