/** Every other server that can be started here, in the order of tables. */

import { apache } from './apache.ts'
import { lighttpd } from './lighttpd.ts'
import { nginx } from './nginx.ts'
import type { PeerKind } from './peer.ts'
import { rcloneServe } from './rclone-serve.ts'
import { webdavServer } from './webdav-server.ts'

export const PEERS: readonly PeerKind[] = [apache, nginx, lighttpd, rcloneServe, webdavServer]
