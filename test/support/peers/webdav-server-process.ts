/** Runs webdav-server on a folder: `port root user password user password`. Its crashes are answered by starting it again. */

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { v2 } from 'webdav-server'

const given = process.argv.slice(2, 8)
const [port = '0', root = '', ...accounts] = given
const role = process.argv[8]

async function serve(): Promise<void> {
  const users = new v2.SimpleUserManager()
  const privileges = new v2.SimplePathPrivilegeManager()
  for (let i = 0; i < accounts.length; i += 2)
    privileges.setRights(users.addUser(accounts[i] ?? '', accounts[i + 1] ?? '', false), '/', ['all'])
  const server = new v2.WebDAVServer({
    port: Number(port),
    hostname: '127.0.0.1',
    requireAuthentification: true,
    httpAuthentication: new v2.HTTPBasicAuthentication(users, 'WebDAV'),
    privilegeManager: privileges,
  })
  await server.setFileSystemAsync('/', new v2.PhysicalFileSystem(root))
  await server.startAsync(Number(port))
}

/** Keeps one child alive, so that a benchmark can go on after a crash. */
function watch(): void {
  const child = fork(fileURLToPath(import.meta.url), [...given, 'child'], { silent: true })
  const stop = () => child.kill('SIGKILL')
  process.once('SIGTERM', stop)
  child.once('exit', (_, signal) => {
    process.removeListener('SIGTERM', stop)
    if (signal !== 'SIGKILL') watch()
  })
}

if (role === 'child') await serve()
else watch()
