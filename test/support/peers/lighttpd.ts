/** lighttpd with mod_webdav on files, properties and locks in SQLite. */

import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PeerKind, passwordFile } from './peer.ts'

const MODULE = '/usr/lib/lighttpd/mod_webdav.so'

export const lighttpd: PeerKind = {
  name: 'lighttpd',
  async prepare({ port, folder, root, accounts }) {
    await access(MODULE)
    await writeFile(join(folder, 'users'), passwordFile(accounts))
    const settings = join(folder, 'lighttpd.conf')
    await writeFile(
      settings,
      `server.modules = ("mod_auth", "mod_authn_file", "mod_webdav", "mod_dirlisting")
server.bind = "127.0.0.1"
server.port = ${port}
server.document-root = "${root}"
server.errorlog = "/dev/null"
server.pid-file = "${folder}/lighttpd.pid"
server.upload-dirs = ("${folder}")
server.max-keep-alive-requests = 65535
server.max-keep-alive-idle = 80
mimetype.assign = (".txt" => "text/plain", ".html" => "text/html", "" => "application/octet-stream")
auth.backend = "htpasswd"
auth.backend.htpasswd.userfile = "${folder}/users"
auth.require = ("" => ("method" => "basic", "realm" => "WebDAV", "require" => "valid-user"))
webdav.activate = "enable"
webdav.is-readonly = "disable"
webdav.sqlite-db-name = "${folder}/webdav.sqlite"
`,
    )
    return ['lighttpd', '-D', '-f', settings]
  },
}
