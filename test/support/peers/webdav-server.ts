/** The npm package webdav-server, started again when a request ends it. */

import { fileURLToPath } from 'node:url'
import type { PeerKind } from './peer.ts'

export const webdavServer: PeerKind = {
  name: 'webdav-server',
  prepare: async ({ port, root, accounts }) => [
    process.execPath,
    fileURLToPath(new URL('webdav-server-process.ts', import.meta.url)),
    String(port),
    root,
    ...accounts.flatMap(({ user, password }) => [user, password]),
  ],
}
