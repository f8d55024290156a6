/** Drafts and helper files whose folder or document has gone elsewhere, where the store fails between the two (DAV-8, DAV-62, DAV-73). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { siteOfUnpublished } from '../../../pipeline/site/unpublished-name.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { page, rulesPage } from '../../support/content.ts'
import type { Fields } from '../../support/http.ts'
import { everything, startWire, to, type Wire } from '../wire.ts'

/** Another process may be about to do what a note says. */
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** What stands in a folder of its own before: content, or a draft without any. */
const FILES: readonly (readonly [path: string, body: string])[] = [
  ['d/there.html', page('there')],
  ['d/draft.html', ''],
  ['d/._there.html', 'kept'],
  ['d/5E6F7A8B.tmp', 'work'],
  ['over.html', page('over')],
  ['over.html', ''],
  ['other.html', ''],
  ['e/draft.html', ''],
]

const CASES: [method: string, path: string, destination?: string][] = [
  ['DELETE', 'd/'],
  ['DELETE', 'over.html'],
  ['MOVE', 'd/', 'moved/'],
  ['MOVE', 'd/', 'e/'],
  ['MOVE', 'over.html', 'other.html'],
  ['COPY', 'd/', 'copied/'],
  ['COPY', 'd/', 'e/'],
  ['COPY', 'over.html', 'copied.html'],
]

describe('what is kept unpublished follows the site', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
  })
  after(() => wire.server.close())

  async function fill(at: string): Promise<void> {
    for (const path of ['', 'd/', 'e/']) await wire.dav('MKCOL', at + path)
    for (const [path, body] of FILES)
      expect((await wire.dav('PUT', at + path, {}, body)).status).to.be.oneOf([201, 204])
  }

  const below = async (at: string) =>
    (await everything(wire.server))
      .filter(line => line.includes(at))
      .map(line => line.split(' ').slice(0, 2).join(' ').replace(at, '/'))

  CASES.forEach(([method, path, destination], i) => {
    it(`DAV-8 ${method} ${path} ${destination ?? ''}, also where the store fails between`, async () => {
      const results: string[][] = []
      for (const fails of [false, true]) {
        const at = `/${fails ? 'failing' : 'smooth'}-${i}/`
        await fill(at)
        const fields: Fields = destination === undefined ? {} : to(at + destination)
        const { commit } = Site.prototype
        if (fails)
          Site.prototype.commit = function (...asked) {
            if (siteOfUnpublished(this.store.name) === undefined) return commit.apply(this, asked)
            return Promise.reject(new StoreError('failed', 'between'))
          }
        const answer = await wire.dav(method, at + path, fields)
        Site.prototype.commit = commit
        expect(answer.status, answer.text).to.be.oneOf([201, 204])
        if (fails) expect(await below(at)).to.not.deep.equal(results[0])
        await wire.server.running.mounts.tend(Date.now() + 2 * MINUTE)
        results.push(await below(at))
      }
      expect(results[1]).to.deep.equal(results[0])
    })
  })

  /** Has what is kept unpublished fail to be changed where that is asked for. */
  async function failing<T>(fails: (paths: readonly string[]) => boolean, work: () => Promise<T>): Promise<T> {
    const { commit } = Site.prototype
    Site.prototype.commit = function (...asked) {
      const paths = asked[0].changes.flatMap(change => ('path' in change ? change.path : [change.from, change.to]))
      if (siteOfUnpublished(this.store.name) === undefined || !fails(paths)) return commit.apply(this, asked)
      return Promise.reject(new StoreError('failed', 'between'))
    }
    try {
      return await work()
    } finally {
      Site.prototype.commit = commit
    }
  }
  const tend = () => wire.server.running.mounts.tend(Date.now() + 2 * MINUTE)
  const kept = async (at: string) =>
    (await below(at)).flatMap(line => (line.includes('#mount ') && !line.endsWith('/') ? line.split(' ').slice(1) : []))

  for (const [method, path, destination, expected] of [
    ['DELETE', 'd/', undefined, ['d/._new', 'd/new.html', 'e/draft.html', 'other.html', 'over.html']],
    [
      'MOVE',
      'd/',
      'm/',
      ['d/._new', 'd/new.html', 'e/draft.html', 'm/._new', 'm/._there.html', 'm/5E6F7A8B.tmp', 'm/draft.html'].concat(
        'm/new.html',
        'other.html',
        'over.html',
      ),
    ],
    [
      'COPY',
      'd/',
      'm/',
      ['d/._new', 'd/._there.html', 'd/5E6F7A8B.tmp', 'd/draft.html', 'd/new.html', 'e/draft.html', 'm/._new'].concat(
        'm/._there.html',
        'm/5E6F7A8B.tmp',
        'm/draft.html',
        'm/new.html',
        'other.html',
        'over.html',
      ),
    ],
    [
      'MOVE',
      'over.html',
      'm.html',
      ['d/._there.html', 'd/5E6F7A8B.tmp', 'd/draft.html', 'e/draft.html', 'm.html', 'other.html', 'over.html'],
    ],
  ] as const)
    it(`DAV-60 DAV-73 what others keep there before it can follow stays: ${method} ${path}`, async () => {
      const at = `/newer-${method}-${path}`.replace(/\/?$/, '/')
      await fill(at)
      const fields: Fields = destination === undefined ? {} : to(at + destination)
      await failing(
        () => true,
        () => wire.dav(method, at + path, fields),
      )
      const ends = [path, ...(destination === undefined ? [] : [destination])]
      for (const end of ends) {
        if (end === 'd/' && method !== 'COPY') await wire.dav('MKCOL', at + end)
        const files = end.endsWith('/') ? [`${end}new.html`, `${end}._new`] : [end]
        for (const file of files) await wire.dav('PUT', at + file, {}, file.endsWith('html') ? '' : 'new')
      }
      await tend()
      expect((await kept(at)).map(file => file.slice(1))).to.deep.equal(expected)
      expect(await wire.server.running.store.notes('follow/')).to.deep.equal([])
    })

  it('DAV-73 what is kept at the destination as soon as a folder has come there stays', async () => {
    const at = '/at-once/'
    for (const path of ['', 'd/']) await wire.dav('MKCOL', at + path)
    const { commit } = Site.prototype
    Site.prototype.commit = async function (...asked) {
      const done = await commit.apply(this, asked)
      Site.prototype.commit = commit
      expect((await wire.dav('PUT', `${at}m/._x`, {}, 'kept')).status).to.equal(201)
      return done
    }
    expect((await wire.dav('MOVE', `${at}d/`, to(`${at}m/`))).status).to.equal(201)
    expect(await kept(at)).to.deep.equal(['/m/._x'])
  })

  for (const [method, before, expected] of [
    ['MOVE', '', ['/m/._x', '/m/x.html']],
    ['MOVE', 'kept', ['/m/._old', '/m/._x', '/m/x.html']],
    ['DELETE', '', []],
    ['DELETE', 'kept', []],
  ] as const)
    it(`DAV-73 what comes into a folder right before its ${method} follows it${before && ', beside what was there'}`, async () => {
      const at = `/right-before-${method}-${before}/`
      for (const path of ['', 'd/']) await wire.dav('MKCOL', at + path)
      if (before !== '') await wire.dav('PUT', `${at}d/._old`, {}, before)
      const { commit } = Site.prototype
      Site.prototype.commit = async function (...asked) {
        Site.prototype.commit = commit
        for (const file of ['._x', 'x.html'])
          expect((await wire.dav('PUT', `${at}d/${file}`, {}, file === 'x.html' ? '' : 'new')).status).to.equal(201)
        return commit.apply(this, asked)
      }
      const fields = method === 'MOVE' ? to(`${at}m/`) : {}
      expect((await wire.dav(method, `${at}d/`, fields)).status).to.be.oneOf([201, 204])
      expect(await kept(at)).to.deep.equal(expected)
    })

  it('DAV-62 what cannot follow keeps nothing else from its end', async () => {
    const at = '/poison/'
    await fill(at)
    await failing(
      () => true,
      async () => {
        for (const path of ['d/', 'e/']) await wire.dav('DELETE', at + path)
      },
    )
    const { commit } = Site.prototype
    Site.prototype.commit = async function (...asked) {
      const isFirst = asked[0].changes.some(change => 'path' in change && change.path === `${at}d/`)
      return isFirst ? { ok: false, reason: 'version', path: at } : commit.apply(this, asked)
    }
    try {
      await wire.server.running.mounts.tend(Date.now() + 3 * HOUR)
    } finally {
      Site.prototype.commit = commit
    }
    expect(await kept(at)).to.deep.equal(['/d/._there.html', '/d/5E6F7A8B.tmp'])
    expect((await wire.dav('GET', `${at}over.html`)).text).to.equal('')
    await wire.server.running.mounts.tend(Date.now() + 3 * HOUR)
    expect(await kept(at)).to.deep.equal([])
  })

  for (const [method, path, destination, expected] of [
    ['DELETE', 'over.html', undefined, ['d/draft.html', 'e/draft.html', 'other.html']],
    ['MOVE', 'over.html', 'm.html', ['d/draft.html', 'e/draft.html', 'm.html', 'other.html']],
    ['MOVE', 'd/', 'm/', ['e/draft.html', 'm/draft.html', 'other.html', 'over.html']],
    ['MOVE', 'd/', 'e/', ['e/draft.html', 'other.html', 'over.html']],
  ] as const)
    it(`DAV-62 DAV-72 nothing ends where it was before it can follow: ${method} ${path} ${destination ?? ''}`, async () => {
      const at = `/before-${method}-${destination}`.replace(/\/?$/, '/')
      await fill(at)
      await wire.dav('MOVE', `${at}d/there.html`, to(`${at}d/there.html~`))
      const fields: Fields = destination === undefined ? {} : to(at + destination)
      const later = Date.now() + 3 * HOUR
      await failing(
        paths => paths.includes(at + path),
        async () => {
          expect((await wire.dav(method, at + path, fields)).status).to.be.oneOf([201, 204])
          await wire.server.running.mounts.tend(later)
        },
      )
      await wire.server.running.mounts.tend(later + 3 * HOUR)
      const shown = (await below(at)).filter(line => /^localhost .*[^/]$/.test(line))
      expect(shown).to.deep.equal(expected.map(file => `localhost /${file}`))
    })

  it('DAV-60 DAV-73 below a collection that has the name of a draft', async () => {
    const at = '/named/'
    await wire.dav('PUT', '/rules.html', {}, rulesPage(['*', '*', 'Allow', '/*']))
    await fill(at)
    expect((await wire.visitor('PUT', `${at}other.html/x.html`, {}, page('x'))).status).to.equal(201)
    expect((await wire.dav('MOVE', `${at}d/`, to(`${at}other.html/d/`))).status).to.equal(201)
    expect(await kept(at)).to.include.members(['/other.html/d/._there.html', '/other.html/d/draft.html'])
  })

  for (const [method, path, destination, written] of [
    ['MOVE', 'over.html', 'm.html', 'm.html'],
    ['COPY', 'over.html', 'm.html', 'm.html'],
    ['MOVE', 'd/', 'm/', 'm/over.html'],
    ['COPY', 'd/', 'm/', 'm/over.html'],
  ] as const)
    it(`DAV-61 no draft comes over what is written as soon as it is there: ${method} ${path} ${destination}`, async () => {
      const at = `/written-${method}-${destination}`.replace(/\/?$/, '/')
      await fill(at)
      for (const content of [page('over'), '']) await wire.dav('PUT', `${at}d/over.html`, {}, content)
      const { commit } = Site.prototype
      Site.prototype.commit = async function (...asked) {
        if (siteOfUnpublished(this.store.name) !== undefined) {
          Site.prototype.commit = commit
          expect((await wire.dav('PUT', at + written, {}, page('new'))).status).to.equal(204)
        }
        return commit.apply(this, asked)
      }
      expect((await wire.dav(method, at + path, to(at + destination))).status).to.equal(201)
      expect((await wire.dav('GET', at + written)).text).to.equal(page('new'))
      await wire.server.running.mounts.tend(Date.now() + 3 * HOUR)
      expect((await wire.dav('GET', at + written)).text).to.equal(page('new'))
      if (destination === 'm/') expect(await kept(at)).to.include('/m/._there.html')
    })
})
