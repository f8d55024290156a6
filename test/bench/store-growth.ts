/**
 * How a store in PostgreSQL and the embedded one grow: `node test/bench/store-growth.ts 1000 100000 1000000`, or with
 * `postgres` or `sqlite` before the numbers only one of them. Of all documents a thousand are in use, in twenty folders that
 * are spread over the site. Each figure is the median of its repetitions in milliseconds, unless it says something else, and
 * behind it what it took of CPU of this process and of the database, which others on the machine do not change as much.
 * A million takes 7 GB for a while. PostgreSQL is filled by statements that copy its first folder.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostgresStore } from '../../pipeline/store/postgres/store.ts'
import { openSqliteStore } from '../../pipeline/store/sqlite/store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newCluster } from '../support/postgres.ts'
import { databaseCpu } from './support/database.ts'
import { byCommits, byStatements, IN_USE, inUse, pathOf, warm, writeOver } from './support/growth.ts'

/** Milliseconds of CPU of all that works for the store. */
let spent = ownCpu

function ownCpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function median(times: number, work: (i: number) => Promise<unknown>): Promise<string> {
  const found: number[] = []
  const before = spent()
  for (let i = 0; i < times; i++) {
    const begun = performance.now()
    await work(i)
    found.push(performance.now() - begun)
  }
  const cpu = (spent() - before) / times
  return `${(found.sort((a, b) => a - b)[found.length >> 1] ?? 0).toFixed(2)} (${cpu.toFixed(2)})`
}

async function perSecond(writers: number, count: number, work: (i: number) => Promise<unknown>): Promise<string> {
  let next = 0
  const [begun, before] = [performance.now(), spent()]
  const writer = async () => {
    for (let i = next++; i < count; i = next++) await work(i)
  }
  await Promise.all(Array.from({ length: writers }, writer))
  const cpu = (spent() - before) / count
  return `${((count / (performance.now() - begun)) * 1000).toFixed(0)} (${cpu.toFixed(2)})`
}

async function measure(name: string, open: () => Promise<Store>, sizes: readonly number[], fill = byCommits) {
  let store = await open()
  let filled = 0
  for (const size of sizes) {
    await fill(store, filled, size)
    filled = size
    await store.close()
    const begun = performance.now()
    store = await open()
    const start = (performance.now() - begun).toFixed(0)
    const site = store.site('bench')
    const { any, folderOf } = inUse(size)
    const write = (i: number) => writeOver(site, any(i), i)
    // What is in use was used before.
    await warm(site, size)
    await perSecond(16, 2 * IN_USE, write)
    const figures = {
      start,
      find: await median(200, i => site.find(pathOf(any(i)))),
      body: await median(200, async i => {
        const found = await site.find(pathOf(any(i)))
        return found && site.body(found)
      }),
      'list 1,000': await median(60, i => site.list(`/${folderOf(i)}/`)),
      lookup: await median(100, i => site.lookup([`number ${any(i)}`])),
      commit: await median(200, write),
      'commits/s from 16': await perSecond(16, 3000, write),
    }
    console.log(`${name}, ${size} documents: ${JSON.stringify(figures)}`)
  }
  await store.close()
}

const only = /^[a-z]+$/.test(process.argv[2] ?? '') ? process.argv[2] : undefined
const sizes = process.argv.slice(only === undefined ? 2 : 3).map(Number)
const folder = await mkdtemp(join(tmpdir(), 'scriptorium-growth-'))
const cluster = await newCluster({ fsync: 'on', shared_buffers: '512MB', max_wal_size: '4GB' })
try {
  if (only !== 'postgres') await measure('SQLite', () => openSqliteStore({ folder }), sizes)
  if (only !== 'sqlite') {
    await cluster.start()
    spent = () => ownCpu() + databaseCpu(cluster)
    await measure(
      'PostgreSQL',
      () => openPostgresStore({ url: cluster.url, schema: 'bench' }),
      sizes,
      byStatements(cluster),
    )
  }
} finally {
  await cluster.remove()
  await rm(folder, { recursive: true, force: true })
}
