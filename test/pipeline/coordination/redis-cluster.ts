/** A cluster of Redis servers of the tests' own: three masters on free ports, gone afterwards. */

import { freePort } from '../../support/ports.ts'
import { startRedis, type TestRedis } from './redis-server.ts'

const SLOTS = 16_384
const NODES = 3

export interface TestRedisCluster {
  servers: readonly TestRedis[]
  /** As settings name it: not all of the nodes. */
  url: string
  /** Settles when all nodes agree that all slots are served. */
  agreed(): Promise<void>
  stop(): Promise<void>
}

export async function startRedisCluster(): Promise<TestRedisCluster> {
  const started = await Promise.allSettled(Array.from({ length: NODES }, () => startNode()))
  const nodes = started.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = started.find(each => each.status === 'rejected')
  if (failed) {
    // Left alone, they would hold the output of the tests open.
    for (const { server } of nodes) await server.stop()
    throw failed.reason
  }
  const servers = nodes.map(({ server }) => server)
  const [first] = servers
  if (!first) throw new Error('no nodes')
  for (const [i, { server, bus }] of nodes.entries()) {
    const { admin, port } = server
    await admin.cluster('SET-CONFIG-EPOCH', i + 1)
    const from = Math.round((i * SLOTS) / NODES)
    const to = Math.round(((i + 1) * SLOTS) / NODES) - 1
    await admin.cluster('ADDSLOTSRANGE', from, to)
    if (server !== first) await first.admin.call('CLUSTER', 'MEET', '127.0.0.1', port, bus)
  }
  const cluster: TestRedisCluster = {
    servers,
    url: `redis+cluster://127.0.0.1:${first.port}`,
    async agreed() {
      for (const server of servers) while (!isAgreed(await info(server))) await pause()
    },
    async stop() {
      for (const server of servers) await server.stop()
    },
  }
  await cluster.agreed()
  return cluster
}

/** Attempts to start a node: a port that was free may be taken a moment later. */
const ATTEMPTS = 5

/** A node with the port of its talk to others: the usual one may be beyond the last. */
async function startNode(attempt = 1): Promise<{ server: TestRedis; bus: number }> {
  const bus = await freePort()
  const starting = startRedis({
    arguments: [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-announce-ip', '127.0.0.1'],
      // Nobody takes the place of a node, so that it need not be known soon that one has gone; a busy one may be silent.
      ...['--cluster-node-timeout', '15000', '--cluster-require-full-coverage', 'no'],
    ],
  })
  try {
    return { server: await starting, bus }
  } catch (error) {
    if (attempt === ATTEMPTS || !/address already in use/i.test(String(error))) throw error
    return startNode(attempt + 1)
  }
}

const info = async ({ admin }: TestRedis): Promise<string> => String(await admin.cluster('INFO').catch(() => ''))

function isAgreed(info: string): boolean {
  return (
    info.includes('cluster_state:ok') &&
    info.includes(`cluster_size:${NODES}`) &&
    info.includes('cluster_slots_ok:16384')
  )
}

const pause = () => new Promise(resolve => setTimeout(resolve, 20))
