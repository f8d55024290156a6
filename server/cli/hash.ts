/** `scriptorium hash`: makes what a settings file may hold in place of a password or an access key. */

import { createAccessKey, hashPassword } from '../../config/passwords.ts'
import type { Command } from './command.ts'
import { NoPassword, readPassword } from './password-input.ts'
import { line } from './terminal.ts'

export const hash: Command = {
  name: 'hash',
  summary: 'Hash a password for the settings file, or make an access key',
  positionals: [],
  options: {
    key: { type: 'boolean', short: 'k', doc: 'Make a random access key instead; the key is shown only this once' },
  },
  details: [
    'The password is read from the terminal without being shown, or from the first line',
    'of standard input. It is no argument, because other users can see arguments.',
  ],
  examples: [
    ['scriptorium hash', 'Type a password, get the line for "password:"'],
    ['pass show site/editor | scriptorium hash', 'Take it from a password manager'],
    ['scriptorium hash --key', 'Make an access key for a deployment tool'],
  ],
  async run({ args, terminal }) {
    if (args.flag('key')) {
      const { key, stored } = createAccessKey()
      line(terminal.output, `key for the client:   ${key}`)
      line(terminal.output, `key: for settings:    ${stored}`)
      return 0
    }
    try {
      line(terminal.output, await hashPassword(await readPassword(terminal)))
      return 0
    } catch (error) {
      if (!(error instanceof NoPassword)) throw error
      line(terminal.errors, error.message)
      return 1
    }
  },
}
