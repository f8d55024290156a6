/** The mount and the servers it is compared with, all on the servers' core. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PEERS } from '../../support/peers/all.ts'
import { type Account, startPeer } from '../../support/peers/peer.ts'
import { onCore, startProcess } from '../support/process.ts'

export interface MountServer {
  name: string
  /** Origin of the root collection, without slash at the end. */
  url: string
  accounts: readonly [Account, Account]
  /** `Authorization` of the first account. */
  authorization: string
  /** Address of the public surface; other servers have none. */
  visitors?: string
  /** MB */
  peakMemory(): Promise<number>
  /** MB */
  memory(): Promise<number>
  stop(): Promise<void>
}

export const OURS = 'Scriptorium'

export function basic({ user, password }: Account): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

/** As `npm start` does it, on a fresh data folder. */
export async function startOurs(): Promise<MountServer> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  const settings = join(folder, 'settings.json')
  const accounts: readonly [Account, Account] = [
    { user: 'editor', password: 'a known password' },
    { user: 'second', password: 'another password' },
  ]
  const credentials = accounts.map(account => ({ ...account, scope: ['/*'], write: true }))
  await writeFile(
    settings,
    JSON.stringify({
      data: join(folder, 'data'),
      listen: { port: 0 },
      mount: { port: 0 },
      sites: [{ host: '*', name: 'localhost', maxBody: '2GiB', defaultGet: 'allow', credentials }],
    }),
  )
  const options = (process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean)
  const server = await startProcess(
    [process.execPath, '--max-semi-space-size=8', ...options, ...['server/launch.mjs', 'serve', '-c', settings]],
    // As the container image and the service file have it.
    { MALLOC_ARENA_MAX: '1' },
  )
  const [visitors = '', url = ''] = server.urls
  return {
    name: OURS,
    url,
    visitors,
    accounts,
    authorization: basic(accounts[0]),
    peakMemory: async () => server.peakMemory(),
    memory: async () => server.memory(),
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Our server first, then every other one that is installed. */
export function starters(
  say: (line: string) => void,
): { name: string; start: () => Promise<MountServer | undefined> }[] {
  const chosen = process.env.BENCH_SERVERS?.split(',')
  const all = [
    { name: OURS, start: startOurs },
    ...PEERS.map(kind => ({
      name: kind.name,
      start: async () => {
        try {
          const peer = await startPeer(kind, command => onCore('server', command))
          return { ...peer, accounts: [peer, peer.secondUser] as const, authorization: basic(peer) }
        } catch (error) {
          say(`${kind.name} is left out: ${error instanceof Error ? error.message : error}`)
          return undefined
        }
      },
    })),
  ]
  return chosen ? all.filter(({ name }) => chosen.some(part => name.startsWith(part))) : all
}
