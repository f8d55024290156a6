/** The public surface beside a bare Node server in the same run. */

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readRate, writeRate } from '../support/load.ts'
import { type ServerProcess, startBare, startProcess } from '../support/process.ts'
import { figure, type Row } from '../support/table.ts'
import { board, card, items, OPEN_RULES, page } from './documents.ts'

export const HEAD: Row = ['Work', 'Scriptorium', 'bare node:http', 'ratio', 'target']

const MB = 1024 * 1024

/** Milliseconds until the checksums that nobody has asked for are computed. */
const CHECKSUMS = 5000

/** As `npm start` does it. */
const SERVE = [process.execPath, '--max-semi-space-size=8', 'server/launch.mjs', 'serve', '-c']

/** Starts the server on a fresh data folder and stores the documents. */
async function prepare(folder: string): Promise<ServerProcess> {
  const site = join(folder, 'site')
  const settings = join(folder, 'settings.json')
  await writeFile(
    settings,
    JSON.stringify({
      data: join(folder, 'data'),
      listen: { port: 0 },
      mount: { port: 0 },
      sites: [{ host: '*', name: 'localhost', maxBody: '2GiB' }],
    }),
  )
  await mkdir(site)
  const files = {
    'rules.html': OPEN_RULES,
    'small.html': page(6_000),
    'large.html': page(100_000),
    'items.html': items(),
    'board.html': board(),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(site, name), text)
  for (let i = 0; i < 20; i++)
    await writeFile(join(site, `list-${i}.html`), '<!doctype html><title>List</title><ul id="list"></ul>')
  await writeFile(join(site, 'one.html'), '<!doctype html><title>List</title><ul id="list"></ul>')
  run(['server/launch.mjs', 'import', '-c', settings, '--site', 'localhost', site])
  return startProcess([...SERVE, settings])
}

function run(args: string[]): void {
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** A visitor who came before: the usual reader brings the cookie of an earlier answer. */
async function visitor(base: string): Promise<string> {
  const answer = await fetch(`${base}/small.html`)
  await answer.arrayBuffer()
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

/** Bytes and status of one answer. */
async function probe(url: string, headers: Record<string, string>) {
  const answer = await fetch(url, { headers: { ...headers, 'Accept-Encoding': 'identity' } })
  return { status: answer.status, size: (await answer.arrayBuffer()).byteLength, tag: answer.headers.get('etag') ?? '' }
}

async function readRow(
  title: string,
  base: string,
  path: string,
  headers: Record<string, string>,
  target: string,
): Promise<Row> {
  const { size, status } = await probe(base + path, headers)
  const bare = await startBare(size, status === 304 ? 304 : 200)
  const rates: [number[], number[]] = [[], []]
  for (let round = 0; round < 3; round++) {
    rates[0].push(await readRate(base + path, headers))
    // Parsing the same fields takes it as long.
    rates[1].push(await readRate(`${bare.url}/`, headers))
  }
  await bare.stop()
  const [ours = 0, theirs = 0] = rates.map(median)
  return [title, `${figure(ours)}/s`, `${figure(theirs)}/s`, (ours / theirs).toFixed(2), target]
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0
}

/** Title, clients, the nth request, target, and what is shown. */
type WriteRow = [string, number, Parameters<typeof writeRate>[1], string, ('rate' | 'time')?]

/** A row of writes, with the processor time that each takes the server, and how many there are in a second. */
async function writeRow(
  title: string,
  server: ServerProcess,
  clients: number,
  make: Parameters<typeof writeRate>[1],
  target: string,
  show: 'rate' | 'time' = 'rate',
): Promise<{ row: Row; perSecond: number }> {
  const bare = await startBare(64)
  const measure = async (measured: ServerProcess) => {
    const before = measured.processorTime()
    const rate = await writeRate(measured.url, make, { clients })
    const processor = (measured.processorTime() - before) / rate.count
    const text = show === 'rate' ? `${figure(rate.perSecond)}/s` : `${figure(rate.median)} ms (p99 ${figure(rate.p99)})`
    return { ...rate, text: `${text}, ${figure(processor)} ms CPU` }
  }
  const ours = await measure(server)
  const theirs = await measure(bare)
  await bare.stop()
  const note = ours.errors > 0 ? ` (${ours.errors} errors)` : ''
  const { perSecond } = ours
  return { row: [title, ours.text + note, theirs.text, (perSecond / theirs.perSecond).toFixed(2), target], perSecond }
}

/** Sends a body of `size` bytes made on the way. */
function upload(url: string, size: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method: 'PUT', headers: { 'Content-Length': size, 'Content-Type': 'application/octet-stream' } },
      answer => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    call.once('error', reject)
    const chunk = Buffer.alloc(MB, 'scriptorium')
    let left = size
    const push = () => {
      while (left > 0) {
        const piece = left < MB ? chunk.subarray(0, left) : chunk
        left -= piece.length
        if (!call.write(piece)) {
          call.once('drain', push)
          return
        }
      }
      call.end()
    }
    push()
  })
}

function download(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, answer => {
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
      })
      answer.on('end', () => resolve(size))
    })
      .once('error', reject)
      .end()
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

async function blobRows(server: ServerProcess): Promise<Row[]> {
  const bare = await startBare(200 * MB)
  const rate = async (measured: ServerProcess, megabytes: number, work: () => Promise<unknown>) => {
    const start = measured.processorTime()
    const perSecond = figure(megabytes / (await timed(work)))
    return `${perSecond} MB/s, ${figure((measured.processorTime() - start) / megabytes)} ms CPU a MB`
  }
  const rows: Row[] = []
  const before = server.peakMemory()
  rows.push([
    'blob PUT 200 MB, durable, with SHA-256',
    await rate(server, 200, () => upload(`${server.url}/blob.bin`, 200 * MB)),
    await rate(bare, 200, () => upload(`${bare.url}/`, 200 * MB)),
    '',
    '> 300 MB/s',
  ])
  const stored = server.processorTime()
  await setTimeout(CHECKSUMS)
  rows.push([
    'its SHA-1 and MD5, after the answer',
    `${figure((server.processorTime() - stored) / 200)} ms CPU a MB`,
    '',
    '',
    '',
  ])
  rows.push([
    'blob GET 200 MB',
    await rate(server, 200, () => download(`${server.url}/blob.bin`)),
    await rate(bare, 200, () => download(`${bare.url}/`)),
    '',
    '> 1,000 MB/s',
  ])
  await upload(`${server.url}/giant.bin`, 1024 * MB)
  await download(`${server.url}/giant.bin`)
  // The rows that follow are not about it.
  await setTimeout(CHECKSUMS)
  rows.push([
    'peak memory after 1 GiB up and down',
    `${figure(server.peakMemory())} MB (${figure(before)} before)`,
    '',
    '',
    '< 150 MB',
  ])
  await bare.stop()
  return rows
}

/** All rows. */
export async function benchHttp(say: (line: string) => void): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  const rows: Row[] = []
  const add = (row: Row) => {
    rows.push(row)
    say(row.filter(Boolean).join('  '))
  }
  try {
    // Memory first, in a process that has done nothing else.
    const fresh = await prepare(folder)
    for (const row of await blobRows(fresh)) add(row)
    await fresh.stop()
    const server = await startProcess([...SERVE, join(folder, 'settings.json')])
    const { url } = server
    const Cookie = await visitor(url)
    add(await readRow('GET 6 KB page', url, '/small.html', { Cookie }, '>= 0.6'))
    add(await readRow('GET 6 KB page, new visitor each', url, '/small.html', {}, ''))
    add(await readRow('GET 100 KB page', url, '/large.html', { Cookie }, '>= 0.6'))
    const { tag } = await probe(`${url}/small.html`, { Cookie })
    add(await readRow('304', url, '/small.html', { Cookie, 'If-None-Match': tag }, '>= 0.6'))
    add(
      await readRow(
        'fragment GET, one of 50 items',
        url,
        '/items.html',
        { Cookie, Range: 'selector=#item-31' },
        '>= 0.4',
      ),
    )
    const write = async (...[title, clients, make, target, show]: WriteRow) => {
      const { row, perSecond } = await writeRow(title, server, clients, make, target, show)
      add(row)
      return perSecond
    }
    const text = 'x'.repeat(4096)
    const save = (path: string, body: string) => ({ method: 'PUT', path, body })
    await write('PUT new 4 KB, one client', 1, n => save(`/new/one-${n}.txt`, text), '< 1 ms CPU')
    const blobs = await write('PUT new 4 KB, 16 clients', 16, n => save(`/new/${n}.txt`, text), '> 2,700/s')
    await write('PUT over 4 KB, 16 clients', 16, n => save(`/new/${n % 64}.txt`, text), '')
    const html = page(4096)
    const pages = await write('PUT new HTML of 4 KB, 16 clients', 16, n => save(`/new/${n}.html`, html), '')
    add(['the same beside blobs of that size', (pages / blobs).toFixed(2), '', '', '>= 0.75'])
    const append = (path: string, n: number) => ({
      method: 'POST',
      path,
      headers: { Range: 'selector=#list' },
      body: `<li>Entry ${n}</li>`,
    })
    await write('POST append to one document, 16 clients', 16, n => append('/one.html', n), '>= 1,000/s')
    await write('POST append to 20 documents, 16 clients', 16, n => append(`/list-${n % 20}.html`, n), '>= 1,500/s')
    const id = (n: number) => `card-${n % 8}-${n % 50}`
    const put = (n: number) => ({
      method: 'PUT',
      path: '/board.html',
      headers: { Range: `selector=#${id(n)}` },
      body: card(id(n), `Changed ${n}`),
    })
    await write('selector PUT on a 1.1 MB board', 1, put, '< 6 ms', 'time')
    const move = (n: number) => ({
      method: 'MOVE',
      path: '/board.html',
      headers: {
        Range: `selector=#${id(n)}`,
        Destination: '/board.html',
        'Destination-Range': `selector=#lane-${(n + 3) % 8}; placement=append`,
      },
    })
    await write('element MOVE on a 1.1 MB board', 1, move, '< 6 ms', 'time')
    await server.stop()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return rows
}
