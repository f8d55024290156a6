/** `scriptorium reactions`: which reactions a request may run, and why. */

import { type Command, UsageError } from './command.ts'
import { chosenSite, settingsOf, settingsOptions, siteOption } from './settings-options.ts'
import { entry, json } from './terminal.ts'

export const reactions: Command = {
  name: 'reactions',
  summary: 'List the reactions that a request may run',
  positionals: ['METHOD', 'PATH'],
  options: { ...settingsOptions, ...siteOption, json: { type: 'boolean', doc: 'Answer in JSON' } },
  details: [
    'Shows triggers and processors that fit the method and path in the order in which',
    'they run, with what else has to hold when the request comes, and what they do.',
  ],
  examples: [['scriptorium reactions POST /guestbook.html', 'What runs when somebody signs the guest book?']],
  async run(call) {
    const [method = '', path = ''] = call.args.positionals
    if (!/^[A-Za-z-]+$/.test(method)) throw new UsageError(`"${method}" is no method; write METHOD PATH`, 'reactions')
    if (!path.startsWith('/')) throw new UsageError(`"${path}" is no path: paths begin with /`, 'reactions')
    const loaded = await settingsOf(call)
    const site = await chosenSite(call, loaded, 'reactions')
    const answer = await call.commands.reactions(loaded.settings, { site, method: method.toUpperCase(), path })
    if (call.args.flag('json')) {
      json(call.terminal.output, JSON.stringify(answer, null, 2))
      return 0
    }
    const print = (text: string) => entry(call.terminal.output, text)
    if (answer.reactions.length === 0) print(`${method.toUpperCase()} ${path} runs no reactions.`)
    for (const { kind, document, place, why, provided, does } of answer.reactions) {
      print(`${kind} ${place} of ${document}`)
      print(`  fits: ${why}`)
      for (const condition of provided) print(`  if ${condition}`)
      for (const action of does) print(`  ${action}`)
    }
    if (answer.others > 0) print(`Other reactions of the site, which do not fit: ${answer.others}.`)
    for (const finding of answer.findings) print(finding)
    return 0
  },
}
