/** Load: wrk for reads, a small client of our own for writes. */

import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCore } from './process.ts'

/**
 * Reads as fast as possible for a while.
 *
 * @param method GET if not given; with `body` for methods that need one
 * @param seconds of measurement, after a warm-up of the same kind for `warmUp` seconds
 * @returns requests per second
 */
export async function readRate(
  url: string,
  headers: Record<string, string> = {},
  options: { connections?: number; seconds?: number; warmUp?: number; method?: string; body?: string } = {},
): Promise<number> {
  const { connections = 32, seconds = 3, warmUp = 1, method, body } = options
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const folder = await mkdtemp(join(tmpdir(), 'wrk-'))
  const script = join(folder, 'request.lua')
  await writeFile(
    script,
    `wrk.method = "${method ?? 'GET'}"\n${body === undefined ? '' : `wrk.body = [==[${body}]==]\n`}`,
  )
  const run = (time: number) => wrk(['-t1', `-c${connections}`, `-d${time}`, '-s', script, ...fields, url])
  if (warmUp > 0) await run(warmUp)
  const output = await run(seconds)
  await rm(folder, { recursive: true, force: true })
  if (/Non-2xx or 3xx responses/.test(output)) throw new Error(`${url} answered errors: ${output}`)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1] ?? 0)
}

function wrk(args: string[]): Promise<string> {
  const [program = '', ...rest] = onCore('client', ['wrk', ...args])
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    child.stdout.on('data', chunk => {
      text += chunk
    })
    child.once('error', () => reject(new Error('wrk is missing: install the package wrk')))
    child.once('exit', code => (code === 0 ? resolve(text) : reject(new Error(text))))
  })
}

export interface Call {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

export interface Rate {
  perSecond: number
  /** Milliseconds. */
  median: number
  p99: number
  /** Answers of 400 and above. */
  errors: number
  /** Requests, those before the measurement included. */
  count: number
}

/** One request on a kept connection; the answer's body is read and dropped. */
export function once(base: string, agent: Agent, { method, path, headers, body = '' }: Call): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const call = request(base + path, { method, agent, headers: { ...headers, 'Content-Length': length } }, answer => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    call.once('error', reject)
    call.end(body)
  })
}

/**
 * Writes with a number of clients, each waiting for its answer before it goes on.
 *
 * @param make the nth request
 * @param options.warmUp seconds before it is measured
 */
export async function writeRate(
  base: string,
  make: (n: number) => Call,
  options: { clients: number; seconds?: number; warmUp?: number },
): Promise<Rate> {
  const { clients, seconds = 3, warmUp = 0.5 } = options
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const times: number[] = []
  let errors = 0
  let n = 0
  const run = async (until: number, count: boolean) => {
    while (performance.now() < until) {
      const start = performance.now()
      const status = await once(base, agent, make(n++))
      if (!count) continue
      times.push(performance.now() - start)
      if (status >= 400) errors++
    }
  }
  const all = (until: number, count: boolean) => Promise.all(Array.from({ length: clients }, () => run(until, count)))
  if (warmUp > 0) await all(performance.now() + warmUp * 1000, false)
  const start = performance.now()
  await all(start + seconds * 1000, true)
  const elapsed = (performance.now() - start) / 1000
  agent.destroy()
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0
  return { perSecond: times.length / elapsed, median: at(0.5), p99: at(0.99), errors, count: n }
}
