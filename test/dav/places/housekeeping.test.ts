/** What becomes of drafts, put-off removals and helper files when nobody comes back to them (DAV-62, DAV-72, DAV-73). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import type { Mount } from '../../../dav/mount.ts'
import { createHousekeeping, failingOnce } from '../../../dav/places/housekeeping.ts'
import { Site } from '../../../pipeline/site/site.ts'
import { unpublishedName } from '../../../pipeline/site/unpublished-name.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { page } from '../../support/content.ts'
import type { Client } from '../../support/http.ts'
import { turnsOf } from '../../support/turns.ts'
import { lockInfo, tokenOf } from '../locks/locking.ts'
import { answerTag, list, property, propertyUpdate, shown, startWire, to, type Wire } from '../wire.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Times of `UNHURRIED`. */
const SETTLE = 2 * HOUR
const KEEP = HOUR

let wire: Wire
let dav: Client
let count = 0
let at = ''

/** Time passes. */
const later = (milliseconds: number) => wire.server.running.mounts.tend(Date.now() + milliseconds)

async function eventsOf(path: string): Promise<(string | undefined)[]> {
  const events = await wire.server.site.store.events(path)
  return events.map(({ payload }) => /itemprop="method">(\w+)</.exec(payload)?.[1])
}

/** Makes a draft as far as a request that has failed, or says that one was carried out. */
async function begin(path: string, begun = 'true'): Promise<void> {
  if (begun === 'true') await dav('PUT', path, {}, '')
  const store = wire.server.running.store.site(unpublishedName(wire.server.site.store.name))
  const draft = await store.find(path)
  if (draft) await store.derive(draft, { begun })
}

const status = async (path: string) => (await dav('GET', path)).status
const names = async () => [...(await list(dav, at)).keys()].slice(1).map(path => path.slice(at.length))

describe('upkeep of the mount', () => {
  before(async () => {
    wire = await startWire()
    dav = wire.dav
  })
  after(() => wire.server.close())
  beforeEach(async () => {
    at = `/u${++count}/`
    await dav('MKCOL', at)
  })

  it('DAV-90 rounds that fail alike fail once, so that the log is not full of them', async () => {
    const told: string[] = []
    const outcomes = ['away', 'away', 'away', 'full', 'full', '', 'full', 'away']
    const run = failingOnce(async round => {
      if (outcomes[round]) throw new Error(outcomes[round])
    })
    for (const round of outcomes.keys()) await run(round).catch(error => told.push(`${round} ${error.message}`))
    expect(told).to.deep.equal(['0 away', '3 full', '6 full', '7 away'])
  })

  describe('DAV-62 drafts without content', () => {
    it('SEC-12 leave others their turn while there are many', async () => {
      const drafts = Array.from(
        { length: 60 },
        (_, i) => ({ path: `/d${i}.html`, version: 1, modified: 0 }) as Resource,
      )
      const byPath = new Map(drafts.map(draft => [draft.path, draft]))
      let found = 0
      const mount = {
        unended: new Set(),
        unpublished: {
          overlay: { entries: () => drafts },
          coverAt: (path: string) => byPath.get(path),
          async *stored() {},
        },
        view: {
          // At hand, in a millisecond.
          async find() {
            found++
            for (const end = performance.now() + 1; performance.now() < end; );
          },
        },
        locks: { on: async () => [] },
        site: { store: { name: 'x' } },
        settings: { drafts: { settle: HOUR }, helperFiles: {} },
      } as unknown as Mount
      const turns = await turnsOf(() => createHousekeeping(mount).run(1))
      expect(found).to.equal(drafts.length)
      expect(turns).to.be.above(3)
    })

    it('SEC-12 are looked at some at a time before they are due, and all when they are', async () => {
      const drafts = Array.from(
        { length: 2500 },
        (_, i) => ({ path: `/d${i}.html`, version: 1, modified: 0 }) as Resource,
      )
      const byPath = new Map(drafts.map(draft => [draft.path, draft]))
      let found: string[] = []
      const mount = {
        unended: new Set(),
        unpublished: {
          overlay: { entries: () => drafts },
          coverAt: (path: string) => byPath.get(path),
          stands: () => false,
          async *stored() {},
          site: { store: { name: 'x' }, leases: { hold: (_: string, __: string[], work: () => unknown) => work() } },
        },
        view: { find: async (path: string) => void found.push(path) },
        locks: { on: async () => [] },
        site: { store: { name: 'x' } },
        settings: { drafts: { settle: HOUR }, helperFiles: {} },
      } as unknown as Mount
      const housekeeping = createHousekeeping(mount)
      const rounds: string[][] = []
      for (const now of [1, 2, 3, 4, HOUR]) {
        found = []
        await housekeeping.run(now)
        rounds.push(found)
      }
      expect(rounds.map(({ length }) => length)).to.deep.equal([1000, 1000, 500, 1000, 2500])
      expect(new Set(rounds.slice(0, 3).flat()).size).to.equal(drafts.length)
    })

    it('become empty documents some time after their last write', async () => {
      await dav('PUT', `${at}x.html`, {}, '')
      await dav('PROPPATCH', `${at}x.html`, {}, propertyUpdate(['{urn:x}mood', 'calm']))
      await later(0.9 * SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
      await later(SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('')
      expect(await eventsOf(`${at}x.html`)).to.deep.equal(['PUT'])
      expect(await property(dav, `${at}x.html`, '{urn:x}mood')).to.equal('calm')
      expect(await names()).to.deep.equal(['x.html'])
    })

    it('over a document empty it', async () => {
      await dav('PUT', `${at}x.html`, {}, page('old'))
      await dav('PUT', `${at}x.html`, {}, '')
      await later(SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('')
      expect(await eventsOf(`${at}x.html`)).to.deep.equal(['PUT', 'PUT'])
    })

    it('are dropped where the pipeline refuses them', async () => {
      await dav('PUT', `${at}x.xml`, {}, '')
      await later(SETTLE)
      expect(await status(`${at}x.xml`)).to.equal(404)
      expect(await names()).to.deep.equal([])
    })

    it('wait while they are locked, and as long again', async () => {
      const token = tokenOf(await dav('LOCK', `${at}x.html`, { Depth: '0' }, lockInfo()))
      await later(1.5 * SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
      await dav('UNLOCK', `${at}x.html`, { 'Lock-Token': `<${token}>` })
      await later(2 * SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
      await later(2.5 * SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('')
    })

    it('stay where somebody locks them while they are published', async () => {
      const { leases, store } = wire.server.site
      const { hold } = leases
      await dav('PUT', `${at}x.html`, {}, '')
      leases.hold = async (...held) => {
        if (held[0] !== store.name) return hold(...held)
        leases.hold = hold
        expect((await dav('LOCK', `${at}x.html`, { Depth: '0' }, lockInfo())).status).to.equal(200)
        return hold(...held)
      }
      await later(SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
      expect(await names()).to.deep.equal(['x.html'])
    })

    it('that cannot be published now are tried again later, and keep no others from it', async () => {
      for (const name of ['a', 'b']) await dav('PUT', `${at + name}.html`, {}, '')
      const { commit } = Site.prototype
      let attempts = 0
      Site.prototype.commit = function (asked) {
        const isFirst = asked.changes.some(change => 'path' in change && change.path === `${at}a.html`)
        return isFirst && ++attempts < 2 ? Promise.reject(new StoreError('failed', 'now')) : commit.call(this, asked)
      }
      try {
        for (const [times, first] of [
          [1, '404'],
          [2.1, ''],
        ] as const) {
          await later(times * SETTLE)
          expect(await shown(wire.visitor, `${at}a.html`), `${times}`).to.equal(first)
          expect(await shown(wire.visitor, `${at}b.html`)).to.equal('')
        }
      } finally {
        Site.prototype.commit = commit
      }
    })

    it('DAV-8 are taken back where what makes them fails once they are begun', async () => {
      const { commit } = Site.prototype
      for (const [method, body] of [
        ['PUT', ''],
        ['LOCK', lockInfo()],
      ] as const) {
        Site.prototype.commit = function (asked) {
          Site.prototype.commit = commit
          const { store } = this
          const { derive } = store
          store.derive = () => {
            store.derive = derive
            return Promise.reject(new StoreError('full', 'now'))
          }
          return commit.call(this, asked)
        }
        expect((await dav(method, `${at}x.html`, {}, body)).status).to.equal(507)
        expect(await names()).to.deep.equal([])
      }
      expect((await dav('PUT', `${at}x.html`, {}, '')).status).to.equal(201)
    })

    for (const method of ['LOCK', 'COPY'])
      it(`are never published of a ${method} that has failed, and could not be taken back`, async () => {
        if (method === 'COPY') await dav('PUT', `${at}y.html`, {}, '')
        const [{ store }, { commit }] = [wire.server.site, Site.prototype]
        const { find } = store
        let isStored = false
        Site.prototype.commit = async function (asked) {
          if (isStored) throw new StoreError('failed', 'now')
          isStored = true
          return commit.call(this, asked)
        }
        store.find = path => (isStored ? Promise.reject(new StoreError('failed', 'now')) : find(path))
        const answer = await (method === 'COPY'
          ? dav('COPY', `${at}y.html`, to(`${at}x.html`))
          : dav('LOCK', `${at}x.html`, { Depth: '0' }, lockInfo()))
        Site.prototype.commit = commit
        store.find = find
        expect(answer.status).to.equal(500)
        expect((await names())[0]).to.equal('x.html')
        for (const times of [1, 2.1]) await later(times * SETTLE)
        expect(await names()).to.deep.equal(method === 'COPY' ? ['y.html'] : [])
        expect(await eventsOf(`${at}x.html`)).to.deep.equal([])
      })

    for (const [what, answered, name] of [
      ['LOCK', () => dav('LOCK', `${at}x.html`, { Depth: '0', Timeout: 'Second-1' }, lockInfo()), 'x.html'],
      ['PROPPATCH', () => dav('PROPPATCH', `${at}x.html`, {}, propertyUpdate(['{urn:x}mood', 'calm'])), 'x.html'],
      ['MOVE', () => dav('MOVE', `${at}x.html`, to(`${at}y.html`)), 'y.html'],
    ] as const)
      it(`are published of a request that has failed where ${what} has found them since`, async () => {
        await begin(`${at}x.html`)
        const answer = await answered()
        expect(answer.status).to.be.lessThan(300)
        if (what === 'LOCK') await dav('UNLOCK', `${at}x.html`, { 'Lock-Token': `<${tokenOf(answer)}>` })
        for (const times of [1, 2.1]) await later(times * SETTLE)
        expect(await shown(wire.visitor, at + name)).to.equal('')
      })

    it('are kept where the request that has begun them comes to its end only now', async () => {
      await begin(`${at}x.html`)
      const { leases, store } = wire.server.site
      const { hold } = leases
      leases.hold = async (...held) => {
        if (held[0] !== store.name) return hold(...held)
        leases.hold = hold
        await begin(`${at}x.html`, 'false')
        return hold(...held)
      }
      for (const times of [1, 2.1]) await later(times * SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('')
    })

    it('give way to what a visitor writes meanwhile', async () => {
      await dav('PUT', '/rules.html', {}, page(OPEN))
      await dav('PUT', `${at}x.html`, {}, page('old'))
      await dav('PUT', `${at}x.html`, {}, '')
      expect((await dav('GET', `${at}x.html`)).text).to.equal('')
      expect((await wire.visitor('PUT', `${at}x.html`, {}, page('new'))).status).to.equal(200)
      expect((await dav('GET', `${at}x.html`)).text).to.equal(page('new'))
      await later(SETTLE)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('new'))
    })
  })

  describe('DAV-72 a document that is renamed to a backup name', () => {
    beforeEach(async () => {
      await dav('PUT', `${at}x.html`, {}, page('old'))
      await dav('MOVE', `${at}x.html`, to(`${at}x.html~`))
    })

    it('is gone for the mount and there for visitors, until some time later', async () => {
      expect(await names()).to.deep.equal(['x.html~'])
      expect(await status(`${at}x.html`)).to.equal(404)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('old'))
      expect((await dav('QUERY', at, { 'Content-Type': 'text/css-selector' }, 'body')).status).to.equal(404)
      await later(0.9 * KEEP)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('old'))
      await later(KEEP)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
      expect(await eventsOf(`${at}x.html`)).to.deep.equal(['PUT', 'DELETE'])
      expect(await names()).to.deep.equal(['x.html~'])
    })

    for (const [what, save] of Object.entries<() => Promise<void>>({
      'one PUT': async () => {
        expect((await dav('PUT', `${at}x.html`, {}, page('new'))).status).to.equal(201)
      },
      'an empty PUT, then content': async () => {
        expect((await dav('PUT', `${at}x.html`, {}, '')).status).to.equal(201)
        expect((await dav('PUT', `${at}x.html`, {}, page('new'))).status).to.equal(204)
      },
      'a lock, then content': async () => {
        const locked = await dav('LOCK', `${at}x.html`, { Depth: '0' }, lockInfo())
        expect(locked.status).to.equal(201)
        const submit = { If: `(<${tokenOf(locked)}>)` }
        expect((await dav('PUT', `${at}x.html`, submit, page('new'))).status).to.equal(204)
      },
      'a MOVE of a work file': async () => {
        await dav('PUT', `${at}~$x.tmp`, {}, page('new'))
        expect((await dav('MOVE', `${at}~$x.tmp`, to(`${at}x.html`))).status).to.equal(201)
      },
      'a COPY': async () => {
        await dav('PUT', `${at}y.html`, {}, page('new'))
        expect((await dav('COPY', `${at}y.html`, to(`${at}x.html`))).status).to.equal(201)
      },
    }))
      it(`is replaced, not removed, by ${what}`, async () => {
        await save()
        await later(KEEP)
        expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('new'))
        expect((await dav('GET', `${at}x.html`)).text).to.equal(page('new'))
        expect(await eventsOf(`${at}x.html`)).to.deep.equal(['PUT', 'PUT'])
      })

    it('makes room for a collection of its name', async () => {
      expect((await dav('MKCOL', `${at}x.html`)).status).to.equal(201)
      expect(await eventsOf(`${at}x.html`)).to.deep.equal(['PUT', 'DELETE'])
    })

    it('goes with its collection', async () => {
      expect((await dav('DELETE', at)).status).to.equal(204)
      await later(KEEP)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
      await dav('MKCOL', at)
      expect(await names()).to.deep.equal([])
    })

    it('leaves tags as if it had been removed at once', async () => {
      const tag = await answerTag(dav, at, '1')
      await later(KEEP)
      expect(await answerTag(dav, at, '1')).to.equal(tag)
    })
  })

  it('DAV-62 DAV-72 drafts and removals of a time when the clock was ahead end as long after it was set right', async () => {
    await dav('PUT', `${at}draft.html`, {}, '')
    await dav('PUT', `${at}x.html`, {}, page('old'))
    await dav('MOVE', `${at}x.html`, to(`${at}x.html~`))
    await later(-365 * DAY)
    await later(0.9 * KEEP - 365 * DAY)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal(page('old'))
    await later(KEEP - 365 * DAY)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
    expect(await shown(wire.visitor, `${at}draft.html`)).to.equal('404')
    await later(SETTLE - 365 * DAY)
    expect(await shown(wire.visitor, `${at}draft.html`)).to.equal('')
  })

  describe('DAV-73 helper files', () => {
    it('are dropped a day or a month after their last use', async () => {
      await dav('MKCOL', `${at}x.sb-1a2b3c4d-Xy12Zq/`)
      for (const name of ['~$x.docx', '._x', 'x.sb-1a2b3c4d-Xy12Zq/y']) await dav('PUT', at + name, {}, name)
      await later(23 * HOUR)
      expect(await names()).to.deep.equal(['x.sb-1a2b3c4d-Xy12Zq/', '~$x.docx'])
      await later(25 * HOUR)
      await later(27 * HOUR)
      expect(await names()).to.deep.equal([])
      expect(await status(`${at}._x`)).to.equal(200)
      await later(29 * DAY)
      expect(await status(`${at}._x`)).to.equal(200)
      await later(31 * DAY)
      expect(await status(`${at}._x`)).to.equal(404)
    })

    it('are looked for also where the clock was ahead before', async () => {
      await later(4 * DAY)
      await dav('PUT', `${at}~$x.docx`, {}, 'x')
      await later(2 * DAY)
      expect(await names()).to.deep.equal([])
    })

    it('stay while they are locked', async () => {
      await dav('PUT', `${at}~$y.docx`, {}, 'y')
      await dav('LOCK', `${at}~$y.docx`, { Depth: '0' }, lockInfo())
      await later(40 * DAY)
      expect(await status(`${at}~$y.docx`)).to.equal(200)
    })
  })
})

/** Anybody may replace documents. */
const OPEN =
  '<div itemscope itemtype="https://platform.example/ns/AuthorizationRule"><i itemprop="actor">*</i>' +
  '<i itemprop="resource">/*</i><i itemprop="method">*</i><i itemprop="action">Allow</i></div>'

describe('DAV-62 drafts and put-off removals survive a restart', () => {
  it('and are finished without a request, but nothing comes of one that has failed', async () => {
    const first = await startWire()
    await first.dav('PUT', '/draft.html', {}, '')
    await first.dav('PUT', '/x.html', {}, page('old'))
    await first.dav('MOVE', '/x.html', to('/x.html~'))
    const { commit } = Site.prototype
    for (const [folder, name] of [
      ['MKCOL', '/d/'],
      ['PUT', '/d/draft.html'],
    ] as const)
      await first.dav(folder, name)
    Site.prototype.commit = function (...asked) {
      if (this === first.server.site) return commit.apply(this, asked)
      return Promise.reject(new StoreError('failed', 'as if the process ended'))
    }
    expect((await first.dav('MOVE', '/d/', to('/e/'))).status).to.equal(201)
    Site.prototype.commit = async function (asked) {
      await commit.call(this, asked)
      throw new StoreError('failed', 'when it was stored')
    }
    expect((await first.dav('PUT', '/failed.html', {}, '')).status).to.equal(500)
    Site.prototype.commit = commit
    await first.server.stop()
    const second = await startWire({ data: first.server.data })
    await second.server.running.mounts.tend(Date.now() + SETTLE)
    expect(await shown(second.visitor, '/x.html')).to.equal('404')
    expect(await shown(second.visitor, '/draft.html')).to.equal('')
    expect(await shown(second.visitor, '/e/draft.html')).to.equal('')
    expect(await shown(second.visitor, '/failed.html')).to.equal('404')
    await second.server.close()
  })
})

describe('DAV-62 drafts of a site that was closed and opened again', () => {
  it('are finished as before', async () => {
    const { server, dav, visitor } = await startWire()
    const { hosting, mounts } = server.running
    await dav('PUT', '/draft.html', {}, '')
    const { partsOf } = hosting
    hosting.partsOf = () => undefined
    await mounts.tend(Date.now())
    hosting.partsOf = partsOf
    await dav('GET', '/draft.html')
    await mounts.tend(Date.now() + SETTLE)
    expect(await shown(visitor, '/draft.html')).to.equal('')
    await server.close()
  })
})
