/**
 * The data folder belongs to one server: two that know nothing of each other would serve what is stale and ignore each
 * other's rules. The lock is one of the system's, so that it goes with the process however that ends. Servers that share
 * a Redis keep in step by it, so they share the lock; everybody else has it alone.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isDiskFull, makeFolder } from '../disk/folder.ts'
import { LOCK } from '../modes.ts'
import { lockFile } from './file-lock.ts'

/** What a folder is used for. */
export type Purpose = 'serve' | 'import' | 'restore' | 'migrate' | 'check --repair'

/** Somebody else has the folder. */
export class FolderInUse extends Error {}

export interface FolderLock {
  release(): void
}

/** Tells people who has the lock. */
const HOLDER = 'in-use.json'

/**
 * @param folder made when absent
 * @param purpose what the folder is used for
 * @param shared with others of one installation, who keep in step with each other
 * @throws FolderInUse with who has it and since when
 */
export function lockFolder(folder: string, purpose: Purpose, shared = false): FolderLock {
  makeFolder(folder)
  const lock = lockFile(join(folder, LOCK), { shared, wait: 500 })
  if (!lock) throw new FolderInUse(`The data folder ${folder} is in use${holder(folder)}. ${advice(purpose)}`)
  try {
    const told = { purpose, process: process.pid, host: hostname(), since: new Date() }
    writeFileSync(join(folder, HOLDER), JSON.stringify(told))
  } catch (error) {
    // What is stored can be read, and removed, where nothing else has room.
    if (!isDiskFull(error)) {
      lock.release()
      throw error
    }
  }
  return {
    release() {
      try {
        rmSync(join(folder, HOLDER), { force: true })
      } catch {
        // A disk that takes no writes any more: nobody reads the file while nobody has the lock.
      } finally {
        lock.release()
      }
    },
  }
}

function advice(purpose: Purpose): string {
  if (purpose === 'import') return 'Copy the files into the mount of the running server, or end it first.'
  if (purpose === 'migrate' || purpose === 'check --repair') return 'End that first.'
  if (purpose === 'restore') return 'Restore into another folder.'
  return 'End that server first, or give both the same redis.'
}

function holder(folder: string): string {
  try {
    const { purpose, process, host, since } = JSON.parse(readFileSync(join(folder, HOLDER), 'utf8')) as Record<
      string,
      unknown
    >
    return ` by "scriptorium ${purpose}" (process ${process} on ${host}, since ${since})`
  } catch {
    return ' by another process'
  }
}
