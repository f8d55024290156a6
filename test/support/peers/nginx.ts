/** nginx with the module that adds PROPFIND and locks to its own methods. */

import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type PeerKind, passwordFile } from './peer.ts'

const MODULE = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so'

export const nginx: PeerKind = {
  name: 'nginx dav-ext',
  async prepare({ port, folder, root, accounts }) {
    await access(MODULE)
    await writeFile(join(folder, 'users'), passwordFile(accounts))
    const settings = join(folder, 'nginx.conf')
    await writeFile(
      settings,
      `load_module ${MODULE};
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log /dev/null;
events { worker_connections 1024; }
http {
  include /etc/nginx/mime.types;
  access_log off;
  sendfile on;
  keepalive_timeout 80;
  keepalive_requests 100000000;
  client_max_body_size 0;
  client_body_temp_path ${folder}/body;
  dav_ext_lock_zone zone=locks:10m;
  server {
    listen 127.0.0.1:${port};
    root ${root};
    auth_basic WebDAV;
    auth_basic_user_file ${folder}/users;
    location / {
      dav_methods PUT DELETE MKCOL COPY MOVE;
      dav_ext_methods PROPFIND OPTIONS LOCK UNLOCK;
      dav_ext_lock zone=locks;
      create_full_put_path on;
    }
  }
}
`,
    )
    return ['nginx', '-e', '/dev/null', '-c', settings]
  },
}
