/** `scriptorium health`: asks the running server how it is. */

import type { Command } from './command.ts'
import { settingsOf, settingsOptions } from './settings-options.ts'
import { line } from './terminal.ts'

export const health: Command = {
  name: 'health',
  summary: 'Ask the running server how it is',
  positionals: [],
  options: {
    ...settingsOptions,
    ready: { type: 'boolean', doc: 'Ask whether it can do its work, not only whether it answers' },
  },
  details: [
    'Asks the server that the settings describe, on this machine; for health checks of',
    'containers, which need to know neither port nor brand.',
    '',
    'The exit code is 0 when all is well, else 1.',
  ],
  examples: [
    ['scriptorium health', 'Does it answer?'],
    ['scriptorium health --ready --config site.yaml', 'Are Redis and the disk there, too?'],
  ],
  async run(call) {
    const { settings } = await settingsOf(call)
    const { ok, said } = await call.commands.askHealth(settings, { ready: call.args.flag('ready') })
    line(call.terminal.output, said)
    return ok ? 0 : 1
  },
}
