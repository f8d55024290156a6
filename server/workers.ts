/**
 * Several processes of one server on one machine. The first process keeps the listeners open and watches over the others,
 * which do all the work: it starts them, starts those that die or hang anew, and ends all of them together.
 */

import cluster, { type Worker } from 'node:cluster'
import { createServer } from 'node:net'
import type { Settings } from '../config/schema.ts'
import { gatherMetrics } from './cluster-metrics.ts'
import type { Log } from './log.ts'
import { answerWatchdog, watch } from './watchdog.ts'

/** Where a worker answers. */
export interface Addresses {
  publicOrigin: string
  /** Origin of the mount when it has a port of its own. */
  mountOrigin?: string
}

export interface Workers {
  addresses: Addresses
  /** Passes a signal on to all of them. */
  signal(signal: NodeJS.Signals): void
  /** Has all of them finish, and ends those that do not. */
  close(): Promise<void>
}

export interface WorkersOptions {
  settings: Pick<Settings, 'workers' | 'limits' | 'listen' | 'mount'>
  log: Pick<Log, 'error' | 'warn'>
}

/** Milliseconds before a worker that died is started again: twice as long each time that it dies young. */
const PAUSE = { least: 100, most: 10_000 }

/** Milliseconds after which a worker counts as one that works. */
const GROWN_UP = 30_000

/** Milliseconds beyond the grace time after which a worker is ended by force. */
const MARGIN = 2000

/** Whether this process is one of several that another one watches over. */
export const isWorker = cluster.isWorker

/**
 * Whether the system itself spreads connections over processes that listen at one address. Elsewhere the first process
 * takes connections and hands them out, and one that is handed to a worker at the moment of its death hangs.
 */
export const spreadsConnections = ['linux', 'freebsd', 'sunos', 'aix'].includes(process.platform)

/** Ports that workers listen on; the settings may leave the choice to the first one. */
interface Ports {
  listen?: number
  mount?: number
}

/** Name of the environment variable that tells a worker the ports. */
const PORTS = 'WORKER_PORTS'

/**
 * Starts the workers: the first alone, so that what only one can do, and what cannot work at all, shows before there are
 * many.
 *
 * @throws the system's error when an address is taken, or when one of them ends before it is ready
 */
export async function startWorkers({ settings, log }: WorkersOptions): Promise<Workers> {
  const { workers: count, limits, listen, mount } = settings
  const ports: Ports = { listen: listen.port, ...('port' in mount && { mount: mount.port }) }
  for (const port of Object.values(ports)) if (spreadsConnections && port !== 0) await requireFree(listen.host, port)
  const running = new Set<Worker>()
  const pauses = new Set<NodeJS.Timeout>()
  const stopGathering = gatherMetrics()
  let isClosing = false

  /** @returns when the worker answers requests */
  function start(attempt: number): Promise<Addresses> {
    const begun = performance.now()
    return new Promise((resolve, reject) => {
      let isReady = false
      const ended = (how: Record<string, unknown>) => {
        if (isClosing) return
        // Nobody waits for those that are started again.
        if (!isReady && attempt === 0) return reject(new Error('A process of the server could not be started'))
        const next = performance.now() - begun > GROWN_UP ? 1 : attempt + 1
        const pause = Math.min(PAUSE.least * 2 ** (next - 1), PAUSE.most)
        log.error({ ...how, pause }, 'a process of the server ended; starting another one')
        const timer = setTimeout(() => {
          pauses.delete(timer)
          void start(next)
        }, pause)
        pauses.add(timer)
      }
      const worker = forked(ended)
      if (!worker) return
      worker.on('message', (message: unknown) => {
        if (!isReport(message)) return
        isReady = true
        watch(worker, log)
        resolve(message.ready)
      })
      worker.once('exit', (code, signal) => {
        running.delete(worker)
        ended({ pid: worker.process.pid, code, signal })
      })
    })
  }

  /**
   * @param failed is told where the system starts none, as while the program is replaced, or where memory is short: the others
   *   go on (`error` without a listener would end them all)
   * @returns a new worker
   */
  function forked(failed: (how: Record<string, unknown>) => void): Worker | undefined {
    try {
      const worker = cluster.fork({ [PORTS]: JSON.stringify(ports) })
      running.add(worker)
      worker.on('error', (err: Error) => {
        const { pid } = worker.process
        // One that has begun tells its end by itself.
        if (pid !== undefined) return log.warn({ err, pid }, 'a process of the server cannot be reached')
        running.delete(worker)
        failed({ err })
      })
      return worker
    } catch (err) {
      failed({ err })
      return undefined
    }
  }

  async function end(worker: Worker): Promise<void> {
    const gone = new Promise<void>(resolve => worker.once('exit', () => resolve()))
    worker.process.kill('SIGTERM')
    const timer = setTimeout(() => {
      log.error({ pid: worker.process.pid }, 'a process of the server did not end in time')
      worker.process.kill('SIGKILL')
    }, limits.shutdown + MARGIN)
    await gone
    clearTimeout(timer)
  }

  async function close(): Promise<void> {
    isClosing = true
    stopGathering()
    for (const timer of pauses) clearTimeout(timer)
    await Promise.all([...running].map(end))
  }

  try {
    const addresses = await start(0)
    ports.listen = portOf(addresses.publicOrigin)
    if (addresses.mountOrigin !== undefined) ports.mount = portOf(addresses.mountOrigin)
    await Promise.all(Array.from({ length: count - 1 }, () => start(0)))
    const signal = (name: NodeJS.Signals) => {
      for (const worker of running) worker.process.kill(name)
    }
    return { addresses, signal, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Workers would share an address with whoever else is ready to share it. @throws the system's error */
async function requireFree(host: string, port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, resolve)
  })
  await new Promise(resolve => server.close(resolve))
}

function portOf(origin: string): number {
  const { port, protocol } = new URL(origin)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function isReport(message: unknown): message is { ready: Addresses } {
  return typeof message === 'object' && message !== null && 'ready' in message
}

/** The settings of a worker: with the ports that all of them share. */
export function workerSettings(settings: Settings): Settings {
  const { listen = settings.listen.port, mount }: Ports = JSON.parse(process.env[PORTS] ?? '{}')
  return {
    ...settings,
    listen: { ...settings.listen, port: listen },
    ...('port' in settings.mount && mount !== undefined && { mount: { port: mount } }),
  }
}

/** What a worker has to do with the process that watches over it. */
export interface Supervised {
  /** Says that requests are answered. */
  ready(addresses: Addresses): void
  /** Settles when the other process has gone. */
  readonly orphaned: Promise<void>
  /** Lets go of the other process, so that this one can end. */
  leave(): void
}

/** @throws outside of a worker */
export function supervised(): Supervised {
  const { worker } = cluster
  if (!worker) throw new Error('This process is no worker')
  // Else Node would end the process in the middle of its work when the other one goes.
  worker.exitedAfterDisconnect = true
  answerWatchdog()
  return {
    ready: addresses => void process.send?.({ ready: addresses }),
    orphaned: new Promise(resolve => process.once('disconnect', () => resolve())),
    leave() {
      if (process.connected) process.disconnect()
    },
  }
}
