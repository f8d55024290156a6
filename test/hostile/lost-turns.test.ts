/** A server that stood still has lost its turn: what it still wants to store must not get past what others did meanwhile. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { lockInfo, tokenOf } from '../dav/locks/locking.ts'
import { basic } from '../dav/wire.ts'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { type Client, client } from '../support/http.ts'
import { sharedCluster } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'

const stores = {
  'PostgreSQL and Redis': async (redis: string) => {
    const postgres = `${(await sharedCluster()).url}?search_path=lost_turns`
    return { postgres, redis }
  },
  'one data folder and Redis': async (redis: string) => ({ redis }),
}

for (const [name, settingsFor] of Object.entries(stores))
  describe(`two servers on ${name} of which one stands still`, () => {
    let redis: TestRedis
    const servers: TestServer[] = []
    let still: TestServer
    let mounts: Client[]

    before(async () => {
      redis = await startRedis()
      const settings = await settingsFor(redis.url)
      const first = await startServer({ settings })
      const second = await startServer({
        settings: 'postgres' in settings ? settings : { ...settings, data: first.data },
      })
      servers.push(first, second)
      still = first
      mounts = servers.map(({ mountUrl, user, password }) =>
        client(Number(new URL(mountUrl).port), { Authorization: basic(user, password) }),
      )
    })
    after(async () => {
      for (const server of servers.toReversed()) await server.close()
      await redis.stop()
    })

    it('DAV-8 DAV-86 what was decided before a lock that others were given is 409, and changes nothing', async () => {
      const [here, there] = mounts
      if (!here || !there) throw new Error('there are no mounts')
      expect((await here('PUT', '/a.txt', {}, 'before')).status).to.equal(201)
      const { store, leases } = still.site
      const { commit } = store
      let token = ''
      Object.assign(store, {
        commit: async (...given: Parameters<typeof commit>) => {
          Object.assign(store, { commit })
          // As when it stands still for longer than its lease lives: everything is decided, nothing is sent.
          const keys = await redis.admin.keys('*:lease:*')
          expect(keys).to.have.length(1)
          await redis.admin.del(...keys)
          token = tokenOf(await there('LOCK', '/a.txt', { Depth: '0' }, lockInfo()))
          // Until so much time has passed that it cannot be sure any more.
          while (await leases.confirm(store.name, ['/a.txt'])) await new Promise(resolve => setTimeout(resolve, 20))
          return commit(...given)
        },
      })
      const answer = await here('PUT', '/a.txt', {}, 'after')
      expect(token).to.not.equal('')
      expect(answer.status, answer.text).to.equal(409)
      for (const mount of mounts) expect((await mount('GET', '/a.txt')).text).to.equal('before')
      expect((await here('PUT', '/a.txt', {}, 'after')).status).to.equal(423)
      expect((await there('PUT', '/a.txt', { If: `(<${token}>)` }, 'mine')).status).to.equal(204)
      expect((await there('UNLOCK', '/a.txt', { 'Lock-Token': `<${token}>` })).status).to.equal(204)
      expect((await here('PUT', '/a.txt', {}, 'at last')).status).to.equal(204)
    })
  })
