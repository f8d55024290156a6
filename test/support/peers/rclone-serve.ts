/** `rclone serve webdav`: Go's x/net/webdav on files. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PeerKind, passwordFile } from './peer.ts'

export const rcloneServe: PeerKind = {
  name: 'rclone serve',
  async prepare({ port, folder, root, accounts }) {
    const users = join(folder, 'users')
    await writeFile(users, passwordFile(accounts))
    return [
      'rclone',
      ...['serve', 'webdav', root],
      ...['--config', join(folder, 'rclone.conf'), '--cache-dir', folder, '--log-file', '/dev/null'],
      ...['--addr', `127.0.0.1:${port}`, '--htpasswd', users],
    ]
  },
}
