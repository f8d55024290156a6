import { expect } from 'chai'
import { describe, it } from 'mocha'
import { documentCache } from '../../../pipeline/site/cache.ts'
import { Resources } from '../../../pipeline/site/resources.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { ZERO } from '../../../pipeline/store/tags.ts'

const fileAt = (path: string): Resource => ({
  path,
  kind: 'blob',
  version: 1,
  digest: 'x',
  size: 1,
  type: 'text/plain',
  created: 0,
  modified: 0,
  sameSecond: false,
  properties: ZERO,
  members: ZERO,
})

/** A store in which nothing is at first, and the paths that it was asked for. */
function emptyStore() {
  const asked: string[] = []
  const stored = new Map<string, Resource>()
  let answer = Promise.resolve()
  const store = {
    name: 'a.example',
    find: async (path: string) => {
      asked.push(path)
      const found = stored.get(path)
      await answer
      return found
    },
    body: async () => ({ blob: {} }),
  } as unknown as SiteStore
  const cache = documentCache()
  const { settings } = {} as { settings: ConstructorParameters<typeof Resources>[0]['settings'] }
  const resources = new Resources({ store, cache, settings, report: () => undefined }, () => [])
  return { resources, asked, stored, wait: (until: Promise<void>) => void (answer = until) }
}

/** What changes that nothing is at `/x`, and what does not. */
const COMMITS: Readonly<Record<string, { commit(resources: Resources): void; asksAgain: boolean }>> = {
  'this process puts a file there': {
    commit: of => of.take({ changes: [] }, new Map([['/x', fileAt('/x')]]), new Map()),
    asksAgain: true,
  },
  'this process copies a folder above': {
    commit: of => of.take({ changes: [{ op: 'copy', from: '/a/', to: '/', deep: true }] }, new Map(), new Map()),
    asksAgain: true,
  },
  'another process commits there': { commit: of => of.forget('/x'), asksAgain: true },
  'another process commits above': { commit: of => of.forget('/'), asksAgain: true },
  'a commit elsewhere': { commit: of => of.forget('/y'), asksAgain: false },
}

describe('paths where nothing is', () => {
  it('the store is asked once', async () => {
    const { resources, asked } = emptyStore()
    for (let i = 0; i < 3; i++) expect(await resources.find('/x')).to.equal(undefined)
    expect(asked).to.deep.equal(['/x'])
  })

  for (const [title, { commit, asksAgain }] of Object.entries(COMMITS)) {
    it(`${title}: the store is ${asksAgain ? 'asked again' : 'not asked'}`, async () => {
      const { resources, asked, stored } = emptyStore()
      await resources.find('/x')
      stored.set('/x', fileAt('/x'))
      resources.change()
      commit(resources)
      expect((await resources.find('/x')) !== undefined).to.equal(asksAgain)
      expect(asked.length > 1).to.equal(asksAgain)
    })
  }

  it('what was read before a commit and answered after it is not remembered', async () => {
    const { resources, stored, wait } = emptyStore()
    const { promise, resolve } = Promise.withResolvers<void>()
    wait(promise)
    const before = resources.find('/x')
    stored.set('/x', fileAt('/x'))
    resources.change()
    resources.forget('/x')
    resolve()
    expect(await before).to.equal(undefined)
    expect((await resources.find('/x'))?.resource.path).to.equal('/x')
  })

  it('commits elsewhere while the store is asked do not matter: with many writers there is always one', async () => {
    const { resources, asked, wait } = emptyStore()
    const { promise, resolve } = Promise.withResolvers<void>()
    wait(promise)
    const before = [resources.find('/x'), resources.find('/x')]
    resources.take({ changes: [] }, new Map([['/y', fileAt('/y')]]), new Map())
    resources.forget('/z')
    resolve()
    expect(await Promise.all(before)).to.deep.equal([undefined, undefined])
    expect(await resources.find('/x')).to.equal(undefined)
    expect(asked).to.deep.equal(['/x', '/x'])
  })

  it('a file that is replaced while it is read is read again', async () => {
    const { resources, stored, asked, wait } = emptyStore()
    const { promise, resolve } = Promise.withResolvers<void>()
    stored.set('/x', fileAt('/x'))
    wait(promise)
    const before = resources.find('/x')
    stored.set('/x', { ...fileAt('/x'), version: 2 })
    resources.take({ changes: [] }, new Map([['/x', { ...fileAt('/x'), version: 2 }]]), new Map())
    resolve()
    expect((await before)?.resource.version).to.equal(2)
    expect(asked.length).to.be.greaterThan(1)
  })

  it('memory holds a limited number of them', async () => {
    const { resources, asked } = emptyStore()
    for (let i = 0; i < 1000; i++) await resources.find(`/${i}`)
    await resources.find('/999')
    expect(asked).to.have.length(1000)
    await resources.find('/0')
    expect(asked).to.have.length(1001)
  })
})

describe('many files that go in one commit', () => {
  it('SEC-12 its changes are not looked through for each of them', () => {
    const { resources } = emptyStore()
    const paths = Array.from({ length: 300 }, (_, i) => `/${i}`)
    let reads = 0
    const changes = new Proxy(
      paths.map(path => ({ op: 'delete', path }) as const),
      {
        get(list, name) {
          reads++
          return Reflect.get(list, name, list)
        },
      },
    )
    resources.take({ changes }, new Map(paths.map(path => [path, undefined])), new Map())
    expect(reads).to.be.below(10 * paths.length)
  })
})
