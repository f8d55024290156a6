/** Names on disk: a file that is there after a loss of power may have lost the name that it was given. */

import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Brings the names in a folder to disk. Windows has no such call and needs none. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Brings new names in these folders to disk. */
export function syncFolders(folders: ReadonlySet<string>): void {
  for (const folder of folders) syncFolder(folder)
}
