import { expect } from 'chai'
import type { Change } from '../../../../pipeline/store/commit.ts'
import type { Property } from '../../../../pipeline/store/resource.ts'
import type { SiteStore, WantedProperties } from '../../../../pipeline/store/store.ts'
import { contentTag, shownSeconds, ZERO } from '../../../../pipeline/store/tags.ts'
import { turnsOf } from '../../../support/turns.ts'
import { all, done, type Open, type Opened, put, putBlob, START, textAt, there } from '../fixture.ts'

/** What each kind of change does, whatever the store. */
export function describeChanges(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  const paths = async () => (await all(site.walk('/', { collections: true }))).map(({ path }) => path)

  describe('put', () => {
    for (const [what, changes] of [
      ['a new file', [put('/n', 'A', { language: 'de', shown: 5 })]],
      ['a file saved again', [put('/a', 'B'), putBlob('/b', Buffer.from('B'))]],
      ['a file saved twice', [put('/a', 'B'), put('/a', 'C', { type: 'text/plain' })]],
      [
        'a file saved and described',
        [
          put('/a', 'B'),
          { op: 'describe', path: '/a', set: [{ namespace: 'urn:x', name: 'y', value: 'z' }], remove: [], shown: 7 },
        ],
      ],
      ['a file saved and moved', [put('/a', 'B'), { op: 'move', from: '/a', to: '/m' }]],
      ['a file saved and replaced', [put('/a', 'B'), { op: 'copy', from: '/b', to: '/a', deep: true }]],
      ['a file saved and deleted', [put('/a', 'B'), { op: 'delete', path: '/a' }]],
      ['a file deleted and saved', [{ op: 'delete', path: '/a' }, put('/a', 'B')]],
    ] as [string, Change[]][]) {
      it(`the answer to a commit says of ${what} what is found afterwards`, async () => {
        await done(site, [put('/a', 'A', { language: 'en', shown: 3 }), putBlob('/b', Buffer.from('b'))])
        const { resources } = await done(site, changes)
        expect(resources.size).to.be.greaterThan(0)
        for (const [path, resource] of resources) expect(resource).to.deep.equal(await site.find(path))
      })
    }

    it('stores bytes, type and times', async () => {
      const { version, at, resources } = await done(site, [put('/a.html', '<p>A</p>\n', { language: 'en' })])
      const resource = await there(site, '/a.html')
      expect(resource).to.deep.equal({
        path: '/a.html',
        kind: 'document',
        version,
        digest: '8206af590130802332e4b8b4b2dc23151d78c0513d800ccdda617d018af39160',
        size: 9,
        type: 'text/html',
        language: 'en',
        created: START,
        modified: START,
        sameSecond: false,
        properties: ZERO,
      })
      expect(at).to.equal(START)
      expect(resources).to.deep.equal(new Map([['/a.html', resource]]))
      expect(contentTag(resource.digest)).to.equal('"8206af590130802332e4b8b4b2dc23151d78c0513d800ccd"')
      expect(await textAt(site, '/a.html')).to.equal('<p>A</p>\n')
    })

    it('keeps an empty body', async () => {
      await done(site, [put('/empty.html', '')])
      expect(await textAt(site, '/empty.html')).to.equal('')
    })

    it('gives the bytes of a version only while it is the current one', async () => {
      await done(site, [put('/a.html', 'old')])
      const old = await there(site, '/a.html')
      await done(site, [put('/a.html', 'new')])
      expect(await site.body(old)).to.equal(undefined)
      expect(await site.body(await there(site, '/a.html'))).to.have.property('bytes')
    })

    it('keeps the time of creation and gives a new version and time of change', async () => {
      const first = await done(site, [put('/a.html', 'old')])
      opened.clock.now += 5000
      const second = await done(site, [put('/a.html', 'new')])
      expect(second.version).to.be.greaterThan(first.version)
      expect(await there(site, '/a.html')).to.include({ created: START, modified: START + 5000, sameSecond: false })
    })

    it('DAV-14 makes missing parents, which stay when their last member goes', async () => {
      await done(site, [put('/docs/new/a.html', 'A')])
      expect(await paths()).to.deep.equal(['/docs/', '/docs/new/', '/docs/new/a.html'])
      await done(site, [{ op: 'delete', path: '/docs/new/a.html' }])
      expect(await paths()).to.deep.equal(['/docs/', '/docs/new/'])
    })

    it('DAV-14 makes no parent where it needs one: it is refused after the commit that took the parent away', async () => {
      const needing = (path: string) => put(path, 'A', { needsParent: true })
      await done(site, [put('/c/d/there', 'A'), put('/f', 'F'), needing('/top')])
      await done(site, [needing('/c/d/new'), needing('/c/d/there')])
      const before = await paths()
      const [gone, late] = await Promise.all([
        site.commit({ changes: [{ op: 'move', from: '/c/', to: '/moved/' }] }),
        site.commit({ changes: [put('/first', 'A'), needing('/c/d/late')] }),
      ])
      expect(gone.ok).to.equal(true)
      expect(late).to.deep.equal({ ok: false, reason: 'missing', path: '/c/d/' })
      expect(await paths()).to.deep.equal(before.map(path => path.replace('/c/', '/moved/')).sort())
      expect(await site.commit({ changes: [needing('/f/x')] })).to.include({ ok: false, reason: 'kind', path: '/f' })
      await done(site, [{ op: 'collection', path: '/c/' }, needing('/c/new')])
    })

    it('is refused below a file and in place of a collection', async () => {
      await done(site, [put('/a', 'A'), { op: 'collection', path: '/c/' }])
      const below = await site.commit({ changes: [put('/a/b/c.html', 'x')] })
      expect(below).to.deep.equal({ ok: false, reason: 'kind', path: '/a', current: await there(site, '/a') })
      const instead = await site.commit({ changes: [put('/c', 'x')] })
      expect(instead).to.deep.equal({ ok: false, reason: 'kind', path: '/c', current: await there(site, '/c/') })
    })

    it('replaces the derived data of the path', async () => {
      await done(site, [put('/a.html', 'A', { derived: { profile: '1', items: '2' } })])
      await done(site, [put('/a.html', 'B', { derived: { items: '3' } })])
      expect(await site.derived('/a.html', 'profile')).to.equal(undefined)
      expect(await site.derived('/a.html', 'items')).to.equal('3')
    })

    it('DAV-36 keeps a time set by a client until the next put without one', async () => {
      await done(site, [put('/a.html', 'A', { shown: 1000 })])
      expect(shownSeconds(await there(site, '/a.html'))).to.equal(1000)
      expect(await there(site, '/a.html')).to.include({ modified: START })
      await done(site, [put('/a.html', 'B')])
      expect(await there(site, '/a.html')).to.not.have.property('shown')
    })
  })

  describe('DAV-41 same second', () => {
    const change = async (text: string) => {
      await done(site, [put('/a.html', text)])
      return (await there(site, '/a.html')).sameSecond
    }

    it('is set when the replaced version had the same Last-Modified second, and only then', async () => {
      expect(await change('1')).to.equal(false)
      opened.clock.now += 900
      expect(await change('2')).to.equal(true)
      opened.clock.now += 200
      expect(await change('3')).to.equal(false)
    })

    it('is set for a file made anew in the second of its deletion', async () => {
      await change('1')
      await done(site, { changes: [{ op: 'delete', path: '/a.html' }], events: [{ path: '/a.html', payload: '' }] })
      expect(await change('2')).to.equal(true)
    })

    it('a later time that was described, and taken back by another description, is known of the next version', async () => {
      await done(site, [put('/a.html', '1')])
      for (const shown of [START / 1000 + 86_400, 50])
        await done(site, { changes: [{ op: 'describe', path: '/a.html', set: [], remove: [], shown }], events: [] })
      await done(site, [put('/a.html', '2')])
      expect(await there(site, '/a.html')).to.include({ shownLater: true })
    })

    it('is set when a client sets the time that the replaced version showed', async () => {
      await done(site, [put('/a.html', '1')])
      for (const seconds of [START / 1000, START / 1000, 50, 50]) {
        const { shown = START / 1000 } = await there(site, '/a.html')
        opened.clock.now += 5000
        await done(site, [put('/a.html', String(seconds), { shown: seconds })])
        expect(await there(site, '/a.html')).to.include({ sameSecond: shown === seconds })
      }
    })

    it('a time that was shown before its day is remembered, by whatever takes its place', async () => {
      const later = START / 1000 + 50_000
      const isLater = async (path: string) => (await there(site, path)).shownLater === true
      await done(site, [
        put('/a.html', '1', { shown: later }),
        put('/b.html', '1', { shown: later }),
        put('/c.html', 'C'),
      ])
      expect(await isLater('/a.html')).to.equal(false)
      for (const text of ['2', '3']) {
        opened.clock.now += 5000
        await done(site, [put('/a.html', text)])
        expect(await isLater('/a.html')).to.equal(true)
      }
      await done(site, [{ op: 'copy', from: '/c.html', to: '/b.html', deep: true }])
      await done(site, [put('/d.html', 'D', { shown: START / 1000 + 1 })])
      await done(site, [{ op: 'move', from: '/c.html', to: '/d.html' }])
      expect([await isLater('/b.html'), await isLater('/d.html')]).to.deep.equal([true, false])
    })

    it('time stands still at a path when the clock steps back', async () => {
      await change('1')
      opened.clock.now -= 60_000
      expect(await change('2')).to.equal(true)
      expect(await there(site, '/a.html')).to.include({ modified: START })
    })
  })

  describe('delete', () => {
    it('removes a file with its properties and derived data', async () => {
      await done(site, [
        put('/a.html', 'A', { derived: { profile: '1' } }),
        { op: 'describe', path: '/a.html', set: [{ namespace: 'n', name: 'p', value: 'v' }], remove: [] },
      ])
      const { resources } = await done(site, [{ op: 'delete', path: '/a.html' }])
      expect(resources).to.deep.equal(new Map([['/a.html', undefined]]))
      await done(site, [put('/a.html', 'B')])
      expect(await site.properties('/a.html')).to.deep.equal([])
      expect(await site.derived('/a.html', 'profile')).to.equal(undefined)
      expect(await there(site, '/a.html')).to.include({ properties: ZERO })
    })

    it('removes a collection with everything below, but not its neighbours', async () => {
      const kept = ['/docs!/x', '/docs-x', '/docs.html', '/docs0']
      await done(site, [...['/docs/a', '/docs/b/c/d', ...kept].map(path => put(path, path))])
      await done(site, [{ op: 'delete', path: '/docs/' }])
      expect((await all(site.walk('/'))).map(({ path }) => path)).to.deep.equal(kept)
    })

    it('of nothing is refused as missing, of the other kind as such', async () => {
      await done(site, [put('/a', 'A'), { op: 'collection', path: '/c/' }])
      expect(await site.commit({ changes: [{ op: 'delete', path: '/b' }] })).to.deep.equal({
        ok: false,
        reason: 'missing',
        path: '/b',
      })
      expect(await site.commit({ changes: [{ op: 'delete', path: '/a/' }] })).to.include({
        reason: 'kind',
        path: '/a/',
      })
      expect(await site.commit({ changes: [{ op: 'delete', path: '/c' }] })).to.include({ reason: 'kind', path: '/c' })
    })

    it('of the root empties the site and leaves the root', async () => {
      await done(site, [put('/a/b', '1'), put('/c', '2')])
      await done(site, [{ op: 'delete', path: '/' }])
      expect(await paths()).to.deep.equal([])
      expect(await there(site, '/')).to.include({ members: ZERO, kind: 'collection' })
      await done(site, [put('/a/b', '1')])
      expect(await paths()).to.deep.equal(['/a/', '/a/b'])
    })
  })

  describe('collection', () => {
    it('needs its parent and a free name', async () => {
      await done(site, [put('/f', 'F'), { op: 'collection', path: '/c/' }])
      const make = (path: string) => site.commit({ changes: [{ op: 'collection', path }] })
      expect(await make('/none/c/')).to.deep.equal({ ok: false, reason: 'missing', path: '/none/' })
      expect(await make('/none/deeper/c/')).to.deep.equal({ ok: false, reason: 'missing', path: '/none/deeper/' })
      expect(await make('/f/c/')).to.include({ ok: false, reason: 'kind', path: '/f' })
      expect(await make('/f/')).to.include({ ok: false, reason: 'kind', path: '/f/' })
      expect(await make('/c/')).to.deep.equal({
        ok: false,
        reason: 'version',
        path: '/c/',
        current: await there(site, '/c/'),
      })
      expect(await make('/c/d/')).to.include({ ok: true })
    })

    it('shows the newest change of membership as its time, not edits of members', async () => {
      await done(site, [put('/c/a', '1')])
      opened.clock.now += 1000
      await done(site, [put('/c/a', '2')])
      expect(await there(site, '/c/')).to.include({ modified: START, created: START })
      await done(site, [put('/c/b', '1')])
      expect(await there(site, '/c/')).to.include({ modified: START + 1000, created: START })
      opened.clock.now += 1000
      await done(site, [{ op: 'delete', path: '/c/a' }])
      expect(await there(site, '/c/')).to.include({ modified: START + 2000 })
    })
  })

  describe('describe', () => {
    const author = { namespace: 'urn:x', name: 'author', value: 'Ann' }
    const note = { namespace: '', name: 'note', value: '<b>x</b>' }

    it('DAV-34 sets and removes dead properties without a new version', async () => {
      const { version } = await done(site, [put('/a.html', 'A')])
      await done(site, [{ op: 'describe', path: '/a.html', set: [author, note], remove: [] }])
      expect(await site.properties('/a.html')).to.have.deep.members([author, note])
      await done(site, [{ op: 'describe', path: '/a.html', set: [{ ...author, value: 'Bo' }], remove: [note, note] }])
      expect(await site.properties('/a.html')).to.deep.equal([{ ...author, value: 'Bo' }])
      expect(await there(site, '/a.html')).to.include({ version, modified: START })
    })

    it('DAV-34 properties survive a put, go along with a move and are copied', async () => {
      await done(site, [put('/a.html', 'A'), { op: 'describe', path: '/a.html', set: [author], remove: [] }])
      await done(site, [put('/a.html', 'B')])
      await done(site, [{ op: 'copy', from: '/a.html', to: '/b.html', deep: true }])
      await done(site, [{ op: 'move', from: '/a.html', to: '/c.html' }])
      expect(await site.properties('/a.html')).to.deep.equal([])
      expect(await site.properties('/b.html')).to.deep.equal([author])
      expect(await site.properties('/c.html')).to.deep.equal([author])
    })

    it('DAV-37 tells the properties of many members at once, and of nobody else', async () => {
      const names = ['/c/a', '/c/b.html', '/c/d', '/c/e', '/c-d', '/b']
      await done(site, [...names.map(path => put(path, 'x')), put('/c/d.d/inside', 'x')])
      const described = ['/c/', '/c/a', '/c/b.html', '/c/d.d/', '/c/d.d/inside', '/c/e', '/c-d', '/b']
      for (const path of described) await done(site, [{ op: 'describe', path, set: [note, author], remove: [] }])
      const told = async (first: string, last: string) =>
        [...((await site.propertiesBetween(first, last)) ?? [])].map(([path]) => path)
      expect(await told('/c/a', '/c/e')).to.deep.equal(['/c/a', '/c/b.html', '/c/d.d/', '/c/e'])
      expect(await told('/c/b.html', '/c/d.d/')).to.deep.equal(['/c/b.html', '/c/d.d/'])
      expect(await told('/c/d', '/c/d')).to.deep.equal([])
      expect(await told('/none/a', '/none/b')).to.deep.equal([])
      const [[, properties] = []] = (await site.propertiesBetween('/c/d.d/', '/c/d.d/')) ?? []
      expect(properties).to.deep.equal(await site.properties('/c/d.d/'))
      expect(properties).to.have.deep.members([author, note])
    })

    it('DAV-37 reads of the properties of members the values that are wanted, and no more than may be', async () => {
      for (const path of ['/c/a', '/c/b']) {
        await done(site, [put(path, 'x'), { op: 'describe', path, set: [note, author], remove: [] }])
      }
      const wanted = async (options: WantedProperties) =>
        (await site.propertiesBetween('/c/a', '/c/b', options))?.get('/c/b')
      const without = (property: Property) => ({ ...property, value: '' })
      expect(await wanted({ values: [note] })).to.have.deep.members([without(author), note])
      expect(await wanted({ values: [] })).to.have.deep.members([without(author), without(note)])
      const bytes = (list: Property[]) =>
        2 * list.reduce((sum, { namespace, name, value }) => sum + Buffer.byteLength(namespace + name + value), 0)
      const [all, one] = [bytes([note, author]), bytes([note, without(author)])]
      expect(await wanted({ most: all })).to.have.deep.members([author, note])
      expect(await wanted({ most: all - 1 })).to.equal(undefined)
      expect(await wanted({ most: one, values: [note] })).to.have.deep.members([without(author), note])
      expect(await wanted({ most: one - 1, values: [note] })).to.equal(undefined)
      expect(await site.propertiesBetween('/none/a', '/none/b', { most: 0 })).to.deep.equal(new Map())
    })

    it('SEC-12 tells any number of properties of members, however long, each member with all of its own', async () => {
      const of = (count: number, length: number) =>
        Array.from({ length: count }, (_, i) => ({ ...note, name: `n${i}`, value: 'v'.repeat(length) }))
      const sets: Record<string, Property[]> = {
        '/c/a': of(1500, 1),
        '/c/b': of(1500, 1),
        '/c/c': of(1500, 1),
        '/c/d': of(300, 9000),
        '/c/e': of(200, 9000),
        '/c/f': of(5000, 1),
      }
      for (const [path, set] of Object.entries(sets))
        await done(site, [put(path, 'x'), { op: 'describe', path, set, remove: [] }])
      let told = new Map<string, Property[]>()
      const turns = await turnsOf(async () => {
        told = (await site.propertiesBetween('/c/a', '/c/f')) ?? told
      })
      expect(turns).to.be.above(1)
      expect([...told.keys()]).to.deep.equal(Object.keys(sets))
      const names = (list: readonly Property[]) => list.map(({ name, value }) => `${name} ${value.length}`).sort()
      for (const [path, set] of Object.entries(sets)) expect(names(told.get(path) ?? [])).to.deep.equal(names(set))
      const bytes = (list: readonly Property[]) =>
        list.reduce((sum, { namespace, name, value }) => sum + (namespace + name + value).length, 0)
      const all = Object.values(sets).reduce((sum, set) => sum + bytes(set), 0)
      expect((await site.propertiesBetween('/c/a', '/c/f', { most: all }))?.size).to.equal(6)
      expect(await site.propertiesBetween('/c/a', '/c/f', { most: all - 1 })).to.equal(undefined)
    })

    it('sets shown time and language, also of collections', async () => {
      await done(site, [put('/c/a.html', 'A', { language: 'en' })])
      const base: { op: 'describe'; set: Property[]; remove: Property[] } = { op: 'describe', set: [], remove: [] }
      await done(site, [{ ...base, path: '/c/a.html', shown: 77, language: 'de' }])
      expect(await there(site, '/c/a.html')).to.include({ shown: 77, language: 'de' })
      await done(site, [{ ...base, path: '/c/a.html', language: '' }])
      expect(await there(site, '/c/a.html'))
        .to.include({ shown: 77 })
        .and.not.have.property('language')
      await done(site, [{ ...base, path: '/c/', set: [author] }])
      expect(await site.properties('/c/')).to.deep.equal([author])
      expect(await site.commit({ changes: [{ ...base, path: '/none' }] })).to.include({ reason: 'missing' })
    })
  })

  it('changes of a commit apply in order', async () => {
    const { resources } = await done(site, [
      put('/a.html', '1'),
      { op: 'move', from: '/a.html', to: '/b.html' },
      put('/a.html', '2'),
      { op: 'copy', from: '/b.html', to: '/c.html', deep: false },
      { op: 'delete', path: '/b.html' },
    ])
    expect([...resources].map(([path, resource]) => [path, resource?.size])).to.deep.equal([
      ['/a.html', 1],
      ['/b.html', undefined],
      ['/c.html', 1],
    ])
    expect(await textAt(site, '/c.html')).to.equal('1')
    expect(await textAt(site, '/a.html')).to.equal('2')
  })

  it('one failing change undoes the whole commit: counters, events and parents too', async () => {
    await done(site, [put('/keep.html', 'K')])
    const before = await there(site, '/')
    const refused = await site.commit({
      changes: [put('/x/y.html', '1'), putBlob('/z', Buffer.from('z')), { op: 'delete', path: '/none' }],
      events: [{ path: '/x/y.html', payload: 'e' }],
      raises: ['rules'],
    })
    expect(refused).to.include({ ok: false, reason: 'missing', path: '/none' })
    expect(await paths()).to.deep.equal(['/keep.html'])
    expect(await there(site, '/')).to.deep.equal(before)
    expect(await site.counters()).to.deep.equal({})
    expect(await site.allEvents(undefined, 10)).to.deep.equal([])
  })

  it('what an undone commit had taken away does not lend its place to the next one', async () => {
    await done(site, [put('/a', 'A'), put('/b', 'B')])
    const undone: Change[] = [{ op: 'delete', path: '/b' }, put('/c', 'C'), { op: 'delete', path: '/none' }]
    const results = await Promise.all([site.commit({ changes: undone }), site.commit({ changes: [put('/d', 'D')] })])
    expect(results.map(({ ok }) => ok)).to.deep.equal([false, true])
    expect(await textAt(site, '/b')).to.equal('B')
    expect(await textAt(site, '/d')).to.equal('D')
  })

  it('a refused commit leaves no site behind', async () => {
    await site.commit({ changes: [{ op: 'delete', path: '/a' }] })
    expect(await opened.store.sites()).to.deep.equal([])
  })

  for (const path of ['a', '', '/a//b', '/a/./b', '/../a', '/a/..', '/a\0b', '/a\ud800', '//']) {
    it(`refuses the path ${JSON.stringify(path)} as a mistake of the caller`, async () => {
      const error = await site.commit({ changes: [put(path, 'x')] }).catch((error: unknown) => error)
      expect(error).to.include({ name: 'StoreError', reason: 'invalid' })
    })
  }
}
