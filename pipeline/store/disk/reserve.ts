/**
 * Room that is kept on the disk for what frees room: where nothing else fits any more, resources can still be removed.
 */

import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isDiskFull } from './folder.ts'

/** Bytes that are kept: the removal of a large tree is written twice, into the log and the database. */
export const RESERVE_SIZE = 4 * 1024 * 1024

/** Bytes that must be free beside it before a store takes it. */
export const ROOM_BESIDE = 16 * 1024 * 1024

/** Bytes that are written at once; what is left of a disk is taken to this measure. */
const PIECE = 64 * 1024

/** Name of the file that takes the room. */
export const RESERVE = 'reserve'

/** Bytes that are kept at the moment. */
export function reserved(folder: string): number {
  return statSync(join(folder, RESERVE), { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Takes the room, as far as there is any, unless it is taken already.
 *
 * @param spare bytes that must be free beside it
 */
export function keepReserve(folder: string, spare = 0): void {
  const size = reserved(folder)
  if (size >= RESERVE_SIZE) return
  const { bavail, bsize } = statfsSync(folder)
  if (spare > 0 && bavail * bsize < RESERVE_SIZE - size + spare) return
  const handle = openSync(join(folder, RESERVE), 'a', 0o600)
  try {
    // Holes take no room: it has to be written.
    const piece = Buffer.alloc(PIECE, 1)
    for (let at = size; at < RESERVE_SIZE; ) at += writeSync(handle, piece, 0, Math.min(PIECE, RESERVE_SIZE - at))
    fsyncSync(handle)
  } catch (error) {
    if (!isDiskFull(error)) throw error
  } finally {
    closeSync(handle)
  }
}

/** Gives the room up. @returns whether there was any */
export function giveUpReserve(folder: string): boolean {
  if (reserved(folder) === 0) return false
  rmSync(join(folder, RESERVE), { force: true })
  return true
}
