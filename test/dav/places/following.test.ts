/** Drafts and helper files whose folder or document has gone elsewhere (DAV-8, DAV-61, DAV-73). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { siteOfUnpublished, unpublishedName } from '../../../pipeline/site/unpublished-name.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { page, rulesPage } from '../../support/content.ts'
import type { Fields } from '../../support/http.ts'
import { everything, startWire, to, type Wire } from '../wire.ts'

const HOUR = 60 * 60_000

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

const IN_D = ['d/._there.html', 'd/5E6F7A8B.tmp', 'd/draft.html']
const CASES: readonly {
  method: string
  path: string
  destination?: string
  depth?: string
  kept: readonly string[]
}[] = [
  { method: 'DELETE', path: 'd/', kept: ['e/draft.html', 'other.html', 'over.html'] },
  { method: 'DELETE', path: 'over.html', kept: [...IN_D, 'e/draft.html', 'other.html'] },
  {
    method: 'MOVE',
    path: 'd/',
    destination: 'm/',
    kept: ['e/draft.html', 'm/._there.html', 'm/5E6F7A8B.tmp', 'm/draft.html', 'other.html', 'over.html'],
  },
  {
    method: 'MOVE',
    path: 'd/',
    destination: 'e/',
    kept: ['e/._there.html', 'e/5E6F7A8B.tmp', 'e/draft.html', 'other.html', 'over.html'],
  },
  { method: 'MOVE', path: 'over.html', destination: 'other.html', kept: [...IN_D, 'e/draft.html', 'other.html'] },
  {
    method: 'COPY',
    path: 'd/',
    destination: 'm/',
    kept: [...IN_D, 'e/draft.html', 'm/._there.html', 'm/5E6F7A8B.tmp', 'm/draft.html', 'other.html', 'over.html'],
  },
  {
    method: 'COPY',
    path: 'd/',
    destination: 'm/',
    depth: '0',
    kept: [...IN_D, 'e/draft.html', 'other.html', 'over.html'],
  },
  {
    method: 'COPY',
    path: 'd/',
    destination: 'e/',
    kept: [...IN_D, 'e/._there.html', 'e/5E6F7A8B.tmp', 'e/draft.html', 'other.html', 'over.html'],
  },
  {
    method: 'COPY',
    path: 'over.html',
    destination: 'm.html',
    kept: [...IN_D, 'e/draft.html', 'm.html', 'other.html', 'over.html'],
  },
  {
    method: 'COPY',
    path: 'over.html',
    destination: 'm.html',
    depth: '0',
    kept: [...IN_D, 'e/draft.html', 'm.html', 'other.html', 'over.html'],
  },
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
  const kept = async (at: string) =>
    (await below(at)).flatMap(line => (line.includes('#mount ') && !line.endsWith('/') ? line.split(' ').slice(1) : []))

  CASES.forEach(({ method, path, destination, depth, kept: expected }, i) => {
    it(`DAV-8 in one commit: ${method} ${path} ${destination ?? ''} ${depth ?? ''}`, async () => {
      const at = `/case-${i}/`
      await fill(at)
      const fields: Fields = { ...(destination && to(at + destination)), ...(depth && { Depth: depth }) }
      const before = await below(at)
      const { commit } = Site.prototype
      Site.prototype.commit = async () => {
        throw new StoreError('full', 'no room')
      }
      expect((await wire.dav(method, at + path, fields)).status).to.equal(507)
      expect(await below(at)).to.deep.equal(before)
      const parts: string[] = []
      Site.prototype.commit = function (...asked) {
        parts.push(this.store.name)
        return commit.apply(this, asked)
      }
      const answer = await wire.dav(method, at + path, fields)
      Site.prototype.commit = commit
      expect(answer.status, answer.text).to.be.oneOf([201, 204])
      expect(parts.filter(part => siteOfUnpublished(part) !== undefined)).to.deep.equal([])
      expect(await kept(at)).to.deep.equal(expected.map(file => `/${file}`))
      // What the mount shows is what is stored.
      for (const file of expected)
        expect((await wire.dav('GET', at + file)).text, file).to.equal(
          file.includes('._') ? 'kept' : file.endsWith('tmp') ? 'work' : '',
        )
    })
  })

  it('REA-61 many drafts that go with their folder are one change, not one for each', async () => {
    const at = '/many/'
    for (const path of ['', 'd/']) await wire.dav('MKCOL', at + path)
    for (let i = 0; i < 9; i++) await wire.dav('PUT', `${at}d/${i}.html`, {}, '')
    const { commit, follow } = Site.prototype
    const counts: unknown[] = []
    const followed: string[][] = []
    Site.prototype.follow = function (commits) {
      followed.push([...new Set(commits.flatMap(({ paths }) => paths))].map(path => path.slice(at.length)))
      return follow.call(this, commits)
    }
    Site.prototype.commit = function (...asked) {
      counts.push(asked[2]?.changes.length)
      return commit.apply(this, asked)
    }
    for (const method of ['COPY', 'MOVE'])
      expect((await wire.dav(method, `${at}d/`, to(`${at}${method}/`))).status).to.equal(201)
    Object.assign(Site.prototype, { commit, follow })
    // The collection that both come to, what comes there, and what it is published by.
    expect(counts).to.deep.equal([2, 2])
    // What is copied is not read again.
    expect(followed).to.deep.equal([['COPY/'], ['d/', 'MOVE/']])
  })

  for (const [what, file, body] of [
    ['a draft', 'draft.html', ''],
    ['a helper file', '._there.html', 'kept'],
  ] as const)
    it(`DAV-8 nothing goes where the path of ${what} in it would be too long`, async () => {
      const at = `/long-${file.charAt(0)}/`
      const folder = `${at}${`${'l'.repeat(250)}/`.repeat(4)}`
      for (const path of ['', 'd/']) await wire.dav('MKCOL', at + path)
      await wire.dav('PUT', `${folder}x`, {}, 'x')
      await wire.dav('PUT', `${at}d/${file}`, {}, body)
      const before = await below(at)
      for (const method of ['MOVE', 'COPY']) {
        const { status, text } = await wire.dav(method, `${at}d/`, to(`${folder}${'m'.repeat(1015 - folder.length)}/`))
        expect([status, text.includes(`${at}d/${file}`)]).to.deep.equal([414, true])
      }
      expect(await below(at)).to.deep.equal(before)
    })

  it('DAV-73 what another process removes right behind a PUT does not come back', async () => {
    const { commit } = Site.prototype
    Site.prototype.commit = async function (...asked) {
      const done = await commit.apply(this, asked)
      Site.prototype.commit = commit
      const path = '/7A6B5C4D.tmp'
      await this.store.commit({ changes: [{ op: 'delete', path }] })
      await this.follow([{ version: 0, paths: [path], raised: [] }])
      return done
    }
    expect((await wire.dav('PUT', '/7A6B5C4D.tmp', {}, 'work')).status).to.equal(201)
    expect((await wire.dav('PROPFIND', '/', { Depth: '1' })).text).not.to.include('7A6B5C4D')
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
      let put: ReturnType<Wire['dav']> | undefined
      const { commit } = Site.prototype
      Site.prototype.commit = async function (...asked) {
        const done = await commit.apply(this, asked)
        Site.prototype.commit = commit
        put = wire.dav('PUT', at + written, {}, page('new'))
        return done
      }
      expect((await wire.dav(method, at + path, to(at + destination))).status).to.equal(201)
      expect((await put)?.status).to.equal(204)
      expect((await wire.dav('GET', at + written)).text).to.equal(page('new'))
      await wire.server.running.mounts.tend(Date.now() + 3 * HOUR)
      expect((await wire.dav('GET', at + written)).text).to.equal(page('new'))
      if (destination === 'm/') expect(await kept(at)).to.include('/m/._there.html')
    })
})

it('DAV-61 a draft that a server of the release before was still to take along is not published where its document was', async () => {
  let wire = await startWire()
  const { running, site } = wire.server
  const { store } = running
  for (const folder of ['/d/', '/k/']) await wire.dav('MKCOL', folder)
  const paths = ['/moved.html', '/gone.html', '/d/in.html', '/copied.html', '/late.html']
  for (const path of [...paths, '/k/a.html']) {
    if (!path.startsWith('/d/')) await wire.dav('PUT', path, {}, page('there'))
    if (path !== '/late.html') await wire.dav('PUT', path, {}, '')
  }
  const newest = (await store.site(unpublishedName(site.store.name)).find('/k/a.html'))?.version ?? 0
  // As if somebody had come back to the name behind the change.
  await wire.dav('PUT', '/late.html', {}, '')
  for (const path of ['/moved.html', '/gone.html', '/late.html'])
    await store.site(site.store.name).commit({ changes: [{ op: 'delete', path }] })
  const notes = [
    { op: 'move', from: '/moved.html', to: '/new.html', deep: true },
    { op: 'remove', path: '/gone.html' },
    { op: 'move', from: '/d/', to: '/e/', deep: true },
    { op: 'copy', from: '/copied.html', to: '/copy.html', deep: true },
    { op: 'remove', path: '/late.html' },
  ]
  for (const [i, note] of notes.entries())
    await store.changeNotes([
      {
        op: 'keep',
        note: {
          key: `follow/${site.store.name}/${i}`,
          value: JSON.stringify({ ...note, newest }),
          expires: Date.now() + HOUR,
        },
      },
    ])
  await wire.server.stop()
  wire = await startWire({ data: wire.server.data })
  const statuses: Record<string, number> = {}
  for (const path of paths) statuses[path] = (await wire.dav('GET', path)).status
  expect(statuses).to.deep.equal({
    '/moved.html': 404,
    '/gone.html': 404,
    '/d/in.html': 404,
    '/copied.html': 200,
    '/late.html': 200,
  })
  expect((await wire.dav('GET', '/copied.html')).text).to.equal('')
  expect(await wire.server.running.store.notes('follow/')).to.deep.equal([])
  await wire.server.close()
})
