import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Mount } from '../../../dav/mount.ts'
import { storeBeside } from '../../../dav/places/drafts.ts'
import { helperNames } from '../../../dav/places/helper-names.ts'
import { requireSiteParent } from '../../../dav/places/site-parents.ts'
import { Unpublished } from '../../../dav/places/unpublished.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { Change, Expectation } from '../../../pipeline/store/commit.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { eventually } from '../../support/eventually.ts'

const resource = (path: string) =>
  ({ path, kind: path.endsWith('/') ? 'collection' : 'blob', type: 'text/html', version: 1 }) as Resource

describe('what is stored unpublished, where its collection cannot be looked for', () => {
  for (const [what, isStored] of [
    ['is taken back', true],
    ['stays gone where somebody has taken it away', false],
  ] as const)
    it(`DAV-60 HTTP-172 ${what}: the request fails, and would have left an empty document`, async () => {
      const changes: Change[] = []
      const mount = {
        site: { store: { find: () => Promise.reject(new Error('disk I/O error')) } },
        unpublished: {
          site: { store: { find: async (path: string) => (isStored ? resource(path) : undefined) } },
          commit: async (taken: Change[]) => changes.push(...taken),
        },
      } as unknown as Mount
      const takeBack = (expect: Expectation) => ({ op: 'delete', path: '/a/draft.html', expect }) as const
      const failed = await requireSiteParent(mount, '/a/draft.html', takeBack).catch(String)
      expect(failed).to.contain('disk I/O error')
      expect(changes).to.deep.equal(isStored ? [takeBack(1)] : [])
    })

  for (const [what, created, taken] of [
    ['a work file that was there stays', 1, 0],
    ['one that is new does not', 2, 1],
  ] as const)
    it(`HTTP-172 ${what}: an author's last save was lost by one read that failed`, async () => {
      const changes: Change[] = []
      const path = '/a/._x'
      const stored = { ...resource(path), created, modified: 2 }
      const mount = {
        site: { store: { find: () => Promise.reject(new Error('disk I/O error')) } },
        unpublished: {
          site: { store: { find: async () => stored } },
          commit: async (some: Change[]) => {
            changes.push(...some)
            return new Map([[path, stored]])
          },
        },
      } as unknown as Mount
      const failed = await storeBeside(mount, path, [], true).catch(String)
      expect(failed).to.contain('disk I/O error')
      expect(changes).to.have.length(taken)
    })
})

describe('index of what is kept unpublished', () => {
  it('DAV-60 drafts that came along with a collection and could not be read are shown as soon as they can', async () => {
    const stored: Resource[] = []
    let failures = 2
    const told: string[] = []
    const moved = resource('/new/')
    const site = {
      store: {
        find: async (path: string) => stored.find(each => each.path === path),
        findNamed: async () => undefined,
        async *walk() {
          if (stored.length > 0 && failures-- > 0) throw new Error('disk I/O error')
          yield* stored
        },
      },
      async commit() {
        stored.push(moved, resource('/new/draft.html'))
        return { ok: true, resources: new Map([[moved.path, moved]]) }
      },
      watch: () => undefined,
      watchForeign: () => undefined,
    } as unknown as Site
    const unpublished = await Unpublished.open(site, helperNames({ metadata: [], work: [], ordinary: [] }))
    unpublished.watch(paths => told.push(...paths))
    const failed = await unpublished.commit([{ op: 'move', from: '/old/', to: '/new/' }]).catch(String)
    expect(failed).to.contain('disk I/O error')
    expect(unpublished.coverAt('/new/draft.html')).to.equal(undefined)
    await eventually(() => expect(told).to.deep.equal(['/new/']))
    expect(unpublished.coverAt('/new/draft.html')?.path).to.equal('/new/draft.html')
  })
})
