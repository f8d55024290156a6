/**
 * How a store in PostgreSQL and the embedded one grow: `node test/bench/store-growth.ts 1000 10000 100000`, or with
 * `postgres` or `sqlite` before the numbers only one of them. Each figure is the median of its repetitions in milliseconds,
 * unless it says something else.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Change } from '../../pipeline/store/commit.ts'
import { StoreError } from '../../pipeline/store/errors.ts'
import { openPostgresStore } from '../../pipeline/store/postgres/store.ts'
import { openSqliteStore } from '../../pipeline/store/sqlite/store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { newCluster } from '../support/postgres.ts'

const MEMBERS = 1000
const page = Buffer.alloc(4096, 'a')

/** Document of this number: a thousand to a folder. */
const pathOf = (n: number) => `/${Math.floor(n / MEMBERS)}/${n % MEMBERS}.html`

function put(n: number, text: string): Change {
  const content = { bytes: Buffer.concat([page, Buffer.from(text)]) }
  const entries = [{ item: '1', keys: ['type', `number ${n}`] }]
  return {
    op: 'put',
    path: pathOf(n),
    kind: 'document',
    content,
    type: 'text/html',
    derived: { profile: '{}' },
    entries,
  }
}

async function median(times: number, work: (i: number) => Promise<unknown>): Promise<string> {
  const found: number[] = []
  for (let i = 0; i < times; i++) {
    const begun = performance.now()
    await work(i)
    found.push(performance.now() - begun)
  }
  return (found.sort((a, b) => a - b)[found.length >> 1] ?? 0).toFixed(2)
}

async function perSecond(writers: number, count: number, work: (i: number) => Promise<unknown>): Promise<string> {
  let next = 0
  const begun = performance.now()
  const writer = async () => {
    for (let i = next++; i < count; i = next++) await work(i)
  }
  await Promise.all(Array.from({ length: writers }, writer))
  return ((count / (performance.now() - begun)) * 1000).toFixed(0)
}

/** A machine with other work may keep the database waiting; what is put there twice is there once. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work()
      return
    } catch (error) {
      if (!(error instanceof StoreError && (error.reason === 'busy' || error.reason === 'unknown'))) throw error
      await new Promise(resolve => setTimeout(resolve, 500))
    }
  }
}

async function measure(name: string, open: () => Promise<Store>, sizes: readonly number[]): Promise<void> {
  let store = await open()
  let filled = 0
  for (const size of sizes) {
    for (; filled < size; filled += 250) {
      const changes = Array.from({ length: Math.min(250, size - filled) }, (_, i) => put(filled + i, ''))
      await untilDone(() => store.site('bench').commit({ changes }))
    }
    await store.close()
    const begun = performance.now()
    store = await open()
    const start = (performance.now() - begun).toFixed(0)
    const site = store.site('bench')
    const any = (i: number) => (i * 7919) % size
    const event = (n: number) => ({ path: pathOf(n), payload: 'x'.repeat(300) })
    const write = (i: number) => site.commit({ changes: [put(any(i), String(i))], events: [event(any(i))] })
    await perSecond(16, 500, write)
    const figures = {
      start,
      find: await median(200, i => site.find(pathOf(any(i)))),
      body: await median(200, async i => {
        const found = await site.find(pathOf(any(i)))
        return found && site.body(found)
      }),
      'list 1,000': await median(20, i => site.list(`/${i % Math.ceil(size / MEMBERS)}/`)),
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
    await measure('PostgreSQL', () => openPostgresStore({ url: cluster.url, schema: 'bench' }), sizes)
  }
} finally {
  await cluster.remove()
  await rm(folder, { recursive: true, force: true })
}
