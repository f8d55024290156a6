/** `scriptorium check`: proves that the store is sound. */

import type { Command } from './command.ts'
import { progressLine } from './progress.ts'
import { settingsOf, settingsOptions } from './settings-options.ts'
import { entry, line } from './terminal.ts'

export const check: Command = {
  name: 'check',
  summary: 'Check the store: documents, blobs, checksums, folders',
  positionals: [],
  options: {
    ...settingsOptions,
    repair: { type: 'boolean', doc: 'Repair what can be repaired without losing content' },
  },
  details: [
    'Lists rules, groups, schemas and reactions that may not say what they were meant to, and files',
    'that a killed process has left and the next server removes, as notes.',
    'The exit code is 0 when the store is sound (or was repaired), and 1 when it is not.',
  ],
  examples: [
    ['scriptorium check', 'Check ./data'],
    ['scriptorium check --config site.yaml --repair', 'Check and repair the store of a settings file'],
  ],
  async run(call) {
    const { terminal } = call
    const { settings } = await settingsOf(call)
    const progress = progressLine(terminal.errors)
    const outcome = await call.commands
      .check(settings, { repair: call.args.flag('repair'), progress: progress.report })
      .finally(progress.end)
    for (const problem of outcome.problems) entry(terminal.output, problem)
    for (const finding of outcome.notes ?? []) entry(terminal.output, `note: ${finding}`)
    const left = outcome.problems.length - outcome.repaired
    const repaired = outcome.repaired > 0 ? `, ${outcome.repaired} repaired` : ''
    line(terminal.output, `${outcome.checked} checked, ${count(outcome.problems.length, 'problem')}${repaired}`)
    return left > 0 ? 1 : 0
  },
}

/** A number with its noun: `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
