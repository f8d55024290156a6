/** Requests for helper files that come at once: each is answered as if it had come alone, one after another (DAV-8, DAV-71). */

import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import { put } from '../../support/content.ts'
import type { Client, Received } from '../../support/http.ts'
import { lockInfo } from '../locks/locking.ts'
import { inNewFolders, propertyUpdate, to, type Wire } from '../wire.ts'

const { commit } = Site.prototype

describe('helper files at once', () => {
  let wire: Wire
  let dav: Client
  let at = ''
  inNewFolders((folder, started) => {
    ;[at, wire, dav] = [folder, started, started.dav]
  })
  afterEach(() => {
    Site.prototype.commit = commit
  })

  /** Statuses of the same request, sent eight times at once. */
  const eight = async (method: string, path: string, body?: string) =>
    (await Promise.all(Array.from({ length: 8 }, () => dav(method, path, {}, body)))).map(({ status }) => status).sort()

  for (const [name, content] of [
    ['~$x', 'x'],
    ['x.html', ''],
  ] as const)
    it(`DAV-42 DAV-60 one PUT of ${name} makes it, the others find it`, async () => {
      expect(await eight('PUT', at + name, content)).to.deep.equal([201, ...Array(7).fill(204)])
    })

  it('DAV-46 one DELETE removes a helper file, the others find nothing', async () => {
    await dav('PUT', `${at}~$x`, {}, 'x')
    expect(await eight('DELETE', `${at}~$x`)).to.deep.equal([204, ...Array(7).fill(404)])
  })

  for (const [method, path, destination] of [
    ['MKCOL', 'c/.Trashes/', ''],
    ['MOVE', '~$x', 'c/~$y'],
    ['MOVE', 'draft.html', 'c/draft.html'],
    ['MOVE', 'd/', 'c/d/'],
  ] as const)
    it(`DAV-47 DAV-48 ${method} ${path} does not mind that somebody else keeps the first helper file in its collection`, async () => {
      for (const name of ['c/', 'd/']) await dav('MKCOL', at + name)
      for (const name of ['~$x', 'd/~$x']) await dav('PUT', at + name, {}, 'x')
      await dav('PUT', `${at}draft.html`, {}, '')
      let asked = 0
      Site.prototype.commit = async function (...order) {
        // Of what is kept beside the site.
        if ((this !== wire.server.site || order[2]) && asked++ === 0) await dav('PUT', `${at}c/._m`, {}, 'm')
        return commit.apply(this, order)
      }
      expect((await dav(method, at + path, destination ? to(at + destination) : {})).status).to.equal(201)
      expect(asked).to.be.greaterThan(1)
      const made = path === 'd/' ? 'c/d/~$x' : destination || path
      expect((await dav('GET', at + made)).status).to.equal(200)
    })

  it('DAV-71 a PUT whose name a collection takes meanwhile is 409', async () => {
    let asked = 0
    Site.prototype.commit = async function (...order) {
      if (this !== wire.server.site && asked++ === 0) await dav('MKCOL', `${at}.Trashes/`)
      return commit.apply(this, order)
    }
    expect((await dav('PUT', `${at}.Trashes`, {}, 'x')).status).to.equal(409)
    expect((await dav('GET', `${at}.Trashes/`)).status).to.equal(200)
  })

  /** Has something happen before the first commit that makes a change of this kind. */
  function beforeCommit(op: Change['op'], happen: () => unknown): void {
    Site.prototype.commit = async function (...order) {
      if (!order[0].changes.some(change => change.op === op)) return commit.apply(this, order)
      Site.prototype.commit = commit
      await happen()
      return commit.apply(this, order)
    }
  }

  it('DAV-8 what stood under a helper name stays when a collection is written to while it is renamed to that', async () => {
    for (const name of ['c/', '.Trashes/', '.Trashes/c/']) await dav('MKCOL', at + name)
    for (const name of ['c/x.txt', '.Trashes/c/old.txt']) await dav('PUT', at + name, {}, name)
    beforeCommit('delete', () => dav('PUT', `${at}c/new.txt`, {}, 'new'))
    expect((await dav('MOVE', `${at}c/`, to(`${at}.Trashes/c/`))).status).to.equal(409)
    expect((await dav('GET', `${at}c/new.txt`)).text).to.equal('new')
    expect((await dav('GET', `${at}.Trashes/c/old.txt`)).text).to.equal('.Trashes/c/old.txt')
    expect((await dav('GET', `${at}.Trashes/c/x.txt`)).status).to.equal(404)
    expect((await dav('MOVE', `${at}c/`, to(`${at}.Trashes/c/`))).status).to.equal(204)
    expect((await dav('GET', `${at}.Trashes/c/new.txt`)).text).to.equal('new')
    expect((await dav('GET', `${at}.Trashes/c/old.txt`)).status).to.equal(404)
  })

  for (const [what, old] of [
    ['what stands there', 200],
    ['nothing', 404],
  ] as const)
    it(`DAV-8 at every moment of a rename to a helper name, ${what} is there or the whole collection`, async () => {
      for (const name of ['c/', '.Trashes/']) await dav('MKCOL', at + name)
      if (old === 200) await dav('MKCOL', `${at}.Trashes/c/`)
      if (old === 200) await dav('PUT', `${at}.Trashes/c/old.txt`, {}, 'old')
      for (const name of ['c/x.txt', 'c/y.txt']) await dav('PUT', at + name, {}, name)
      const seen = new Set<string>()
      const look = async () => {
        const files = ['', 'old.txt', 'x.txt', 'y.txt'].map(name => dav('GET', `${at}.Trashes/c/${name}`))
        seen.add((await Promise.all(files)).map(({ status }) => status).join())
      }
      Site.prototype.commit = async function (...order) {
        await look()
        return commit.apply(this, order)
      }
      await dav('MOVE', `${at}c/`, to(`${at}.Trashes/c/`))
      await look()
      expect([...seen]).to.deep.equal([`${old},${old},404,404`, '200,404,200,200'])
    })

  it('DAV-81 LOCK of a free name does not cover what a visitor stores there meanwhile', async () => {
    let stored: Promise<void> | undefined
    Site.prototype.commit = async function (...order) {
      if (this !== wire.server.site && stored === undefined) {
        stored = put(wire.server, `${at}x.html`, '<p>visitor')
        await setTimeout(100)
      }
      return commit.apply(this, order)
    }
    expect((await dav('LOCK', `${at}x.html`, {}, lockInfo())).status).to.equal(201)
    await stored
    expect((await dav('GET', `${at}x.html`)).text).to.equal('<p>visitor')
  })

  it('DAV-8 what stood under a helper name stays when a document cannot be kept there', async () => {
    for (const name of ['x.html', '~$x']) await dav('PUT', at + name, {}, name)
    beforeCommit('put', () => Promise.reject(new Error('no room')))
    expect((await dav('MOVE', `${at}x.html`, to(`${at}~$x`))).status).to.be.at.least(500)
    expect((await dav('GET', `${at}~$x`)).text).to.equal('~$x')
    expect((await dav('GET', `${at}x.html`)).text).to.equal('x.html')
  })

  it('DAV-72 a file that is written while it is renamed to a helper name is kept as it is then', async () => {
    await dav('PUT', `${at}x`, { 'Content-Type': 'text/plain' }, 'one')
    let moved: Promise<Received> | undefined
    beforeCommit('put', () => {
      moved = dav('MOVE', `${at}x`, to(`${at}~$x`))
      return setTimeout(100)
    })
    expect((await dav('PUT', `${at}x`, { 'Content-Type': 'image/png' }, 'two')).status).to.equal(204)
    expect((await moved)?.status).to.equal(201)
    const { text, headers } = await dav('GET', `${at}~$x`)
    expect([text, headers['content-type']]).to.deep.equal(['two', 'image/png'])
  })

  it('DAV-35 PROPPATCH of what is renamed at that moment is 404', async () => {
    await dav('PUT', `${at}~$x`, {}, 'x')
    let described: Promise<Received> | undefined
    beforeCommit('move', () => {
      described = dav('PROPPATCH', `${at}~$x`, {}, propertyUpdate(['{urn:x}mood', 'calm']))
      return setTimeout(100)
    })
    expect((await dav('MOVE', `${at}~$x`, to(`${at}~$y`))).status).to.equal(201)
    expect((await described)?.status).to.equal(404)
  })

  for (const method of ['MOVE', 'COPY', 'DELETE'])
    it(`DAV-48 DAV-72 ${method} of a document that takes a helper name before it has its turn is 404, and leaves it served`, async () => {
      await dav('PUT', `${at}x.html`, {}, '<p>x')
      const { leases } = wire.server.site
      const { hold } = leases
      leases.hold = async <T>(...asked: Parameters<typeof hold>) => {
        leases.hold = hold
        expect((await dav('MOVE', `${at}x.html`, to(`${at}~$x`))).status).to.equal(201)
        return hold.call(leases, ...asked) as Promise<T>
      }
      const { status } = await dav(method, `${at}x.html`, method === 'DELETE' ? {} : to(`${at}y.html`))
      const there = async (ask: Client, name: string) => (await ask('GET', at + name)).status
      expect([status, await there(dav, 'y.html'), await there(dav, '~$x')]).to.deep.equal([404, 404, 200])
      expect(await there(wire.visitor, 'x.html')).to.equal(200)
    })
})
