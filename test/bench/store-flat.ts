/**
 * Whether a store gets slower when a site grows, in figures that neighbours on the machine do not change:
 * `node test/bench/store-flat.ts sqlite 1000 1000000`, or `postgres`. Of both sites a thousand documents are in use.
 *
 * Pages: how many of the database each piece of work looks at, on average of some hundred. PostgreSQL counts them for every
 * statement (`pg_stat_statements`); SQLite is opened without memory for pages, so that each look is a read of the system.
 * Processor time: of this process and of the server processes of the database, small and large site by turns, many turns in a
 * minute. A million takes 7 GB for a while.
 */

import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../pipeline/store/postgres/store.ts'
import { openSqliteStore } from '../../pipeline/store/sqlite/store.ts'
import type { SiteStore, Store } from '../../pipeline/store/store.ts'
import { type Cluster, newCluster } from '../support/postgres.ts'
import { backendCpu } from './support/database.ts'
import { byCommits, byStatements, IN_USE, inUse, pathOf, warm, writeOver } from './support/growth.ts'

/** A site that is being measured. */
interface Subject {
  site: SiteStore
  any: (i: number) => number
  folderOf: (i: number) => number
}

/** Each piece of work, how often it is done in a turn, and what is done. */
const WORK: readonly [name: string, times: number, work: (of: Subject, i: number) => Promise<unknown>][] = [
  ['look-up of a resource', 1000, ({ site, any }, i) => site.find(pathOf(any(i)))],
  [
    'its body as well',
    1000,
    async ({ site, any }, i) => {
      const found = await site.find(pathOf(any(i)))
      return found && site.body(found)
    },
  ],
  ['listing of 1,000', 30, ({ site, folderOf }, i) => site.list(`/${folderOf(i)}/`)],
  ['query of the whole site, one of all', 1000, ({ site, any }, i) => site.lookup([`number ${any(i)}`])],
  [
    'the same of two keys, one of them everywhere',
    500,
    ({ site, any }, i) => site.lookup(['type', `number ${any(i)}`]),
  ],
  ['twenty that have a key', 500, ({ site }) => site.lookup(['type'], 20)],
  ['commit of a document with its event', 100, ({ site, any }, i) => writeOver(site, any(i), i)],
  [
    'the same, of 16 writers',
    480,
    async ({ site, any }, i) => {
      // One of sixteen begins for all.
      if (i % 16 === 0) await Promise.all(Array.from({ length: 16 }, (_, k) => writeOver(site, any(i + k), i)))
    },
  ],
]

/** Turns of each size and work. */
const ROUNDS = 8
/** Repetitions of work whose pages are counted. */
const COUNTED = 160

async function repeat(of: Subject, times: number, work: (of: Subject, i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i++) await work(of, i)
}

const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0

/** Microseconds that a piece of work takes, in turns with the same on another site. */
async function compare(subjects: readonly Subject[], cpu: () => number): Promise<Map<string, number[]>> {
  const found = new Map<string, number[]>()
  for (const [name, times, work] of WORK) {
    const spent = subjects.map(() => [] as number[])
    for (let round = 0; round < ROUNDS; round++)
      for (const turn of subjects.keys()) {
        // Whoever is first in a round is second in the next.
        const which = (turn + round) % subjects.length
        const subject = subjects[which]
        if (subject === undefined) continue
        const before = cpu()
        await repeat(subject, times, work)
        spent[which]?.push(((cpu() - before) * 1000) / times)
      }
    found.set(name, spent.map(middle))
  }
  return found
}

/** @param looks pages looked at so far */
async function pagesOf(subject: Subject, looks: () => Promise<number>): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const [name, , work] of WORK) {
    await repeat(subject, 16, work)
    const before = await looks()
    await repeat(subject, COUNTED, work)
    found.set(name, ((await looks()) - before) / COUNTED)
  }
  return found
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function subjectIn(store: Store, size: number): Subject {
  return { site: store.site('bench'), ...inUse(size) }
}

function show(sizes: readonly number[], pages: readonly Map<string, number>[], cpu: Map<string, number[]>): void {
  console.log(
    `| 1,000 documents in use of | pages: ${sizes.join(' | ')} | processor time, µs: ${sizes.join(' | ')} | |`,
  )
  console.log(`|---${'|---'.repeat(2 * sizes.length + 1)}|`)
  for (const [name] of WORK) {
    const times = cpu.get(name) ?? []
    const ratio = ((times.at(-1) ?? 0) / (times[0] ?? 1)).toFixed(2)
    const cells = [...pages.map(each => (each.get(name) ?? 0).toFixed(1)), ...times.map(each => each.toFixed(0)), ratio]
    console.log(`| ${name} | ${cells.join(' | ')} |`)
  }
}

async function warmed(store: Store, size: number): Promise<void> {
  await warm(store.site('bench'), size)
  const { any } = inUse(size)
  for (let i = 0; i < 2 * IN_USE; i++) await writeOver(store.site('bench'), any(i), i)
}

async function sqlite(folder: string, sizes: readonly number[]): Promise<void> {
  const folders = sizes.map(size => join(folder, String(size)))
  const open = (at: number, pages?: number) =>
    openSqliteStore({ folder: folders[at] ?? folder, ...(pages !== undefined && { pages }) })
  const pages: Map<string, number>[] = []
  for (const [at, size] of sizes.entries()) {
    const filling = await open(at)
    await byCommits(filling, 0, size)
    await warmed(filling, size)
    await filling.close()
    const bare = await open(at, 1)
    const reads = async () => Number(/syscr: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
    pages.push(await pagesOf(subjectIn(bare, size), reads))
    await bare.close()
  }
  const stores = await Promise.all(sizes.keys().map(at => open(at)))
  for (const [at, size] of sizes.entries()) await warmed(stores[at] as Store, size)
  const cpu = await compare(
    sizes.map((size, at) => subjectIn(stores[at] as Store, size)),
    ownCpu,
  )
  show(sizes, pages, cpu)
  await Promise.all(stores.map(store => store.close()))
}

/** Pages that all statements have looked at, but those that go on whether there is work or not. */
async function looksOf(cluster: Cluster): Promise<number> {
  const { rows } = await cluster.run(
    `SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0)::int AS looks FROM pg_stat_statements
     WHERE query NOT LIKE 'SELECT version, (extract%' AND query NOT LIKE '%pg_stat_statements%'`,
  )
  return rows[0]?.looks
}

async function postgres(cluster: Cluster, sizes: readonly number[]): Promise<void> {
  await cluster.start()
  await cluster.run('CREATE EXTENSION pg_stat_statements')
  const pages: Map<string, number>[] = []
  const stores: Store[] = []
  for (const size of sizes) {
    const store = await openPostgresStore({ url: cluster.url, schema: `of_${size}` })
    stores.push(store)
    await byStatements(cluster, `of_${size}`)(store, 0, size)
    await warmed(store, size)
  }
  // Connections plan anew what they have planned for an empty database.
  for (const [at, size] of sizes.entries()) {
    await stores[at]?.close()
    const store = await openPostgresStore({ url: cluster.url, schema: `of_${size}` })
    stores[at] = store
    await warmed(store, size)
    pages.push(await pagesOf(subjectIn(store, size), () => looksOf(cluster)))
  }
  const cpu = await compare(
    sizes.map((size, at) => subjectIn(stores[at] as Store, size)),
    () => ownCpu() + backendCpu(cluster),
  )
  show(sizes, pages, cpu)
  await Promise.all(stores.map(store => store.close()))
}

const [which, ...given] = process.argv.slice(2)
const sizes = given.map(Number)
const folder = await mkdtemp(join(tmpdir(), 'scriptorium-flat-'))
const cluster = await newCluster({
  fsync: 'on',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '2000',
})
try {
  if (which === 'sqlite') await sqlite(folder, sizes)
  else await postgres(cluster, sizes)
} finally {
  await cluster.remove()
  await rm(folder, { recursive: true, force: true })
}
