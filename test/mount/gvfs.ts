/** GNOME's virtual file system, by its command line, in a session of its own. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../support/program.ts'
import type { TestServer } from '../support/server.ts'

/**
 * Mounts the site and runs a script of shell commands, in which `$D` is the address of the mount and `$W` a local folder.
 *
 * @returns what the script printed
 * @throws when a command of the script fails
 */
export async function withGvfs({ mountUrl, user, password }: TestServer, script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gvfs-'))
  const address = mountUrl.replace(/^http:/, 'dav:')
  // Services of the session write to the same output; the script's is told apart by a file of its own.
  const all = `
    printf '%s\\n%s\\n' "$AUTHOR" "$PASSWORD" | gio mount "$D/" > mount.log 2>&1 || { cat mount.log; exit 1; }
    ( set -e; ${script}
    ) > script.log 2>&1
    code=$?
    gio mount -u "$D/" > /dev/null 2>&1
    cat script.log
    exit $code`
  try {
    const { code, output } = await run('dbus-run-session', ['--', 'sh', '-c', `{ ${all}\n} 2>/dev/null`], {
      cwd: folder,
      env: {
        AUTHOR: user,
        PASSWORD: password,
        D: address,
        W: folder,
        HOME: folder,
        XDG_RUNTIME_DIR: folder,
        GIO_USE_VFS: 'gvfs',
      },
    })
    const said = output
      .split('\n')
      .filter(line => !/^dbus-daemon\[|Monitor|^$|connection to the bus/.test(line))
      .join('\n')
    if (code !== 0) throw new Error(said)
    return said
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
