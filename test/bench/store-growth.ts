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
import type { Change } from '../../pipeline/store/commit.ts'
import { StoreError } from '../../pipeline/store/errors.ts'
import { openPostgresStore } from '../../pipeline/store/postgres/store.ts'
import { keyOf } from '../../pipeline/store/records/changes.ts'
import { openSqliteStore } from '../../pipeline/store/sqlite/store.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Cluster, newCluster } from '../support/postgres.ts'
import { databaseCpu } from './support/database.ts'

const MEMBERS = 1000
const page = Buffer.alloc(4096, 'a')
const PROFILE = JSON.stringify({ utf8: true, types: [], namespaces: [] })

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
    derived: { profile: PROFILE },
    entries,
  }
}

/** Documents in use. */
const IN_USE = 1000
const FOLDERS = 20
/** Documents written with one commit while a store is filled. */
const FILL = 1000

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

/** Fills a store with the documents of these numbers. */
type Filling = (store: Store, from: number, to: number) => Promise<void>

const byCommits: Filling = async (store, from, to) => {
  for (let filled = from; filled < to; filled += FILL) {
    const changes = Array.from({ length: Math.min(FILL, to - filled) }, (_, i) => put(filled + i, ''))
    await untilDone(() => store.site('bench').commit({ changes }))
  }
}

/** Numbers that each folder has for itself, more than a folder and its measurements take. */
const STEP = 1_000_000
/** Where those of bodies begin among them. */
const BODIES = 500_000
/** Bytes of a key in the index. */
const KEY = keyOf('').length

/** Folders made of the first one by one statement. */
const FOLDERS_AT_ONCE = 50

/** The first folder by a commit, the others as copies of its rows with numbers of their own: sums of folders are the same. */
function byStatements(cluster: Cluster): Filling {
  return async (store, from, to) => {
    if (from === 0) await byCommits(store, 0, MEMBERS)
    const number = `(f * ${MEMBERS} + split_part(r.name, '.', 1)::int)`
    const columns =
      'kind, version, digest, size, type, language, created, modified, shown, same_second, properties, members'
    for (let first = Math.max(1, from / MEMBERS); first < to / MEMBERS; first += FOLDERS_AT_ONCE) {
      const f = `generate_series(${first}, ${Math.min(first + FOLDERS_AT_ONCE, to / MEMBERS) - 1}) f`
      const id = (of: string) => `${of} + f::bigint * ${STEP}`
      const rowsOf = (where: string, folder: string, name: string) =>
        `INSERT INTO resource (site, folder, name, id, body, ${columns}, blob, unlisted) SELECT site, ${folder}, ${name},
         ${id('id')}, CASE WHEN body IS NULL THEN NULL ELSE ${id('id')} + ${BODIES} END, ${columns}, blob, unlisted FROM resource, ${f} WHERE ${where}`
      const ofFirst = `FROM resource r JOIN OF ON OF.id = r.id, ${f} WHERE r.folder = '/0/'`
      const joined = (table: string) => ofFirst.replaceAll('OF', table)
      await cluster.run(
        [
          'SET search_path = bench',
          rowsOf(`folder = '/0/'`, `'/' || f || '/'`, 'name'),
          rowsOf(`folder = '/' AND name = '0'`, `'/'`, 'f::text'),
          `INSERT INTO body SELECT ${id('r.id')} + ${BODIES}, b.bytes, b.told FROM resource r JOIN body b ON b.id = r.body, ${f} WHERE r.folder = '/0/'`,
          `INSERT INTO derived (id, name, site, value, derivation) SELECT ${id('r.id')}, derived.name, r.site, value, derivation ${joined('derived')}`,
          `INSERT INTO entry (site, key, id, item) SELECT r.site, k.key, ${id('r.id')}, '1' FROM resource r, ${f},
           LATERAL (VALUES (substring(sha256('type') FOR ${KEY})), (substring(sha256(('number ' || ${number})::bytea) FOR ${KEY}))) k (key)
           WHERE r.folder = '/0/'`,
          `INSERT INTO entry_text SELECT ${id('r.id')}, regexp_replace(lines, 'number \\d+', 'number ' || ${number}) ${joined('entry_text')}`,
          `UPDATE progress SET last_id = greatest(last_id, ${(to / MEMBERS + 1) * STEP})`,
          'RESET search_path',
        ].join('; '),
      )
    }
    await cluster.run('VACUUM ANALYZE')
    await cluster.run('CHECKPOINT')
  }
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
    const folders = Math.ceil(size / MEMBERS)
    const used = Math.min(FOLDERS, folders)
    const folderOf = (i: number) => Math.floor(((i % used) * folders) / used)
    const any = (i: number) => folderOf(i) * MEMBERS + ((((i * 7919) % IN_USE) * used) % MEMBERS)
    const event = (n: number) => ({ path: pathOf(n), payload: 'x'.repeat(300) })
    const write = (i: number) => site.commit({ changes: [put(any(i), String(i))], events: [event(any(i))] })
    // What is in use was used before.
    for (let i = 0; i < IN_USE; i++) {
      const found = await site.find(pathOf(any(i)))
      if (found) await site.body(found)
      await site.lookup([`number ${any(i)}`])
    }
    for (let i = 0; i < used; i++) await site.list(`/${folderOf(i)}/`)
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
