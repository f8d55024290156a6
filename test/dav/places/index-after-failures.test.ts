import { expect } from 'chai'
import { describe, it } from 'mocha'
import { helperNames } from '../../../dav/places/helper-names.ts'
import { Unpublished } from '../../../dav/places/unpublished.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { eventually } from '../../support/eventually.ts'

const resource = (path: string) =>
  ({ path, kind: path.endsWith('/') ? 'collection' : 'blob', type: 'text/html', version: 1 }) as Resource

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
