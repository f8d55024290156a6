/** Servers on each kind of store, with the same site. */

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPEN_RULES, page } from '../http/documents.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'

/** Documents of one element each that is appended to. */
export const LISTS = 20

/** One of them before anything is appended. */
export const EMPTY_LIST = '<!doctype html><title>List</title><ul id="list"></ul>'

/** Number of the document that the nth append goes to: all of them in turn, and each by way of every server. */
export function listOf(n: number): number {
  return (n + Math.floor(n / LISTS)) % LISTS
}

export interface Installation {
  servers: ServerProcess[]
  close(): Promise<void>
}

/** Who may use the mount. */
export const ACCOUNT = { user: 'editor', password: 'a known password' }

/** Name of the site. */
export const SITE = 'bench'

/**
 * @param count of servers
 * @param store settings that name a database and a Redis; without them documents are in a folder of the server's own
 * @param fill puts further documents into the store, which no server has open then; it is given that folder
 */
export async function install(
  count: number,
  store: { postgres?: string; redis?: string } = {},
  fill: (data: string) => Promise<void> = async () => undefined,
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  const site = join(folder, 'site')
  await mkdir(site)
  const files = new Map([
    ['rules.html', OPEN_RULES],
    ['page.html', page(6 * 1024)],
    ...Array.from({ length: LISTS }, (_, i): [string, string] => [`list-${i}.html`, EMPTY_LIST]),
  ])
  for (const [name, text] of files) await writeFile(join(site, name), text)
  const settings = join(folder, 'settings.json')
  const credentials = [{ ...ACCOUNT, scope: ['/*'], write: true }]
  const sites = [{ host: '*', name: SITE, defaultGet: 'allow', maxBody: '2GiB', credentials }]
  const listeners = { listen: { port: 0 }, mount: { port: 0 } }
  const data = join(folder, 'data')
  await writeFile(settings, JSON.stringify({ ...listeners, data, sites, ...store }))
  const imported = ['server/launch.mjs', 'import', '-c', settings, '--site', SITE, site]
  const { status, stderr } = spawnSync(process.execPath, imported, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  await fill(data)
  const command = [process.execPath, '--max-semi-space-size=8', 'server/launch.mjs', 'serve', '-c', settings]
  const servers: ServerProcess[] = []
  for (let i = 0; i < count; i++) servers.push(await startProcess(command, {}, { spread: count > 1 }))
  return {
    servers,
    async close() {
      for (const server of servers) await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
