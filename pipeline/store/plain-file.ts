/** Files that somebody else has left: a pipe in their place would hold up whoever opens it for ever. */

import { constants } from 'node:fs'
import { type FileHandle, open, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Unusable } from './errors.ts'

/** What the system says of a link that it does not follow, and of a socket. */
const NO_FILE = ['ELOOP', 'ENXIO']

/**
 * Opens a file to be read, without waiting for anybody.
 *
 * @param links whether a symbolic link stands for the file that it names
 * @throws Unusable when something else than a file stands there; Error of the file system
 */
export async function openPlainFile(file: string, links: 'followed' | 'refused'): Promise<FileHandle> {
  // Windows has neither flag, nor pipes among its files.
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants
  const noFile = () => new Unusable(`${file} is no file`)
  const handle = await open(file, O_RDONLY | O_NONBLOCK | (links === 'refused' ? O_NOFOLLOW : 0)).catch(
    (error: NodeJS.ErrnoException) => {
      throw NO_FILE.includes(error.code ?? '') ? noFile() : error
    },
  )
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw noFile()
}

/**
 * The same for a file below a folder: none that a link leads to is opened, nor one behind a folder for which somebody has
 * exchanged a link. Only Linux tells of the latter.
 *
 * @param folder its real path
 * @throws Unusable when something else stands there; Error of the file system
 */
export async function openInside(folder: string, file: string): Promise<FileHandle> {
  const handle = await openPlainFile(file, 'refused')
  const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (opened === undefined || opened.startsWith(join(folder, '/'))) return handle
  await handle.close()
  throw new Unusable(`${file} is elsewhere`)
}
