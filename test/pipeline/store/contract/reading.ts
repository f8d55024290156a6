import { createHash, hash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Change } from '../../../../pipeline/store/commit.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { ZERO } from '../../../../pipeline/store/tags.ts'
import { all, done, type Open, type Opened, put, putBlob, textAt, there } from '../fixture.ts'

/** Look-ups, listings and walks, whatever the store. */
export function describeReading(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  it('an untouched site has an empty root and nothing else', async () => {
    expect(await there(site, '/')).to.include({ kind: 'collection', version: 0, members: ZERO, properties: ZERO })
    expect(await site.list('/')).to.deep.equal([])
    expect(await all(site.walk('/'))).to.deep.equal([])
    expect(await site.counters()).to.deep.equal({})
    expect(await site.find('/a')).to.equal(undefined)
    expect(await site.derived('/a', 'x')).to.equal(undefined)
    expect(await site.properties('/a')).to.deep.equal([])
    expect(await site.newestEvent('/a')).to.equal(undefined)
    expect(await opened.store.sites()).to.deep.equal([])
  })

  it('find distinguishes files from collections by the slash', async () => {
    await done(site, [put('/d/f', 'x')])
    expect(await site.find('/d')).to.equal(undefined)
    expect(await site.find('/d/f/')).to.equal(undefined)
    expect(await site.find('/d/')).to.include({ path: '/d/', kind: 'collection' })
    expect(await site.find('/d/f')).to.include({ path: '/d/f', kind: 'document' })
  })

  it('findNamed finds what has a name, whichever form the path has', async () => {
    expect(await site.findNamed('/')).to.deep.equal(await site.find('/'))
    expect(await site.findNamed('/d')).to.equal(undefined)
    await done(site, [put('/d/f', 'x')])
    for (const [file, found] of [
      ['/d', '/d/'],
      ['/d/f', '/d/f'],
    ] as const)
      for (const path of [file, `${file}/`])
        expect(await site.findNamed(path)).to.deep.equal(await there(site, found), path)
    expect(await site.findNamed('/d/none')).to.equal(undefined)
    expect(await site.findNamed('/')).to.deep.equal(await there(site, '/'))
  })

  it('list has the direct members, ascending by name, without their members', async () => {
    const names = ['b', 'a.html', 'a', 'Z', 'é', 'a b', '😀', '\uffff']
    await done(site, [...names.map(name => put(`/d/${name}`, name)), put('/d/sub/x', 'x'), put('/other', 'o')])
    const expected = ['Z', 'a', 'a b', 'a.html', 'b', 'sub/', 'é', '\uffff', '😀']
    expect((await site.list('/d/')).map(({ path }) => path.slice(3))).to.deep.equal(expected)
    expect(await site.list('/none/')).to.deep.equal([])
  })

  it('list and find agree about every member', async () => {
    const set = [{ namespace: 'n', name: 'p', value: 'v' }]
    await done(site, [
      put('/d/a.html', 'A', { language: 'en', shown: 7 }),
      put('/d/sub/x', 'x'),
      { op: 'describe', path: '/d/a.html', set, remove: [] },
      { op: 'describe', path: '/d/sub/', set, remove: [] },
    ])
    for (const member of await site.list('/d/')) expect(await site.find(member.path)).to.deep.equal(member)
  })

  it('DAV-34 properties of any name that can be set go with what is copied, however long it is', async () => {
    // No key of an index of PostgreSQL is longer than 2,704 bytes, once it is compressed.
    const long = (from: number) => Array.from({ length: 64 }, (_, i) => hash('sha512', `${from} ${i}`)).join('')
    const names = [1, 2].map(from => `a${long(from).slice(1)}`)
    const set = names.flatMap(name => names.map(namespace => ({ namespace, name, value: 'v' })))
    const wanted = set.toSorted((a, b) => (a.namespace + a.name < b.namespace + b.name ? -1 : 1))
    const remove = wanted.splice(1, 1)
    await done(site, [put('/d/a.html', 'A'), { op: 'describe', path: '/d/a.html', set, remove: [] }])
    await done(site, [{ op: 'describe', path: '/d/a.html', set: set.slice(0, 1), remove }])
    await done(site, [{ op: 'copy', from: '/d/', to: '/e/', deep: true }])
    await done(site, [{ op: 'copy', from: '/e/a.html', to: '/b.html', deep: false }])
    for (const path of ['/d/a.html', '/e/a.html', '/b.html']) expect(await site.properties(path)).to.deep.equal(wanted)
  })

  it('list of a collection larger than a page is complete and in order', async () => {
    const names = Array.from({ length: 4200 }, (_, i) => `/d/${String(i).padStart(5, '0')}`)
    await done(site, [...names.map(name => putBlob(name, Buffer.from(name)))])
    expect((await site.list('/d/')).map(({ path }) => path)).to.deep.equal(names)
  })

  it('walk ascends by path, not by name', async () => {
    const files = ['/a!', '/a.html', '/a/b/c', '/a/b.x', '/a/b!/d', '/a/b', '/a0', '/a/z', '/b/c']
    await done(site, [...files.filter(path => path !== '/a/b').map(path => put(path, path))])
    const expected = ['/a!', '/a.html', '/a/b!/d', '/a/b.x', '/a/b/c', '/a/z', '/a0', '/b/c']
    expect((await all(site.walk('/'))).map(({ path }) => path)).to.deep.equal(expected)
    expect((await all(site.walk('/a/'))).map(({ path }) => path)).to.deep.equal(expected.slice(2, 6))
    expect(await all(site.walk('/a'))).to.deep.equal([])
  })

  it('files whose bytes are kept apart are found without the others', async () => {
    const small = Array.from({ length: 1200 }, (_, i) => putBlob(`/a/${1000 + i}`, Buffer.from(`${i}`)))
    const large = Buffer.alloc(300 * 1024, 'x')
    const paths = ['/a/0', '/a/2199.5', '/b/c/d']
    await done(site, [...small, put('/a/page.html', 'x'), ...paths.map(path => putBlob(path, large))])
    expect((await all(site.keptApart('/'))).map(({ path }) => path)).to.deep.equal(paths)
    expect((await all(site.keptApart('/b/'))).map(({ path }) => path)).to.deep.equal(['/b/c/d'])
    expect(await all(site.keptApart('/b'))).to.deep.equal([])
  })

  it('walk is complete and sorted for any tree', async () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '!', '0', '.', '-', 'é'), minLength: 1, maxLength: 3 })
    const path = fc.array(
      name.filter(each => !/^\.\.?$/.test(each)),
      { minLength: 1, maxLength: 4 },
    )
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(path, { maxLength: 40 }), async segments => {
        const fresh = opened.store.site(`walk-${number++}`)
        for (const each of segments) await fresh.commit({ changes: [put(`/${each.join('/')}`, 'x')] })
        const walked = (await all(fresh.walk('/', { collections: true }))).map(({ path }) => path)
        expect(walked).to.deep.equal([...walked].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
        const expected = new Set<string>()
        for (const each of walked) if (!each.endsWith('/')) expected.add(each)
        expect(new Set((await all(fresh.walk('/'))).map(({ path }) => path))).to.deep.equal(expected)
        for (const each of expected) expect(await fresh.find(each)).to.not.equal(undefined)
        expect(new Set(walked).size).to.equal(walked.length)
      }),
      { seed: 7, numRuns: 12 },
    )
  })

  it('checksums are those of the stored bytes', async () => {
    const large = Buffer.alloc(400_000, 'x')
    await done(site, [put('/a.html', 'A'), putBlob('/large', large), putBlob('/empty', Buffer.alloc(0))])
    const table: [string, Buffer][] = [
      ['/a.html', Buffer.from('A')],
      ['/large', large],
      ['/empty', Buffer.alloc(0)],
    ]
    for (const [path, bytes] of table) {
      const [sha1, md5] = ['sha1', 'md5'].map(name => createHash(name).update(bytes).digest('hex'))
      expect(await site.checksums(await there(site, path)), path).to.deep.equal({ sha1, md5 })
    }
    expect(await site.checksums({ ...(await there(site, '/a.html')), version: 0 })).to.equal(undefined)
    expect(await site.checksums(await there(site, '/'))).to.equal(undefined)
  })

  it('derived data of the whole site comes in path order with its versions', async () => {
    const { version } = await done(site, [
      put('/b.html', '1', { derived: { rules: 'B', other: 'x' } }),
      put('/a/z.html', '2', { derived: { rules: 'Z' } }),
      put('/a.html', '3', { derived: { rules: '' } }),
      put('/none.html', '4'),
    ])
    expect(await all(site.allDerived('rules'))).to.deep.equal([
      { path: '/a.html', version, value: '' },
      { path: '/a/z.html', version, value: 'Z' },
      { path: '/b.html', version, value: 'B' },
    ])
  })

  it('derived data of thousands of documents comes in path order too', async () => {
    const paths = Array.from({ length: 2100 }, (_, i) => `/${i % 7}/${i}.html`)
    await done(site, [...paths.map(path => put(path, path, { derived: { rules: path } })), put('/plain.html', 'x')])
    const found = await all(site.allDerived('rules'))
    expect(found.map(({ path }) => path)).to.deep.equal([...paths].sort())
    for (const { path, value } of found) expect(value).to.equal(path)
  })

  it('derive rewrites what it names, unless the resource changed meanwhile', async () => {
    await done(site, [put('/a.html', 'A', { derived: { one: '1', two: '2' } })])
    const resource = await there(site, '/a.html')
    await site.derive(resource, { two: '22', three: '3' })
    expect(await site.find('/a.html')).to.deep.equal(resource)
    const now = () => Promise.all(['one', 'two', 'three'].map(name => site.derived('/a.html', name)))
    expect(await now()).to.deep.equal(['1', '22', '3'])
    await done(site, [put('/a.html', 'B', { derived: { one: 'new' } })])
    await site.derive(resource, { one: 'old' })
    expect(await now()).to.deep.equal(['new', undefined, undefined])
  })

  it('settings belong to the installation and survive a restart', async () => {
    expect(await opened.store.setting('key')).to.equal(undefined)
    await opened.store.setSetting('key', 'one')
    await opened.store.setSetting('key', 'two')
    expect(await opened.store.setting('key')).to.equal('two')
    expect(await (await opened.reopen()).setting('key')).to.equal('two')
  })

  it('sites never see each other', async () => {
    const other = opened.store.site('other.example')
    await done(site, { changes: [put('/a', 'mine')], events: [{ path: '/a', payload: 'p' }], raises: ['c'] })
    expect(await other.find('/a')).to.equal(undefined)
    expect(await other.list('/')).to.deep.equal([])
    expect(await other.events('/a')).to.deep.equal([])
    await done(other, [put('/a', 'theirs', { derived: { d: '1' } }), { op: 'delete', path: '/' }])
    expect(await textAt(site, '/a')).to.equal('mine')
    expect(await other.counters()).to.deep.equal({})
    expect(await opened.store.sites()).to.deep.equal(['example.org', 'other.example'])
  })

  it('everything is there after a restart', async () => {
    const set: Change = { op: 'describe', path: '/d/a', set: [{ namespace: 'n', name: 'p', value: 'v' }], remove: [] }
    const commit = { changes: [put('/d/a', 'A', { derived: { x: '1' } }), set], raises: ['c'] }
    await done(site, { ...commit, events: [{ path: '/d/a', payload: 'p', session: 's', token: 't', facts: '{}' }] })
    const read = async (from: SiteStore) => ({
      resources: await all(from.walk('/', { collections: true })),
      root: await from.find('/'),
      text: await textAt(from, '/d/a'),
      derived: await from.derived('/d/a', 'x'),
      properties: await from.properties('/d/a'),
      counters: await from.counters(),
      events: await from.allEvents(undefined, 10),
    })
    const before = await read(site)
    expect(await read((await opened.reopen()).site('example.org'))).to.deep.equal(before)
  })
}
