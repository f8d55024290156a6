/**
 * The embedded store: one SQLite database and a folder of large blobs. One thread writes, the caller's thread reads, and
 * several processes may have the same folder open.
 */

import { mkdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type Change, type Content, type SiteStore, type StagedBlob, type Store, StoreError } from '../store.ts'
import type { PackedChange, PackedContent } from './jobs.ts'
import { checkChange, namesIn } from './orders.ts'
import { prepareReader, readSite } from './reader.ts'
import { connectReader, prepareTables } from './schema.ts'
import { createStaging } from './staging.ts'
import { type Cargo, type Log, startWriter } from './writer.ts'

export interface SqliteOptions {
  /** Folder of the database and the blobs; made when absent. */
  folder: string
  /** Unix milliseconds; `Date.now` by default. */
  clock?: () => number
  /** Bytes up to which blobs are kept in the database; 256 KiB by default. Documents always are. */
  inlineLimit?: number
  /** Milliseconds that events are kept; 10 minutes by default (EVT-46). */
  eventRetention?: number
  /** Names that have no line in the sum of their collection: helper files that are not listed (DAV-75). */
  unlisted?: (name: string) => boolean
  /** Told of failures in the background. */
  log?: Log
}

/** Milliseconds between two rounds of cleaning when nothing is written. */
const IDLE_UPKEEP = 30_000

/**
 * Opens the store in a folder.
 * @throws Error when the folder cannot be used or was written by a newer release
 */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { folder, clock = Date.now, inlineLimit = 256 * 1024, eventRetention = 600_000, unlisted } = options
  const log: Log = options.log ?? (() => undefined)
  await mkdir(folder, { recursive: true })
  prepareTables(folder)
  const staging = createStaging(folder, inlineLimit)
  await staging.clean()
  const writer = await startWriter({ folder, eventRetention }, log)
  const connect = () => connectReader(folder)
  const database = connect()
  const reader = prepareReader({ database, folder, clock, eventRetention, opened: clock(), connect })
  const settings = database.prepare<{ value: string }>('SELECT value FROM setting WHERE name = ?')
  const siteNames = database.prepare<{ name: string }>('SELECT name FROM site ORDER BY name')
  const idle = setInterval(() => writer.upkeep(clock()), IDLE_UPKEEP).unref()

  /** Where the bytes of a change are; large blobs in memory are brought to a file first. */
  async function pack(
    content: Content,
    kind: 'document' | 'blob',
    cargo: Cargo[],
    own: StagedBlob[],
  ): Promise<PackedContent> {
    const staged = 'staged' in content ? content.staged : undefined
    if (staged?.file !== undefined) {
      const { file, sha256, sha1, md5, size } = staged
      return { file, sha256, sha1, md5, size }
    }
    const bytes = 'bytes' in content ? content.bytes : staged?.bytes
    if (bytes === undefined) throw new StoreError('invalid', 'A staged body has neither bytes nor a file')
    if (kind === 'blob' && bytes.length > inlineLimit) {
      const written = await staging.stage(Readable.from([bytes], { objectMode: false }), { limit: bytes.length })
      own.push(written)
      return pack({ staged: written }, kind, cargo, own)
    }
    const packed = { offset: 0, length: bytes.length, digest: staged?.sha256 }
    cargo.push({ bytes, content: packed })
    return packed
  }

  async function packChange(change: Change, cargo: Cargo[], own: StagedBlob[]): Promise<PackedChange> {
    checkChange(change)
    if (change.op !== 'put') return change
    return { ...change, content: await pack(change.content, change.kind, cargo, own) }
  }

  function openSite(name: string): SiteStore {
    return {
      name,
      ...readSite(reader, name),
      async commit(commit) {
        const cargo: Cargo[] = []
        const own: StagedBlob[] = []
        try {
          const changes: PackedChange[] = []
          for (const change of commit.changes) changes.push(await packChange(change, cargo, own))
          const hidden = unlisted === undefined ? [] : [...new Set(commit.changes.flatMap(namesIn))].filter(unlisted)
          const order = {
            task: 'commit',
            at: clock(),
            site: name,
            commit: { ...commit, changes },
            unlisted: hidden,
          } as const
          const result = await writer.submit(order, cargo)
          if (result === undefined) throw new StoreError('failed', 'The writing thread gave no answer')
          return result
        } finally {
          for (const staged of own) await staged.discard()
        }
      },
      async derive({ path, version }, derived) {
        await writer.submit({ task: 'derive', at: clock(), site: name, path, version, derived }, [])
      },
    }
  }

  return {
    site: openSite,
    async sites() {
      return siteNames.all().map(({ name }) => name)
    },
    stage: (body, limits) => staging.stage(body, limits),
    async setting(name) {
      return settings.get(name)?.value
    },
    async setSetting(name, value) {
      await writer.submit({ task: 'setting', at: clock(), name, value }, [])
    },
    async close() {
      clearInterval(idle)
      await staging.close()
      await writer.close()
      database.close()
    },
  }
}
