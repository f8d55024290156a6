/** Drafts and helper files of desktop systems, from the mount to what visitors see (DAV-60 to DAV-62, DAV-70 to DAV-75). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { Overlay } from '../../../dav/places/overlay.ts'
import { shape } from '../../pipeline/model/markup.ts'
import { page } from '../../support/content.ts'
import { holdCommits } from '../../support/held-commits.ts'
import type { Client, Fields } from '../../support/http.ts'
import { changesNothing, list, outcomeOf, property, propertyUpdate, shown, startWire, to, type Wire } from '../wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
const EMPTY_TAG = '"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934c"'

let wire: Wire
let dav: Client
let count = 0
/** A collection of its own for each test. */
let at = ''

async function start(site: Record<string, unknown> = {}) {
  wire = await startWire({ site })
  dav = wire.dav
}

/** Methods of the events of a path, oldest first. */
async function eventsOf(path: string): Promise<(string | undefined)[]> {
  const events = await wire.server.site.store.events(path)
  return events.map(({ payload }) => /itemprop="method">(\w+)</.exec(payload)?.[1])
}

const names = async () => [...(await list(dav, at)).keys()].slice(1).map(path => path.slice(at.length))
const stored = async () => (await wire.server.site.store.list(at)).map(({ path }) => path.slice(at.length))

describe('drafts over the wire', () => {
  before(() => start())
  after(() => wire.server.close())
  beforeEach(async () => {
    at = `/d${++count}/`
    await dav('MKCOL', at)
  })

  for (const name of ['x.html', 'x.xml', 'x.xhtml', 'x.htm'])
    it(`DAV-60 an empty PUT of ${name} makes a draft that only the mount shows`, async () => {
      const made = await dav('PUT', at + name, {}, '')
      expect([made.status, made.headers.etag]).to.deep.equal([201, EMPTY_TAG])
      expect((await dav('PUT', at + name, {}, '')).status).to.equal(204)
      const answer = await dav('GET', at + name)
      expect([answer.status, answer.body.length, answer.headers.etag]).to.deep.equal([200, 0, EMPTY_TAG])
      expect(await property(dav, at + name, 'getcontentlength')).to.equal('0')
      expect(await names()).to.deep.equal([name])
      expect(await shown(wire.visitor, at + name)).to.equal('404')
      expect(await eventsOf(at + name)).to.deep.equal([])
      expect(await stored()).to.deep.equal([])
    })

  it('SEC-12 DAV-70 no more drafts and work files come where memory holds as many as it may', async () => {
    for (const [name, body] of [
      ['x.html', ''],
      ['~$x', 'x'],
    ] as const)
      await dav('PUT', at + name, {}, body)
    for (const folder of [`${at}deep/`, `${at.slice(0, -1)}d/`]) await dav('MKCOL', folder)
    const outcomes = async () => {
      const asked: [method: string, name: string, fields?: Fields, body?: string][] = [
        ['PUT', 'y.html', {}, ''],
        ['LOCK', 'z.html', {}, LOCK],
        ['PUT', '~$y', {}, 'y'],
        ['COPY', '~$x', to(`${at}~$z`)],
        ['COPY', '', to(`${at.slice(0, -1)}c/`)],
        ['PUT', 'x.html', {}, ''],
        ['PUT', '~$x', {}, 'z'],
        ['PUT', '._y', {}, 'y'],
        ['PUT', 'y.txt', {}, 'y'],
        ['COPY', 'y.txt', to(`${at}~$y`)],
        ['MOVE', 'y.txt', to(`${at}y.txt~`)],
        ['MOVE', '._y', to(`${at}~$y`)],
        ['MOVE', '~$x', to(`${at}deep/~$x`)],
        ['MOVE', '', to(`${at.slice(0, -1)}d/deep/`)],
        ['MOVE', '~$x', to(`${at}~$w`)],
        ['DELETE', '~$w'],
      ]
      const statuses: number[] = []
      for (const [method, name, fields, body] of asked)
        statuses.push((await dav(method, at + name, fields, body)).status)
      return statuses.join(' ')
    }
    const own = Object.getOwnPropertyDescriptor(Overlay.prototype, 'weight')
    Object.defineProperty(Overlay.prototype, 'weight', { configurable: true, get: () => 100_000 })
    try {
      expect(await outcomes()).to.equal('507 507 507 507 507 204 204 201 201 507 507 507 507 507 201 204')
    } finally {
      if (own) Object.defineProperty(Overlay.prototype, 'weight', own)
    }
    expect(await shown(dav, `${at}y.html`)).to.equal('404')
  })

  it('SEC-12 DAV-70 of several folders that are copied at once no more come than memory may hold', async () => {
    const next = (name: string) => `${at.slice(0, -1)}${name}/`
    for (const folder of [at, next('x')]) {
      await dav('MKCOL', folder)
      await dav('PUT', `${folder}~$x`, {}, 'x')
    }
    const own = Object.getOwnPropertyDescriptor(Overlay.prototype, 'weight')
    Object.defineProperty(Overlay.prototype, 'weight', { configurable: true, get: () => 99_500 })
    const { isStored, letKnow } = holdCommits(wire.server.site.store)
    try {
      const first = dav('COPY', at, to(next('c')))
      await isStored
      const second = dav('COPY', next('x'), to(next('d')))
      for (let i = 0; i < 30; i++) await dav('GET', next('e'))
      letKnow()
      expect([(await first).status, (await second).status]).to.deep.equal([201, 507])
      expect((await dav('COPY', next('x'), to(next('d')))).status).to.equal(201)
    } finally {
      letKnow()
      if (own) Object.defineProperty(Overlay.prototype, 'weight', own)
    }
  })

  it('DAV-60 blobs are stored at once, empty or not', async () => {
    expect((await dav('PUT', `${at}x.bin`, {}, '')).status).to.equal(201)
    expect(await stored()).to.deep.equal(['x.bin'])
    expect(await eventsOf(`${at}x.bin`)).to.have.length(1)
  })

  it('DAV-60 over a document visitors keep the previous version', async () => {
    await dav('PUT', `${at}x.html`, {}, page('one'))
    expect((await dav('PUT', `${at}x.html`, {}, '')).status).to.equal(204)
    expect((await dav('GET', `${at}x.html`)).text).to.equal('')
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('one'))
    expect((await dav('PUT', `${at}x.html`, {}, page('two'))).status).to.equal(204)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('two'))
    expect(await eventsOf(`${at}x.html`)).to.have.length(2)
  })

  it('DAV-61 content ends the draft: 204, one creation', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    expect((await dav('PUT', `${at}x.html`, {}, page('one'))).status).to.equal(204)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('one'))
    expect(await eventsOf(`${at}x.html`)).to.have.length(1)
  })

  it('DAV-61 a refused save leaves the draft', async () => {
    await dav('PUT', '/model.html', {}, page(shape({ resource: `${at}*`, constraint: ':has(h1)' })))
    await dav('PUT', `${at}x.html`, {}, '')
    await changesNothing(wire.server, async () => {
      expect((await dav('PUT', `${at}x.html`, {}, page('<p>no heading</p>'))).status).to.equal(422)
    })
    const { status, text } = await dav('GET', `${at}x.html`)
    expect([status, text]).to.deep.equal([200, ''])
    expect((await dav('PUT', `${at}x.html`, {}, page('<h1>h</h1>'))).status).to.equal(204)
    await dav('DELETE', '/model.html')
  })

  it('DAV-61 If-None-Match: * passes on a draft without content when a token of its lock comes with it', async () => {
    const locked = await dav('LOCK', `${at}x.html`, {}, LOCK)
    expect(locked.status).to.equal(201)
    const fields = { If: `(${locked.headers['lock-token']})`, 'If-None-Match': '*' }
    expect((await dav('PUT', `${at}x.html`, { ...fields, If: undefined }, page('x'))).status).to.equal(412)
    expect((await dav('PUT', `${at}x.html`, fields, page('x'))).status).to.equal(204)
    expect((await dav('PUT', `${at}x.html`, fields, page('y'))).status).to.equal(412)
    await dav('PUT', `${at}old.html`, {}, page('old'))
    const over = await dav('LOCK', `${at}old.html`, {}, LOCK)
    const token = { If: `(${over.headers['lock-token']})` }
    await dav('PUT', `${at}old.html`, token, '')
    expect((await dav('PUT', `${at}old.html`, { ...token, 'If-None-Match': '*' }, page('y'))).status).to.equal(412)
  })

  it('DAV-61 properties that were set on the draft stay', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    await dav('PROPPATCH', `${at}x.html`, {}, propertyUpdate(['{urn:x}color', 'red']))
    expect(await property(dav, `${at}x.html`, '{urn:x}color')).to.equal('red')
    await dav('PUT', `${at}x.html`, {}, page('x'))
    expect(await property(dav, `${at}x.html`, '{urn:x}color')).to.equal('red')
  })

  it('DAV-62 DELETE of a draft over nothing changes nothing public', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    expect((await dav('DELETE', `${at}x.html`)).status).to.equal(204)
    expect((await dav('GET', `${at}x.html`)).status).to.equal(404)
    expect(await eventsOf(`${at}x.html`)).to.deep.equal([])
  })

  it('DAV-62 DELETE of a draft over a document deletes that', async () => {
    await dav('PUT', `${at}x.html`, {}, page('one'))
    await dav('PUT', `${at}x.html`, {}, '')
    expect((await dav('DELETE', `${at}x.html`)).status).to.equal(204)
    expect((await dav('GET', `${at}x.html`)).status).to.equal(404)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
    expect(await names()).to.deep.equal([])
  })

  it('DAV-62 MOVE takes a draft along as a draft, alone and in its collection', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    expect((await dav('MOVE', `${at}x.html`, to(`${at}y.html`))).status).to.equal(201)
    expect(await names()).to.deep.equal(['y.html'])
    expect(await shown(wire.visitor, `${at}y.html`)).to.equal('404')
    await dav('MOVE', at, to(`/moved-${count}/`))
    expect((await dav('GET', `/moved-${count}/y.html`)).status).to.equal(200)
    expect(await shown(wire.visitor, `/moved-${count}/y.html`)).to.equal('404')
    expect((await dav('PUT', `/moved-${count}/y.html`, {}, page('y'))).status).to.equal(204)
    expect(await shown(wire.visitor, `/moved-${count}/y.html`)).to.equal(page('y'))
  })

  it('DAV-49 queries do not see drafts', async () => {
    await dav('PUT', `${at}x.html`, {}, page('<i>one</i>'))
    await dav('PUT', `${at}x.html`, {}, '')
    const query = (path: string) => dav('QUERY', path, { 'Content-Type': 'text/css-selector' }, 'i')
    expect((await query(`${at}x.html`)).status).to.be.oneOf([201, 422])
    expect((await query(at)).status, 'the published version').to.equal(201)
    await dav('PUT', `${at}new.html`, {}, '')
    expect((await query(at)).text).not.to.include('new.html')
    expect((await query(`${at}new.html`)).status).to.equal(404)
  })
})

describe('helper files over the wire', () => {
  before(() => start({ helperFiles: { metadata: ['*.meta'], work: ['*.lck'], ordinary: ['.ds_store'] } }))
  after(() => wire.server.close())
  beforeEach(async () => {
    at = `/h${++count}/`
    await dav('MKCOL', at)
  })

  const METADATA = [
    '._file.html',
    '._.',
    '.localized',
    '.Spotlight-V100',
    '.Trashes',
    '.fseventsd',
    '.TemporaryItems',
    '.apdisk',
    '.VolumeIcon.icns',
    '.metadata_never_index',
    '.ql_disablecache',
    'desktop.ini',
    'DESKTOP.INI',
    'Thumbs.db',
    'ehthumbs.db',
    '.directory',
    'own.meta',
  ]
  const WORK = [
    '~$plan.docx',
    '.~lock.plan.odt#',
    '~WRL0001.tmp',
    '~wrd0000.tmp',
    '5A2B3C01',
    '5a2b3c01.tmp',
    'plan.html~',
    '.plan.html.swp',
    '.x.swx',
    '4913',
    '.#plan.html',
    '#plan.html#',
    '.goutputstream-ABC123',
    '.fuse_hidden0001',
    '.davfs.tmp123',
    'own.lck',
  ]
  const ORDINARY = [
    '.well-known',
    '.htaccess',
    '.nojekyll',
    '.gitignore',
    '.DS_Store',
    'a~b',
    '5A2B3C0',
    '5A2B3C011',
    '5A2B3G01',
    '4914',
    '49130',
    '#plan',
    'plan#',
    'thumbs.dbx',
    'x.desktop.ini',
    '.swp',
    'plan.swp',
    '~WR01.tmp',
  ]

  for (const [kind, all] of [
    ['metadata', METADATA],
    ['work', WORK],
    ['ordinary', ORDINARY],
  ] as const)
    for (const name of all)
      it(`DAV-70 DAV-74 ${name} is ${kind === 'ordinary' ? 'an ordinary file' : `a ${kind} file`}`, async () => {
        const path = at + encodeURIComponent(name)
        const content = '<p>not well </formed'
        expect((await dav('PUT', path, { 'Content-Type': 'text/x-y' }, content)).status).to.equal(201)
        expect((await dav('GET', path)).text).to.equal(content)
        expect((await dav('PROPFIND', path, { Depth: '0' })).status).to.equal(207)
        const ordinary = kind === 'ordinary'
        expect(await stored()).to.deep.equal(ordinary ? [name] : [])
        expect(await shown(wire.visitor, path)).to.equal(ordinary ? content : '404')
        expect(await eventsOf(at + name)).to.have.length(ordinary ? 1 : 0)
        expect(await names()).to.deep.equal(kind === 'metadata' ? [] : [name])
        expect((await dav('DELETE', path)).status).to.equal(204)
        expect((await dav('GET', path)).status).to.equal(404)
      })

  for (const name of [
    '.Trashes',
    '.TemporaryItems',
    'x.txt.sb-1a2b3c4d-Xy12Zq',
    '(A Document Being Saved By TextEdit)',
  ])
    it(`DAV-70 all in ${name}/ is kept apart`, async () => {
      const path = at + encodeURIComponent(name)
      expect((await dav('MKCOL', `${path}/`)).status).to.equal(201)
      expect((await dav('PUT', `${path}/x.html`, {}, page('x'))).status).to.equal(201)
      expect((await dav('GET', `${path}/x.html`)).text).to.equal(page('x'))
      expect(await property(dav, `${path}/`, 'resourcetype')).to.equal('collection')
      expect([...(await list(dav, `${path}/`)).keys()].length).to.equal(2)
      expect(await stored()).to.deep.equal([])
      expect(await shown(wire.visitor, `${path}/x.html`)).to.equal('404')
      expect((await dav('DELETE', `${path}/`)).status).to.equal(204)
      expect((await dav('GET', `${path}/x.html`)).status).to.equal(404)
    })

  it('DAV-71 every method works on them', async () => {
    const path = `${at}~$plan.docx`
    const locked = await dav('LOCK', path, {}, LOCK)
    expect(locked.status).to.equal(201)
    expect((await dav('PUT', path, {}, 'x')).status).to.equal(423)
    const token = { If: `(${locked.headers['lock-token']})` }
    expect((await dav('PUT', path, token, 'owner')).status).to.equal(204)
    expect((await dav('PROPPATCH', path, token, propertyUpdate(['{urn:x}a', '1']))).status).to.equal(207)
    expect(await property(dav, path, '{urn:x}a')).to.equal('1')
    expect(await property(dav, path, 'getetag')).to.equal((await dav('HEAD', path)).headers.etag)
    expect((await dav('PUT', path, { ...token, 'If-Match': '"x"' }, 'y')).status).to.equal(412)
    expect((await dav('UNLOCK', path, { 'Lock-Token': locked.headers['lock-token'] })).status).to.equal(204)
  })

  it('DAV-72 a save through a work file is one write of the document', async () => {
    await dav('PUT', `${at}x.html`, {}, page('old'))
    await dav('PUT', `${at}.x.html.swp`, {}, page('new'))
    expect((await dav('MOVE', `${at}.x.html.swp`, to(`${at}x.html`))).status).to.equal(204)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('new'))
    expect(await eventsOf(`${at}x.html`)).to.have.length(2)
    expect(await names()).to.deep.equal(['x.html'])
    await dav('PUT', `${at}5A2B3C01`, {}, page('copied'))
    expect((await dav('COPY', `${at}5A2B3C01`, to(`${at}y.html`))).status).to.equal(201)
    expect(await shown(wire.visitor, `${at}y.html`)).to.equal(page('copied'))
    expect(await names()).to.deep.equal(['5A2B3C01', 'x.html', 'y.html'])
    expect(await property(dav, `${at}y.html`, 'getcontenttype')).to.match(/^text\/html/)
  })

  it('DAV-72 the safe save of macOS is one update', async () => {
    await dav('PUT', `${at}x.txt`, {}, 'old')
    const folder = `${at}x.txt.sb-1a2b3c4d-Xy12Zq/`
    const statuses = [
      (await dav('MKCOL', folder)).status,
      (await dav('PUT', `${folder}x.txt`, {}, 'new')).status,
      (await dav('MOVE', `${folder}x.txt`, to(`${at}x.txt`))).status,
      (await dav('DELETE', folder)).status,
    ]
    expect(statuses).to.deep.equal([201, 201, 204, 204])
    expect(await shown(wire.visitor, `${at}x.txt`)).to.equal('new')
    expect(await eventsOf(`${at}x.txt`)).to.have.length(2)
  })

  it('DAV-72 what is refused at the destination leaves the work file', async () => {
    await dav('PUT', `${at}~$x.tmp`, {}, page('new'))
    await changesNothing(wire.server, async () => {
      expect(outcomeOf(await dav('MOVE', `${at}~$x.tmp`, to(`${at}no/x.html`)))).to.equal('409 ParentDirectoryMissing')
      expect(outcomeOf(await dav('MOVE', `${at}~$x.tmp`, to('/-platform/x.html')))).to.equal('403 Reserved')
      expect((await dav('MOVE', `${at}~$x.tmp`, to(`${at}~$x.tmp`))).status).to.equal(403)
    })
    expect((await dav('GET', `${at}~$x.tmp`)).text).to.equal(page('new'))
  })

  it('DAV-72 a document renamed to a work name and written again', async () => {
    await dav('PUT', `${at}x.html`, {}, page('old'))
    expect((await dav('MOVE', `${at}x.html`, to(`${at}x.html~`))).status).to.equal(201)
    expect((await dav('GET', `${at}x.html`)).status).to.equal(404)
    expect((await dav('GET', `${at}x.html~`)).text).to.equal(page('old'))
    expect((await dav('PUT', `${at}x.html`, {}, page('new'))).status).to.equal(201)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('new'))
  })

  it('DAV-73 they go along with their collection, and never keep it', async () => {
    await dav('MKCOL', `${at}c/`)
    for (const name of ['._a', '~$b', 'c.html~']) await dav('PUT', `${at}c/${name}`, {}, name)
    expect((await dav('MOVE', `${at}c/`, to(`${at}m/`))).status).to.equal(201)
    for (const name of ['._a', '~$b', 'c.html~']) {
      expect((await dav('GET', `${at}m/${name}`)).text).to.equal(name)
      expect((await dav('GET', `${at}c/${name}`)).status).to.equal(404)
    }
    expect((await dav('DELETE', `${at}m/`)).status).to.equal(204)
    expect((await dav('GET', `${at}m/._a`)).status).to.equal(404)
    expect(await names()).to.deep.equal([])
  })

  it('DAV-49 queries do not see them', async () => {
    await dav('PUT', `${at}x.html`, {}, page('<b>x</b>'))
    await dav('PUT', `${at}._x.html`, { 'Content-Type': 'text/html' }, page('<b>helper</b>'))
    await dav('PUT', `${at}x.html~`, { 'Content-Type': 'text/html' }, page('<b>backup</b>'))
    const found = await dav('QUERY', at, { 'Content-Type': 'text/css-selector' }, 'b')
    expect(found.text).to.include('<b>x</b>').and.not.include('helper').and.not.include('backup')
    for (const type of ['text/css-selector', 'text/sessel'])
      for (const name of ['._x.html', 'x.html~'])
        expect((await dav('QUERY', at + name, { 'Content-Type': type }, 'b')).status, `${type} ${name}`).to.equal(404)
  })
})
