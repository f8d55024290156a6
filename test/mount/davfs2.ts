/** davfs2: a mount point on which any program works. It needs a kernel with FUSE and the rights to mount. */

import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, succeed } from '../support/program.ts'
import type { TestServer } from '../support/server.ts'

export interface Drive {
  /** The mount point. */
  folder: string
  /** Waits until everything written has been uploaded, and unmounts. */
  unmount(): Promise<void>
}

/**
 * Whether davfs2 can mount here; a container may have no device for it.
 *
 * @returns why not, or undefined
 */
export function whyNoFuse(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may mount'
  if (!existsSync('/dev/fuse')) spawnSync('mknod', ['/dev/fuse', 'c', '10', '229'])
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
  } catch {
    return 'there is no /dev/fuse'
  }
  return undefined
}

/** Mounts the site as the README says, with uploads at once and buffers that current kernels want for listings. */
export async function mountDrive({ mountUrl, user, password }: TestServer): Promise<Drive> {
  const state = await mkdtemp(join(tmpdir(), 'davfs2-'))
  const [folder, cache] = [join(state, 'drive'), join(state, 'cache')]
  for (const path of [folder, cache]) await mkdir(path)
  // The program gives up its rights, but its group has to write into the cache.
  await chmod(state, 0o755)
  await chown(cache, 0, Number(await succeed('id', ['-g', 'davfs2'])))
  await chmod(cache, 0o775)
  await writeFile(join(state, 'secrets'), `${mountUrl}/ ${user} "${password}"\n`, { mode: 0o600 })
  await writeFile(
    join(state, 'davfs2.conf'),
    `secrets ${join(state, 'secrets')}\ncache_dir ${cache}\nuse_locks 1\ndelay_upload 0\nbuf_size 64\nfile_refresh 0\ndir_refresh 0\n`,
  )
  // It stays in the background, and would hold on to the output of whoever waits for it.
  const mount = 'exec mount.davfs -o "conf=$1" "$2" "$3" > "$4" 2>&1'
  const log = join(state, 'mount.log')
  const { code } = await run('sh', ['-c', mount, 'sh', join(state, 'davfs2.conf'), `${mountUrl}/`, folder, log])
  if (code !== 0) throw new Error(`mount.davfs: ${await readFile(log, 'utf8')}`)
  return {
    folder,
    async unmount() {
      await succeed('umount', [folder])
      await rm(state, { recursive: true, force: true })
    },
  }
}
