/** The commands themselves, run in this process: a process of its own takes as long to start as most of them work. */

import type { Commands } from '../../../server/cli/commands.ts'
import { check, explain, exportCommand, importCommand } from '../../../server/site-commands.ts'
import { backup, checkSaved, migrate, moveBlobs, restore, sites, stored } from '../../../server/store-commands.ts'
import { scriptorium } from './terminal.ts'

const commands: Partial<Commands> = {
  backup,
  check,
  checkSaved,
  explain,
  export: exportCommand,
  import: importCommand,
  migrate,
  moveBlobs,
  restore,
  sites,
  stored,
}

/** @returns exit code, and standard output with standard error behind it */
export async function runHere(
  argv: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const { code, output, errors } = await scriptorium([...argv], { commands, cwd, env })
  return { code, output: output + errors }
}
