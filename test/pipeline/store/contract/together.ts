import { expect } from 'chai'
import type { Change, Commit } from '../../../../pipeline/store/commit.ts'
import type { SiteStore, Store } from '../../../../pipeline/store/store.ts'
import { all, done, type Open, type Opened, put } from '../fixture.ts'

const ONE = 'example.org'
const OTHER = 'elsewhere.example'

const move = (from: string, to: string): Change => ({ op: 'move', from, to })
const drop = (path: string, expect?: number): Change => ({ op: 'delete', path, ...(expect && { expect }) })

/** Changes of two parts of the store in one commit, whatever the store. */
export function describeTogether(open: Open): void {
  let opened: Opened
  let store: Store
  let site: SiteStore
  let other: SiteStore
  beforeEach(async () => {
    opened = await open()
    store = opened.store
    site = store.site(ONE)
    other = store.site(OTHER)
    await done(site, [put('/a', '1'), put('/d/x', '2')])
    await done(other, [put('/a', '3'), put('/d/y', '4')])
  })
  afterEach(() => opened.close())

  const both = (changes: Change[], beside: Change[], absent: string[] = []): Commit => ({
    changes,
    events: [{ path: '/a', payload: 'told' }],
    raises: ['counted'],
    beside: { site: other.name, changes: beside, absent },
  })
  const kept = (part: SiteStore) => all(part.walk('/', { collections: true }))
  const paths = async () => [await kept(site), await kept(other)].map(found => found.map(({ path }) => path))
  const before = [
    ['/a', '/d/', '/d/x'],
    ['/a', '/d/', '/d/y'],
  ]

  for (const { name, commit, after } of [
    {
      name: 'a file',
      commit: () => both([move('/a', '/b')], [move('/a', '/b')]),
      after: [
        ['/b', '/d/', '/d/x'],
        ['/b', '/d/', '/d/y'],
      ],
    },
    {
      name: 'a collection, and one in the other part that is missing',
      commit: () =>
        both([move('/d/', '/e/')], [{ op: 'collection', path: '/f/' }, move('/d/', '/f/d/')], ['/e/', '/g']),
      after: [
        ['/a', '/e/', '/e/x'],
        ['/a', '/f/', '/f/d/', '/f/d/y'],
      ],
    },
    {
      name: 'what goes',
      commit: () => both([drop('/d/')], [drop('/a'), drop('/d/')]),
      after: [['/a'], []],
    },
    {
      name: 'nothing of the other part',
      commit: () => both([drop('/a')], [], ['/b', '/e/']),
      after: [['/d/', '/d/x'], before[1]],
    },
  ])
    it(`${name}: the other part is a version later`, async () => {
      const result = await site.commit(commit())
      expect(result).to.include({ ok: true })
      expect(await paths()).to.deep.equal(after)
      const { version } = result as { version: number }
      const versions = (await kept(other)).map(found => found.version)
      for (const later of versions) expect(later).to.be.at.most(version + 1)
      const next = await done(site, [put('/next', 'n')])
      expect(next.version).to.equal(version + 2)
      store = await opened.reopen()
      site = store.site(ONE)
      other = store.site(OTHER)
      expect((await paths())[1]).to.deep.equal(after[1])
      await opened.intact()
    })

  for (const { name, changes, beside, absent, reason } of [
    { name: 'another version', changes: [drop('/a')], beside: [drop('/a', 999)], absent: [], reason: 'beside' },
    { name: 'nothing', changes: [drop('/d/')], beside: [drop('/d/'), move('/no', '/b')], absent: [], reason: 'beside' },
    { name: 'a file', changes: [drop('/d/')], beside: [drop('/d/')], absent: ['/a'], reason: 'beside' },
    { name: 'the other kind', changes: [drop('/a')], beside: [], absent: ['/d'], reason: 'beside' },
    {
      name: 'a path that would be too long',
      changes: [drop('/a')],
      beside: [{ op: 'move' as const, from: '/d/', to: '/longer/', longest: 8 }],
      absent: [],
      reason: 'length',
    },
    {
      name: 'what the first part does not want',
      changes: [drop('/a', 999)],
      beside: [drop('/a')],
      absent: [],
      reason: 'version',
    },
  ])
    it(`nothing is done where there is ${name}`, async () => {
      const together = [site.commit(both(changes, beside, absent)), site.commit({ changes: [put('/d/z', '5')] })]
      const [refused, stored] = await Promise.all(together)
      expect(refused).to.include({ ok: false, reason })
      expect(stored).to.include({ ok: true })
      expect(await paths()).to.deep.equal([[...(before[0] ?? []), '/d/z'], before[1]])
      const { events, counters } = (await site.commit({ ...both([drop('/a')], [drop('/a')]) })) as {
        events: string[]
        counters: Record<string, number>
      }
      expect([events.length, counters]).to.deep.equal([1, { counted: 1 }])
      await opened.intact()
    })

  it('in a part that has had nothing yet', async () => {
    other = store.site('new.example')
    expect(await site.commit(both([drop('/a')], [{ op: 'collection', path: '/c/' }]))).to.include({ ok: true })
    expect(await site.commit(both([drop('/a')], [{ op: 'collection', path: '/e/' }]))).to.include({ reason: 'missing' })
    expect((await paths())[1]).to.deep.equal(['/c/'])
    other = store.site('newer.example')
    expect(await site.commit(both([drop('/d/')], [drop('/no')]))).to.include({ reason: 'beside' })
    await done(other, [put('/a', '1')])
    expect((await paths())[1]).to.deep.equal(['/a'])
    await opened.intact()
  })

  it('takes no paths that cannot be', async () => {
    const failure = await site.commit(both([drop('/a')], [move('/a', '/a/')])).catch((error: unknown) => error)
    expect(failure).to.include({ reason: 'invalid' })
    expect(await paths()).to.deep.equal(before)
  })
}
