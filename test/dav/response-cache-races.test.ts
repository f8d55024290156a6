/** What the mount gives again is of the moment at which it was looked at, whatever comes while it is looked at. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Received } from '../support/http.ts'
import { type Authors, startMount } from './locks/locking.ts'
import { propertyUpdate, propfindBody } from './wire.ts'

describe('reads of the mount while something changes', () => {
  let mount: Authors
  before(async () => {
    mount = await startMount()
  })
  after(() => mount.server.close())

  /** Has the first look for a file come slowly from the disk, while something else is done. */
  async function whileLoading(read: () => Promise<Received>, work: () => Promise<unknown>): Promise<Received> {
    const { site } = mount.server
    const { find } = site
    const { promise: done, resolve: release } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: asked } = Promise.withResolvers<void>()
    site.find = async path => {
      site.find = find
      asked()
      await done
      return site.find(path)
    }
    const early = read()
    await arrived
    await work()
    release()
    return early
  }

  it('DAV-34 DAV-36 properties and times that a file gets while it is loaded are known from then on', async () => {
    const url = '/loaded.txt'
    await mount.ann('PUT', url, {}, 'first')
    const { site } = mount.server
    const { store } = site
    await site.follow([{ version: 0, paths: [url], raised: [] }])
    const { body } = store
    const { promise: done, resolve: release } = Promise.withResolvers<void>()
    const { promise: arrived, resolve: asked } = Promise.withResolvers<void>()
    store.body = async resource => {
      store.body = body
      asked()
      await done
      return store.body(resource)
    }
    const early = mount.ann('GET', url)
    await arrived
    await mount.ann('PROPPATCH', url, {}, propertyUpdate(['{urn:x}color', 'red'], ['lastmodified', '1773480413']))
    release()
    await early
    expect((await mount.ann('GET', url)).headers['last-modified']).to.equal(new Date(1773480413_000).toUTCString())
    const told = await mount.ann('PROPFIND', url, { Depth: '0' }, propfindBody('{urn:x}color'))
    expect(told.text).to.include('red')
  })

  it('DAV-36 DAV-41 the time of a file that gets another one meanwhile is the newer one from then on', async () => {
    const url = '/t.txt'
    await mount.ann('PUT', url, {}, 'first')
    const time = propertyUpdate(['lastmodified', '1773480413'])
    const early = await whileLoading(
      () => mount.ann('GET', url),
      () => mount.ann('PROPPATCH', url, {}, time),
    )
    const later = await mount.ann('GET', url)
    const shown = new Date(1773480413_000).toUTCString()
    expect([early, later].map(({ headers }) => headers['last-modified'])).to.deep.equal([shown, shown])
  })
})
