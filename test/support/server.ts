/** A real server on free ports and a fresh data folder, for tests. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withCredential } from '../../config/first-start.ts'
import { loadSettings } from '../../config/load.ts'
import type { Site } from '../../pipeline/site/site.ts'
import { importFolder } from '../../pipeline/write/import.ts'
import { importDemo } from '../../server/demo/import.ts'
import { createLog } from '../../server/log.ts'
import { openStore } from '../../server/open-store.ts'
import { type RunningServer, startServer as start } from '../../server/start.ts'
import { freeThreads, putEmptyStore } from './empty-store.ts'

export interface TestServer {
  /** Origin of the public surface, without slash at the end. */
  url: string
  port: number
  /** Address of the mount's root, without slash at the end. */
  mountUrl: string
  /** Credentials of the mount, unless the settings name others. */
  user: string
  password: string
  running: RunningServer
  /** The site that answers for the test's host. */
  site: Site
  /** Folder of the data; goes away with the server. */
  data: string
  /** Ends the server and leaves its data for another one. */
  stop(): Promise<void>
  close(): Promise<void>
}

export interface TestServerOptions {
  /** Settings of every site; without a site table one site answers for every host. */
  site?: Record<string, unknown>
  /** Settings of the server, as a settings file has them. */
  settings?: Record<string, unknown>
  /** Data that another server has left. */
  data?: string
  /** Import the demo site. */
  demo?: boolean
  /** Files to import, by path. */
  folder?: string
}

let schemas = 0

/**
 * Documents in PostgreSQL and what processes share in Redis, where the environment names both: the same tests, on the
 * stores of several machines. Data of an earlier server brings its schema along.
 */
async function sharedStores(data: string): Promise<{ postgres?: string; redis?: string }> {
  const { TEST_POSTGRES: postgres, TEST_REDIS: redis } = process.env
  if (postgres === undefined || redis === undefined) return {}
  const note = join(data, 'schema')
  const schema = await readFile(note, 'utf8').catch(() => `server_${process.pid}_${++schemas}`)
  await writeFile(note, schema)
  return { postgres: `${postgres}?search_path=${schema}`, redis }
}

/** What sites of one's own have, and the demo site has not. */
const SITE = { assetMaxAge: '5m' }

export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const data = options.data ?? (await mkdtemp(join(tmpdir(), 'scriptorium-test-')))
  const file = join(data, 'settings.json')
  const level = process.env.TEST_LOG ?? 'silent'
  // Writers wait for each other as long as it takes on a slow machine.
  // And they write as much as they like, as programs do.
  const limits = { leaseWait: '5m', writesPerMinute: 0 }
  const shared = await sharedStores(data)
  const written = {
    data,
    listen: { port: 0 },
    mount: { port: 0 },
    log: { level },
    limits,
    ...shared,
    ...options.settings,
  }
  const defaults = { ...SITE, ...(options.site ?? Object(options.settings?.defaults)) }
  await writeFile(file, JSON.stringify({ ...written, defaults }))
  const { settings } = await loadSettings({ file })
  if (options.data === undefined && settings.data === data && settings.postgres === undefined) putEmptyStore(data)
  const log = createLog(settings.log)
  const store = await openStore(settings, log, { freeThreads })
  const [user, password] = ['editor', 'a known password']
  const running = await start(withCredential(settings, { user, password, scope: ['/*'], write: true }), store, log)
  const hosted = await running.hosting.open('localhost')
  if (!hosted) throw new Error('no site for localhost')
  if (options.demo) await importDemo(hosted.site, store)
  if (options.folder) await importFolder(hosted.site, store, options.folder)
  return {
    url: running.publicOrigin,
    port: Number(new URL(running.publicOrigin).port),
    mountUrl: running.mountOrigin ?? running.publicOrigin + ('path' in settings.mount ? settings.mount.path : ''),
    user,
    password,
    running,
    site: hosted.site,
    data,
    stop: () => running.close(),
    async close() {
      await running.close()
      await rm(data, { recursive: true, force: true })
    },
  }
}
