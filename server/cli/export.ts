/** `scriptorium export`: writes a site to a folder of plain files. */

import type { Command } from './command.ts'
import { transfer, transferOptions } from './transfer.ts'

export const exportSite: Command = {
  name: 'export',
  summary: 'Write a site to a folder of plain files',
  positionals: ['FOLDER'],
  options: transferOptions,
  details: ['Documents and blobs keep their names and bytes. The server may be running.'],
  examples: [
    ['scriptorium export backup', 'Write the only site to ./backup'],
    ['scriptorium export -c site.yaml --site www.example.org backup', 'Choose a site'],
  ],
  run: call => transfer(call, 'export', call.commands.export),
}
