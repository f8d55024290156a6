/**
 * Listings of collections that others change or remove while they are read, in this process or another: all of an answer is of
 * one moment (HTTP-4, DAV-50).
 */

import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { Listings } from '../../../dav/listings/listings.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import { type Client, client, tagOf } from '../../support/http.ts'
import { basic, propertyUpdate, startWire, type Wire } from '../wire.ts'

const SYNC = (token: string) =>
  `<D:sync-collection xmlns:D="DAV:"><D:sync-token>${token}</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`
const TOKEN = '<D:propfind xmlns:D="DAV:"><D:prop><D:sync-token/></D:prop></D:propfind>'
const tokenIn = (text: string) => /<D:sync-token>([^<]+)</.exec(text)?.[1] ?? ''

/** Sees some of what is below `/c/`. */
const HALF = { user: 'half', password: 'a known password', scope: ['/c/x*', '/c/a*'] }
const WHOLE = { user: 'whole', password: 'a known password', scope: ['/*'] }

const REMOVAL: Change = { op: 'delete', path: '/c/' }
const ARRIVAL: Change = { op: 'copy', from: '/a.txt', to: '/c/x.txt', deep: true }

for (const where of ['the same process', 'another one'] as const)
  describe(`collections that are changed by ${where} while they are listed`, () => {
    let wire: Wire
    let dav: Client
    let half: Client
    beforeEach(async () => {
      wire = await startWire({ site: { credentials: [HALF, WHOLE] } })
      const as = ({ user, password }: typeof WHOLE) => client(wire.port, { Authorization: basic(user, password) })
      dav = as(WHOLE)
      half = as(HALF)
      for (const path of ['/a.txt', '/c/a.txt', '/c/b.txt']) await dav('PUT', path, {}, path)
    })
    afterEach(() => wire.server.close())

    /** Has something committed right before members are looked up the next time. */
    function beforeMembers(change: Change): void {
      const { site, running } = wire.server
      const { of } = Listings.prototype
      Listings.prototype.of = async function (path) {
        Listings.prototype.of = of
        if (where === 'the same process') await site.commit({ changes: [change] })
        else {
          const done = await running.store.site(site.store.name).commit({ changes: [change] })
          if (!done.ok) throw new Error(done.reason)
          const paths = 'to' in change ? [change.to] : [change.path]
          // As when the log of commits is read.
          site.inStep = () => site.follow([{ version: done.version, paths, raised: [] }])
        }
        return of.call(this, path)
      }
    }

    it('DAV-30 one that is gone is not there, and not empty', async () => {
      for (const [method, fields, body] of [
        ['PROPFIND', { Depth: '1' }, ''],
        ['PROPFIND', { Depth: '1' }, TOKEN],
        ['GET', {}, undefined],
        ['REPORT', {}, SYNC('')],
      ] as const) {
        await dav('PUT', '/c/a.txt', {}, 'again')
        beforeMembers(REMOVAL)
        expect((await dav(method, '/c/', fields, body)).status, `${method} ${body}`).to.equal(404)
      }
    })

    it('DAV-50 a tag is that of what comes with it', async () => {
      for (const as of [dav, half]) {
        await dav('DELETE', '/c/x.txt')
        await dav('PUT', '/c/b.txt', {}, 'changed')
        beforeMembers(ARRIVAL)
        const listing = await as('PROPFIND', '/c/', { Depth: '1' })
        expect(listing.text).to.include('/c/x.txt')
        const again = await as('PROPFIND', '/c/', { Depth: '1' })
        expect(again.text).to.include('/c/x.txt')
        expect(tagOf(listing)).to.equal(tagOf(again))
      }
    })

    for (const method of ['REPORT', 'PROPFIND'] as const)
      it(`DAV-38 ${method} tells no token of one state with members of another`, async () => {
        const token = tokenIn((await dav('REPORT', '/c/', {}, SYNC(''))).text)
        beforeMembers(ARRIVAL)
        await (method === 'REPORT' ? dav('REPORT', '/c/', {}, SYNC('')) : dav('PROPFIND', '/c/', { Depth: '1' }, TOKEN))
        expect((await dav('REPORT', '/c/', {}, SYNC(token))).text).to.include('/c/x.txt')
      })
  })

describe('a collection that another process has changed and not told yet', () => {
  it('DAV-38 REPORT waits a moment, rather than to be refused', async () => {
    const { dav, server } = await startWire()
    try {
      const { site, running } = server
      for (const path of ['/c/a.txt', '/c/b.txt']) await dav('PUT', path, {}, path)
      // Memory knows it as it was.
      expect((await dav('PROPFIND', '/c/', { Depth: '0' })).status).to.equal(207)
      const done = await running.store.site(site.store.name).commit({ changes: [{ op: 'delete', path: '/c/b.txt' }] })
      if (!done.ok) throw new Error(done.reason)
      const told = setTimeout(50).then(() => site.follow([{ version: done.version, paths: ['/c/b.txt'], raised: [] }]))
      const report = await dav('REPORT', '/c/', {}, SYNC(''))
      expect(report.status).to.equal(207)
      expect(report.text).to.include('/c/a.txt').and.not.include('/c/b.txt')
      await told
    } finally {
      await server.close()
    }
  })
})

describe('properties that are changed while they are read', () => {
  const MOOD = '{urn:x}mood'
  const DEPTHS = [
    ['/c/a.html', '0', 'properties'],
    ['/c/', '0', 'properties'],
    ['/c/', '1', 'propertiesBetween'],
  ] as const
  for (const [path, depth, read] of DEPTHS)
    it(`DAV-50 HTTP-4 PROPFIND ${path} ${depth} has the tag of what it tells`, async () => {
      const { dav, server } = await startWire()
      try {
        const patch = (mood: string) =>
          dav('PROPPATCH', path === '/c/' && depth === '0' ? path : '/c/a.html', {}, propertyUpdate([MOOD, mood]))
        const look = (fields = {}) => dav('PROPFIND', path, { Depth: depth, ...fields }, '')
        await dav('PUT', '/c/a.html', {}, '<p>a</p>')
        await patch('first')
        const { store } = server.site
        const original = store[read] as (...asked: never[]) => Promise<never>
        Object.assign(store, {
          async [read](...asked: never[]) {
            Object.assign(store, { [read]: original })
            await patch('second')
            return original.apply(store, asked)
          },
        })
        const told = await look()
        expect(told.text).to.include('second')
        await patch('first')
        expect((await look({ 'If-None-Match': tagOf(told) })).status).to.equal(207)
      } finally {
        await server.close()
      }
    })
})
