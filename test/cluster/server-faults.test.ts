import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startRedisSentinel } from '../pipeline/coordination/redis-sentinel.ts'
import { page } from '../support/content.ts'
import type { Relay } from '../support/tcp-relay.ts'
import { addressOf, faults, HANGS, isAway, until } from './faults.ts'
import { at, type Cluster, type Node } from './installation.ts'
import { ENOUGH, missingAt, readsOn } from './writers.ts'

describe('two servers on PostgreSQL of which one fails among 16 writers', function () {
  this.timeout(HANGS)
  const shared = faults(after)
  const { atEnd, startDatabase, install, begin } = faults()
  let cluster: Cluster
  let relay: Relay
  /** One server reaches the database as the other does, and one through a relay. */
  let whole: Node
  let cut: Node
  before(async () => {
    const database = await shared.startDatabase()
    relay = await shared.relayTo(database)
    cluster = await shared.install({ postgres: database.url }, 1)
    whole = at(cluster, 0)
    cut = await cluster.start({ postgres: addressOf(relay.port) })
    await readsOn(cut)
  })

  for (const direction of ['requests', 'answers'] as const) {
    it(`HTTP-4 a network that loses ${direction} of one server: the other goes on`, async () => {
      const writers = await begin([whole, cut])
      relay.swallow(direction)
      await isAway(writers, [cut])
      await writers.untilMore(ENOUGH)
      relay.swallow(undefined)
      await until(async () => (await missingAt(cut)).length === 0)
      await writers.untilMore(ENOUGH)
      await writers.judge()
    })
  }

  for (const minutes of [10, -10]) {
    it(`EVT-45 EVT-46 a server whose clock is ${minutes} minutes off: one order, one time, complete streams`, async () => {
      const clock = new URL('../support/clock-offset.ts', import.meta.url).href
      const env = { NODE_OPTIONS: `--import=${clock}`, CLOCK_OFFSET: String(minutes * 60_000) }
      const wrong = await cluster.start({}, env)
      expect(wrong.server.everything()).to.include(`wrong by ${minutes * 60_000} ms`)
      atEnd(() => wrong.server.stop())
      const nodes = [whole, wrong]
      const writers = await begin(nodes)
      for (let round = 0; round < 2; round++) {
        await writers.untilMore(ENOUGH)
        writers.turnWatchers()
      }
      for (const [i, node] of nodes.entries()) {
        const path = `/at-${i}-of-${minutes}.html`
        expect((await node.http('PUT', path, {}, page(path))).status).to.equal(201)
        const shown = (await whole.http('GET', path)).headers['last-modified'] ?? ''
        expect(Math.abs(Date.parse(shown) - Date.now())).to.be.below(60_000)
      }
      await writers.judge()
    })
  }

  it('HTTP-4 a server killed among its commits: the other goes on, and one that takes its place knows all', async () => {
    const nodes = [whole, cut]
    const writers = await begin(nodes)
    for (let round = 0; round < 2; round++) {
      await at({ nodes }, round).server.stop('SIGKILL')
      nodes[round] = at({ nodes }, 1 - round)
      await writers.untilMore(ENOUGH)
      nodes[round] = await cluster.start()
      await writers.untilMore(ENOUGH)
    }
    await writers.judge()
  })

  it('EVT-81 Redis that hangs for 5 s, and a fail-over by its sentinel', async () => {
    const database = await startDatabase()
    const sentinel = await startRedisSentinel()
    atEnd(() => sentinel.stop())
    const { nodes } = await install({ postgres: database.url, redis: sentinel.url })
    const writers = await begin(nodes)
    await sentinel.master.admin.call('CLIENT', 'PAUSE', '5000', 'ALL')
    // Redis comes back by itself, maybe before everybody was refused.
    const isRefused = (before: number) => until(async () => writers.refused.length > before)
    await isRefused(0)
    for (const node of nodes) await readsOn(node)
    await writers.untilMore(ENOUGH)
    const before = writers.refused.length
    await sentinel.fail()
    await isRefused(before)
    for (const node of nodes) await readsOn(node)
    await writers.untilMore(ENOUGH)
    await writers.judge()
  })
})
