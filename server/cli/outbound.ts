/** `scriptorium outbound`: the queue of outbound requests, and sending failed ones again. */

import type { Command } from './command.ts'
import { settingsOf, settingsOptions } from './settings-options.ts'
import { entry, json } from './terminal.ts'

export const outbound: Command = {
  name: 'outbound',
  summary: 'List outbound requests, or send failed ones again',
  positionals: [],
  options: {
    ...settingsOptions,
    resend: { type: 'string', multiple: true, value: 'ID', doc: 'Send a failed request again; may be repeated' },
    json: { type: 'boolean', doc: 'Answer in JSON' },
  },
  details: [
    'Shows requests that wait and, for a week, those that have failed. Addresses are',
    'shown without path, and contents not at all: they may hold secrets. A running',
    'server takes up what is sent again within half a minute.',
  ],
  examples: [
    ['scriptorium outbound', 'What waits, and what has failed?'],
    ['scriptorium outbound --resend 5f1c3a52-6c1e-4a8b-9a53-2f1d0c7e9b11', 'Send one of them again'],
  ],
  async run(call) {
    const loaded = await settingsOf(call)
    const { terminal, commands, args } = call
    const print = (text: string) => entry(terminal.output, text)
    const resend = args.texts('resend')
    const { calls, unknown } = await commands.outbound(loaded.settings, { resend })
    if (args.flag('json')) json(terminal.output, JSON.stringify(calls, null, 2))
    else if (calls.length === 0) print('No outbound requests wait, and none have failed.')
    else
      for (const { delivery, site, method, host, state, attempts, failure } of calls)
        print(
          `${delivery}  ${state.padEnd(7)}  ${site}  ${method} ${host}  attempts: ${attempts}${failure ? `, ${failure}` : ''}`,
        )
    for (const id of unknown) entry(terminal.errors, `No failed request has the delivery id ${id}.`)
    return unknown.length > 0 ? 1 : 0
  },
}
