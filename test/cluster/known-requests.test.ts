/** Reads that come again in the same bytes to a server that is not alone (RULE-11, DAV-88). */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { lockInfo } from '../dav/locks/locking.ts'
import { basic, propfindBody } from '../dav/wire.ts'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { type Client, type Connection, client, connect, type Fields, requestBytes } from '../support/http.ts'
import { sharedCluster } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'

const PARSED = 'http.server.request.start'
const FACTS = propfindBody('getetag', 'lockdiscovery')

const stores = {
  'one data folder and Redis': async () => ({}),
  'PostgreSQL and Redis': async () => ({ postgres: `${(await sharedCluster()).url}?search_path=known_requests` }),
}

for (const [name, settingsFor] of Object.entries(stores))
  describe(`reads that come again in the same bytes to one of two servers on ${name}`, () => {
    let redis: TestRedis
    const servers: TestServer[] = []
    let there: Client
    let connection: Connection
    let own: Fields
    let parsed = 0
    const count = () => void parsed++

    before(async () => {
      redis = await startRedis()
      const settings = { ...(await settingsFor()), redis: redis.url }
      const first = await startServer({ settings })
      const second = await startServer({
        settings: 'postgres' in settings ? settings : { ...settings, data: first.data },
      })
      servers.push(first, second)
      const portOf = ({ mountUrl }: TestServer) => Number(new URL(mountUrl).port)
      own = { Authorization: basic(first.user, first.password) }
      there = client(portOf(second), { Authorization: basic(second.user, second.password) })
      connection = await connect(portOf(first))
      subscribe(PARSED, count)
    })
    after(async () => {
      unsubscribe(PARSED, count)
      connection.close()
      for (const server of servers.toReversed()) await server.close()
      await redis.stop()
    })

    async function ask(method: string, fields: Fields = {}, body?: string) {
      connection.send(requestBytes(method, '/a.txt', { ...own, ...fields }, body))
      return await connection.receive()
    }

    it('RULE-11 shows what the other has stored', async () => {
      for (let i = 0; i < 20; i++) {
        const text = `text ${i}`
        expect((await there('PUT', '/a.txt', {}, text)).status).to.be.oneOf([201, 204])
        for (let k = 0; k < 5; k++) expect((await ask('GET')).text).to.equal(text)
      }
    })

    it('answers files by their bytes where it knows by itself whether the other has stored anything', async () => {
      for (let k = 0; k < 3; k++) await ask('GET')
      parsed = 0
      for (let k = 0; k < 10; k++) expect((await ask('GET')).status).to.equal(200)
      expect(parsed).to.equal(name.startsWith('PostgreSQL') ? 10 : 0)
    })

    it('asks whoever has to be asked once, by being parsed', async () => {
      await ask('PROPFIND', { Depth: '0' }, FACTS)
      const looks = async () =>
        Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.admin.info('commandstats'))?.[1] ?? 0)
      const before = await looks()
      parsed = 0
      for (let k = 0; k < 100; k++) expect((await ask('PROPFIND', { Depth: '0' }, FACTS)).status).to.equal(207)
      expect(parsed).to.equal(100)
      // Others look now and then.
      expect((await looks()) - before).to.be.within(100, 150)
    })

    it('DAV-88 shows locks that were taken at the other', async () => {
      const look = async () => (await ask('PROPFIND', { Depth: '0' }, FACTS)).text.includes('opaquelocktoken:')
      for (let k = 0; k < 3; k++) expect(await look()).to.equal(false)
      const { headers } = await there('LOCK', '/a.txt', { Timeout: 'Second-600' }, lockInfo())
      for (let k = 0; k < 3; k++) expect(await look()).to.equal(true)
      await there('UNLOCK', '/a.txt', { 'Lock-Token': headers['lock-token'] })
      for (let k = 0; k < 3; k++) expect(await look()).to.equal(false)
    })

    it('HTTP-4 goes on when Redis is gone', async () => {
      for (let k = 0; k < 3; k++) expect((await ask('PROPFIND', { Depth: '0' }, FACTS)).status).to.equal(207)
      await redis.stop()
      for (let k = 0; k < 3; k++) expect((await ask('PROPFIND', { Depth: '0' }, FACTS)).status).to.be.oneOf([207, 503])
      for (let k = 0; k < 3; k++) expect((await ask('GET')).status).to.be.oneOf([200, 503])
    })
  })
