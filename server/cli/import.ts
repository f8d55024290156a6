/** `scriptorium import`: reads a folder of plain files into a site. */

import type { Command } from './command.ts'
import { transfer, transferOptions } from './transfer.ts'

export const importSite: Command = {
  name: 'import',
  summary: 'Read a folder of plain files into a site',
  positionals: ['FOLDER'],
  options: transferOptions,
  details: ['Files of the same path are replaced, others stay. Stop the server before.'],
  examples: [
    ['scriptorium import backup', 'Read ./backup into the only site'],
    ['scriptorium import -c site.yaml --site www.example.org backup', 'Choose a site'],
  ],
  run: call => transfer(call, 'import', call.commands.import),
}
