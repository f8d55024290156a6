/** Installations to measure: one process by itself, or some that share a Redis. */

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis, type TestRedis } from '../../pipeline/coordination/redis-server.ts'
import { OPEN_RULES, page } from '../http/documents.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'

const LIST = '<!doctype html><title>List</title><ul id="list"></ul>'

/** Documents of one element each that is appended to. */
export const LISTS = 20

export const ACCOUNT = { user: 'editor', password: 'a known password' }

export interface Installation {
  server: ServerProcess
  /** Origin of the mount. */
  mount: string
  close(): Promise<void>
}

export interface InstallationOptions {
  /** With a Redis: its processes; without, it is a single one. */
  workers?: number
  /** The server may use all cores; else it stays on one. */
  spread?: boolean
}

/** As `npm start` does it, on a fresh data folder and, if it has one, a fresh Redis. */
export async function install({ workers, spread = false }: InstallationOptions = {}): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  const redis: TestRedis | undefined = workers === undefined ? undefined : await startRedis()
  const site = join(folder, 'site')
  await mkdir(site)
  const files = new Map([
    ['rules.html', OPEN_RULES],
    ['page.html', page(6 * 1024)],
    ...['live', 'quiet'].map((name): [string, string] => [`${name}.html`, LIST]),
    ...Array.from({ length: LISTS }, (_, i): [string, string] => [`list-${i}.html`, LIST]),
  ])
  for (const [name, text] of files) await writeFile(join(site, name), text)
  const settings = join(folder, 'settings.json')
  const events = { streamsPerAddress: 100_000, streamsPerSite: 100_000 }
  const credentials = [{ ...ACCOUNT, scope: ['/*'], write: true }]
  const sites = [{ host: '*', name: 'localhost', defaultGet: 'allow', events, credentials }]
  const listeners = { listen: { port: 0 }, mount: { port: 0 } }
  await writeFile(
    settings,
    JSON.stringify({
      ...listeners,
      data: join(folder, 'data'),
      sites,
      ...(redis && { redis: redis.url }),
      ...(workers !== undefined && workers > 1 && { workers }),
    }),
  )
  const imported = ['server/launch.mjs', 'import', '-c', settings, '--site', 'localhost', site]
  const { status, stderr } = spawnSync(process.execPath, imported, { encoding: 'utf8' })
  if (status !== 0) {
    await redis?.stop()
    throw new Error(stderr)
  }
  const command = [process.execPath, '--max-semi-space-size=8', 'server/launch.mjs', 'serve', '-c', settings]
  const server = await startProcess(command, {}, { spread })
  return {
    server,
    mount: server.urls[1] ?? '',
    async close() {
      await server.stop()
      await redis?.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
