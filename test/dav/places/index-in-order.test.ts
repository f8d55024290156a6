/** The index of what is kept unpublished goes by what was stored last, however long it takes to read what moved along (DAV-60). */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { helperNames } from '../../../dav/places/helper-names.ts'
import { Unpublished } from '../../../dav/places/unpublished.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { unpublishedPut } from '../../../pipeline/write/unpublished.ts'
import { type Opened, openTemporary } from '../../pipeline/store/fixture.ts'
import { openSite } from '../../pipeline/write/fateful.ts'
import { eventually } from '../../support/eventually.ts'

/** What the index has. */
const known = ({ overlay }: Unpublished) => [...overlay.entries()].map(({ path }) => path).sort()

const put = (path: string) => unpublishedPut({ path, content: new Uint8Array(), type: 'text/html' })

describe('DAV-60 while a collection with drafts moves', () => {
  let opened: Opened
  let unpublished: Unpublished
  let release: () => void
  let moved: Promise<unknown>

  beforeEach(async () => {
    opened = await openTemporary()
    const store = opened.store.site('a.example')
    const { walk } = store
    const { promise: isReleased, resolve } = Promise.withResolvers<void>()
    release = resolve
    const site = await openSite(store)
    unpublished = await Unpublished.open(site, helperNames({ metadata: [], work: [], ordinary: [] }))
    await unpublished.commit([...put('/d/a.html'), ...put('/d/b.html'), ...put('/e/old.html')])
    store.walk = async function* (...order) {
      for await (const found of walk.apply(store, order)) {
        await isReleased
        yield found
      }
    }
    const { version } = (await store.find('/d/a.html')) ?? {}
    moved = unpublished.commit([
      { op: 'delete', path: '/e/' },
      { op: 'move', from: '/d/', to: '/e/' },
    ])
    await eventually(async () => expect((await store.find('/e/a.html'))?.version).to.be.greaterThan(version ?? 0))
  })
  afterEach(() => opened.close())

  /** What the index has, and what the store. */
  async function shown(): Promise<[known: string[], stored: string[]]> {
    const stored: string[] = []
    for await (const { path } of unpublished.site.store.walk('/')) stored.push(path)
    return [known(unpublished), stored]
  }

  it('a draft that goes meanwhile is gone', async () => {
    const removed = unpublished.commit([{ op: 'delete', path: '/e/a.html' }])
    await eventually(async () => expect(await unpublished.site.store.find('/e/a.html')).to.equal(undefined))
    release()
    await Promise.all([moved, removed])
    expect(await shown()).to.deep.equal([['/e/b.html'], ['/e/b.html']])
  })

  it('a draft that comes meanwhile to where it was is there', async () => {
    const made = unpublished.commit(put('/d/c.html'))
    await eventually(async () => expect(await unpublished.site.store.find('/d/c.html')).to.not.equal(undefined))
    release()
    await Promise.all([moved, made])
    const all = ['/d/c.html', '/e/a.html', '/e/b.html']
    expect(await shown()).to.deep.equal([all, all])
  })
})

describe('DAV-60 the index of what is kept unpublished', () => {
  let opened: Opened
  let unpublished: Unpublished
  beforeEach(async () => {
    opened = await openTemporary()
    const site = await openSite(opened.store.site('a.example'))
    unpublished = await Unpublished.open(site, helperNames({ metadata: [], work: [], ordinary: [] }))
  })
  afterEach(() => opened.close())

  for (const [first, second, left] of [
    [put('/x.html'), [{ op: 'delete', path: '/x.html' }], []],
    [[{ op: 'delete', path: '/y.html' }], put('/y.html'), ['/y.html']],
  ] as const)
    it(`has what the later of two changes left whose answers come the other way round: ${left}`, async () => {
      await unpublished.commit(put('/y.html'))
      if (left.length === 0) await unpublished.commit([{ op: 'delete', path: '/y.html' }])
      const { commit } = unpublished.site
      const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
      unpublished.site.commit = async (...asked) => {
        unpublished.site.commit = commit
        const done = await commit.apply(unpublished.site, asked)
        await isReleased
        return done
      }
      const slow = unpublished.commit([...first])
      await unpublished.commit([...second])
      release()
      await slow
      expect(known(unpublished)).to.deep.equal(left)
    })

  it('SEC-12 finds what lies over one collection without a look at the others', async () => {
    const names = helperNames({ metadata: [], work: [], ordinary: [] })
    const asked: string[] = []
    const counting = {
      suspect: names.suspect,
      of(path: string) {
        asked.push(path)
        return names.of(path)
      },
    }
    await unpublished.commit(['/a/', '/a-b/', '/a/c/'].map(path => ({ op: 'collection', path })))
    const drafts = ['/a/x.html', '/a/c/y.html', '/a-b/z.html', '/a.html', '/w.html']
    await unpublished.commit([...drafts, '/a/~$x'].flatMap(put))
    const other = await Unpublished.open(unpublished.site, counting)
    asked.length = 0
    const found = (await other.coversOf('/a/')).map(({ path }) => path)
    expect(found).to.have.members(['/a/x.html', '/a/c/y.html'])
    expect(asked).to.have.members([...found, '/a/~$x'])
    expect((await other.coversOf('/')).map(({ path }) => path)).to.have.members(drafts)
  })

  it('has what is stored although its commit failed in the end', async () => {
    const { commit } = unpublished.site
    unpublished.site.commit = async (...asked) => {
      await commit.apply(unpublished.site, asked)
      unpublished.site.commit = commit
      throw new StoreError('busy', 'cannot be read')
    }
    const failed: unknown = await unpublished.commit(put('/x.html')).catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(StoreError)
    await eventually(async () => expect(known(unpublished)).to.deep.equal(['/x.html']))
  })

  for (const path of ['/d/', '/'])
    it(`has what stays while it looks again at ${path}, and tells no change of it`, async () => {
      await unpublished.commit([{ op: 'collection', path: '/d/' }, ...put('/d/a.html'), ...put('/d/b.html')])
      const { store } = unpublished.site
      const { walk } = store
      const changed = unpublished.overlay.changed('/d/')
      const seen: string[][] = []
      store.walk = async function* (...order) {
        seen.push(known(unpublished))
        for await (const found of walk.apply(store, order)) {
          seen.push(known(unpublished))
          yield found
        }
      }
      await unpublished.site.follow([{ version: 0, paths: [path], raised: [] }])
      expect(seen.length).to.be.greaterThan(2)
      for (const each of [...seen, known(unpublished)]) expect(each).to.deep.equal(['/d/a.html', '/d/b.html'])
      expect(unpublished.overlay.changed('/d/')).to.equal(changed)
    })

  for (const [before, after, left] of [
    ['/x', '/x/', ['/x/b']],
    ['/x/b', '/x', ['/x']],
  ] as const)
    it(`knows that ${before} is gone where ${after} takes its name`, async () => {
      await unpublished.commit([
        ...put(before),
        { op: 'collection', path: '/other/' },
        ...put('/other/b'),
        ...put('/file'),
      ])
      await unpublished.commit([{ op: 'move', from: after === '/x/' ? '/other/' : '/file', to: after }])
      expect(known(unpublished).filter(path => path.startsWith('/x'))).to.deep.equal(left)
    })
})
