/** Other WebDAV servers, started on free ports of this machine with a fresh folder, to compare with. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../ports.ts'

export interface Account {
  user: string
  password: string
}

/** A running server. */
export interface Peer {
  name: string
  /** Origin of its root collection, without slash at the end. */
  url: string
  user: string
  password: string
  secondUser: Account
  /** Largest resident memory of all its processes so far, in MB. */
  peakMemory(): Promise<number>
  /** What they have now. */
  memory(): Promise<number>
  stop(): Promise<void>
}

/** What a server's command line is made from. */
export interface Place {
  port: number
  /** Folder for settings and state. */
  folder: string
  /** Empty folder that it serves. */
  root: string
  /** Two authors who may do everything. */
  accounts: readonly [Account, Account]
}

export interface PeerKind {
  name: string
  /** Writes settings files, if there are any. @returns program and arguments; it stays in the foreground */
  prepare(place: Place): Promise<string[]>
}

/** Changes a command line, for example so that the server runs on one core. */
export type Wrap = (command: string[]) => string[]

/**
 * @throws when the server is not there to be started, or does not answer
 */
export async function startPeer(kind: PeerKind, wrap: Wrap = command => command): Promise<Peer> {
  const folder = await mkdtemp(join(tmpdir(), 'peer-'))
  const root = join(folder, 'root')
  await mkdir(root)
  // Some servers give up the rights they were started with.
  for (const path of [folder, root]) await chmod(path, 0o777)
  const first = { user: 'editor', password: 'secret' }
  const secondUser = { user: 'second', password: 'another' }
  const port = await freePort()
  const command = wrap(await kind.prepare({ port, folder, root, accounts: [first, secondUser] }))
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: 'ignore', cwd: folder })
  const gone = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve())
    child.once('error', reject)
  })
  const url = `http://127.0.0.1:${port}`
  try {
    await Promise.race([answering(url), gone.then(() => Promise.reject(new Error('it ended')))])
  } catch (cause) {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
    throw new Error(`${kind.name} could not be started`, { cause })
  }
  return {
    name: kind.name,
    url,
    ...first,
    secondUser,
    peakMemory: () => memoryOf(child, 'VmHWM'),
    memory: () => memoryOf(child, 'VmRSS'),
    async stop() {
      child.kill('SIGTERM')
      await gone
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Milliseconds in which a server must answer: some have an interpreter to start, on machines that have other work. */
const PATIENCE = 30_000

/**
 * Asks until there is any answer at all.
 *
 * @throws after 30 s without one
 */
export async function answering(url: string): Promise<void> {
  const begun = performance.now()
  while (performance.now() - begun < PATIENCE) {
    const answered = await fetch(url, { method: 'OPTIONS' }).then(
      () => true,
      () => false,
    )
    if (answered) return
    await new Promise(resolve => setTimeout(resolve, 25))
  }
  throw new Error('no answer in 30 s')
}

/** @param field of the system's account of a process */
async function memoryOf(child: ChildProcess, field: string): Promise<number> {
  const pids = child.pid === undefined ? [] : await processesOf(child.pid)
  const sizes = await Promise.all(
    pids.map(async pid => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
      return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A process and all that it started. */
async function processesOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    tasks.map(task => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  )
  const children = lists.flatMap(list => list.split(' ').filter(Boolean).map(Number))
  return [pid, ...(await Promise.all(children.map(processesOf))).flat()]
}

/** A password file that Apache, nginx and rclone read; the cheap hash, so that it is not what is measured. */
export function passwordFile(accounts: readonly Account[]): string {
  return accounts
    .map(({ user, password }) => `${user}:{SHA}${createHash('sha1').update(password).digest('base64')}\n`)
    .join('')
}
