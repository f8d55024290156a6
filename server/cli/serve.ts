/** `scriptorium serve`: runs the server. */

import { shownSettings } from '../../config/redact.ts'
import { yaml } from '../../config/yaml.ts'
import { type Command, UsageError } from './command.ts'
import { settingsOf, settingsOptions } from './settings-options.ts'
import { line } from './terminal.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'Run the server (what happens without a command)',
  positionals: [],
  options: {
    ...settingsOptions,
    host: { type: 'string', value: 'ADDRESS', doc: 'Address to listen on (127.0.0.1)' },
    port: { type: 'string', short: 'p', value: 'PORT', doc: 'Port of the public surface (8080); 0 takes a free one' },
    'mount-port': { type: 'string', value: 'PORT', doc: 'Port of the mount (8081); 0 takes a free one' },
    'new-password': { type: 'boolean', doc: 'Make a new password for the user of the demo site' },
    'print-config': { type: 'boolean', doc: 'Show the settings in force, without secrets, and end' },
  },
  details: [
    'Without any settings it serves a demo site on http://localhost:8080 and its mount',
    'on http://localhost:8081, keeps documents in ./data, and prints the password of',
    'the user "editor" at the first start. SIGTERM and Ctrl-C end it gracefully.',
  ],
  examples: [
    ['scriptorium', 'Try it out'],
    ['scriptorium --config site.yaml', 'Serve what a settings file describes'],
    ['scriptorium serve -c site.yaml --port 9000 --set log.level=debug', 'The same with other values'],
    ['SCRIPTORIUM_LISTEN_PORT=9000 scriptorium', 'A setting from the environment'],
  ],
  async run(call) {
    const { args, terminal, commands } = call
    const { settings, advice, firstStart } = await settingsOf(call)
    if (args.flag('print-config')) {
      terminal.output.write(yaml().stringify(shownSettings(settings)))
      return 0
    }
    if (args.flag('new-password') && !firstStart)
      throw new UsageError(
        'sites of your own have no user of the demo; "scriptorium user add NAME" replaces a password',
        'serve',
      )
    for (const text of advice) line(terminal.errors, `warning: ${text}`)
    const print = (text: string) => line(terminal.output, text)
    await commands.serve(settings, {
      firstStart,
      newPassword: args.flag('new-password'),
      reload: async () => (await settingsOf(call)).settings,
      print,
    })
    return 0
  },
}
