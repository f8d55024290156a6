/** `scriptorium sites`: what is stored. */

import { count } from './check.ts'
import type { Command } from './command.ts'
import type { StoredSite } from './commands.ts'
import { settingsOf, settingsOptions } from './settings-options.ts'
import { entry, json } from './terminal.ts'
import { mebibytes } from './transfer.ts'

export const sites: Command = {
  name: 'sites',
  summary: 'List what is stored: sites, files, sizes',
  positionals: [],
  options: {
    ...settingsOptions,
    json: { type: 'boolean', doc: 'Answer in JSON' },
  },
  details: ['The server may be running.'],
  examples: [
    ['scriptorium sites', 'List what is stored in ./data'],
    ['scriptorium sites --config site.yaml --json', 'The same for a program'],
  ],
  async run(call) {
    const { settings } = await settingsOf(call)
    const found = await call.commands.sites(settings)
    const { output } = call.terminal
    if (call.args.flag('json')) json(output, JSON.stringify(found, null, 2))
    else for (const text of table(found.map(rowOf))) entry(output, text)
    return 0
  },
}

function rowOf({ name, files, bytes, unpublished, changed, isServed }: StoredSite): string[] {
  const notes = [
    ...(unpublished > 0 ? [`${count(unpublished, 'unpublished file')} on the mount`] : []),
    ...(isServed ? [] : ['not in the settings']),
  ]
  const since = changed === undefined ? 'nothing stored' : `changed ${new Date(changed).toISOString().slice(0, 16)}Z`
  return [name, count(files, 'file'), mebibytes(bytes), since, notes.join(', ')]
}

/** Numbers stand at the right of their columns. */
function table(rows: readonly string[][]): string[] {
  const width = (column: number) => Math.max(...rows.map(row => row[column]?.length ?? 0))
  const widths = [0, 1, 2, 3, 4].map(width)
  return rows.map(row =>
    row
      .map((text, column) =>
        column === 1 || column === 2 ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
}
