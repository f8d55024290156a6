/** `scriptorium backup` and `scriptorium restore`: one state of everything that is stored, and back. */

import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { count } from './check.ts'
import { type Call, type Command, UsageError } from './command.ts'
import { progressLine } from './progress.ts'
import { placeNamed, settingsOf, settingsOptions } from './settings-options.ts'
import { entry, line } from './terminal.ts'
import { folderOf, mebibytes } from './transfer.ts'

const quiet = { type: 'boolean', short: 'q', doc: 'Say nothing when all is well' } as const

export const backup: Command = {
  name: 'backup',
  summary: 'Save everything that is stored to a folder or a file',
  positionals: ['FOLDER|FILE.tar'],
  options: { ...settingsOptions, quiet },
  details: [
    'All sites as they stood at one moment, drafts and properties included. The server may',
    'be running, and goes on writing. Into a folder with an earlier backup only what is new',
    'is written; the earlier one stays whole until the new one is. A name that ends in .tar',
    'makes one file, written anew each time, by way of a folder beside it.',
    'The settings file, certificates and the log are not part of it.',
    '',
    'The exit code is 0 when everything was saved, else 1.',
  ],
  examples: [
    ['scriptorium backup /backup/site', 'Save ./data'],
    ['scriptorium backup /backup/site.tar', 'The same as one file'],
    ['scriptorium backup -q -c /etc/scriptorium/site.yaml /backup/site', 'A line for cron'],
  ],
  async run(call) {
    const { terminal, args, commands } = call
    const place = await placeOf(call, 'backup')
    const { settings } = await settingsOf(call)
    const isQuiet = args.flag('quiet')
    const progress = progressLine(terminal.errors)
    const report = isQuiet ? () => undefined : progress.report
    const saved = await commands.backup(settings, { ...place, progress: report }).finally(progress.end)
    const fresh = `${saved.newFiles} written (${mebibytes(saved.newBytes)})`
    if (!isQuiet) line(terminal.output, `saved ${summary(saved)}; ${fresh}: ${place.place}`)
    return 0
  },
}

export const restore: Command = {
  name: 'restore',
  summary: 'Put a backup into an empty data folder, or prove that it is whole',
  positionals: ['FOLDER|FILE.tar'],
  options: {
    ...settingsOptions,
    check: { type: 'boolean', doc: 'Restore nothing, read everything in the backup and compare it' },
    quiet,
  },
  details: [
    'Sites that are stored already are never touched: restore into a new data folder, then',
    'start the server with it. Every byte is compared with its checksum, and each site as a',
    'whole with the tag that it had. A restore that was interrupted goes on when it is',
    'started again.',
    '',
    'The exit code is 0 when everything is as it was, else 1.',
  ],
  examples: [
    ['scriptorium restore --data ./restored /backup/site', 'Restore into ./restored'],
    ['scriptorium restore --check /backup/site', 'Prove that the backup is whole'],
  ],
  async run(call) {
    const { terminal, args, commands } = call
    const place = await placeOf(call, 'restore')
    const isQuiet = args.flag('quiet')
    const progress = progressLine(terminal.errors)
    const options = { ...place, progress: isQuiet ? () => undefined : progress.report }
    if (args.flag('check')) {
      const { problems, ...saved } = await commands.checkSaved(options).finally(progress.end)
      for (const problem of problems) entry(terminal.errors, problem)
      if (!isQuiet) line(terminal.output, `${summary(saved)} of ${saved.at}: ${count(problems.length, 'problem')}`)
      return problems.length > 0 ? 1 : 0
    }
    const { settings } = await settingsOf(call)
    const restored = await commands.restore(settings, options).finally(progress.end)
    if (!isQuiet) line(terminal.output, `restored ${summary(restored)} of ${restored.at}: ${placeNamed(settings)}`)
    return 0
  },
}

/** Archives of other formats. */
const OTHER = /\.(?:tar\.[a-z0-9]+|tgz|tbz2?|txz|zip|7z|gz)$/i

/**
 * Where the backup is.
 *
 * @throws UsageError for a file that is no tar archive, and for the name of one where nothing is yet
 */
async function placeOf(call: Call, command: 'backup' | 'restore'): Promise<{ place: string; isArchive: boolean }> {
  const place = folderOf(call)
  const found = await stat(place).catch(() => undefined)
  if (found?.isDirectory()) return { place, isArchive: false }
  if (place.endsWith('.tar')) return { place, isArchive: true }
  if (!found && !OTHER.test(place)) return { place, isArchive: false }
  const plain = place.replace(OTHER, '')
  const advice =
    command === 'backup' ? `name ${plain} or ${plain}.tar` : `unpack ${basename(place)}, and name what comes of it`
  throw new UsageError(`a backup is a folder or a .tar file: ${advice}`, command)
}

/** Parts of a store that belong to mounts have names that no host has. */
function summary({
  sites,
  files,
  bytes,
}: {
  sites: readonly { name: string }[]
  files: number
  bytes: number
}): string {
  const names = sites.filter(({ name }) => !name.includes('#'))
  return `${count(names.length, 'site')}, ${count(files, 'file')}, ${mebibytes(bytes)}`
}
