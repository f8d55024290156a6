import { expect } from 'chai'
import { describe, it } from 'mocha'
import { startRedisSentinel } from '../pipeline/coordination/redis-sentinel.ts'
import { page } from '../support/content.ts'
import { addressOf, faults, isAway, until } from './faults.ts'
import { at } from './installation.ts'
import { missingAt, readsOn } from './writers.ts'

describe('two servers on PostgreSQL of which one fails among 16 writers', () => {
  const { atEnd, startDatabase, relayTo, install, begin } = faults()

  it('HTTP-4 a server killed among its commits: the other goes on, and one that takes its place knows all', async () => {
    const database = await startDatabase()
    const cluster = await install({ postgres: database.url })
    const nodes = [...cluster.nodes]
    const writers = await begin(nodes)
    for (let round = 0; round < 2; round++) {
      await at({ nodes }, round).server.stop('SIGKILL')
      nodes[round] = at({ nodes }, 1 - round)
      await writers.untilMore(50)
      nodes[round] = await cluster.start()
      await writers.untilMore(50)
    }
    await writers.judge()
  })

  for (const direction of ['requests', 'answers'] as const) {
    it(`HTTP-4 a network that loses ${direction} of one server: the other goes on`, async () => {
      const database = await startDatabase()
      const relay = await relayTo(database)
      const cluster = await install({ postgres: database.url }, 1)
      const cut = await cluster.start({ postgres: addressOf(relay.port) })
      await readsOn(cut)
      const writers = await begin(cluster.nodes)
      relay.swallow(direction)
      await isAway(writers, [cut])
      await writers.untilMore(50)
      relay.swallow(undefined)
      await until(async () => (await missingAt(cut)).length === 0)
      await writers.untilMore(50)
      await writers.judge()
    })
  }

  for (const minutes of [10, -10]) {
    it(`EVT-45 EVT-46 a server whose clock is ${minutes} minutes off: one order, one time, complete streams`, async () => {
      const database = await startDatabase()
      const cluster = await install({ postgres: database.url }, 1)
      const clock = new URL('../support/clock-offset.ts', import.meta.url).href
      const env = { NODE_OPTIONS: `--import=${clock}`, CLOCK_OFFSET: String(minutes * 60_000) }
      const wrong = await cluster.start({}, env)
      expect(wrong.server.everything()).to.include(`wrong by ${minutes * 60_000} ms`)
      const writers = await begin(cluster.nodes)
      for (let round = 0; round < 3; round++) {
        await writers.untilMore(100)
        writers.turnWatchers()
      }
      for (const [i, node] of cluster.nodes.entries()) {
        const path = `/at-${i}.html`
        expect((await node.http('PUT', path, {}, page(path))).status).to.equal(201)
        const shown = (await at(cluster, 0).http('GET', path)).headers['last-modified'] ?? ''
        expect(Math.abs(Date.parse(shown) - Date.now())).to.be.below(60_000)
      }
      await writers.judge()
    })
  }

  it('EVT-81 Redis that hangs for 5 s, and a fail-over by its sentinel', async () => {
    const database = await startDatabase()
    const sentinel = await startRedisSentinel()
    atEnd(() => sentinel.stop())
    const { nodes } = await install({ postgres: database.url, redis: sentinel.url })
    const writers = await begin(nodes)
    await sentinel.master.admin.call('CLIENT', 'PAUSE', '5000', 'ALL')
    await writers.untilRefused(1)
    for (const node of nodes) await readsOn(node)
    await writers.untilMore(100)
    await sentinel.fail()
    await writers.untilRefused(3)
    for (const node of nodes) await readsOn(node)
    await writers.untilMore(100)
    await writers.judge()
  })
})
