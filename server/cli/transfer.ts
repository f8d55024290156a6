/** What export and import have in common: the site, the folder, progress, and the report at the end. */

import { resolve } from 'node:path'
import type { Settings } from '../../config/schema.ts'
import { count } from './check.ts'
import type { Call } from './command.ts'
import type { TransferOptions, TransferOutcome } from './commands.ts'
import { progressLine } from './progress.ts'
import { chosenSite, settingsOf, settingsOptions, siteOption } from './settings-options.ts'
import { entry, line } from './terminal.ts'

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
  const loaded = await settingsOf(call)
  const site = await chosenSite(call, loaded, command)
  return transferSite(call, loaded.settings, { site, directory: folderOf(call) }, work)
}

/** The folder that the arguments name. */
export function folderOf({ args, terminal }: Call): string {
  return resolve(terminal.cwd, args.positionals[0] ?? '.')
}

/**
 * Transfers one site and reports it.
 *
 * @returns the exit code
 */
export async function transferSite(
  { terminal }: Call,
  settings: Settings,
  { site, directory }: Pick<TransferOptions, 'site' | 'directory'>,
  work: (settings: Settings, options: TransferOptions) => Promise<TransferOutcome>,
): Promise<number> {
  const progress = progressLine(terminal.errors)
  const outcome = await work(settings, { site, directory, progress: progress.report }).finally(progress.end)
  for (const problem of outcome.problems) entry(terminal.errors, problem)
  const { files, bytes, helpers = 0 } = outcome
  const left = helpers > 0 ? `, without ${count(helpers, 'file')} that desktop systems keep for themselves` : ''
  line(terminal.output, `${site}: ${count(files, 'file')}, ${mebibytes(bytes)} (${directory})${left}`)
  return outcome.problems.length > 0 ? 1 : 0
}

/** A number of bytes for people. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}
