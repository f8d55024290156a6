/** Folders that one command has for itself: made for it and never left for long, or there already. */

import { accessSync, constants, existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../disk/folder.ts'
import { Unusable } from '../errors.ts'
import { LOCK } from '../modes.ts'
import { type FileLock, lockFile, lockPassing } from './file-lock.ts'

const NAME = /^\.backup-[A-Za-z0-9]{6}$/

/** Age in milliseconds at which a folder without a lock counts as left behind. */
const ABANDONED = 24 * 60 * 60_000

/**
 * Does something in a folder that is made for it and goes away again. What commands that were killed have left beside it
 * goes, too.
 *
 * @param parent made when absent
 * @param work gets an empty folder
 */
export async function inWorkFolder<Result>(parent: string, work: (folder: string) => Promise<Result>): Promise<Result> {
  await mkdir(parent, { recursive: true })
  await clearLeft(parent)
  const { folder, lock } = await newFolder(parent)
  try {
    const inside = join(folder, 'work')
    await mkdir(inside, { mode: 0o700 })
    return await work(inside)
  } finally {
    await rm(folder, { recursive: true, force: true }).finally(() => lock.release())
  }
}

/**
 * Does something in a folder that stays, while nobody else does.
 *
 * @param folder made when absent, for this user alone
 * @throws Unusable when another command has it
 */
export async function inFolderAlone<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  makeFolder(folder)
  const lock = lockPassing(join(folder, LOCK))
  if (!lock) throw new Unusable(`another command is writing to ${folder}; start this one again when it has ended`)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/**
 * Reads a folder that stays as it is meanwhile. Where this user may not write, a backup there is a copy that nobody writes to.
 *
 * @throws Unusable when another command has it
 */
export async function whileNobodyWrites<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    return work()
  }
  return inFolderAlone(folder, work)
}

/** Somebody who clears up may be faster than the lock: then it is made once more. */
async function newFolder(parent: string): Promise<{ folder: string; lock: FileLock }> {
  for (;;) {
    const folder = await mkdtemp(join(parent, '.backup-'))
    const lock = lockFile(join(folder, LOCK))
    if (lock && existsSync(join(folder, LOCK))) return { folder, lock }
    lock?.release()
  }
}

/** Removes folders that nobody holds. What cannot be removed stays for the next time. */
async function clearLeft(parent: string): Promise<void> {
  for (const name of await readdir(parent)) if (NAME.test(name)) await clear(join(parent, name)).catch(() => undefined)
}

async function clear(folder: string): Promise<void> {
  const file = join(folder, LOCK)
  if (!existsSync(file)) {
    // Being made just now, or by a release that locked nothing.
    const { mtimeMs } = await stat(folder)
    if (Date.now() - mtimeMs > ABANDONED) await rm(folder, { recursive: true, force: true })
    return
  }
  const lock = lockFile(file)
  if (!lock) return
  try {
    await rm(folder, { recursive: true, force: true })
  } finally {
    lock.release()
  }
}
