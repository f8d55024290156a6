/** What the command line does to a store as a whole: list its sites, save it, restore it. */

import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FIRST_PASSWORD } from '../config/first-start.ts'
import type { Settings } from '../config/schema.ts'
import { siteTable } from '../config/sites.ts'
import { isStoredValue } from '../dav/properties/stored-value.ts'
import { OF_SESSIONS } from '../pipeline/coordination/local/sessions.ts'
import { FAILED_PREFIX, WAITING_PREFIX } from '../pipeline/react/outbound/entry.ts'
import { siteOfUnpublished, unpublishedName } from '../pipeline/site/unpublished-name.ts'
import { packBackup, unpackBackup } from '../pipeline/store/backup/archive.ts'
import { HEAD, readHead } from '../pipeline/store/backup/format.ts'
import { migrateStore } from '../pipeline/store/backup/migrate.ts'
import { checkBackup, restoreStore } from '../pipeline/store/backup/restore.ts'
import { saveStore } from '../pipeline/store/backup/save.ts'
import { halfOf } from '../pipeline/store/backup/unfinished.ts'
import { Unusable } from '../pipeline/store/errors.ts'
import { objectAddress } from '../pipeline/store/objects/address.ts'
import { databaseAddress } from '../pipeline/store/postgres/address.ts'
import { INSTALLATION } from '../pipeline/store/postgres/blobs/owner.ts'
import { lockFolder, type Purpose } from '../pipeline/store/sqlite/folder-lock.ts'
import { holdsStore } from '../pipeline/store/sqlite/schema.ts'
import { inFolderAlone, inWorkFolder, whileNobodyWrites } from '../pipeline/store/sqlite/work-folder.ts'
import type { Snapshot, Store } from '../pipeline/store/store.ts'
import { REMEMBERED } from '../pipeline/write/unpublished.ts'
import type { BackupOptions, Commands, Progress, StoredSite } from './cli/commands.ts'
import { basisOf } from './hosting.ts'
import { createLog } from './log.ts'
import { type OpenOptions, objectsOf, openStore, requireWhole } from './open-store.ts'
import { SESSION_SECRET } from './start.ts'

/**
 * Values of the installation that belong to a backup: visitors stay signed in, the first password stays what it is, and large
 * files in a bucket are known as its own.
 */
const SAVED_SETTINGS = [SESSION_SECRET, FIRST_PASSWORD, INSTALLATION]

/** Notes that move with an installation: calls that are still to be made, and what it knows of visitors. */
const MOVED_NOTES = [WAITING_PREFIX, FAILED_PREFIX, OF_SESSIONS]

/** What a backup may bring along, whoever has made it. */
const RESTORED = { settings: SAVED_SETTINGS, accepts: isStoredValue, kept: REMEMBERED }

/** Whether anything has ever been stored where the settings say. */
function isThere(settings: Settings): boolean {
  return settings.postgres !== undefined || holdsStore(settings.data)
}

/** @throws Unusable where there is no store: a mistyped folder must not look like an empty site */
export function requireStore(settings: Settings): void {
  if (!isThere(settings)) throw new Unusable(`there is no store in ${settings.data}`)
}

/**
 * What is written out is no part of the data folder: there the server would take it for its own, and whoever removes the folder
 * removes the copy.
 *
 * @throws Unusable
 */
export async function requireOutside({ data, postgres }: Settings, place: string): Promise<void> {
  if (postgres === undefined && `${await truePath(place)}/`.startsWith(`${await realpath(data)}/`))
    throw new Unusable(`${place} is part of the data folder; name a place outside of ${data}`)
}

/** Where a path leads, as far as anything is there. */
function truePath(path: string): Promise<string> {
  return realpath(path).catch(async error => {
    if (error.code !== 'ENOENT' || dirname(path) === path) throw error
    return join(await truePath(dirname(path)), basename(path))
  })
}

/** Locks the folder that is to be changed; a database is claimed when it is opened. @throws Unusable */
export function lockStore({ data, postgres }: Settings, purpose: Purpose): { release(): void } {
  return postgres === undefined ? lockFolder(data, purpose) : { release: () => undefined }
}

/** Opens the store for the time of some work. */
async function withStore<Result>(
  settings: Settings,
  work: (store: Store) => Promise<Result>,
  options?: OpenOptions,
): Promise<Result> {
  const store = await openStore(settings, createLog(settings.log, 2), options)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

async function namesIn(state: Pick<Snapshot, 'sites'>): Promise<string[]> {
  return (await state.sites()).filter(name => siteOfUnpublished(name) === undefined)
}

/** What was begun to be put into the store and is not finished, in a sentence. */
export const half = (settings: Settings): Promise<string | undefined> =>
  withStore(settings, store => halfOf(store, settings.postgres === undefined ? settings.data : 'the database'))

export const stored: Commands['stored'] = async settings => (isThere(settings) ? withStore(settings, namesIn) : [])

export const sites: Commands['sites'] = async settings => {
  requireStore(settings)
  const table = siteTable(settings)
  const found = await withStore(settings, store =>
    store.snapshot(async state => {
      const described: StoredSite[] = []
      for (const name of await namesIn(state)) {
        const { files: unpublished } = await sizeOf(state, unpublishedName(name))
        const isServed = table.siteFor(name)?.host === name
        described.push({ name, ...(await sizeOf(state, name)), unpublished, isServed })
      }
      return described
    }),
  )
  const missing = table.named.filter(({ host }) => !found.some(({ name }) => name === host))
  const nothing = { files: 0, bytes: 0, unpublished: 0, isServed: true }
  return [...found, ...missing.map(({ host }) => ({ name: host, ...nothing }))]
}

async function sizeOf(state: Snapshot, name: string) {
  const size: { files: number; bytes: number; changed?: number } = { files: 0, bytes: 0 }
  for await (const { size: bytes, modified } of state.site(name).walk('/')) {
    size.files++
    size.bytes += bytes
    size.changed = Math.max(size.changed ?? 0, modified)
  }
  return size
}

export const backup: Commands['backup'] = async (settings, { place, isArchive, progress }) => {
  requireStore(settings)
  await requireOutside(settings, place)
  const save = (folder: string) =>
    withStore(settings, async store => {
      await requireWhole(settings, store)
      return saveStore(store, folder, { settings: SAVED_SETTINGS, kept: REMEMBERED, progress })
    })
  if (!isArchive) return inFolderAlone(place, () => save(place))
  return inWorkFolder(dirname(place), async folder => {
    const saved = await save(folder)
    await packBackup(folder, place)
    return saved
  })
}

/** @param parent where an archive is unpacked */
function withBackup<Result>(
  { place, isArchive }: BackupOptions,
  parent: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  // Elsewhere there is nothing to read.
  if (!isArchive) return existsSync(join(place, HEAD)) ? whileNobodyWrites(place, () => work(place)) : work(place)
  return inWorkFolder(parent, async folder => {
    await unpackBackup(place, folder)
    return work(folder)
  })
}

/** Has what documents of a site declare be derived anew when it is opened next. */
function derivedAnew(store: Store): (site: string) => Promise<void> {
  return site => basisOf(store, site).write('')
}

export const restore: Commands['restore'] = async (settings, options) => {
  const lock = lockStore(settings, 'restore')
  try {
    const parent = dirname(settings.postgres === undefined ? settings.data : options.place)
    return await withBackup(options, parent, async folder => {
      const installation = (await readHead(folder))?.settings[INSTALLATION]
      return withStore(
        settings,
        store => restoreStore(store, folder, { ...RESTORED, arrived: derivedAnew(store), progress: options.progress }),
        { use: 'alone', installation },
      )
    })
  } finally {
    lock.release()
  }
}

/** The settings with the store of an address instead of their own. */
function settingsFor({ redis: _redis, postgres: _postgres, ...settings }: Settings, address: string): Settings {
  return databaseAddress(address) === undefined ? { ...settings, data: address } : { ...settings, postgres: address }
}

function moveInto(target: Store, source: Store, progress: Progress) {
  const options = { settings: SAVED_SETTINGS, notes: MOVED_NOTES, kept: REMEMBERED, progress }
  return migrateStore(source, target, { ...options, arrived: derivedAnew(target) })
}

export const migrate: Commands['migrate'] = async (settings, { from, to, progress }) => {
  const [source, target] = [settingsFor(settings, from), settingsFor(settings, to)]
  requireStore(source)
  if (target.postgres === undefined) await requireOutside(source, target.data)
  const locks: { release(): void }[] = []
  try {
    for (const store of [source, target]) locks.push(lockStore(store, 'migrate'))
    const move = async (from: Store) => {
      await requireWhole(source, from)
      const installation = await from.setting(INSTALLATION)
      return withStore(target, to => moveInto(to, from, progress), { use: 'alone', installation })
    }
    return await withStore(source, move, { use: 'alone' })
  } finally {
    for (const lock of locks) lock.release()
  }
}

export const moveBlobs: Commands['moveBlobs'] = async (_settings, { from, to, progress }) => {
  const into = objectAddress(to) === undefined ? 'database' : 'objects'
  const [database, bucket] = into === 'objects' ? [from, to] : [to, from]
  const address = databaseAddress(database)
  if (!address || objectAddress(bucket) === undefined)
    throw new Unusable('large files move between postgres://… and s3://… alone, and one of the addresses is neither')
  const objects = await objectsOf({ blobs: bucket })
  const { moveBlobs: move } = await import('../pipeline/store/postgres/blobs/move.ts')
  try {
    if (!objects) throw new Unusable('there is no bucket')
    return await move(address, objects, { into, progress })
  } finally {
    objects?.close()
  }
}

export const checkSaved: Commands['checkSaved'] = options =>
  withBackup(options, dirname(options.place), folder =>
    checkBackup(folder, { ...RESTORED, progress: options.progress }),
  )
