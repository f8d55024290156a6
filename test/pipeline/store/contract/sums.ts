import { expect } from 'chai'
import fc from 'fast-check'
import type { Change } from '../../../../pipeline/store/commit.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { listTag, memberSum, propertySum, statTag } from '../../../../pipeline/store/tags.ts'
import { all, done, type Open, type Opened, put, there } from '../fixture.ts'

/** What a site holds according to a naive reading of the contract: texts of files, `undefined` for collections. */
type Model = Map<string, string | undefined>

const parent = (path: string) => path.slice(0, path.replace(/\/$/, '').lastIndexOf('/') + 1)
const bare = (path: string) => path.replace(/\/$/, '')
const below = (model: Model, path: string) =>
  [...model.keys()].filter(key => key === path || (path.endsWith('/') && key.startsWith(path)))

/** Whatever stands under this name: file or collection. */
function standing(model: Model, path: string): string | undefined {
  return [bare(path), `${bare(path)}/`].find(key => model.has(key))
}

/** Applies a change to the model; false when it must be refused. */
function applyTo(model: Model, change: Change): boolean {
  switch (change.op) {
    case 'put': {
      if (model.has(`${change.path}/`)) return false
      const missing: string[] = []
      for (let above = parent(change.path); above !== '/'; above = parent(above)) {
        if (model.has(bare(above))) return false
        if (!model.has(above)) missing.push(above)
      }
      for (const path of missing) model.set(path, undefined)
      model.set(change.path, 'bytes' in change.content ? Buffer.from(change.content.bytes).toString() : '')
      return true
    }
    case 'delete':
      if (!model.has(change.path)) return false
      for (const path of below(model, change.path)) model.delete(path)
      return true
    case 'collection':
      if (standing(model, change.path) !== undefined) return false
      if (parent(change.path) !== '/' && !model.has(parent(change.path))) return false
      model.set(change.path, undefined)
      return true
    case 'derive':
    case 'derive-below':
    case 'describe':
      return model.has(change.path)
    default: {
      const { from, to } = change
      if (!model.has(from) || (parent(to) !== '/' && !model.has(parent(to)))) return false
      const replaced = standing(model, to)
      if (replaced?.endsWith('/') && from.startsWith(replaced)) return false
      if (replaced !== undefined) for (const path of below(model, replaced)) model.delete(path)
      const members = change.op === 'copy' && !change.deep ? [from] : below(model, from)
      const texts = members.map(path => [to + path.slice(from.length), model.get(path)] as const)
      if (change.op === 'move') for (const path of members) model.delete(path)
      for (const [path, text] of texts) model.set(path, text)
      return true
    }
  }
}

const name = fc.constantFrom('a', 'b', 'é')
const file = fc.array(name, { minLength: 1, maxLength: 3 }).map(names => `/${names.join('/')}`)
const collection = file.map(path => `${path}/`)
const property = fc.record({ namespace: fc.constantFrom('', 'n'), name: fc.constantFrom('p', 'q'), value: fc.string() })
const transfer = (op: 'move' | 'copy') =>
  fc
    .tuple(fc.boolean(), file, file, fc.boolean())
    .filter(([deep, from, to]) => from !== to && !(deep && `${to}/`.startsWith(`${from}/`)))
    .map(([tree, from, to, deep]) => ({ op, from: tree ? `${from}/` : from, to: tree ? `${to}/` : to, deep }) as Change)
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(file, fc.string()).map(([path, text]) => put(path, text)) },
  { weight: 2, arbitrary: fc.oneof(file, collection).map(path => ({ op: 'delete', path }) as Change) },
  { weight: 2, arbitrary: collection.map(path => ({ op: 'collection', path }) as Change) },
  { weight: 3, arbitrary: transfer('move') },
  { weight: 3, arbitrary: transfer('copy') },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.oneof(file, collection), fc.array(property, { maxLength: 3 }), fc.array(property, { maxLength: 1 }))
      .map(([path, set, remove]) => ({ op: 'describe', path, set, remove }) as Change),
  },
)

/** Folder tags of DAV-52 and the meaning of changes, checked over random histories, whatever the store. */
export function describeSums(open: Open): void {
  let opened: Opened
  beforeEach(async () => {
    opened = await open({ unlisted: each => each === 'hidden' })
  })
  afterEach(() => opened.close())

  /** Compares every sum of a site with what its members and properties say. */
  async function verify(site: SiteStore): Promise<void> {
    const resources = [await there(site, '/'), ...(await all(site.walk('/', { collections: true })))]
    for (const resource of resources) {
      expect(resource.properties, resource.path).to.equal(propertySum(await site.properties(resource.path)))
      if (resource.kind !== 'collection') continue
      const listed = (await site.list(resource.path)).filter(({ path }) => !/\/hidden\/?$/.test(path))
      expect(resource.members, resource.path).to.equal(memberSum(listed))
    }
  }

  it('DAV-52 worked example', async () => {
    const site = opened.store.site('example.org')
    await done(site, [
      { op: 'collection', path: '/docs/' },
      { op: 'collection', path: '/docs/img/' },
    ])
    await done(site, [put('/docs/a.html', '<p>A</p>\n')])
    opened.clock.now += 1000
    await done(site, [put('/docs/b.css', 'h1{color:red}\n', { kind: 'blob', type: 'text/css' })])
    const docs = await there(site, '/docs/')
    expect(docs.members).to.equal('d4e047bf8e118a5ed4fc005f85295076d985fa0d99eeb0e4fa77ed988f267778')
    expect(statTag(docs)).to.equal('d0-499778bf7e57bfc1c6bad9b532c2e964988a5f7afe32e1f2825dae94ed71b15d')
    expect(listTag(docs)).to.equal('d1-db09e76c59f1915e21d1fc960ca60f46899ec9b5455477efeb9a7eae60fb5363')
  })

  it('DAV-50 a change anywhere below changes the tag of the root, and nothing else does', async () => {
    const site = opened.store.site('example.org')
    await done(site, [put('/a/b/c/x', '1'), put('/z/y', '1')])
    const tags = async () => ({ root: statTag(await there(site, '/')), z: statTag(await there(site, '/z/')) })
    const before = await tags()
    opened.clock.now += 1000
    await done(site, [put('/a/b/c/x', '2')])
    const after = await tags()
    expect(after.root).to.not.equal(before.root)
    expect(after.z).to.equal(before.z)
    await done(site, [{ op: 'describe', path: '/a/b/', set: [{ namespace: '', name: 'p', value: '' }], remove: [] }])
    expect((await tags()).root).to.not.equal(after.root)
  })

  it('DAV-75 names that are not listed have no line', async () => {
    const site = opened.store.site('example.org')
    await done(site, [put('/d/x', '1')])
    const before = await there(site, '/d/')
    await done(site, [put('/d/hidden', '1'), put('/d/e/hidden/x', '1'), { op: 'delete', path: '/d/e/' }])
    await done(site, [put('/d/hidden', '2')])
    expect(await there(site, '/d/')).to.include({ members: before.members })
    await done(site, [
      { op: 'copy', from: '/d/', to: '/copy/', deep: true },
      { op: 'move', from: '/d/hidden', to: '/d/y' },
    ])
    await verify(site)
    expect((await there(site, '/d/')).members).to.not.equal(before.members)
  })

  it('DAV-52 after any history the sums are those of the members, and the tree is the expected one', async () => {
    let number = 0
    const runs = Number(process.env.FUZZ ?? 25)
    const seed = process.env.FUZZ === undefined ? 4918 : Date.now()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { maxLength: 30, size: 'max' }),
        async commits => {
          const site = opened.store.site(`s${number++}`)
          let model: Model = new Map()
          // Something to move and copy from the start.
          const planted = ['/a/a/é', '/a/b', '/a/é/a', '/b/a', '/b/b/b', '/b/b/é', '/é/é'].map(path => put(path, path))
          await done(site, planted)
          for (const each of planted) applyTo(model, each)
          // Groups of three share a transaction; each one fails or succeeds alone.
          for (let from = 0; from < commits.length; from += 3) {
            const group = commits.slice(from, from + 3)
            opened.clock.now += 700
            const results = await Promise.all(group.map(changes => site.commit({ changes })))
            for (const [i, changes] of group.entries()) {
              const next: Model = new Map(model)
              const ok = changes.every(each => applyTo(next, each))
              expect(results[i]?.ok, JSON.stringify(changes)).to.equal(ok)
              if (ok) model = next
            }
          }
          const walked = await all(site.walk('/', { collections: true }))
          expect(new Set(walked.map(({ path }) => path))).to.deep.equal(new Set(model.keys()))
          for (const resource of walked) {
            const body = await site.body(resource)
            const text = body !== undefined && 'bytes' in body ? Buffer.from(body.bytes).toString() : undefined
            expect(text, resource.path).to.equal(model.get(resource.path))
          }
          await verify(site)
        },
      ),
      { seed, numRuns: runs, endOnFailure: process.env.FUZZ !== undefined },
    )
  })
}
