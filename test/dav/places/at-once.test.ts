/** Requests for helper files that come at once: each is answered as if it had come alone, one after another (DAV-8, DAV-71). */

import { expect } from 'chai'
import { after, afterEach, before, beforeEach, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import type { Client } from '../../support/http.ts'
import { startWire, to, type Wire } from '../wire.ts'

const { commit } = Site.prototype

describe('helper files at once', () => {
  let wire: Wire
  let dav: Client
  let at = ''
  let count = 0
  before(async () => {
    wire = await startWire()
    dav = wire.dav
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    at = `/h${++count}/`
    await dav('MKCOL', at)
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
        if (this !== wire.server.site && asked++ === 0) await dav('PUT', `${at}c/._m`, {}, 'm')
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
})
