import { expect } from 'chai'
import type { Change } from '../../../../pipeline/store/commit.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { all, done, type Open, type Opened, put, START, textAt, there } from '../fixture.ts'

/** Moves and copies (DAV-48), whatever the store. */
export function describeTransfers(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  const paths = async () => (await all(site.walk('/', { collections: true }))).map(({ path }) => path)
  const move = (from: string, to: string): Change => ({ op: 'move', from, to })
  const copy = (from: string, to: string, deep = true): Change => ({ op: 'copy', from, to, deep })

  it('move takes content, times, type, derived data along and makes a new version', async () => {
    await done(site, [put('/a.html', 'A', { shown: 5, derived: { profile: '1' } })])
    const before = await there(site, '/a.html')
    opened.clock.now += 5000
    const { version, resources } = await done(site, [move('/a.html', '/b.html')])
    expect(await there(site, '/b.html')).to.deep.equal({ ...before, path: '/b.html', version })
    expect([...resources.keys()]).to.deep.equal(['/a.html', '/b.html'])
    expect(resources.get('/a.html')).to.equal(undefined)
    expect(await site.find('/a.html')).to.equal(undefined)
    expect(await site.derived('/b.html', 'profile')).to.equal('1')
    expect(await textAt(site, '/b.html')).to.equal('A')
  })

  it('move can change type, kind and derived data', async () => {
    await done(site, [put('/a.bin', 'A', { kind: 'blob', type: 'x/y', derived: { old: '1' } })])
    await done(site, [
      { ...move('/a.bin', '/a.html'), type: 'text/html', kind: 'document', derived: { new: '2' } },
    ] as Change[])
    expect(await there(site, '/a.html')).to.include({ type: 'text/html', kind: 'document' })
    expect(await site.derived('/a.html', 'old')).to.equal(undefined)
    expect(await site.derived('/a.html', 'new')).to.equal('2')
  })

  it('copy makes a resource of its own age with the same bytes', async () => {
    await done(site, [put('/a.html', 'A', { shown: 5, derived: { profile: '1' } })])
    opened.clock.now += 5000
    const { version } = await done(site, [copy('/a.html', '/b.html')])
    const { digest } = await there(site, '/a.html')
    const made = await there(site, '/b.html')
    expect(made).to.include({ version, digest, created: START + 5000, modified: START + 5000, type: 'text/html' })
    expect(made).to.not.have.property('shown')
    expect(await site.derived('/b.html', 'profile')).to.equal('1')
    await done(site, [{ op: 'delete', path: '/a.html' }])
    expect(await textAt(site, '/b.html')).to.equal('A')
  })

  it('a moved collection takes everything below along', async () => {
    await done(site, [
      put('/a/x.html', 'X', { derived: { p: '1' } }),
      put('/a/b/c/y.html', 'Y'),
      put('/ab/z.html', 'Z'),
    ])
    const before = await there(site, '/a/')
    await done(site, [{ op: 'collection', path: '/m/' }, move('/a/', '/n/')])
    expect(await paths()).to.deep.equal([
      '/ab/',
      '/ab/z.html',
      '/m/',
      '/n/',
      '/n/b/',
      '/n/b/c/',
      '/n/b/c/y.html',
      '/n/x.html',
    ])
    expect(await textAt(site, '/n/b/c/y.html')).to.equal('Y')
    expect(await site.derived('/n/x.html', 'p')).to.equal('1')
    expect(await there(site, '/n/')).to.include({ members: before.members })
  })

  it('a deep copy has all members, a shallow one none', async () => {
    const describe: Change = {
      op: 'describe',
      path: '/a/b/',
      set: [{ namespace: 'n', name: 'p', value: 'v' }],
      remove: [],
    }
    await done(site, [put('/a/b/x.html', 'X', { derived: { p: '1' } }), describe, put('/a/y.html', 'Y')])
    await done(site, [copy('/a/', '/deep/'), copy('/a/b/', '/flat/', false)])
    expect(await paths()).to.deep.equal([
      '/a/',
      '/a/b/',
      '/a/b/x.html',
      '/a/y.html',
      '/deep/',
      '/deep/b/',
      '/deep/b/x.html',
      '/deep/y.html',
      '/flat/',
    ])
    expect(await textAt(site, '/deep/b/x.html')).to.equal('X')
    expect(await site.derived('/deep/b/x.html', 'p')).to.equal('1')
    expect(await site.properties('/deep/b/')).to.have.length(1)
    expect(await site.properties('/flat/')).to.have.length(1)
    await done(site, [{ op: 'delete', path: '/a/' }])
    expect(await textAt(site, '/deep/b/x.html')).to.equal('X')
  })

  it('names outside the Basic Multilingual Plane survive moves and copies of collections', async () => {
    await done(site, [put('/😀/é/😀.html', 'X')])
    await done(site, [move('/😀/', '/m😀/'), copy('/m😀/', '/c/')])
    expect(await paths()).to.deep.equal(['/c/', '/c/é/', '/c/é/😀.html', '/m😀/', '/m😀/é/', '/m😀/é/😀.html'])
  })

  it('DAV-48 what stood at the destination is removed first, whatever its kind', async () => {
    await done(site, [put('/f.html', 'F'), put('/c/x.html', 'X'), put('/d/y.html', 'Y'), put('/g.html', 'G')])
    await done(site, [move('/c/', '/d/')])
    expect(await paths()).to.deep.equal(['/d/', '/d/x.html', '/f.html', '/g.html'])
    await done(site, [copy('/f.html', '/d')])
    expect(await paths()).to.deep.equal(['/d', '/f.html', '/g.html'])
    await done(site, [{ op: 'collection', path: '/e/' }, move('/e/', '/g.html/')])
    expect(await paths()).to.deep.equal(['/d', '/f.html', '/g.html/'])
  })

  it('a file cannot replace a collection that it is in', async () => {
    await done(site, [put('/c/x', 'X')])
    for (const change of [move('/c/x', '/c'), copy('/c/x', '/c')]) {
      expect(await site.commit({ changes: [change] })).to.include({ ok: false, reason: 'kind', path: '/c' })
    }
    expect(await paths()).to.deep.equal(['/c/', '/c/x'])
  })

  it('DAV-48 the source and the parent of the destination must exist', async () => {
    await done(site, [put('/a', 'A'), put('/c/x', 'X')])
    const table: [Change, object][] = [
      [move('/none', '/b'), { reason: 'missing', path: '/none' }],
      [copy('/none/', '/b/'), { reason: 'missing', path: '/none/' }],
      [move('/a', '/none/b'), { reason: 'missing', path: '/none/' }],
      [copy('/c/', '/none/deep/b/'), { reason: 'missing', path: '/none/deep/' }],
      [move('/c/', '/a/b/'), { reason: 'kind', path: '/a' }],
      [move('/c', '/b'), { reason: 'kind', path: '/c' }],
      [move('/a/', '/b/'), { reason: 'kind', path: '/a/' }],
    ]
    for (const [change, expected] of table) {
      expect(await site.commit({ changes: [change] }), JSON.stringify(change)).to.include({ ok: false, ...expected })
    }
    expect(await paths()).to.deep.equal(['/a', '/c/', '/c/x'])
  })

  it('refuses what can never be as a mistake of the caller', async () => {
    const mistakes = [move('/a', '/a'), copy('/c/', '/c/d/'), move('/', '/x/'), copy('/a/', '/'), move('/a', '/b/')]
    for (const change of mistakes) {
      const error = await site.commit({ changes: [change] }).catch((error: unknown) => error)
      expect(error, JSON.stringify(change)).to.include({ name: 'StoreError', reason: 'invalid' })
    }
  })

  it('DAV-10 a collection stays where it is when a member would come to a path that is too long', async () => {
    await done(site, [put('/c/é/x', 'X'), put('/c/é/xyz', 'Z'), put('/old', 'O')])
    const within = (change: Change, longest: number) => ({ ...change, longest }) as Change
    const table: [Change, longest: number, path: string | undefined][] = [
      [move('/c/', '/cd/'), 10, undefined],
      [move('/c/', '/cd/'), 9, '/c/é/xyz'],
      [move('/c/', '/cd/'), 7, '/c/é/x'],
      [move('/c/', '/cd/'), 6, '/c/é/'],
      [move('/c/', '/é/'), 9, '/c/é/xyz'],
      [copy('/c/', '/cd/'), 9, '/c/é/xyz'],
      [copy('/c/', '/cd/', false), 4, undefined],
      [move('/c/é/', '/c/d/'), 5, undefined],
    ]
    for (const [change, longest, path] of table) {
      const before = await paths()
      const changes: Change[] = [{ op: 'delete', path: '/old' }, within(change, longest), put('/old', 'O')]
      const result = await site.commit({ changes })
      const name = `${JSON.stringify(change)} ${longest}`
      if (path === undefined) {
        expect(result, name).to.include({ ok: true })
        if (change.op === 'move') await done(site, [move(change.to, change.from)])
        else await done(site, [{ op: 'delete', path: '/cd/' }])
      } else expect(result, name).to.deep.equal({ ok: false, reason: 'length', path })
      expect(await paths(), name).to.deep.equal(before)
    }
  })

  it('expectations hold at both ends', async () => {
    const { version } = await done(site, [put('/a', 'A'), put('/b', 'B')])
    const attempt = (more: object) => site.commit({ changes: [{ ...move('/a', '/b'), ...more } as Change] })
    expect(await attempt({ expect: version + 1 })).to.include({ reason: 'version', path: '/a' })
    expect(await attempt({ expectTo: 'absent' })).to.include({ reason: 'version', path: '/b' })
    expect(await attempt({ expectTo: version + 1 })).to.include({ reason: 'version', path: '/b' })
    expect(await attempt({ expect: version, expectTo: version })).to.include({ ok: true })
    expect(await attempt({ expectTo: 'present' })).to.include({ reason: 'missing', path: '/a' })
  })

  it('time never runs back at a destination that caches have seen', async () => {
    await done(site, [put('/old.html', 'O'), put('/dir/old.html', 'O')])
    opened.clock.now += 10_000
    await done(site, [put('/new.html', 'N'), put('/dest/old.html', 'N')])
    opened.clock.now += 10_000
    await done(site, [move('/old.html', '/new.html'), move('/dir/', '/dest/')])
    expect(await there(site, '/new.html')).to.include({ modified: START + 20_000 })
    expect(await there(site, '/dest/old.html')).to.include({ modified: START + 20_000 })
  })

  it('DAV-41 a move over a file that showed the same second is marked', async () => {
    await done(site, [put('/a', 'A', { shown: 5 })])
    opened.clock.now += 5000
    await done(site, [put('/tmp', 'B', { shown: 5 })])
    opened.clock.now += 5000
    await done(site, [move('/tmp', '/a')])
    expect(await there(site, '/a')).to.include({ sameSecond: true, shown: 5 })
  })

  it('DAV-41 a move or copy over a file of the same second is marked', async () => {
    await done(site, [put('/a', 'A'), put('/b', 'B'), put('/c', 'C')])
    await done(site, [copy('/a', '/b'), move('/a', '/c')])
    expect(await there(site, '/b')).to.include({ sameSecond: true })
    expect(await there(site, '/c')).to.include({ sameSecond: true })
  })
}
