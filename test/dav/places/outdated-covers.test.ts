/** Drafts and marks of removals that visitors have overtaken: what they wrote is what stands, wherever it goes (DAV-60, DAV-62, DAV-72). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import type { Mount } from '../../../dav/mount.ts'
import { endOutdated } from '../../../dav/places/drafts.ts'
import { unpublishedName } from '../../../pipeline/site/unpublished-name.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { property, schema } from '../../pipeline/model/markup.ts'
import { done, put as stored } from '../../pipeline/store/fixture.ts'
import { page, rulesPage } from '../../support/content.ts'
import type { Client } from '../../support/http.ts'
import { turnsOf } from '../../support/turns.ts'
import { list, shown, startWire, to, type Wire } from '../wire.ts'

const DAY = 86_400_000

describe('covers that visitors have overtaken', () => {
  let wire: Wire
  let dav: Client
  let visitor: Client
  let at = ''
  let count = 0
  before(async () => {
    wire = await startWire()
    ;({ dav, visitor } = wire)
    await dav('PUT', '/rules.html', {}, rulesPage(['*', '*', 'Allow', '/*']))
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    at = `/o${++count}/`
    await dav('MKCOL', at)
    await dav('MKCOL', `${at}c/`)
  })

  const names = async (folder = at) =>
    [...(await list(dav, folder)).keys()].slice(1).map(path => path.slice(folder.length))
  /** Everything that is put off is done. */
  const later = () => wire.server.running.mounts.tend(Date.now() + DAY)

  const COVERS: [what: string, cover: () => Promise<unknown>][] = [
    ['a draft', () => dav('PUT', `${at}c/x.html`, {}, '')],
    [
      'a removal that is put off',
      async () => {
        await dav('PUT', `${at}c/x.html`, {}, '<p>old')
        await dav('MOVE', `${at}c/x.html`, to(`${at}x.html~`))
      },
    ],
  ]
  for (const [what, cover] of COVERS)
    for (const method of ['MOVE', 'COPY'])
      for (const [from, target, path] of [
        ['c/', 'd/', 'd/x.html'],
        ['c/x.html', 'y.html', 'y.html'],
      ] as const)
        it(`${method} of ${from} does not bring back ${what}`, async () => {
          await cover()
          expect((await visitor('PUT', `${at}c/x.html`, {}, '<p>new')).status).to.be.lessThan(300)
          expect((await dav(method, at + from, to(at + target))).status).to.equal(201)
          expect((await dav('GET', at + path)).text).to.equal('<p>new')
          await later()
          expect(await shown(visitor, at + path)).to.equal('<p>new')
        })

  const WRITES: [what: string, write: () => Promise<{ status: number }>][] = [
    ['a whole write', () => visitor('PUT', `${at}c/x.html`, {}, '<ul><li>new</ul>')],
    ['an element', () => visitor('POST', `${at}c/x.html`, { Range: 'selector=ul' }, '<li>new</li>')],
  ]
  for (const [what, write] of WRITES)
    for (const method of ['DELETE', 'MOVE'])
      it(`DAV-61 ${method} by a visitor does not bring back a draft that ${what} has overtaken`, async () => {
        await dav('PUT', `${at}c/x.html`, {}, '<ul><li>old</ul>')
        await dav('PUT', `${at}c/x.html`, {}, '')
        expect((await write()).status).to.be.lessThan(300)
        const gone = await visitor(method, `${at}c/x.html`, method === 'MOVE' ? { Destination: `${at}y.html` } : {})
        expect(gone.status).to.be.lessThan(300)
        expect(await names(`${at}c/`)).to.deep.equal([])
        await later()
        expect(await shown(visitor, `${at}c/x.html`)).to.equal('404')
      })

  it('DAV-61 nor does it come back where the write is stored while something else is being removed', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    await dav('PUT', `${at}other.txt`, {}, 'other')
    const { leases, store } = wire.server.site
    const removing = await leases.hold(store.name, [`${at}other.txt`], async () => {
      const answer = dav('DELETE', `${at}other.txt`)
      await dav('OPTIONS', at)
      await visitor('PUT', `${at}x.html`, {}, '<p>new')
      await visitor('DELETE', `${at}x.html`)
      expect((await dav('GET', `${at}x.html`)).status).to.equal(404)
      return { answer }
    })
    expect((await removing.answer).status).to.equal(204)
  })

  const drafts = () => wire.server.running.store.site(unpublishedName(wire.server.site.store.name))

  /** @returns whether each commit of a request has written to a path, and what it has left over it */
  async function leaving(path: string, request: () => Promise<{ status: number }>) {
    const { store } = wire.server.site
    const left: unknown[] = []
    const { commit } = store
    store.commit = async (...asked) => {
      const result = await commit.apply(store, asked)
      if (result.ok) left.push(result.resources.has(path), await drafts().find(path))
      return result
    }
    const answer = await request()
    store.commit = commit
    return { answer, left }
  }

  const BEHIND: [what: string, behind: (path: string) => Change[]][] = [
    ['a draft', () => []],
    ['one that another process has just ended', path => [{ op: 'delete', path }]],
    ['one that another process has just renewed', path => [stored(path, '')]],
  ]
  const OVERTAKING: [how: string, status: number, write: (path: string) => Promise<{ status: number }>][] = [
    ['write', 201, path => visitor('PUT', path, {}, '<p>new')],
    ['move', 204, path => visitor('MOVE', `${at}y.html`, { Destination: path })],
  ]
  for (const [what, behind] of BEHIND)
    for (const [how, status, write] of OVERTAKING)
      it(`DAV-61 ${what} goes with the ${how} that overtakes it, in one commit`, async () => {
        const path = `${at}x.html`
        await visitor('PUT', `${at}y.html`, {}, '<p>new')
        await dav('PUT', path, {}, '')
        const changes = behind(path)
        if (changes.length > 0) await done(drafts(), changes)
        const { answer, left } = await leaving(path, () => write(path))
        expect([answer.status, ...left]).to.deep.equal([status, true, undefined])
        await visitor('DELETE', path)
        expect((await dav('GET', path)).status).to.equal(404)
      })

  const REMOVALS = {
    'a document with a draft': 'c/k.html',
    'a folder without one': 'c/',
    'a folder with one': 'c/',
  }
  for (const [what, removed] of Object.entries(REMOVALS))
    it(`DAV-61 a draft goes with what follows from the removal of ${what}, in one commit`, async () => {
      const path = `${at}x.html`
      const [key, row] = [`urn:example:Key${count}`, `urn:example:Row${count}`]
      const follows = property('key', { references: `${key}#id`, cascade: 'true' })
      await dav(
        'PUT',
        `${at}model.html`,
        {},
        page(schema(key, {}, property('id', { unique: 'true' })) + schema(row, {}, follows)),
      )
      await dav('PUT', `${at}c/k.html`, {}, page(`<p itemscope itemtype="${key}"><b itemprop="id">1</b></p>`))
      await dav('PUT', path, {}, page(`<p itemscope itemtype="${row}"><b itemprop="key">1</b></p>`))
      await dav('PUT', path, {}, '')
      if (!what.includes('without')) await dav('PUT', `${at}c/k.html`, {}, '')
      const { answer, left } = await leaving(path, () => dav('DELETE', at + removed))
      expect([answer.status, ...left]).to.deep.equal([204, true, undefined])
    })

  it('DAV-61 nor does it come back where a process had ended before it dropped the draft', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    const { store } = wire.server.site
    await done(store, [stored(`${at}x.html`, '<p>new')])
    await wire.server.running.mounts.tend(Date.now())
    await done(store, [{ op: 'delete', path: `${at}x.html` }])
    expect((await dav('GET', `${at}x.html`)).status).to.equal(404)
  })

  it('a collection takes the place of a draft of its name, and the draft does not come back behind it', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    expect((await visitor('PUT', `${at}x.html/y.txt`, {}, 'y')).status).to.equal(201)
    const tag = (await dav('PROPFIND', at, { Depth: '1' })).headers.etag
    expect(await names()).to.deep.equal(['c/', 'x.html/'])
    expect((await dav('PUT', `${at}x.html`, {}, '<p>x')).status).to.equal(405)
    expect((await dav('PUT', `${at}x.html/z.txt`, {}, 'z')).status).to.equal(201)
    expect((await dav('DELETE', `${at}x.html/z.txt`)).status).to.equal(204)
    expect((await dav('PROPFIND', at, { Depth: '1' })).headers.etag).to.equal(tag)
    expect((await dav('MOVE', `${at}x.html/`, to(`${at}d/`))).status).to.equal(201)
    expect(await names()).to.deep.equal(['c/', 'd/'])
  })

  it('nor when the collection is deleted', async () => {
    await dav('PUT', `${at}x.html`, {}, '')
    await visitor('PUT', `${at}x.html/y.txt`, {}, 'y')
    expect((await dav('DELETE', `${at}x.html`)).status).to.equal(204)
    expect(await names()).to.deep.equal(['c/'])
  })

  it('SEC-12 very many that are looked at leave others their turn', async () => {
    const covers = Array.from({ length: 60 }, (_, i) => ({ path: `/d${i}.html`, version: 1 }) as Resource)
    let found = 0
    const mount = {
      unpublished: { coversOf: async () => covers },
      site: {
        store: {
          // At hand, in a millisecond.
          async find() {
            found++
            for (const end = performance.now() + 1; performance.now() < end; );
          },
        },
      },
    } as unknown as Mount
    expect(await turnsOf(() => endOutdated(mount, '/'))).to.be.above(3)
    expect(found).to.equal(covers.length)
  })
})
