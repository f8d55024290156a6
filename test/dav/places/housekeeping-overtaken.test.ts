/** What the mount does by itself, and authors who come first or second: both have looked at what is there once by then (DAV-62, DAV-72). */

import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { rulesPage } from '../../support/content.ts'
import type { Client, Received } from '../../support/http.ts'
import { take } from '../locks/locking.ts'
import { inNewFolders, property, propertyUpdate, shown, to, type Wire } from '../wire.ts'

const { commit } = Site.prototype
const DAY = 86_400_000

describe('upkeep and authors at once', () => {
  let wire: Wire
  let dav: Client
  let at = ''
  inNewFolders(async (folder, started) => {
    ;[at, wire, dav] = [folder, started, started.dav]
    await dav('PUT', '/rules.html', {}, rulesPage(['*', '*', 'Allow', '/*']))
  })
  afterEach(() => {
    Site.prototype.commit = commit
  })

  /** Everything that is put off is done. */
  const later = () => wire.server.running.mounts.tend(Date.now() + DAY)

  /** Does something; right before it gets the lease of the document, something else happens. */
  async function behind<T>(happen: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
    const { leases, store } = wire.server.site
    const { hold } = leases
    let hasHappened = false
    leases.hold = async <T>(site: string, paths: readonly string[], work: () => Promise<T>): Promise<T> => {
      // What other tests have left is put off as well.
      if (site === store.name && paths.includes(`${at}x.html`)) {
        leases.hold = hold
        await happen()
        hasHappened = true
      }
      return hold.call(leases, site, paths, work) as Promise<T>
    }
    const done = await work()
    expect(hasHappened).to.equal(true)
    return done
  }

  const put = (content: string) => dav('PUT', `${at}x.html`, {}, content)
  const remove = () => dav('DELETE', `${at}x.html`)
  const rename = () => dav('MOVE', `${at}x.html`, to(`${at}y.html`))
  const overNothing = () => put('')
  async function overDocument(): Promise<Received> {
    await put('<p>old')
    return put('')
  }
  async function renamedAway(): Promise<Received> {
    await put('<p>old')
    return dav('MOVE', `${at}x.html`, to(`${at}x.html~`))
  }

  for (const [what, cover, request, by, expected] of [
    ['a draft', overNothing, 'DELETE', remove, '404'],
    ['a draft', overNothing, 'MOVE', rename, '404'],
    ['a draft', overNothing, 'LOCK', () => take(dav, `${at}x.html`), '404'],
    ['a draft over a document', overDocument, 'DELETE', remove, '404'],
    ['a draft over a document', overDocument, 'MOVE', rename, '404'],
    ['a draft over a document', overDocument, 'LOCK', () => take(dav, `${at}x.html`), '<p>old'],
    ['a removal that is put off', renamedAway, 'an empty PUT', overNothing, '<p>old'],
    ['a removal that is put off', renamedAway, 'LOCK', () => take(dav, `${at}x.html`), '<p>old'],
  ] as const)
    it(`DAV-62 DAV-72 ${request} of ${what} comes before the upkeep`, async () => {
      await cover()
      await behind(by, later)
      expect(await shown(wire.visitor, `${at}x.html`)).to.equal(expected)
    })

  const visit = () => wire.visitor('PUT', `${at}x.html`, {}, '<p>new')
  const copy = () => dav('COPY', `${at}x.html`, to(`${at}y.html`))
  for (const [what, happen, content] of [
    ['the upkeep publishes', later, ''],
    ['a visitor gives its content to', visit, '<p>new'],
  ] as const)
    for (const [method, request, status, source, destination] of [
      ['DELETE', remove, 204, '404', '404'],
      ['MOVE', rename, 201, '404', content],
      ['COPY', copy, 201, content, content],
    ] as const)
      it(`DAV-46 DAV-48 ${method} of a draft that ${what} meanwhile is one of the document`, async () => {
        await overNothing()
        expect((await behind(happen, request)).status).to.equal(status)
        expect(await shown(wire.visitor, `${at}x.html`)).to.equal(source)
        expect(await shown(wire.visitor, `${at}y.html`)).to.equal(destination)
      })

  for (const [what, publish] of [
    ['a PUT', () => put('<p>new')],
    ['the upkeep', later],
  ] as const)
    for (const names of [['mood', 'sea'], ['sea']])
      it(`DAV-34 what PROPPATCH gives a draft, its property ${names.length}, is kept where ${what} publishes it meanwhile`, async () => {
        await overNothing()
        const describe = (name = '') => dav('PROPPATCH', `${at}x.html`, {}, propertyUpdate([`{urn:x}${name}`, 'calm']))
        for (const name of names.slice(0, -1)) await describe(name)
        await behind<unknown>(() => describe(names.at(-1)), publish)
        await later()
        for (const name of names) expect(await property(dav, `${at}x.html`, `{urn:x}${name}`)).to.equal('calm')
        expect(await shown(wire.visitor, `${at}x.html`)).not.to.equal('404')
      })

  for (const [method, request] of [
    ['MOVE', rename],
    ['COPY', copy],
  ] as const)
    it(`DAV-34 what PROPPATCH gives a draft meanwhile goes with its ${method} over a document`, async () => {
      await overNothing()
      await dav('PUT', `${at}y.html`, {}, '<p>other')
      await behind(() => dav('PROPPATCH', `${at}x.html`, {}, propertyUpdate(['{urn:x}sea', 'calm'])), request)
      expect(await property(dav, `${at}y.html`, '{urn:x}sea')).to.equal('calm')
    })

  it('DAV-62 a draft that is locked while it is refused stays', async () => {
    await dav('PUT', `${at}x.xml`, {}, '')
    const { leases } = wire.server.site
    const { hold } = leases
    leases.hold = async <T>(site: string, paths: readonly string[], work: () => Promise<T>): Promise<T> => {
      if (paths.includes(`${at}x.xml`)) {
        leases.hold = hold
        await take(dav, `${at}x.xml`)
      }
      return hold.call(leases, site, paths, work) as Promise<T>
    }
    await later()
    expect((await dav('GET', `${at}x.xml`)).status).to.equal(200)
  })

  it('DAV-62 a draft is not published whose folder goes meanwhile', async () => {
    await overNothing()
    await behind(() => dav('DELETE', at), later)
    expect(await shown(wire.visitor, `${at}x.html`)).to.equal('404')
  })

  for (const [name, path, days] of [
    ['~$x', '~$x', 40],
    ['.Trashes/', '.Trashes/x', 80],
  ] as const)
    it(`DAV-73 a PUT of ${path} comes before the upkeep that drops ${name}`, async () => {
      await (name.endsWith('/') ? dav('MKCOL', at + name) : dav('PUT', at + name, {}, 'old'))
      let hasHappened = false
      Site.prototype.commit = async function (...order) {
        if (order[0].changes.some(change => 'path' in change && change.path === at + name)) {
          Site.prototype.commit = commit
          expect((await dav('PUT', at + path, {}, 'new')).status).to.be.lessThan(300)
          hasHappened = true
        }
        return commit.apply(this, order)
      }
      await wire.server.running.mounts.tend(Date.now() + days * DAY)
      expect(hasHappened).to.equal(true)
      expect((await dav('PROPFIND', at + name, { Depth: '0' })).status).to.equal(207)
    })
})
