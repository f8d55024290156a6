/** Members of collections in memory: what is told is what the store has, and what has not changed is not made again. */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { compareMembers, type Leaf, Listings, listedMembers, MEMBER } from '../../../dav/listings/listings.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { memberSum, ZERO } from '../../../pipeline/store/tags.ts'

function file(path: string, size = 0): Resource {
  const times = { created: 1773480413000, modified: 1773480413000, sameSecond: false }
  return { path, kind: 'blob', version: 1, digest: 'd', size, type: 'text/plain', ...times, properties: ZERO }
}

function collection(path: string, members: readonly Resource[]): Resource {
  return { ...file(path), kind: 'collection', digest: '', type: '', members: memberSum(members) }
}

/** One collection, `/c/`, in a store that counts what it is asked. */
function oneCollection() {
  const members = new Map<string, Resource>()
  const asked = { find: [] as string[], list: 0 }
  const listings = new Listings({
    async find(path) {
      asked.find.push(path)
      return path === '/c/' ? collection('/c/', [...members.values()]) : members.get(path)
    },
    async list() {
      asked.list++
      return [...members.values()].sort((a, b) => compareMembers(a.path, b.path))
    },
  })
  return {
    asked,
    listings,
    members,
    /** Changes a member and, unless it is done behind its back, tells the listings. */
    set(path: string, resource: Resource | undefined, told = true) {
      if (resource) members.set(path, resource)
      else members.delete(path)
      if (told) listings.forget([path])
    },
    stored: () => [...members.values()].sort((a, b) => compareMembers(a.path, b.path)),
  }
}

const resources = (leaves: readonly Leaf[]) => leaves.flat().map(({ resource }) => resource)
const leavesOf = async (listings: Listings) => (await listings.of('/c/')).leaves
const many = (count: number) => Array.from({ length: count }, (_, i) => `/c/${String(i).padStart(4, '0')}`)

describe('members of collections in memory', () => {
  it('DAV-30 come in the order of the bytes of their names', () => {
    const character = fc.constantFrom(
      'a',
      'b',
      '-',
      '.',
      '0',
      'é',
      '\ud7ff',
      '\ue000',
      '\uffff',
      '\u{10000}',
      '\u{1f600}',
    )
    const name = fc.string({ unit: character, minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(name, name, fc.boolean(), (a, b, slash) => {
        const end = slash ? '/' : ''
        const told = Math.sign(compareMembers(`/c/${a}${end}`, `/c/${b}`))
        expect(told).to.equal(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))))
      }),
    )
  })

  it('DAV-37 a change of one member looks up this member and leaves the other leaves as they are', async () => {
    const { asked, listings, set, stored } = oneCollection()
    for (const path of many(1000)) set(path, file(path))
    const before = await leavesOf(listings)
    expect(resources(before)).to.deep.equal(stored())
    for (const [path, size] of [
      ['/c/0500', 7],
      ['/c/0000', 8],
      ['/c/0999', 9],
    ] as const) {
      const earlier = await leavesOf(listings)
      asked.find = []
      set(path, file(path, size))
      const now = await leavesOf(listings)
      expect(asked).to.deep.equal({ find: [path, '/c/'], list: 1 })
      expect(resources(now)).to.deep.equal(stored())
      expect(now.filter(leaf => !earlier.includes(leaf)).length, path).to.equal(1)
    }
    expect(await leavesOf(listings)).to.equal(await leavesOf(listings))
  })

  it('DAV-30 whatever comes and goes, in whatever order', async () => {
    const step = fc.record({
      name: fc.integer({ min: 0, max: 150 }),
      size: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
      told: fc.boolean(),
      look: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 150 }), fc.array(step, { maxLength: 60 }), async (count, steps) => {
        const { listings, set, stored } = oneCollection()
        for (const path of many(count)) set(path, file(path))
        for (const { name, size, told, look } of steps) {
          const path = `/c/${String(name).padStart(4, '0')}`
          set(path, size === undefined ? undefined : file(path, size), told)
          if (!look) continue
          const leaves = await leavesOf(listings)
          expect(resources(leaves)).to.deep.equal(stored())
          expect((await listings.of('/c/')).sum).to.equal(memberSum(stored()))
          for (const leaf of leaves) expect(leaf.length).to.be.within(1, 64)
        }
        expect(resources(await leavesOf(listings))).to.deep.equal(stored())
      }),
      { numRuns: 60 },
    )
  })

  it('DAV-50 a member that changes while it is looked up is looked up again', async () => {
    const { listings, members, set, stored } = oneCollection()
    for (const path of many(100)) set(path, file(path))
    await leavesOf(listings)
    set('/c/0001', file('/c/0001', 1))
    const looking = leavesOf(listings)
    members.delete('/c/0002')
    listings.forget(['/c/0002'])
    set('/c/0001', file('/c/0001', 2))
    await looking
    expect(resources(await leavesOf(listings))).to.deep.equal(stored())
  })

  it('DAV-50 two who ask at once are told the same', async () => {
    const { listings, set, stored } = oneCollection()
    for (const path of many(100)) set(path, file(path))
    const first = await Promise.all([leavesOf(listings), leavesOf(listings)])
    for (const leaves of first) expect(resources(leaves)).to.deep.equal(stored())
    set('/c/0050', undefined)
    const second = await Promise.all([leavesOf(listings), leavesOf(listings)])
    for (const leaves of second) expect(resources(leaves)).to.deep.equal(stored())
  })

  it('more changes than a listing is worth, and changes of all of it, are read anew', async () => {
    const { asked, listings, set, stored } = oneCollection()
    for (const path of many(100)) set(path, file(path))
    await leavesOf(listings)
    for (const path of many(100)) set(path, file(path, 1))
    expect(resources(await leavesOf(listings))).to.deep.equal(stored())
    expect(asked.list).to.equal(2)
    listings.forget(['/'])
    await leavesOf(listings)
    expect(asked.list).to.equal(3)
  })

  it('what is kept is bounded: the one that was asked for longest ago goes first', async () => {
    const listed: string[] = []
    const members = many(10_000).map(path => file(path))
    const sum = memberSum([])
    const all = listedMembers(25_000 * MEMBER)
    const site = () =>
      new Listings(
        {
          find: async path => ({ ...collection(path, []), members: sum }),
          async list(path) {
            listed.push(path)
            return path === '/huge/' ? [...members, ...members, ...members] : members
          },
        },
        all,
      )
    const [one, other] = [site(), site()]
    for (const path of ['/a/', '/b/', '/a/', '/c/', '/a/', '/c/', '/b/']) await one.of(path)
    expect(listed.splice(0)).to.deep.equal(['/a/', '/b/', '/c/', '/b/'])
    await one.of('/huge/')
    await one.of('/huge/')
    expect(listed.splice(0)).to.deep.equal(['/huge/', '/huge/'])
    await other.of('/c/')
    await one.of('/b/')
    expect(listed.splice(0), 'of another site').to.deep.equal(['/c/'])
    await one.of('/c/')
    expect(listed.splice(0), 'for another site').to.deep.equal(['/c/'])
    expect(all.bytes).to.be.within(2 * 10_000 * MEMBER, 25_000 * MEMBER)
    all.shrink(0)
    expect(all.bytes).to.equal(0)
    await one.of('/b/')
    expect(listed.splice(0)).to.deep.equal(['/b/'])
  })

  it('SEC-12 count what each member is called, its type and its languages, also when one has changed', async () => {
    const all = listedMembers()
    const members = [
      { ...file('/c/a'), type: 'x'.repeat(1000) },
      { ...file('/c/b'), language: 'x'.repeat(1000) },
    ]
    const listings = new Listings(
      {
        find: async path => (path === '/c/' ? collection('/c/', members) : members.find(each => each.path === path)),
        list: async () => members,
      },
      all,
    )
    await listings.of('/c/')
    const before = all.bytes
    expect(before).to.be.within(2000 + 2 * MEMBER, 2100 + 6 * MEMBER)
    members[0] = { ...file('/c/a'), version: 2, type: 'x' }
    listings.forget(['/c/a'])
    await listings.of('/c/')
    expect(before - all.bytes).to.equal(999)
  })
})
