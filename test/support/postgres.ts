/** A PostgreSQL of the tests' own: a cluster in a temporary folder, begun with the first test that needs one. */

import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './ports.ts'
import { shared } from './shared.ts'

/** Folder of PostgreSQL's programs: the newest version that Debian's packages have brought. */
export function postgresPrograms(): string | undefined {
  const version = (folder: string) => Number(folder.split('/').at(-2))
  return globSync('/usr/lib/postgresql/*/bin').sort((a, b) => version(b) - version(a))[0]
}

let known: { uid?: number; gid?: number } | undefined

/** PostgreSQL refuses to run as root: then it runs as the user that its package has made. */
function account(): { uid?: number; gid?: number } {
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
  known ??= process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {}
  return known
}

export interface Cluster {
  folder: string
  port: number
  /** `postgres://…`, of a database that may be used freely. */
  url: string
  start(): Promise<void>
  /** Ends it: in order, or as when the power goes. */
  stop(how?: 'fast' | 'immediate'): Promise<void>
  /** Has all of its processes stand still until the function that comes back is called: connections stay open, nothing answers. */
  hang(): () => void
  /** Runs statements as administrator. */
  run(sql: string): Promise<pg.QueryResult>
  /** Ends it and removes the folder. */
  remove(): Promise<void>
}

function asOwner(command: string, ...args: string[]): void {
  const found = spawnSync(command, args, { ...account(), encoding: 'utf8', cwd: tmpdir() })
  if (found.status !== 0) throw new Error(`${command} failed: ${found.stderr}`)
}

function program(name: string, ...args: string[]): void {
  asOwner(join(postgresPrograms() ?? '', name), ...args)
}

/** Makes a folder that the cluster's account may write to. */
function ownFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name))
  const { uid, gid } = account()
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

let pristine: string | undefined

/** Makes the files of a new cluster where the processes of one run find them, or where this process alone does. */
function makePristine(): string {
  const run = process.env.TEST_RUN
  const kept = run === undefined ? undefined : join(run, 'cluster')
  if (kept !== undefined && existsSync(kept)) return kept
  const folder = ownFolder('scriptorium-initdb-')
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const made = join(folder, 'data')
  program('initdb', '-D', made, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N')
  if (kept === undefined) return made
  try {
    renameSync(made, kept)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(kept)) throw error
  }
  return kept
}

/** Makes the files of a new cluster. They are made once in a run and copied from then on: a new one takes ten times as long. */
function initialize(data: string): void {
  pristine ??= makePristine()
  asOwner('cp', '-a', pristine, data)
}

/**
 * A cluster that is not yet running.
 *
 * @param from the running cluster that it follows as a replica; a new one if not given
 */
export async function newCluster(settings: Record<string, string> = {}, from?: Cluster): Promise<Cluster> {
  const folder = ownFolder('scriptorium-postgres-')
  const data = join(folder, 'data')
  const port = await freePort()
  if (from === undefined) initialize(data)
  else program('pg_basebackup', '-D', data, '-R', '-X', 'stream', '-c', 'fast', '-d', from.url)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const given = Object.entries({ fsync: 'off', max_connections: '200', ...settings })
  let server: ReturnType<typeof spawn> | undefined

  async function run(sql: string): Promise<pg.QueryResult> {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return await client.query(sql)
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  async function stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const running = server
    server = undefined
    if (running === undefined) return
    const ended = new Promise(resolve => running.once('exit', resolve))
    running.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await ended
  }

  return {
    folder,
    port,
    url,
    run,
    stop,
    hang() {
      const { pid } = server ?? {}
      if (pid === undefined) throw new Error('PostgreSQL does not run')
      // The first of them first, so that it makes no more.
      process.kill(pid, 'SIGSTOP')
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
      for (const child of children) process.kill(child, 'SIGSTOP')
      return () => {
        for (const stopped of [...children, pid]) process.kill(stopped, 'SIGCONT')
      }
    },
    async start() {
      const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder]
      for (const [name, value] of given) options.push('-c', `${name}=${value}`)
      const started = spawn(join(postgresPrograms() ?? '', 'postgres'), options, { ...account(), stdio: 'ignore' })
      server = started
      for (;;) {
        if (started.exitCode !== null) throw new Error('PostgreSQL did not start')
        const answers = await run('SELECT 1').then(
          () => true,
          () => false,
        )
        if (answers) return
        await new Promise(resolve => setTimeout(resolve, 50))
      }
    },
    async remove() {
      await stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The cluster that all tests of this process share; it ends with the process. */
export const sharedCluster = shared(() => newCluster())
