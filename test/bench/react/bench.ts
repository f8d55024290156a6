/** Sites with reactions beside the same site without them, in the same run. */

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { processor, request, trigger } from '../../pipeline/react/site.ts'
import { OPEN_RULES, page } from '../http/documents.ts'
import { readRate, writeRate } from '../support/load.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'
import { figure, type Row } from '../support/table.ts'

export const REACT_HEAD: Row = ['Work, in processor time of a request', 'with reactions', 'without', 'ratio', 'target']

const SERVE = [process.execPath, '--max-semi-space-size=8', 'server/launch.mjs', 'serve', '-c']

/** A server whose site has a page and, beside the rules, some reactions. */
async function served(folder: string, name: string, reactions: string): Promise<ServerProcess> {
  const [site, settings] = [join(folder, name), join(folder, `${name}.json`)]
  await writeFile(
    settings,
    JSON.stringify({
      data: join(folder, `${name}-data`),
      listen: { port: 0 },
      mount: { port: 0 },
      sites: [{ host: '*', name: 'localhost', allowOutbound: true }],
    }),
  )
  await mkdir(site)
  await writeFile(join(site, 'rules.html'), OPEN_RULES)
  await writeFile(join(site, 'page.html'), page(6_000))
  await writeFile(join(site, 'reactions.html'), `<!doctype html><title>Reactions</title>${reactions}`)
  const { status, stderr } = spawnSync(
    process.execPath,
    ['server/launch.mjs', 'import', '-c', settings, '--site', 'localhost', site],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  return startProcess([...SERVE, settings])
}

/** Milliseconds of a clock tick of Linux. */
const TICK = 10
const SECONDS = 1

/** Requests that a server has answered in `SECONDS`. */
type Load = (server: ServerProcess, warmUp: number) => Promise<number>

/**
 * Processor time of a request on both, in pairs of rounds that begin with the one and the other in turn: it stands on a busy
 * machine, too.
 */
async function compared(
  title: string,
  target: string,
  [own, plain]: readonly [ServerProcess, ServerProcess],
  load: Load,
): Promise<Row> {
  const measured = [own, plain].map(server => ({ server, ticks: 0, requests: 0 }))
  for (const { server } of measured) await load(server, 2)
  for (let pair = 0; pair < 8; pair++)
    for (const each of pair % 2 === 0 ? measured : [...measured].reverse()) {
      const before = each.server.ticks()
      each.requests += await load(each.server, 0)
      each.ticks += each.server.ticks() - before
    }
  const [ours = 0, theirs = 0] = measured.map(({ ticks, requests }) => (ticks * TICK * 1000) / requests)
  return [title, `${figure(ours)} µs`, `${figure(theirs)} µs`, figure(theirs / ours), target]
}

/** A condition makes the application answer: the response cache would hide what a reaction costs. */
const reads: Load = async (server, warmUp) =>
  SECONDS *
  (await readRate(
    `${server.url}/page.html`,
    { 'If-Modified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
    { seconds: SECONDS, warmUp },
  ))

const writes: Load = async (server, warmUp) => {
  const body = page(2_000)
  const make = (n: number) => ({ method: 'PUT', path: `/w${n % 64}.html`, body })
  return SECONDS * (await writeRate(server.url, make, { clients: 16, seconds: SECONDS, warmUp })).perSecond
}

export async function benchReact(say: (line: string) => void): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  // It answers nobody: what is sent to it stays under way.
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const rows: Row[] = []
  /** Both sites are started for their row: a process that has run for longer is faster. */
  const against = async (
    title: string,
    target: string,
    reactions: string,
    load: Load,
    prepare: (own: ServerProcess) => Promise<void> = async () => undefined,
  ) => {
    say(title)
    const servers: ServerProcess[] = []
    try {
      for (const [name, markup] of [
        ['own', reactions],
        ['plain', ''],
      ] as const)
        servers.push(await served(folder, `${name}-${rows.length}`, markup))
      const [own, plain] = servers
      if (!own || !plain) throw new Error('Nothing was started.')
      await prepare(own)
      rows.push(await compared(title, target, [own, plain], load))
    } finally {
      for (const server of servers) await server.stop()
    }
  }
  try {
    const unmatched = Array.from({ length: 100 }, (_, i) => trigger({ resource: `/other-${i}/*`, action: '1' }))
    const gate = trigger({ resource: '/page.html', when: 'Context.request.method == "PUT"', action: '1' })
    const { port } = silent.address() as AddressInfo
    const calling = request('action', { url: `http://127.0.0.1:${port}/`, body: 'x' })
    await against('GET, no reactions on either: what the measurement is good for', '1', '', reads)
    await against('GET, 100 triggers of which none matches', 'at least 0.9', unmatched.join(''), reads)
    await against('PUT, 100 triggers of which none matches', 'at least 0.9', unmatched.join(''), writes)
    await against('GET with one Sessel gate', 'at least 0.5', gate, reads)
    const seen = processor({ resource: '/page.html', status: '404', action: '1' })
    await against('GET beside a processor for 404', 'at least 0.9', seen, reads)
    await against(
      'GET, 1,000 outbound requests in the queue',
      'at least 0.83',
      trigger({ resource: '/call', action: calling }),
      reads,
      async ({ url }) => {
        for (let i = 0; i < 1_000; i += 20)
          await Promise.all(Array.from({ length: 20 }, () => fetch(`${url}/call`).then(answer => answer.text())))
      },
    )
    return rows
  } finally {
    silent.closeAllConnections()
    silent.close()
    await rm(folder, { recursive: true, force: true })
  }
}
