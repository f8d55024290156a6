/** Temporary stores for tests: each with a folder and a clock of its own, closed and removed after the test. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Change, Commit, CommitResult } from '../../../pipeline/store/commit.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { checkFolder } from '../../../pipeline/store/sqlite/check/check.ts'
import { connectWriter } from '../../../pipeline/store/sqlite/schema.ts'
import { openSqliteStore, type SqliteOptions } from '../../../pipeline/store/sqlite/store.ts'
import type { SiteStore, Store } from '../../../pipeline/store/store.ts'
import { freeThreads, putEmptyStore } from '../../support/empty-store.ts'

/** Time that moves only when a test says so, unix milliseconds. */
export interface TestClock {
  now: number
}

/** Saturday, 14 March 2026, 09:26:53 GMT: the second of DAV-52's example. */
export const START = 1773480413_000

export interface Opened {
  store: Store
  clock: TestClock
  /** Closes the store and opens its folder again. */
  reopen(): Promise<Store>
  /** Opens the same folder a second time, as another process would. */
  another(): Promise<Store>
  /** Runs statements behind the store's back, as another release would. */
  raw(sql: string): Promise<void>
  /** Insists that everything in the folder fits together, and that nothing is left over. */
  intact(): Promise<void>
  close(): Promise<void>
}

/** Options that every store has. */
export type AnyOptions = Pick<
  SqliteOptions,
  'clock' | 'inlineLimit' | 'eventRetention' | 'eventLimits' | 'lockWait' | 'unlisted' | 'shared' | 'log'
>

export type Open<Options = AnyOptions, Of extends Opened = Opened> = (options?: Partial<Options>) => Promise<Of>

/** A folder that is removed by `remove`. */
export async function temporaryFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-store-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** An opened embedded store. */
export interface OpenedFolder extends Opened {
  folder: string
}

/** Opens an embedded store in a new folder. */
export const openTemporary: Open<SqliteOptions, OpenedFolder> = async (options = {}) => {
  const { folder, remove } = await temporaryFolder()
  putEmptyStore(folder)
  const clock: TestClock = { now: START }
  const open = () => openSqliteStore({ folder, clock: () => clock.now, freeThreads, ...options })
  const stores = [await open()]
  const opened: OpenedFolder = {
    store: stores[0] as Store,
    folder,
    clock,
    async reopen() {
      await opened.store.close()
      opened.store = await open()
      stores.push(opened.store)
      return opened.store
    },
    async another() {
      const store = await open()
      stores.push(store)
      return store
    },
    async raw(sql) {
      const database = connectWriter(folder)
      database.exec(sql)
      database.close()
    },
    async intact() {
      const { findings } = await checkFolder(folder, { repair: false })
      if (findings.length > 0) throw new Error(findings.map(({ message }) => message).join('; '))
    },
    async close() {
      for (const store of stores) await store.close()
      await remove()
    },
  }
  return opened
}

/** A change that stores text as a document. */
export function put(path: string, text: string, more: Partial<Extract<Change, { op: 'put' }>> = {}): Change {
  return { op: 'put', path, kind: 'document', content: { bytes: Buffer.from(text) }, type: 'text/html', ...more }
}

/** A change that stores a blob. */
export function putBlob(path: string, bytes: Uint8Array, more: Partial<Extract<Change, { op: 'put' }>> = {}): Change {
  return { op: 'put', path, kind: 'blob', content: { bytes }, type: 'application/octet-stream', ...more }
}

export type Success = Extract<CommitResult, { ok: true }>

/** Commits and insists on success. */
export async function done(site: SiteStore, commit: Commit | Change[]): Promise<Success> {
  const result = await site.commit(Array.isArray(commit) ? { changes: commit } : commit)
  if (!result.ok) throw new Error(`The commit was refused: ${JSON.stringify(result)}`)
  return result
}

/** The resource at a path, which must exist. */
export async function there(site: SiteStore, path: string): Promise<Resource> {
  const resource = await site.find(path)
  if (resource === undefined) throw new Error(`Nothing at ${path}`)
  return resource
}

/** The text stored at a path, undefined if there is none. */
export async function textAt(site: SiteStore, path: string): Promise<string | undefined> {
  const resource = await site.find(path)
  const body = resource === undefined ? undefined : await site.body(resource)
  return body !== undefined && 'bytes' in body ? Buffer.from(body.bytes).toString() : undefined
}

/** Everything an async iteration yields. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}
