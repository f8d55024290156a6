/** A server that cannot start leaves nothing behind that goes on. */

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import { expect } from 'chai'
import { loadSettings } from '../../config/load.ts'
import { createLog } from '../../server/log.ts'
import { openServed } from '../../server/open-store.ts'
import { startServer } from '../../server/start.ts'

describe('A server whose port is taken', () => {
  it('asks its store for nothing after that, also while Redis is away', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'refused-'))
    const other = createServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    try {
      const at = other.address()
      const port = typeof at === 'object' && at ? at.port : 0
      const env = {
        SCRIPTORIUM_REDIS: 'redis://127.0.0.1:1/0',
        SCRIPTORIUM_LISTEN_PORT: String(port),
        SCRIPTORIUM_MOUNT_PATH: '/dav',
        SCRIPTORIUM_LOG_LEVEL: 'silent',
      }
      const { settings } = await loadSettings({ env, cwd: folder })
      const log = createLog(settings.log)
      const store = await openServed(settings, log)
      const failure = await startServer(settings, store, log).catch((error: NodeJS.ErrnoException) => error)
      expect(failure).to.include({ code: 'EADDRINUSE' })
      await store.close()
      // Longer than the time after which a process looks for what others have stored; what it throws there fails the test.
      await later(1200)
    } finally {
      other.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
