/** Sites with reactions beside the same site without them, in the same run. */

import { spawnSync } from 'node:child_process'
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
  const servers: ServerProcess[] = []
  const start = async (name: string, reactions: string) => {
    const server = await served(folder, name, reactions)
    servers.push(server)
    return server
  }
  try {
    const plain = await start('plain', '')
    const rows: Row[] = []
    const twin = await start('twin', '')
    say('the same twice')
    rows.push(
      await compared('GET, no reactions on either: what the measurement is good for', '1', [twin, plain], reads),
    )
    const unmatched = Array.from({ length: 100 }, (_, i) => trigger({ resource: `/other-${i}/*`, action: '1' })).join(
      '',
    )
    const many = await start('many', unmatched)
    say('100 triggers of which none matches')
    rows.push(await compared('GET, 100 triggers of which none matches', 'at least 0.9', [many, plain], reads))
    rows.push(await compared('PUT, 100 triggers of which none matches', 'at least 0.9', [many, plain], writes))
    const gated = await start(
      'gated',
      trigger({ resource: '/page.html', when: 'Context.request.method == "PUT"', action: '1' }),
    )
    say('one gate')
    rows.push(await compared('GET with one Sessel gate', 'at least 0.5', [gated, plain], reads))
    const seen = await start('seen', processor({ resource: '/page.html', status: '404', action: '1' }))
    say('one processor')
    rows.push(await compared('GET beside a processor for 404', 'at least 0.9', [seen, plain], reads))
    const { port } = silent.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/`
    const calling = await start(
      'calling',
      trigger({ resource: '/call', action: request('action', { url, body: 'x' }) }),
    )
    for (let i = 0; i < 1_000; i += 20)
      await Promise.all(Array.from({ length: 20 }, () => fetch(`${calling.url}/call`).then(answer => answer.text())))
    say('1,000 outbound requests in the queue')
    rows.push(await compared('GET, 1,000 outbound requests in the queue', 'at least 0.83', [calling, plain], reads))
    return rows
  } finally {
    silent.closeAllConnections()
    silent.close()
    for (const server of servers) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
