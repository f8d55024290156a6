/** Servers under measurement: child processes on the first core, clients on the others. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** `BENCH_CORES=shared` leaves it to the system who runs where, as it is where nobody keeps server and clients apart. */
export const SHARES_CORES = process.env.BENCH_CORES === 'shared'

/** Cores can be chosen, and there is more than one. */
const pins = !SHARES_CORES && cpus().length > 1 && spawnSync('taskset', ['-V']).status === 0

/** Who runs where, for the line above a table. */
export const CORES = pins ? 'The server runs on one core, clients on the other.' : 'Server and clients share all cores.'

/** Keeps this process, which brings a load by itself, off the servers' core. */
export function leaveServersCore(): void {
  if (pins) spawnSync('taskset', ['-acp', `1-${cpus().length - 1}`, String(process.pid)])
}

/** A command line that keeps a program on the servers' core, or off it. */
export function onCore(side: 'server' | 'client', command: string[]): string[] {
  if (!pins) return command
  return ['taskset', '-c', side === 'server' ? '0' : `1-${cpus().length - 1}`, ...command]
}

/** Gives servers that run beside each other a core each, as far as there are so many. */
export function spreadOut(servers: readonly Pick<ServerProcess, 'pid'>[]): void {
  if (!pins) return
  for (const [i, { pid }] of servers.entries()) spawnSync('taskset', ['-acp', `${i % cpus().length}`, String(pid)])
}

/** Milliseconds of a clock tick, as Linux tells them to programs. */
const TICK = 10

export interface ServerProcess {
  url: string
  pid: number
  /** All addresses of the line that said it is ready, without slash at their ends. */
  urls: readonly string[]
  /** Resident memory, in MB. */
  memory(): number
  /** The largest so far, in MB. */
  peakMemory(): number
  /** Processor time so far, of all threads, in clock ticks. */
  ticks(): number
  /** The same in milliseconds. */
  processorTime(): number
  stop(): Promise<void>
}

/**
 * Starts a server and waits for its line that begins with `ready`; the first URL of the line is its address.
 *
 * @param command program and arguments
 * @param options.spread it may use all cores, as servers of several processes need
 */
export async function startProcess(
  command: string[],
  env: Record<string, string> = {},
  { spread = false }: { spread?: boolean } = {},
): Promise<ServerProcess> {
  const [program = '', ...args] = spread ? command : onCore('server', command)
  const child = spawn(program, args, {
    cwd: root,
    // Load comes from one address.
    env: { ...process.env, SCRIPTORIUM_LIMITS_WRITES_PER_MINUTE: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const urls = await readyUrls(child)
  const megabytes = (field: string) => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  }
  const ticks = () => {
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  }
  return {
    url: urls[0] ?? '',
    pid: child.pid ?? 0,
    urls,
    memory: () => megabytes('VmRSS'),
    peakMemory: () => megabytes('VmHWM'),
    ticks,
    processorTime: () => ticks() * TICK,
    stop: async () => {
      const gone = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGTERM')
      await gone
    },
  }
}

function readyUrls(child: ChildProcess): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      if (text.length < 65_536) text += chunk.toString()
      const line = /^ready\b.*\n/m.exec(text)?.[0]
      if (line) resolve(Array.from(line.matchAll(/https?:\/\/[^\s/]+/g), ([url]) => url))
    })
    child.once('exit', code => reject(new Error(`the server ended with ${code}: ${text}`)))
  })
}

/** Starts the bare server that answers `size` bytes. */
export function startBare(size: number, status = 200): Promise<ServerProcess> {
  const file = fileURLToPath(new URL('bare.ts', import.meta.url))
  return startProcess([process.execPath, file], { BARE_SIZE: String(size), BARE_STATUS: String(status) })
}
