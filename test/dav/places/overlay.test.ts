/** The index of what the mount keeps unpublished answers for a collection without looking at all others (SEC-4). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { OverlaidSums } from '../../../dav/places/overlaid-sums.ts'
import { Overlay } from '../../../dav/places/overlay.ts'
import { KeptTogether } from '../../../pipeline/kept-together.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { takesLess } from '../../support/cost.ts'

const FOLDERS = 10_000

const draft = (path: string): Resource => ({
  path,
  kind: 'document',
  version: 1,
  digest: '',
  size: 0,
  type: 'text/html',
  created: 0,
  modified: 0,
  sameSecond: false,
  properties: '',
})

describe('the index of what is unpublished', () => {
  it('DAV-52 knows member collections with entries at any depth, as they come and go', async () => {
    const overlay = new Overlay()
    for (const path of ['/a/b/c.html', '/a/d.html', '/e/f.html']) overlay.set(draft(path))
    expect(overlay.touchedMembers('/')).to.have.members(['/a/', '/e/'])
    expect(overlay.touchedMembers('/a/')).to.deep.equal(['/a/b/'])
    overlay.delete('/a/b/c.html', 1)
    expect(overlay.touchedMembers('/a/')).to.deep.equal([])
    expect(overlay.touchedMembers('/')).to.have.members(['/a/', '/e/'])
    await overlay.deleteBelow('/a/', 1)
    expect(overlay.touchedMembers('/')).to.deep.equal(['/e/'])
  })

  it('SEC-12 DAV-70 a folder that is copied counts as the most that what is in it may, whatever there is beside', () => {
    const overlay = new Overlay()
    const long = { type: 'x'.repeat(1024), language: 'y'.repeat(1024) }
    for (let i = 0; i < 12_000; i++) overlay.set({ ...draft(`/large/${i}`), ...long })
    overlay.set(draft('/small/x.html'))
    overlay.beginCopy('/small/', '/a/')
    expect(overlay.isFull).to.equal(false)
    overlay.beginCopy('/large/', '/b/')
    expect(overlay.isFull).to.equal(true)
    overlay.endCopy('/b/')
    expect(overlay.isFull).to.equal(false)
  })

  it('SEC-12 DAV-70 counts entries by their texts, with the collections that they are in, and no more when they have gone', async () => {
    const overlay = new Overlay()
    overlay.set(draft('/a/x.html'))
    overlay.set({ ...draft('/a/y.html'), type: 'x'.repeat(1024), language: 'y'.repeat(500) })
    const collections = 2
    expect(overlay.weight).to.equal(4 + collections)
    overlay.set(draft('/a/y.html'))
    expect(overlay.weight).to.equal(2 + collections)
    overlay.set(draft(`/a${'/b'.repeat(200)}/x.html`))
    expect(overlay.weight).to.equal(3 + collections + 200)
    await overlay.deleteBelow('/a/b/', 1)
    expect(overlay.weight).to.equal(2 + collections)
    overlay.delete('/a/z.html', 1)
    overlay.delete('/a/x.html', 1)
    expect(overlay.weight).to.equal(1 + collections)
    await overlay.deleteBelow('/a/', 1)
    expect(overlay.weight).to.equal(0)
  })

  it('DAV-60 takes out those of one collection, whose name others begin with', async () => {
    const overlay = new Overlay()
    for (const path of ['/a/b/c.html', '/a/', '/a/d.html', '/a-b/c.html', '/a.html', '/ab/', '/a0/c.html'])
      overlay.set(draft(path))
    const found = () => [...overlay.entries()].map(({ path }) => path)
    expect([...overlay.below('/a/')].map(({ path }) => path)).to.have.members(['/a/b/c.html', '/a/d.html'])
    expect([...overlay.below('/')]).to.have.lengthOf(overlay.size)
    await overlay.deleteBelow('/a/', 1, new Set(['/a/d.html']))
    expect(found()).to.deep.equal(['/a/d.html', '/a-b/c.html', '/a.html', '/ab/', '/a0/c.html'])
    await overlay.deleteBelow('/a/', 1)
    expect(found()).to.deep.equal(['/a-b/c.html', '/a.html', '/ab/', '/a0/c.html'])
    expect(overlay.touches('/a/')).to.equal(false)
  })

  it('SEC-4 keeps the time of collections that have entries alone', () => {
    const overlay = new Overlay()
    for (const path of ['/a/x.html', '/a/y.html', '/a/b/z.html']) overlay.set(draft(path))
    const changed = () => ['/a/', '/a/b/'].map(folder => overlay.changed(folder))
    overlay.delete('/a/x.html', 5)
    overlay.delete('/a/b/z.html', 6)
    expect(changed()).to.deep.equal([5, 0])
    overlay.delete('/a/y.html', 7)
    expect(changed()).to.deep.equal([0, 0])
  })

  it('SEC-4 tells those of each of very many collections at once', async () => {
    const overlay = new Overlay()
    for (let i = 0; i < FOLDERS; i++) overlay.set(draft(`/${i}/in/x.html`))
    let found = 0
    await takesLess(200, () => {
      found = 0
      for (let i = 0; i < FOLDERS; i++) found += overlay.touchedMembers(`/${i}/`).length
    })
    expect(found).to.equal(FOLDERS)
  })

  it('SEC-12 DAV-52 remembers no member of a collection that has come and gone again, until somebody asks', async () => {
    const overlay = new Overlay()
    let asked: string[] = []
    const gainOf = async (member: string) => {
      asked.push(member)
      return overlay.at(member) ? 1n : 0n
    }
    const sums = new OverlaidSums(overlay, gainOf, new KeptTogether<object>(1_000_000))
    const tell = (path: string, isThere: boolean) => {
      if (isThere) overlay.set(draft(path))
      else overlay.delete(path, 1)
      sums.forget(path)
    }
    for (const path of ['/t/counted.html', '/t/stays.html']) tell(path, true)
    expect(await sums.of('/t/')).to.equal(2n)
    for (let i = 0; i < 100; i++) for (const isThere of [true, false]) tell(`/t/~$${i}.html`, isThere)
    for (const isThere of [false, true, false]) tell('/t/counted.html', isThere)
    asked = []
    expect(await sums.of('/t/')).to.equal(1n)
    expect(asked).to.deep.equal(['/t/counted.html'])
  })

  it('DAV-52 adds up what members add, however they have come and gone, and asks those that have changed', async () => {
    const overlay = new Overlay()
    const gains = new Map<string, bigint>()
    let asked: string[] = []
    const gainOf = async (member: string) => {
      asked.push(member)
      return gains.get(member) ?? 0n
    }
    const made = () => new OverlaidSums(overlay, gainOf, new KeptTogether<object>(1_000_000))
    const sums = made()
    const steps: [path: string, gain: bigint | undefined, told: string, most: number][] = [
      ['/t/a.html', 1n, '/t/a.html', 1],
      ['/t/b.html', 20n, '/t/b.html', 1],
      ['/t/in/c.html', 300n, '/t/in/c.html', 1],
      ['/t/a.html', 4000n, '/t/a.html', 1],
      ['/t/b.html', undefined, '/t/b.html', 1],
      ['/t/in/', undefined, '/t/in/', 1],
      ['/u/elsewhere.html', 50_000n, '/u/elsewhere.html', 0],
      ['/t/never.html', undefined, '/t/never.html', 0],
      ['/t/a.html', 600_000n, '/', 1],
    ]
    await sums.of('/t/')
    for (const [path, gain, told, most] of steps) {
      const member = path.replace(/^(\/t\/in\/).*/, '$1')
      if (gain === undefined) gains.delete(member)
      else gains.set(member, gain)
      if (gain !== undefined) overlay.set(draft(path))
      else if (path.endsWith('/')) overlay.deleteBelow(path, 1)
      else overlay.delete(path, 1)
      sums.forget(told)
      asked = []
      const sum = await sums.of('/t/')
      expect(asked.length, `${path}: ${asked}`).to.be.at.most(most)
      expect(sum, path).to.equal(await made().of('/t/'))
    }
  })
})
