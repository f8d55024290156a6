/** A disk that is soon full: a file system in memory, which only an administrator of a namespace may mount. */

import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  folder: string
  /** Takes all room that is left. */
  fill(): void
  /** Gives it back. */
  empty(): void
  end(): void
}

/** @param megabytes its size; @throws Error where nothing may be mounted */
export function smallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  return {
    folder,
    fill() {
      const handle = openSync(join(folder, 'filler'), 'a')
      try {
        for (const size of [1024 * 1024, 4096, 512, 1]) {
          try {
            for (;;) writeSync(handle, Buffer.alloc(size, 1))
          } catch {
            // The next smaller piece may still fit.
          }
        }
      } finally {
        closeSync(handle)
      }
    },
    empty: () => rmSync(join(folder, 'filler'), { force: true }),
    end() {
      execFileSync('umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** How this user runs a program that may mount: as it is, in a namespace of its own, or not at all. */
export function mountingCommand(): readonly string[] | undefined {
  const probe = 'd=$(mktemp -d) && mount -t tmpfs tmpfs "$d" && umount -l "$d" && rmdir "$d"'
  for (const command of [[], ['unshare', '--map-root-user', '--mount']]) {
    const [program = '', ...rest] = [...command, 'sh', '-c', probe]
    try {
      execFileSync(program, rest, { stdio: 'ignore' })
      return command
    } catch {
      // The next way may be open.
    }
  }
  return undefined
}
