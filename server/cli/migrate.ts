/** `scriptorium migrate`: everything from one store into another. */

import { resolve } from 'node:path'
import { databaseAddress } from '../../pipeline/store/postgres/address.ts'
import { count } from './check.ts'
import { type Command, UsageError } from './command.ts'
import { progressLine } from './progress.ts'
import { settingsOf, settingsOptions } from './settings-options.ts'
import { entry, line } from './terminal.ts'
import { mebibytes } from './transfer.ts'

/** The scheme of an address; drives of Windows have one letter. */
const SCHEME = /^[a-z][a-z0-9+.-]+:/i

const isBucket = (address: string) => address.startsWith('s3:')

/**
 * A store as the arguments name it. A database that was mistyped must not become a folder of that name, and its password is
 * shown to nobody.
 *
 * @throws UsageError
 */
function placeIn(cwd: string, option: string, written: string): string {
  if (databaseAddress(written) !== undefined) return written
  if (SCHEME.test(written)) throw new UsageError(`${option} is no address of a database (postgres://…)`, 'migrate')
  return resolve(cwd, written)
}

export const migrate: Command = {
  name: 'migrate',
  summary: 'Move everything that is stored into another store',
  positionals: [],
  options: {
    ...settingsOptions,
    from: { type: 'string', value: 'STORE', doc: 'Where it is: a data folder, postgres://… or s3://…' },
    to: { type: 'string', value: 'STORE', doc: 'Where it shall be: an empty store of another kind' },
  },
  details: [
    'All sites with drafts and properties, the keys of the installation, calls that wait and',
    'what sessions hold outside of a Redis. End the server first: what is written meanwhile',
    'stays behind. Every file is compared with its checksum, and each site as a whole by its',
    'tag and the number of its files. A move that was',
    'interrupted goes on when it is started again. The source stays as it is.',
    '',
    'From postgres://… to s3://… moves the large files of that database, and nothing else, into',
    'a bucket: servers that have it in their setting blobs may run meanwhile. From s3://… to',
    'postgres://… moves them back; then no server may run.',
    '',
    'The exit code is 0 when everything has arrived, else 1.',
  ],
  examples: [
    ['scriptorium migrate --from ./data --to postgres://u@db/site', 'To several machines'],
    ['scriptorium migrate --from postgres://u@db/site --to ./data', 'And back'],
    ['scriptorium migrate --from postgres://u@db/site --to s3://bucket/site', 'Large files alone'],
  ],
  async run(call) {
    const { terminal, args, commands } = call
    const [from, to] = [args.text('from'), args.text('to')]
    if (from === undefined || to === undefined) throw new UsageError('--from and --to are needed', 'migrate')
    const { settings } = await settingsOf(call)
    const progress = progressLine(terminal.errors)
    if (isBucket(from) || isBucket(to)) {
      const options = { from, to, progress: progress.report }
      const { blobs, bytes, problems } = await commands.moveBlobs(settings, options).finally(progress.end)
      for (const problem of problems) entry(terminal.errors, problem)
      line(terminal.output, `moved ${count(blobs, 'large file')}, ${mebibytes(bytes)}`)
      return problems.length === 0 ? 0 : 1
    }
    const { cwd } = terminal
    const options = { from: placeIn(cwd, '--from', from), to: placeIn(cwd, '--to', to), progress: progress.report }
    const moved = await commands.migrate(settings, options).finally(progress.end)
    const sites = moved.sites.filter(({ name }) => !name.includes('#'))
    const found = moved.found > 0 ? `; ${moved.found} of them were there already` : ''
    line(
      terminal.output,
      `moved ${count(sites.length, 'site')}, ${count(moved.files, 'file')}, ${mebibytes(moved.bytes)}${found}`,
    )
    return 0
  },
}
