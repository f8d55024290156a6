/** Installations whose parts fail while people write. */

import { afterEach, type HookFunction } from 'mocha'
import { type Cluster as Database, newCluster } from '../support/postgres.ts'
import { type Relay, startRelay } from '../support/tcp-relay.ts'
import { type Cluster, type Node, startCluster } from './installation.ts'
import { ENOUGH, FILES, missingAt, readAgain, readsOn, startWriters, type Writers } from './writers.ts'

/** Milliseconds after which such a test counts as one that hangs: servers start, stop and are refused their database in it. */
export const HANGS = 300_000

export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 20))
}

export const addressOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`

/** @param ending hook at which everything that it makes ends: with the test, or with the suite that shares it */
export function faults(ending: HookFunction = afterEach) {
  const ends: (() => unknown)[] = []
  ending(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  async function startDatabase(...of: Parameters<typeof newCluster>): Promise<Database> {
    const database = await newCluster(...of)
    ends.push(() => database.remove())
    await database.start()
    return database
  }

  return {
    atEnd: (end: () => unknown) => void ends.push(end),

    startDatabase,

    /** A primary whose commits wait for its replica. @returns both, and an address that leads to whichever takes writes */
    async startPair(): Promise<{ primary: Database; replica: Database; url: string }> {
      const primary = await startDatabase()
      const replica = await startDatabase({ synchronous_standby_names: '' }, primary)
      await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await primary.run('SELECT pg_reload_conf()')
      const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${replica.port}/postgres`
      return { primary, replica, url }
    },

    async relayTo({ port }: Database): Promise<Relay> {
      const relay = await startRelay(port)
      ends.push(() => relay.close())
      return relay
    },

    /** Servers that have what the site begins with in memory. */
    async install(settings: Record<string, unknown>, count = 2): Promise<Cluster> {
      const cluster = await startCluster({ count, files: FILES, settings })
      ends.push(() => cluster.close())
      for (const node of cluster.nodes) await readsOn(node)
      return cluster
    },

    /** @param database of these nodes, if it answers the whole time */
    async begin(nodes: readonly Node[], database?: Database): Promise<Writers> {
      const writers = await startWriters(nodes, database)
      ends.push(() => writers.end())
      await writers.untilMore(ENOUGH)
      await readAgain(nodes)
      return writers
    },
  }
}

/** While the database is away: writers are refused one after the other, readers are served, nobody hangs. */
export async function isAway(writers: Writers, nodes: readonly Node[]): Promise<void> {
  await writers.untilRefused(2, nodes)
  for (const node of nodes) {
    await readsOn(node)
    await until(async () => (await missingAt(node)).includes('postgres'))
    await readsOn(node)
  }
  await writers.untilRefused(2, nodes)
}
