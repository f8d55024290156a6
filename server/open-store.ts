/** The store that the settings name, opened for a server or a command. */

import type { Worker } from 'node:worker_threads'
import { SettingsError } from '../config/load.ts'
import type { Settings } from '../config/schema.ts'
import { siteTable } from '../config/sites.ts'
import { Memory, memoryLimit } from '../pipeline/memory.ts'
import { halfOf } from '../pipeline/store/backup/unfinished.ts'
import { Unusable } from '../pipeline/store/errors.ts'
import { objectAddress } from '../pipeline/store/objects/address.ts'
import type { ObjectsOptions } from '../pipeline/store/objects/objects.ts'
import { databaseAddress } from '../pipeline/store/postgres/address.ts'
import type { Use } from '../pipeline/store/postgres/claim.ts'
import { openSqliteStore } from '../pipeline/store/sqlite/store.ts'
import type { Store } from '../pipeline/store/store.ts'
import type { Log } from './log.ts'

/** What writers claim a database for: with a Redis they are several. */
export function useOf({ redis }: Pick<Settings, 'redis'>): Use {
  return redis === undefined ? 'alone' : 'together'
}

export interface OpenOptions {
  /** What a database is claimed for; a folder has its lock. */
  use?: Use | undefined
  /** Opens it while an object store is away, too. */
  withoutBlobs?: boolean
  /** The installation whose data are brought into the store. */
  installation?: string | undefined
  /** Threads that closed stores have left, for programs that open one store after the other. */
  freeThreads?: Worker[] | undefined
}

/**
 * Opens the store that the settings name.
 *
 * @throws Unusable when others use it in a way that does not go together with this, SettingsError where they name one that there is none for: documents must not go anywhere else instead
 */
export async function openStore(
  settings: Settings,
  log: Log,
  { use, withoutBlobs = false, installation, freeThreads }: OpenOptions = {},
): Promise<Store> {
  const { siteFor } = siteTable(settings)
  const common = {
    // What a site keeps for a shorter time it shows for a shorter time (EVT-46).
    eventRetention: Math.max(...[settings.defaults, ...settings.sites].map(({ events }) => events.retention)),
    eventLimits: (site: string) => {
      const events = siteFor(site)?.events
      return events && { events: events.keptEvents, bytes: events.keptBytes }
    },
    shared: settings.redis !== undefined,
    log: (level: 'info' | 'warn' | 'error', message: string, details: object) => log[level]({ ...details }, message),
  }
  if (settings.postgres === undefined)
    return openSqliteStore({
      folder: settings.data,
      pages: memoryOf(settings).share('pages'),
      ...common,
      ...(freeThreads && { freeThreads }),
    })
  const address = databaseAddress(settings.postgres)
  if (!address) throw new SettingsError(['postgres: this is no address of a database'])
  // Its client is loaded only where it is used: every start would wait for it.
  const { openPostgresStore } = await import('../pipeline/store/postgres/store.ts')
  const objects = await objectsOf(settings, common.log)
  return openPostgresStore({ ...address, ...common, objects, withoutBlobs, installation, ...(use && { use }) })
}

/**
 * The object store that the settings name.
 *
 * @returns undefined where they name none
 * @throws SettingsError, Unusable
 */
export async function objectsOf({ blobs }: Pick<Settings, 'blobs'>, log?: ObjectsOptions['log']) {
  if (blobs === undefined) return undefined
  const address = objectAddress(blobs)
  if (!address) throw new SettingsError(['blobs: this is no address of a bucket'])
  const { openObjects } = await import('../pipeline/store/objects/objects.ts')
  return openObjects(address, { log })
}

/** @throws Unusable for a store that holds half of a restore or a move: nobody has ever had that state */
export async function requireWhole({ postgres, data }: Settings, store: Store): Promise<void> {
  const half = await halfOf(store, postgres === undefined ? data : 'the database')
  if (half !== undefined) throw new Unusable(half)
}

/**
 * Opens the store that a server is to serve, before anything is made or told for it.
 *
 * @throws what `openStore` does, and Unusable when a restore into the store was begun and not finished
 */
export async function openServed(settings: Settings, log: Log): Promise<Store> {
  const store = await openStore(settings, log, { use: useOf(settings), withoutBlobs: true })
  try {
    await requireWhole(settings, store)
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The memory of the caches of this process. */
export function memoryOf({ limits, workers }: Settings): Memory {
  return new Memory(memoryLimit(limits.memory) / workers)
}
