/** `scriptorium export`: writes a site to a folder of plain files. */

import { join } from 'node:path'
import { type Call, type Command, UsageError } from './command.ts'
import { chosenSite, knownSites, settingsOf } from './settings-options.ts'
import { folderOf, transferOptions, transferSite } from './transfer.ts'

export const exportSite: Command = {
  name: 'export',
  summary: 'Write a site to a folder of plain files',
  positionals: ['FOLDER'],
  options: {
    ...transferOptions,
    all: { type: 'boolean', doc: 'Write every site, each to a folder of its own in FOLDER' },
  },
  details: [
    'Documents and blobs keep their names and bytes. The server may be running: each file',
    'is whole, but not all are from one moment. FOLDER must be empty or not there yet; one',
    'that is made is closed to other users, for denied documents are in it.',
    'To keep a copy of everything, take "scriptorium backup".',
  ],
  examples: [
    ['scriptorium export files', 'Write the only site to ./files'],
    ['scriptorium export -c site.yaml --site www.example.org files', 'Choose a site'],
    ['scriptorium export -c site.yaml --all files', 'Write all of them'],
  ],
  async run(call) {
    const loaded = await settingsOf(call)
    const directory = folderOf(call)
    if (!call.args.flag('all')) {
      const site = await chosenSite(call, loaded, 'export', ', or write every one with --all')
      return transferSite(call, loaded.settings, { site, directory }, call.commands.export)
    }
    if (call.args.text('site') !== undefined) throw new UsageError('--all and --site exclude each other', 'export')
    return exportAll(call, directory, loaded.settings)
  },
}

async function exportAll(call: Call, directory: string, settings: Parameters<typeof transferSite>[1]): Promise<number> {
  let code = 0
  for (const site of await knownSites(call, settings))
    code = Math.max(
      code,
      await transferSite(call, settings, { site, directory: join(directory, site) }, call.commands.export),
    )
  return code
}
