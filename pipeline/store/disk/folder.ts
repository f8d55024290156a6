/**
 * Bytes of large blobs in a folder of this machine: files named by their SHA-256. A file is complete and on disk before
 * a committed row of a store refers to it, and goes away only after no row has referred to it for a while.
 */

import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, renameSync, rm, statSync } from 'node:fs'
import { constants, hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { OWN_FOLDER } from '../modes.ts'
import { syncFolder } from '../synced-names.ts'

/** File that holds the bytes of this digest. */
export function blobFile(folder: string, digest: string): string {
  return join(folder, 'blobs', digest.slice(0, 2), digest.slice(2))
}

/** Where bodies are written while they arrive. */
export function stagingFolder(folder: string): string {
  return join(folder, 'staging')
}

/** This machine, as names of staged files show it. */
export const HOST = hostname().replace(/[^\w.]/g, '_')

/** Name of a staged file: host and process come first, so that a later start can tell whether anybody still needs it. */
export function stagedName(rest: string): string {
  return `${HOST}-${process.pid}-${rest}`
}

/**
 * Looks whether what is stored, denied documents and secrets among it, is kept from other users of the machine. What an
 * operator has opened stays open, and is told.
 *
 * @param log told of a folder that others may look into
 */
export function checkPrivate(folder: string, log: (message: string, details: Record<string, unknown>) => void): void {
  if (process.platform === 'win32') return
  const { mode } = statSync(folder)
  if ((mode & 0o077) !== 0)
    log('Other users of this machine may read the data folder; close it with "chmod -R go= FOLDER"', {
      folder,
      mode: (mode & 0o777).toString(8),
    })
}

/**
 * Makes a folder with what is missing above it, open to this user alone, and on disk by name. Node itself tries for ever
 * where a file system takes no folders, as below `/proc`.
 *
 * @throws Error of the system, with its code
 */
export function makeFolder(folder: string): void {
  const missing: string[] = []
  for (let at = resolve(folder); statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.push(at)
  for (const path of missing.reverse()) {
    try {
      mkdirSync(path, { mode: OWN_FOLDER })
    } catch (error) {
      // Another process may have been faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    keepName(path)
  }
  if (!statSync(folder).isDirectory())
    throw Object.assign(new Error(`${folder} is no folder`), { code: 'ENOTDIR', path: folder })
}

/** Brings the name of a folder to disk, unless that above it may be written to and not read. */
function keepName(folder: string): void {
  try {
    syncFolder(dirname(folder))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
  }
}

/** Makes the folders of blobs and staged files. */
export function prepareFolders(folder: string): void {
  mkdirSync(stagingFolder(folder), { recursive: true, mode: OWN_FOLDER })
  mkdirSync(join(folder, 'blobs'), { recursive: true, mode: OWN_FOLDER })
  syncFolder(folder)
}

/**
 * Gives a staged file its final name. One that was there before may not be on disk by it: whoever gave it may have failed, or
 * ended, before its folder was brought to disk.
 * @returns the folder whose names must be on disk before a row refers to the file
 * @throws Error when neither the staged file nor the final one exists
 */
export function adoptFile(folder: string, staged: string, digest: string, size: number): string {
  const target = blobFile(folder, digest)
  const parent = dirname(target)
  if (statSync(target, { throwIfNoEntry: false })?.size === size) {
    exchange(staged, target)
    return parent
  }
  // At once: nobody who comes after a failure could tell that this name is not on disk.
  if (mkdirSync(parent, { recursive: true, mode: OWN_FOLDER }) !== undefined) syncFolder(dirname(parent))
  renameSync(staged, target)
  return parent
}

/**
 * Puts a staged file in the place of one that should hold the same bytes, and may have been damaged on its disk. Replacing a
 * large one would take as long as removing it, so that it goes by another name.
 */
function exchange(staged: string, target: string): void {
  const old = `${staged}-old`
  try {
    linkSync(target, old)
    renameSync(staged, target)
  } catch {
    // A commit that is tried again, or a file system without links: what is there stays.
  }
  removeLater([old])
}

/** Removes files while the thread goes on with its work. What cannot be removed now goes at the next start. */
export function removeLater(files: readonly string[]): void {
  for (const file of files) rm(file, { force: true }, () => undefined)
}

/**
 * @param folder of the store
 * @returns renames a file to where nobody looks for it, and tells where; it is removed at the next start at the latest
 */
export function prepareSettingAside(folder: string): (file: string) => string[] {
  const mark = randomBytes(6).toString('hex')
  let count = 0
  return file => {
    const aside = join(stagingFolder(folder), stagedName(`${mark}-gone-${++count}`))
    try {
      renameSync(file, aside)
      return [aside]
    } catch {
      // Missing, or open on a system that does not rename open files: then it is a file without a row from now on.
      return []
    }
  }
}

/** Whether an error of the file system says that there is no room left. */
export function isDiskFull(error: unknown): boolean {
  const { code, errno } = (error ?? {}) as { code?: string; errno?: number }
  // Node has no name for a quota that is used up.
  return code === 'ENOSPC' || code === 'EFBIG' || errno === -constants.errno.EDQUOT
}

/** What an error of the file system says, also where Node knows no more of it than its number. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(
    /Unknown system error (-\d+)(: Unknown system error \1)?/,
    (all, number) => NO_NAME[number] ?? all,
  )
}

/** What errors are that Node has no name for, by their numbers. */
const NO_NAME: Readonly<Record<string, string>> = {
  [-constants.errno.EDQUOT]: 'EDQUOT: disk quota exceeded',
  [-constants.errno.ESTALE]: 'ESTALE: stale file handle',
}

/** Errors of a file system that takes no writes, or none of this process any more. */
const REFUSED = ['EROFS', 'EIO', 'EACCES', 'EPERM']

/** Whether an error of the file system says that it takes no writes, as after a failure of its disk, or of the way there. */
export function isUnwritable(error: unknown): boolean {
  const { code = '', errno } = (error ?? {}) as { code?: string; errno?: number }
  return REFUSED.includes(code) || errno === -constants.errno.ESTALE
}
