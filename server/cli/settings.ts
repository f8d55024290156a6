/** `scriptorium settings`: the reference of all settings. */

import { reference } from '../../config/reference.ts'
import type { Command } from './command.ts'

export const settings: Command = {
  name: 'settings',
  summary: 'Describe all settings, in Markdown',
  positionals: [],
  options: {},
  details: ['Made from the declarations that the server checks settings with.'],
  examples: [
    ['scriptorium settings | less', 'Read it'],
    ['scriptorium settings > config/README.md', 'Renew the documentation'],
  ],
  async run({ terminal }) {
    terminal.output.write(reference())
    return 0
  },
}
