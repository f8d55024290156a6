/** The command line: finds the command, reads its arguments, runs it, and turns failures into sentences. */

import { readFileSync } from 'node:fs'
import { SettingsError } from '../../config/load.ts'
import { nearest } from '../../config/suggest.ts'
import { LockError } from '../../pipeline/coordination/locks.ts'
import { SessionError } from '../../pipeline/coordination/sessions.ts'
import { isDiskFull } from '../../pipeline/store/disk/folder.ts'
import { StoreError, Unusable } from '../../pipeline/store/errors.ts'
import { FolderInUse } from '../../pipeline/store/sqlite/folder-lock.ts'
import { backup, restore } from './backup.ts'
import { check } from './check.ts'
import { type Command, columns, commandHelp, readArguments, UsageError } from './command.ts'
import type { Commands } from './commands.ts'
import { explain } from './explain.ts'
import { exportSite } from './export.ts'
import { hash } from './hash.ts'
import { health } from './health.ts'
import { importSite } from './import.ts'
import { migrate } from './migrate.ts'
import { outbound } from './outbound.ts'
import { query } from './query.ts'
import { reactions } from './reactions.ts'
import { serve } from './serve.ts'
import { settings } from './settings.ts'
import { sites } from './sites.ts'
import { line, type Output, processTerminal, type Terminal } from './terminal.ts'
import { user } from './user.ts'

const COMMANDS: readonly Command[] = [
  serve,
  hash,
  user,
  sites,
  check,
  backup,
  restore,
  migrate,
  exportSite,
  importSite,
  explain,
  reactions,
  outbound,
  health,
  query,
  settings,
]

/** Exit code for a command line or settings that cannot be used. */
const MISUSE = 2

/**
 * Runs a command line.
 *
 * @param argv arguments without program and script
 * @param commands the work behind the commands
 * @returns the exit code: 0, 1 when the work failed, 2 when arguments or settings are wrong
 */
export async function run(
  argv: readonly string[],
  commands: Commands,
  terminal: Terminal = processTerminal(),
): Promise<number> {
  for (const output of [terminal.output, terminal.errors]) output.on('error', error => unlessClosed(error, output))
  try {
    return await dispatch(argv, commands, terminal)
  } catch (error) {
    return report(error, terminal)
  }
}

/** Whoever reads may have seen enough (`settings | head`): what a command does is done all the same. */
function unlessClosed(error: NodeJS.ErrnoException, output: Output): void {
  if (error.code !== 'EPIPE' && output.listenerCount('error') === 1) throw error
}

async function dispatch(argv: readonly string[], commands: Commands, terminal: Terminal): Promise<number> {
  const [first] = argv
  if (first === '--help' || first === '-h' || first === 'help') {
    line(terminal.output, argv[1] === undefined ? help() : commandHelp(commandNamed(argv[1])))
    return 0
  }
  if (first === '--version' || first === '-V') {
    line(terminal.output, version())
    return 0
  }
  const isNamed = first !== undefined && !first.startsWith('-')
  const command = isNamed ? commandNamed(first) : serve
  const rest = isNamed ? argv.slice(1) : argv
  if (rest.includes('--help') || rest.includes('-h')) {
    line(terminal.output, commandHelp(command))
    return 0
  }
  return command.run({ args: readArguments(command, rest), commands, terminal })
}

function commandNamed(name: string): Command {
  const command = COMMANDS.find(command => command.name === name)
  if (command) return command
  const meant = nearest(
    name,
    COMMANDS.map(command => command.name),
  )
  throw new UsageError(`unknown command "${name}"${meant === undefined ? '' : `; did you mean ${meant}?`}`)
}

function report(error: unknown, { errors }: Terminal): number {
  if (error instanceof UsageError) {
    const help = error.command === undefined ? 'scriptorium --help' : `scriptorium ${error.command} --help`
    line(errors, `scriptorium: ${error.message}`)
    line(errors, `Try "${help}".`)
    return MISUSE
  }
  if (error instanceof SettingsError) {
    line(errors, 'scriptorium: the settings cannot be used')
    for (const problem of error.problems) line(errors, `  ${problem}`)
    return MISUSE
  }
  line(errors, `scriptorium: ${failure(error)}`)
  return 1
}

/** A failure of the system in words; anything unexpected with its trace, which a report of the fault needs. */
function failure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof Unusable) return error.message
  if (error instanceof LockError || error instanceof SessionError) return `${error.message}: ${failure(error.cause)}`
  const { code, address, port, path, dest, syscall } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
    dest?: string
  }
  const place = address === undefined ? `port ${port}` : `${address}:${port}`
  if (code === 'EADDRINUSE')
    return `${place} is taken by another program; choose another port with --port or --mount-port`
  if (code === 'EADDRNOTAVAIL') return `${address} is no address of this machine (listen.host)`
  if (error instanceof FolderInUse) return error.message
  if (code === 'EACCES' && port !== undefined) return `${place} needs more rights; take a port above 1023`
  if (code === 'EROFS') return `the file system of ${dest ?? path ?? 'a file'} takes no writes`
  if (code === 'EACCES' || code === 'EPERM') return `no permission to use ${path ?? 'a file'}`
  if (code === 'EISDIR')
    return path === undefined ? 'a folder stands where a file must be' : `${path} is a folder, and must be a file`
  if (code === 'ENOTDIR' || code === 'EEXIST') return `${path ?? 'a folder'} is a file, and must be a folder`
  if (code === 'ERR_SQLITE_ERROR' && cannotWrite(error)) return 'no permission to write to the data folder'
  if (code === 'ERR_SQLITE_ERROR') return `the database in the data folder cannot be used: ${error.message}`
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'ETIMEDOUT')
    return `${address === undefined ? 'a server' : place} cannot be reached: ${error.message}`
  if (code === 'ENOENT' && syscall === 'mkdir') return `no folder can be made at ${path}`
  if (code === 'ENOENT' && path !== undefined) return `there is no ${path}`
  // Nobody knows which side of a copy it was.
  if (code === 'EIO' && dest !== undefined) return `${path} cannot be read, or ${dest} not be written: a disk fails`
  if (code === 'EIO') return `${path ?? 'a file'} cannot be read or written: its disk fails`
  if (code === 'EMFILE' || code === 'ENFILE')
    return `${path ?? 'a file'} cannot be opened: too many are open already; raise the limit (ulimit -n)`
  if (code === 'ENAMETOOLONG') return `a name is longer than its file system takes: ${dest ?? path}`
  const target = dest ?? path
  if (isDiskFull(error)) return `no space left on the device${target === undefined ? '' : ` (${target})`}`
  // Such as that of a disk that is full: what failed is known, and where it did says nothing.
  if (error instanceof StoreError) {
    const { reason, message, cause } = error
    const isKnown = cause instanceof Error && 'code' in cause && !OF_SYSTEM.test(message)
    if ((reason === 'failed' || reason === 'unwritable') && isKnown) return failure(cause)
    if (reason !== 'failed' || OF_SYSTEM.test(message)) return `the store cannot be used: ${message}`
  }
  return error.stack ?? error.message
}

/** What an error of the system says that has come from another thread: `EIO: i/o error, mkdir '/srv/data/blobs/12'`. */
const OF_SYSTEM = /^E[A-Z0-9]+: /

/** Whether SQLite may not make or change its files: `SQLITE_READONLY`, `SQLITE_CANTOPEN`. */
function cannotWrite(error: Error): boolean {
  const { errcode = 0 } = error as { errcode?: number }
  return (errcode & 0xff) === 8 || (errcode & 0xff) === 14
}

/** The help of the whole command line. */
function help(): string {
  return [
    'Usage: scriptorium [command] [options]',
    '',
    'An authoring server: documents that are edited by element, mounted as a drive',
    'and served as a site.',
    '',
    'Commands:',
    ...columns(COMMANDS.map(({ name, summary }): [string, string] => [name, summary])),
    '',
    'Options:',
    ...columns([
      ['-h, --help', 'Show this help; "scriptorium COMMAND --help" shows that of a command'],
      ['-V, --version', 'Show the version'],
    ]),
    '',
    'Examples:',
    '  scriptorium                      Try it out: http://localhost:8080',
    '  scriptorium --config site.yaml   Serve what a settings file describes',
    '  scriptorium hash                 Hash a password for the settings file',
  ].join('\n')
}

/** The version of this program. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : ''
}
