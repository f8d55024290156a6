/** What is measured on one server: each function does one kind of work over HTTP and says how fast it was. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockinfo } from '../../mount/replays/requests.ts'
import { run as runProgram } from '../../support/program.ts'
import { readRate } from '../support/load.ts'
import { onCore } from '../support/process.ts'
import { basic, type MountServer } from './servers.ts'
import { type Answer, openWire, request, type Wire } from './wire.ts'

/** Where work is done. */
export type Target = Pick<MountServer, 'url' | 'authorization' | 'accounts'>

const KB4 = 'x'.repeat(4096)

/** Requests by several clients, each waiting for its answer before it goes on. */
export async function rate(
  { url }: Pick<Target, 'url'>,
  clients: number,
  make: (n: number) => Buffer,
  right: (answer: Answer) => boolean,
  seconds = 3,
): Promise<{ perSecond: number; wrong: number }> {
  const wires = await Promise.all(Array.from({ length: clients }, () => openWire(url)))
  let n = 0
  let [done, wrong] = [0, 0]
  const run = async (wire: Wire, until: number, count: boolean) => {
    while (performance.now() < until) {
      const answer = await wire.ask(make(n++))
      if (!count) continue
      if (right(answer)) done++
      else wrong++
    }
  }
  const all = (until: number, count: boolean) => Promise.all(wires.map(wire => run(wire, until, count)))
  await all(performance.now() + 2000, false)
  const start = performance.now()
  await all(start + seconds * 1000, true)
  const elapsed = (performance.now() - start) / 1000
  for (const wire of wires) wire.close()
  return { perSecond: done / elapsed, wrong }
}

/** PUT of new 4 KB files; answers of 2xx are right. */
export function putNew(target: Target, clients: number, folder: string) {
  const { authorization: Authorization } = target
  const make = (n: number) =>
    request('PUT', `/${folder}/${n}.txt`, { Authorization, 'Content-Type': 'text/plain' }, KB4)
  return rate(target, clients, make, isSuccess)
}

/** An ordinary page of about 4 KB, with headings, lists and links. */
export function htmlPage(n: number): string {
  let text = `<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Page ${n}</title></head>\n<body>\n<main>\n`
  for (let i = 0; text.length < 4000; i++)
    text += `<section class="card" id="s${i}"><h2>Part ${i} &amp; more</h2><p class="text">Some <em>words</em> and <a href="/${i}.html">a link</a>.</p><ul><li>one</li><li>two</li></ul></section>\n`
  return `${text}</main>\n</body>\n</html>\n`
}

/** PUT of new HTML pages of 4 KB. */
export function putPages(target: Target, clients: number, folder: string) {
  const { authorization: Authorization } = target
  const make = (n: number) =>
    request('PUT', `/${folder}/${n}.html`, { Authorization, 'Content-Type': 'text/html' }, htmlPage(n))
  return rate(target, clients, make, isSuccess)
}

/** GET of many files in turns. */
export function getMany(target: Target, clients: number, folder: string, files: number) {
  const { authorization: Authorization } = target
  return rate(target, clients, n => request('GET', `/${folder}/${n % files}.txt`, { Authorization }), isSuccess)
}

/** PUT over 64 existing files. */
export function putOver(target: Target, clients: number, folder: string) {
  const { authorization: Authorization } = target
  const make = (n: number) =>
    request('PUT', `/${folder}/${n % 64}.txt`, { Authorization, 'Content-Type': 'text/plain' }, KB4)
  return rate(target, clients, make, isSuccess)
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300
}

/** @returns whether the collection was made */
export async function makeCollection({ url, authorization }: Target, path: string): Promise<boolean> {
  const wire = await openWire(url)
  const { status } = await wire.ask(request('MKCOL', path, { Authorization: authorization }))
  wire.close()
  return status === 201
}

/** Stores 4 KB files `0.txt` and so on, by 8 clients. */
export async function fill({ url, authorization }: Target, folder: string, count: number, size = 4096): Promise<void> {
  const wires = await Promise.all(Array.from({ length: 8 }, () => openWire(url)))
  const headers = { Authorization: authorization, 'Content-Type': 'text/plain' }
  const body = 'x'.repeat(size)
  let n = 0
  await Promise.all(
    wires.map(async wire => {
      while (n < count) await wire.ask(request('PUT', `${folder}${n++}.txt`, headers, body))
    }),
  )
  for (const wire of wires) wire.close()
}

const FACTS =
  '<?xml version="1.0"?><D:propfind xmlns:D="DAV:"><D:prop><D:creationdate/><D:getcontentlength/><D:getlastmodified/><D:resourcetype/></D:prop></D:propfind>'

/** GET as fast as 32 connections can. */
export function getRate({ url, authorization }: Target, path: string): Promise<number> {
  return readRate(url + path, { Authorization: authorization })
}

/** PROPFIND of depth 0 as fast as 32 connections can. */
export function propfindRate({ url, authorization }: Target, path: string): Promise<number> {
  const headers = { Authorization: authorization, Depth: '0', 'Content-Type': 'application/xml' }
  return readRate(url + path, headers, { method: 'PROPFIND', body: FACTS })
}

/**
 * Times one listing after another.
 *
 * @param how `again`: nothing happens in between; `changed`: a member is saved before each; `revalidated`: with the tag
 *   of the answer before, and servers without tags of listings answer in full
 * @returns median in ms, bytes of one answer, and its status
 */
export async function listing(
  { url, authorization }: Target,
  path: string,
  how: 'again' | 'changed' | 'revalidated',
): Promise<{ ms: number; bytes: number; status: number }> {
  const wire = await openWire(url)
  const headers = { Authorization: authorization, Depth: '1', 'Content-Type': 'application/xml' }
  const first = await wire.ask(request('PROPFIND', path, headers, FACTS))
  const tag = /\r\netag: *(\S+)/i.exec(first.head)?.[1]
  const again = request(
    'PROPFIND',
    path,
    { ...headers, ...(how === 'revalidated' && tag && { 'If-None-Match': tag }) },
    FACTS,
  )
  const times: number[] = []
  let last = first
  const start = performance.now()
  for (let i = 0; i < 15 || (performance.now() - start < 1500 && i < 3000); i++) {
    if (how === 'changed')
      await wire.ask(request('PUT', `${path}0.txt`, { Authorization: authorization }, `change ${i}`))
    const began = performance.now()
    last = await wire.ask(again)
    if (i >= 5) times.push(performance.now() - began)
    if (performance.now() - start > 15_000) break
  }
  wire.close()
  return { ms: median(times), bytes: last.content.length, status: last.status }
}

export function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

/**
 * LOCK, PUT with the token, UNLOCK, by 16 clients on files of their own; every eighth time another author tries to save
 * in between and must be refused.
 *
 * @returns cycles per second in which every answer was right, and the number of the others
 */
export async function lockCycles(target: Target, seconds = 3): Promise<{ perSecond: number; wrong: number }> {
  const { url, authorization: Authorization, accounts } = target
  const other = basic(accounts[1])
  const clients = 16
  const wires = await Promise.all(Array.from({ length: clients }, () => openWire(url)))
  const body = lockinfo('bench')
  let [done, wrong] = [0, 0]
  const cycle = async (wire: Wire, path: string, disturbed: boolean): Promise<boolean> => {
    const locked = await wire.ask(request('LOCK', path, { Authorization, Depth: '0', Timeout: 'Second-600' }, body))
    const token = /\r\nlock-token: *<([^>\r]+)>/i.exec(locked.head)?.[1]
    if (locked.status !== 200 || token === undefined) return false
    let right = true
    if (disturbed) {
      const refused = await wire.ask(request('PUT', path, { Authorization: other }, 'stolen'))
      right = refused.status === 423
    }
    const saved = await wire.ask(request('PUT', path, { Authorization, If: `(<${token}>)` }, KB4))
    const ended = await wire.ask(request('UNLOCK', path, { Authorization, 'Lock-Token': `<${token}>` }))
    return right && saved.status === 204 && ended.status === 204
  }
  const run = async (wire: Wire, client: number, until: number, count: boolean) => {
    for (let i = 0; performance.now() < until; i++) {
      const right = await cycle(wire, `/locks/${client}.txt`, i % 8 === 7)
      if (!count) continue
      if (right) done++
      else wrong++
    }
  }
  const all = (until: number, count: boolean) => Promise.all(wires.map((wire, i) => run(wire, i, until, count)))
  await all(performance.now() + 2000, false)
  const start = performance.now()
  await all(start + seconds * 1000, true)
  const elapsed = (performance.now() - start) / 1000
  for (const wire of wires) wire.close()
  return { perSecond: done / elapsed, wrong }
}

/** COPY, MOVE and DELETE of a collection; medians of five in ms. */
export async function trees({ url, authorization }: Target, path: string): Promise<[number, number, number]> {
  const wire = await openWire(url)
  const base = { Authorization: authorization, Overwrite: 'F', Host: new URL(url).host }
  const times: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < 6; i++) {
    const [copied, moved] = [`/copied-${i}/`, `/moved-${i}/`]
    const steps: [Buffer, number][] = [
      [request('COPY', path, { ...base, Destination: url + copied }), 201],
      [request('MOVE', copied, { ...base, Destination: url + moved }), 201],
      [request('DELETE', moved, { Authorization: authorization }), 204],
    ]
    for (const [step, [bytes, status]] of steps.entries()) {
      const start = performance.now()
      const answer = await wire.ask(bytes)
      const elapsed = performance.now() - start
      if (answer.status !== status && !(answer.status < 300 && status < 300)) times[step]?.push(Number.NaN)
      else if (i > 0) times[step]?.push(elapsed)
    }
  }
  wire.close()
  const [copy, move, remove] = times
  return [median(copy), median(move), median(remove)]
}

/**
 * One upload and one download of a file by curl.
 *
 * @returns MB/s, and whether what came back is what was sent
 */
export async function blob(
  { url, authorization }: Target,
  megabytes: number,
): Promise<{ up: number; down: number; same: boolean }> {
  const folder = await mkdtemp(join(tmpdir(), 'blob-'))
  const [sent, back] = [join(folder, 'sent'), join(folder, 'back')]
  const content = Buffer.alloc(megabytes * 1024 * 1024)
  for (let at = 0; at < content.length; at += 1 << 16) content.writeUInt32LE(at, at)
  await writeFile(sent, content)
  const common = ['-sf', '-H', `Authorization: ${authorization}`, '-H', 'Expect:']
  try {
    const up = await curl([...common, '-T', sent, '-o', '/dev/null', `${url}/blob.bin`])
    const down = await curl([...common, '-o', back, `${url}/blob.bin`])
    const came = await readFile(back).catch(() => Buffer.alloc(0))
    return { up: megabytes / up, down: megabytes / down, same: came.equals(content) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @returns seconds that it took; NaN when it failed */
async function curl(args: string[]): Promise<number> {
  const [program = '', ...rest] = onCore('client', ['curl', '-w', '%{stderr}%{time_total}', ...args])
  const { code, output } = await runProgram(program, rest)
  return code === 0 ? Number(output) : Number.NaN
}
