/** What a refusal says of what is stored was true at one moment, and nobody finds something older afterwards (HTTP-4). */

import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { holdCommits } from '../../support/held-commits.ts'
import type { Received } from '../../support/http.ts'
import { lockInfo } from '../locks/locking.ts'
import { startWire, to, type Wire } from '../wire.ts'

describe('a refusal while others write', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
  })
  after(() => wire.server.close())

  it('HTTP-4 is told when memory knows what it is refused for', async () => {
    const { dav, server } = wire
    const { isStored, letKnow } = holdCommits(server.site.store)
    const put = dav('PUT', '/a.txt', {}, 'a')
    await isStored
    const refused: Promise<Received> = dav('PUT', '/a.txt', { 'If-None-Match': '*' }, 'b')
    expect(await Promise.race([refused, setTimeout(100, 'waits')])).to.equal('waits')
    letKnow()
    expect([(await put).status, (await refused).status]).to.deep.equal([201, 412])
  })

  for (const method of ['COPY', 'MOVE'] as const)
    it(`DAV-48 ${method} is not refused for a source that was at its destination before`, async () => {
      const { dav, server } = wire
      const at = `/${method}`
      await dav('PUT', `${at}/d/x.txt`, {}, 'x')
      // Between the look at the source and that at the destination, its collection becomes that of the destination.
      const { store } = server.site
      const { find, findNamed } = store
      store.findNamed = store.find = async path => {
        if (path === `${at}/e/x.txt`) {
          Object.assign(store, { find, findNamed })
          const changes = [{ op: 'move', from: `${at}/d/`, to: `${at}/e/` } as const]
          await server.site.commit({ changes })
        }
        return find.call(store, path)
      }
      const { status } = await dav(method, `${at}/d/x.txt`, { ...to(`${at}/e/x.txt`), Overwrite: 'F' })
      expect(status).to.equal(404)
    })

  it('DAV-86 COPY is not refused by a lock of a time at which its source was gone', async () => {
    const { dav, server } = wire
    for (const path of ['/l/a.txt', '/l/b.txt']) await dav('PUT', path, {}, path)
    const { store } = server.site
    const { find, findNamed } = store
    store.findNamed = store.find = async path => {
      if (path === '/l/a.txt') {
        Object.assign(store, { find, findNamed })
        await dav('MOVE', '/l/b.txt', to('/l/a.txt'))
        await dav('LOCK', '/l/a.txt', { Depth: '0' }, lockInfo())
      }
      return find.call(store, path)
    }
    expect((await dav('COPY', '/l/b.txt', to('/l/a.txt'))).status).to.equal(404)
  })
})
