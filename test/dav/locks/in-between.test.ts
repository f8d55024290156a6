/** Locks that are taken while a write of somebody else is on its way: they bind it, or they come after it (DAV-82, DAV-86). */

import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import type { Leases } from '../../../pipeline/coordination/leases.ts'
import { page } from '../../support/content.ts'
import type { Fields, Received } from '../../support/http.ts'
import { everything, propertyUpdate } from '../wire.ts'
import { type Authors, lockInfo, outcomeOf, startMount, take, tokenOf } from './locking.ts'

let mount: Authors
let leases: Leases
let original: Leases['hold']
let count = 0
const undo: (() => void)[] = []

/** Has something happen right before the next writer gets its leases: it has looked for locks once by then. */
function beforeLease(happen: () => Promise<void>): void {
  leases.hold = async <T>(site: string, paths: readonly string[], work: () => Promise<T>): Promise<T> => {
    leases.hold = original
    await happen()
    return leases.hold(site, paths, work)
  }
}

/** Has something happen while the next commit is being made: its writer has looked for locks for the last time. */
function whileCommitting(happen: () => Promise<void>): void {
  const { store } = mount.server.site
  const commit = store.commit
  undo.push(() => {
    store.commit = commit
  })
  store.commit = async order => {
    store.commit = commit
    await happen()
    return commit.call(store, order)
  }
}

const isLocked = async (path: string) => {
  const { text } = await mount.bob('PROPFIND', path, { Depth: '0' })
  return text.includes('opaquelocktoken:')
}

/** What stands in a folder of its own when a request comes. */
const FILES: [path: string, type: string, body: string][] = [
  ['blob.txt', 'text/plain', 'old'],
  ['doc.html', 'text/html', page('<p>old</p>')],
  ['c/member.txt', 'text/plain', 'old'],
  ['d/member.txt', 'text/plain', 'old'],
  ['~$helper.docx', 'application/octet-stream', 'owner'],
  ['1A2B3C4D.tmp', 'application/octet-stream', 'saved'],
]

interface Race {
  method: string
  path: string
  fields?: Fields
  body?: string
  destination?: string
  /** What somebody else locks in between. */
  lock: string
  depth?: 'infinity'
  /** What was kept beside the site meanwhile is taken back, which is a change of its collection. */
  takenBack?: true
}

const RACES: Race[] = [
  { method: 'PUT', path: 'blob.txt', body: 'new', lock: 'blob.txt' },
  { method: 'PUT', path: 'doc.html', body: page('<p>new</p>'), lock: 'doc.html' },
  { method: 'PUT', path: 'doc.html', body: '', lock: 'doc.html' },
  { method: 'PUT', path: 'fresh.txt', body: 'new', lock: '' },
  { method: 'PUT', path: 'c/member.txt', body: 'new', lock: 'c/', depth: 'infinity' },
  { method: 'PUT', path: '~$helper.docx', body: 'new', lock: '~$helper.docx' },
  { method: 'PUT', path: 'doc.html', fields: { Range: 'selector=p' }, body: '<p>new</p>', lock: 'doc.html' },
  { method: 'POST', path: 'doc.html', fields: { Range: 'selector=p' }, body: '<b>new</b>', lock: 'doc.html' },
  { method: 'DELETE', path: 'doc.html', fields: { Range: 'selector=p' }, lock: 'doc.html' },
  { method: 'DELETE', path: 'blob.txt', lock: 'blob.txt' },
  { method: 'DELETE', path: 'doc.html', lock: '' },
  { method: 'DELETE', path: 'c/', lock: 'c/member.txt' },
  { method: 'DELETE', path: '~$helper.docx', lock: '~$helper.docx' },
  { method: 'MOVE', path: 'blob.txt', destination: 'new.txt', lock: 'blob.txt' },
  { method: 'MOVE', path: 'blob.txt', destination: 'doc.html', lock: 'doc.html' },
  { method: 'MOVE', path: 'blob.txt', destination: 'c/new.txt', lock: 'c/' },
  { method: 'MOVE', path: 'c/', destination: 'new/', lock: 'c/member.txt' },
  { method: 'MOVE', path: 'c/', destination: 'd/', lock: 'd/member.txt' },
  { method: 'MOVE', path: '1A2B3C4D.tmp', destination: 'doc.html', lock: 'doc.html' },
  { method: 'MOVE', path: '1A2B3C4D.tmp', destination: '5E6F7A8B.tmp', lock: '1A2B3C4D.tmp' },
  { method: 'MOVE', path: 'doc.html', destination: 'doc.html~', lock: 'doc.html' },
  { method: 'MOVE', path: 'c/', destination: '(A Document Being Saved By Us)/', lock: 'c/member.txt', takenBack: true },
  { method: 'COPY', path: 'blob.txt', destination: 'doc.html', lock: 'doc.html' },
  { method: 'COPY', path: 'c/', destination: 'd/', lock: 'd/' },
  { method: 'COPY', path: '1A2B3C4D.tmp', destination: 'blob.txt', lock: 'blob.txt' },
  { method: 'MKCOL', path: 'c/new/', lock: 'c/' },
  { method: 'MKCOL', path: 'c/plan.sb-1a2b3c4d-abcdef/', lock: 'c/' },
  { method: 'PROPPATCH', path: 'blob.txt', body: propertyUpdate(['{urn:x}mood', 'new']), lock: 'blob.txt' },
  { method: 'PROPPATCH', path: 'c/', body: propertyUpdate(['{urn:x}mood', 'new']), lock: 'c/' },
]

describe('locks taken while somebody else writes', () => {
  let at = ''
  before(async () => {
    mount = await startMount()
    leases = mount.server.site.leases
    original = leases.hold
  })
  after(() => mount.server.close())
  afterEach(() => {
    leases.hold = original
    for (const each of undo.splice(0)) each()
  })

  async function furnish(): Promise<void> {
    at = `/r${++count}/`
    for (const path of ['', 'c/', 'd/']) await mount.ann('MKCOL', at + path)
    for (const [path, type, body] of FILES) await mount.ann('PUT', at + path, { 'Content-Type': type }, body)
  }

  function ask({ method, path, fields = {}, body, destination }: Race): Promise<Received> {
    const to = destination === undefined ? {} : { Destination: encodeURI(at + destination) }
    return mount.ann(method, at + path, { ...fields, ...to }, body)
  }

  for (const race of RACES) {
    const { method, path, destination, lock, depth = '0', fields, takenBack } = race
    const what = `${method} ${path}${fields ? ' (element)' : ''}${destination ? ` to ${destination}` : ''}`
    it(`DAV-86 ${what} is refused when ${lock || 'its collection'} is locked after it was looked at`, async () => {
      await furnish()
      let token = ''
      const state = async () => {
        const lines = await everything(mount.server)
        return takenBack ? lines.map(line => line.replace(/(?<=\/) \d+/, '')) : lines
      }
      const stored = await state()
      beforeLease(async () => {
        token = await take(mount.bob, at + lock, { Depth: depth })
      })
      const answer = await ask(race)
      expect(token).to.not.equal('')
      expect(outcomeOf(answer)).to.equal('423 Locked')
      expect(await state()).to.deep.equal(stored)
      expect((await mount.bob('UNLOCK', at + lock, { 'Lock-Token': `<${token}>` })).status).to.equal(204)
      expect((await ask(race)).status).to.be.within(200, 207)
    })
  }

  for (const [what, race, expected] of [
    ['a save', { method: 'PUT', path: 'blob.txt', body: 'new', lock: 'blob.txt' }, 200],
    ['a removal', { method: 'DELETE', path: 'blob.txt', lock: 'blob.txt' }, 201],
    ['a removal of the collection', { method: 'DELETE', path: 'c/', lock: 'c/member.txt' }, 409],
    ['a move away', { method: 'MOVE', path: 'doc.html', destination: 'new.html', lock: 'doc.html' }, 201],
    ['a save of a member', { method: 'PUT', path: 'c/member.txt', body: 'new', lock: 'c/' }, 200],
  ] as [string, Race, number][]) {
    it(`DAV-82 a lock asked for while ${what} is being committed is given after it, on what it left`, async () => {
      await furnish()
      let answered = false
      let locking: Promise<Received> | undefined
      whileCommitting(async () => {
        locking = mount.bob('LOCK', at + race.lock, { Depth: '0' }, lockInfo())
        locking.then(() => {
          answered = true
        })
        while (!(await isLocked(at + race.lock)));
        expect(answered).to.equal(false)
      })
      expect((await ask(race)).status).to.be.within(200, 204)
      const locked = await (locking as Promise<Received> | undefined)
      expect(locked?.status).to.equal(expected)
      if (!locked || expected > 201) return
      // The lock is in effect, whatever the write did to what was there.
      const path = at + race.lock
      const refused = await mount.ann('PUT', path.endsWith('/') ? `${path}new.txt` : path, {}, 'other')
      expect(outcomeOf(refused)).to.equal('423 Locked')
      expect((await mount.bob('UNLOCK', path, { 'Lock-Token': `<${tokenOf(locked)}>` })).status).to.equal(204)
    })
  }

  it('DAV-82 a lock that cannot be had after all is gone again', async () => {
    await furnish()
    const { etag = '' } = (await mount.ann('HEAD', `${at}blob.txt`)).headers
    let locking: Promise<Received> | undefined
    whileCommitting(async () => {
      locking = mount.bob('LOCK', `${at}blob.txt`, { Depth: '0', 'If-Match': etag }, lockInfo())
      while (!(await isLocked(`${at}blob.txt`)));
    })
    await mount.ann('PUT', `${at}blob.txt`, {}, 'new')
    expect((await (locking as Promise<Received> | undefined))?.status).to.equal(412)
    expect(await isLocked(`${at}blob.txt`)).to.equal(false)
  })

  for (const method of ['DELETE', 'MOVE'])
    it(`DAV-87 whoever finds nothing behind a ${method} finds it free`, async () => {
      await furnish()
      const own = await take(mount.ann, `${at}blob.txt`)
      const { promise: isFree, resolve: goOn } = Promise.withResolvers<void>()
      // What follows the commit takes its time.
      leases.hold = async <T>(site: string, paths: readonly string[], work: () => Promise<T>): Promise<T> => {
        leases.hold = original
        const done = await leases.hold(site, paths, work)
        await isFree
        return done
      }
      const fields = { If: `<${at}blob.txt> (<${own}>)`, Destination: `${at}new.txt` }
      const going = mount.ann(method, `${at}blob.txt`, fields)
      while ((await mount.bob('GET', `${at}blob.txt`)).status !== 404);
      const made = await mount.bob('PUT', `${at}blob.txt`, {}, 'bob')
      goOn()
      expect(made.status).to.equal(201)
      expect((await going).status).to.be.oneOf([201, 204])
    })

  it('DAV-87 a removal ends the locks that it was allowed to end, and no others', async () => {
    await furnish()
    const own = await take(mount.ann, `${at}blob.txt`)
    let locking: Promise<Received> | undefined
    whileCommitting(async () => {
      locking = mount.ann('LOCK', `${at}blob.txt`, { Depth: '0' }, lockInfo())
      // It is refused meanwhile, and told so when memory knows what was committed.
      await Promise.race([locking, setTimeout(100)])
    })
    const removed = await mount.ann('DELETE', `${at}blob.txt`, { If: `(<${own}>)` })
    expect(removed.status).to.equal(204)
    expect((await (locking as Promise<Received> | undefined))?.status).to.equal(423)
    expect((await mount.bob('PUT', `${at}blob.txt`, {}, 'new')).status).to.equal(201)
  })
})
