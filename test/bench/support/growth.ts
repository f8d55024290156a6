/** Sites of any size to measure stores with: documents of 4 KB in folders of a thousand, of which a thousand are in use. */

import type { Change } from '../../../pipeline/store/commit.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import { keyOf } from '../../../pipeline/store/records/changes.ts'
import type { SiteStore, Store } from '../../../pipeline/store/store.ts'
import type { Cluster } from '../../support/postgres.ts'

/** Documents of a folder. */
const MEMBERS = 1000
const page = Buffer.alloc(4096, 'a')
const PROFILE = JSON.stringify({ utf8: true, types: [], namespaces: [] })

/** Document of this number: a thousand to a folder. */
export const pathOf = (n: number) => `/${Math.floor(n / MEMBERS)}/${n % MEMBERS}.html`

export function put(n: number, text: string): Change {
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
export const IN_USE = 1000
const FOLDERS = 20
/** Documents written with one commit while a store is filled. */
const FILL = 1000

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
export type Filling = (store: Store, from: number, to: number) => Promise<void>

export const byCommits: Filling = async (store, from, to) => {
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
export function byStatements(cluster: Cluster, schema = 'bench'): Filling {
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
          `SET search_path = ${schema}`,
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

/** What is in use of a site of so many documents. */
export function inUse(size: number) {
  const folders = Math.ceil(size / MEMBERS)
  const used = Math.min(FOLDERS, folders)
  const folderOf = (i: number) => Math.floor(((i % used) * folders) / used)
  return {
    used,
    /** Number of a folder. */
    folderOf,
    /** Number of a document. */
    any: (i: number) => folderOf(i) * MEMBERS + ((((i * 7919) % IN_USE) * used) % MEMBERS),
  }
}

/** A commit over a document in use, with its event. */
export function writeOver(site: SiteStore, n: number, i: number) {
  const event = { path: pathOf(n), payload: 'x'.repeat(300) }
  return site.commit({ changes: [put(n, String(i))], events: [event] })
}

/** Reads everything that is in use. */
export async function warm(site: SiteStore, size: number): Promise<void> {
  const { any, folderOf, used } = inUse(size)
  for (let i = 0; i < IN_USE; i++) {
    const found = await site.find(pathOf(any(i)))
    if (found) await site.body(found)
    await site.lookup([`number ${any(i)}`])
  }
  for (let i = 0; i < used; i++) await site.list(`/${folderOf(i)}/`)
}
