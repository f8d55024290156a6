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

export const REACT_HEAD: Row = ['Work', 'with reactions', 'without', 'ratio by processor time', 'target']

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

const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Three rounds on both, in turn. The ratio is of the processor time of a request: it stands on a busy machine, too. */
async function compared(
  title: string,
  target: string,
  [own, plain]: readonly [ServerProcess, ServerProcess],
  rate: (server: ServerProcess) => Promise<number>,
): Promise<Row> {
  const measured = [own, plain].map(server => ({ server, rates: [] as number[], costs: [] as number[] }))
  for (let round = 0; round < 3; round++)
    for (const { server, rates, costs } of measured) {
      const before = server.ticks()
      const each = await rate(server)
      rates.push(each)
      costs.push((server.ticks() - before) / each)
    }
  const [ours, theirs] = measured.map(({ rates, costs }) => ({ rate: middle(rates), cost: middle(costs) }))
  if (!ours || !theirs) throw new Error('Nothing was measured.')
  return [title, `${figure(ours.rate)}/s`, `${figure(theirs.rate)}/s`, figure(theirs.cost / ours.cost), target]
}

/** A condition makes the application answer: the response cache would hide what a reaction costs. */
const reads = (server: ServerProcess) =>
  readRate(`${server.url}/page.html`, { 'If-Modified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' }, { seconds: 2 })

const writes = async (server: ServerProcess) => {
  const body = page(2_000)
  const make = (n: number) => ({ method: 'PUT', path: `/w${n % 64}.html`, body })
  return (await writeRate(server.url, make, { clients: 16, seconds: 2 })).perSecond
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
