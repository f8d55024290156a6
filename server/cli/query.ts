// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** `scriptorium query`: evaluates an expression against what a site stores (SES-126). */

import { Fault } from '../../pipeline/fault.ts'
import { type Command, UsageError } from './command.ts'
import { chosenSite, settingsOf, settingsOptions, siteOption } from './settings-options.ts'
import { json, line } from './terminal.ts'

export const query: Command = {
  name: 'query',
  summary: 'Evaluate an expression on a document or directory',
  positionals: ['PATH', 'EXPRESSION'],
  options: {
    ...settingsOptions,
    ...siteOption,
    raw: { type: 'boolean', doc: 'Print JSON on one line, as a server sends it' },
  },
  details: [
    'PATH is a document, which is “self”, or a directory by the slash at its end. A bare',
    'selector looks there; “from” reaches every document of the site. Nothing is changed.',
    'An element is printed as markup, everything else as JSON.',
    '',
    'The exit code is 0 when there is a result, else 1.',
  ],
  examples: [
    ["scriptorium query /shop.html '${li}.count()'", 'Count the list items of a page'],
    ["scriptorium query / '${h1}.map(h => { path: h.path(), title: h.text() })'", 'List the titles of all pages'],
  ],
  async run(call) {
    const [path = '', program = ''] = call.args.positionals
    if (!path.startsWith('/')) throw new UsageError(`"${path}" is no path: paths begin with /`, 'query')
    const loaded = await settingsOf(call)
    const site = await chosenSite(call, loaded, 'query')
    const { terminal, commands } = call
    try {
      const { text, isMarkup } = await commands.query(loaded.settings, { site, path, program })
      if (isMarkup) line(terminal.output, text)
      else json(terminal.output, call.args.flag('raw') ? text : indented(text))
      return 0
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      line(terminal.errors, error.message)
      return 1
    }
  },
}

/** Lists and dictionaries up to this length stay on one line. */
const SHORT = 80

/** JSON as people read it; numbers and texts stay as they are written. */
export function indented(json: string, indent = ''): string {
  const open = json.charAt(0)
  if ((open !== '[' && open !== '{') || json.length + indent.length <= SHORT) return json
  const inside = `${indent}  `
  const parts = partsOf(json.slice(1, -1)).map(part => {
    const key = open === '{' ? (/^"(?:[^"\\]|\\.)*":/.exec(part)?.[0] ?? '') : ''
    return `${inside}${key}${key === '' ? '' : ' '}${indented(part.slice(key.length), inside)}`
  })
  return `${open}\n${parts.join(',\n')}\n${indent}${open === '[' ? ']' : '}'}`
}

/** What stands between the commas of a list or dictionary. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') while (text.charAt(++at) !== '"') if (text.charAt(at) === '\\') at++
    if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)]
}
