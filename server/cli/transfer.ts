/** What export and import have in common: the site, the folder, progress, and the report at the end. */

import { resolve } from 'node:path'
import type { Settings } from '../../config/schema.ts'
import { count } from './check.ts'
import type { Call } from './command.ts'
import type { TransferOptions, TransferOutcome } from './commands.ts'
import { progressLine } from './progress.ts'
import { chosenSite, settingsOf, settingsOptions, siteOption } from './settings-options.ts'
import { line } from './terminal.ts'

export const transferOptions = { ...settingsOptions, ...siteOption }

/**
 * Runs a transfer of the chosen site and reports it.
 *
 * @param command name of the command, for messages
 * @returns the exit code
 */
export async function transfer(
  call: Call,
  command: string,
  work: (settings: Settings, options: TransferOptions) => Promise<TransferOutcome>,
): Promise<number> {
  const { args, terminal } = call
  const loaded = await settingsOf(call)
  const site = chosenSite(call, loaded, command)
  const directory = resolve(terminal.cwd, args.positionals[0] ?? '.')
  const progress = progressLine(terminal.errors)
  const outcome = await work(loaded.settings, { site, directory, progress: progress.report }).finally(progress.end)
  for (const problem of outcome.problems) line(terminal.errors, problem)
  const mebibytes = (outcome.bytes / 1024 ** 2).toFixed(1)
  line(terminal.output, `${site}: ${count(outcome.files, 'file')}, ${mebibytes} MiB (${directory})`)
  return outcome.problems.length > 0 ? 1 : 0
}
