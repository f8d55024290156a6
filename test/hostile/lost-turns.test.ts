/** A server that stood still has lost its turn: what it still wants to store must not get past what others did meanwhile. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { LIFE } from '../../pipeline/coordination/redis/leases.ts'
import { CONFIRMED } from '../../pipeline/store/commit.ts'
import { IDLE_IN_TRANSACTION } from '../../pipeline/store/postgres/writer.ts'
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

describe('the turn of a commit', () => {
  it('DAV-8 a confirmed commit may take no longer than its leases are surely held', () => {
    for (const most of [CONFIRMED, IDLE_IN_TRANSACTION]) expect(LIFE / 2).to.be.at.least(most)
  })
})

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

    /** What is written after it was decided, and what it was. */
    const writes: Readonly<Record<string, [path: string, before: string, after: string]>> = {
      'a file': ['/a.txt', 'before', 'after'],
      'a file that becomes a draft': ['/a.html', '<p>before</p>', ''],
      'a helper file': ['/._a.txt', 'before', 'after'],
    }
    /** When it stands still: the lease is asked for in the turn of the commit. */
    const moments = name.startsWith('PostgreSQL') ? ['before', 'after'] : ['before']
    for (const [what, [path, before, after]] of Object.entries(writes))
      for (const moment of moments)
        it(`DAV-8 DAV-86 ${what}, decided before a lock that others were given, is refused (${moment} it confirms)`, async () => {
          const [here, there] = mounts
          if (!here || !there) throw new Error('there are no mounts')
          expect((await here('PUT', path, {}, before)).status).to.be.oneOf([201, 204])
          const { store, leases } = still.site
          const { confirm } = leases
          let token = ''
          /** As when it stands still for longer than its lease lives. */
          const standStill = async () => {
            const keys = await redis.admin.keys('*:lease:*')
            expect(keys).to.have.length(1)
            await redis.admin.del(...keys)
            token = tokenOf(await there('LOCK', path, { Depth: '0' }, lockInfo()))
            // Until so much time has passed that it cannot be sure any more.
            while (await confirm(store.name, [path])) await new Promise(resolve => setTimeout(resolve, 20))
            // A lease that was confirmed is not lost sooner than this.
            if (moment === 'after') await new Promise(resolve => setTimeout(resolve, IDLE_IN_TRANSACTION))
          }
          Object.assign(leases, {
            confirm: async (...given: Parameters<typeof confirm>) => {
              Object.assign(leases, { confirm })
              if (moment === 'before') await standStill()
              const isHeld = await confirm(...given)
              if (moment === 'after') await standStill()
              return isHeld
            },
          })
          const answer = await here('PUT', path, {}, after)
          expect(token).to.not.equal('')
          // A transaction that was open meanwhile is given up by the database.
          expect(answer.status, answer.text).to.equal(503)
          for (const mount of mounts) expect((await mount('GET', path)).text).to.equal(before)
          expect((await here('PUT', path, {}, after)).status).to.equal(423)
          expect((await there('PUT', path, { If: `(<${token}>)` }, 'mine')).status).to.equal(204)
          expect((await there('UNLOCK', path, { 'Lock-Token': `<${token}>` })).status).to.equal(204)
          expect((await here('PUT', path, {}, 'at last')).status).to.equal(204)
        })
  })
