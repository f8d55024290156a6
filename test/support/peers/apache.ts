/** Apache's mod_dav on files, as Debian builds it. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PeerKind, passwordFile } from './peer.ts'

const MODULES = [
  'mpm_event',
  'mime',
  'authn_core',
  'authn_file',
  'authz_core',
  'authz_user',
  'auth_basic',
  'autoindex',
  'dir',
  'dav',
  'dav_fs',
]

export const apache: PeerKind = {
  name: 'Apache mod_dav',
  async prepare({ port, folder, root, accounts }) {
    await writeFile(join(folder, 'users'), passwordFile(accounts))
    const settings = join(folder, 'apache.conf')
    await writeFile(
      settings,
      `${MODULES.map(name => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
ServerRoot ${folder}
ServerName localhost
Listen 127.0.0.1:${port}
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
ErrorLog /dev/null
User www-data
Group www-data
TypesConfig /etc/mime.types
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 80
LimitRequestBody 0
StartServers 2
ThreadsPerChild 64
MaxRequestWorkers 128
DocumentRoot ${root}
DavLockDB ${folder}/locks
<Directory ${root}>
  Dav On
  Options Indexes
  DirectorySlash Off
  AuthType Basic
  AuthName "WebDAV"
  AuthUserFile ${folder}/users
  Require valid-user
</Directory>
`,
    )
    return ['apache2', '-DFOREGROUND', '-f', settings]
  },
}
