/** Lines of the command line: names come from sites and folders of anybody. */

import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Commands } from '../../../server/cli/commands.ts'
import { entry, line } from '../../../server/cli/terminal.ts'
import { scriptorium } from './terminal.ts'

const call = {
  delivery: 'd',
  site: 'localhost',
  method: 'POST',
  host: 'h',
  state: 'failed',
  attempts: 1,
  failure: '',
} as const

describe('lines for terminals', () => {
  for (const [text, shown] of [
    ['a\u001b]0;title\u0007b', 'a\\x1b]0;title\\x07b'],
    ['\u009b2J', '\\x9b2J'],
    ['a\rb\0', 'a\\x0db\\x00'],
    ['caf\u00e9\t\u4e2d\nnext', 'caf\u00e9\t\u4e2d\nnext'],
  ] as const)
    it(`nothing of ${JSON.stringify(text)} is for the terminal`, () => {
      const output = new PassThrough()
      line(output, text)
      expect(String(output.read())).to.equal(`${shown}\n`)
    })

  it('an entry of a list is one line, in its own order', () => {
    const output = new PassThrough()
    entry(output, 'a\nb.html: caf\u00e9\tgpj.\u202eexe\u2028\u061c\u001b')
    expect(String(output.read())).to.equal('a\\x0ab.html: caf\u00e9\tgpj.\\u202eexe\\u2028\\u061c\\x1b\n')
  })

  const odd = '\u009b2J\u007f\u0085gpj.\u202eexe\u2028\u061c\u001b\0\ncaf\u00e9 \u{1f600} \\x9b'
  const commands: Partial<Commands> = {
    explain: async () => ({ allowed: true, reason: odd, rules: [], known: [] }),
    reactions: async () => ({ reactions: [], others: 0, findings: [odd] }),
    outbound: async () => ({ calls: [{ ...call, failure: odd }], unknown: [] }),
    sites: async () => [{ name: odd, files: 0, bytes: 0, unpublished: 0, isServed: true }],
    query: async () => ({ text: JSON.stringify([odd]), isMarkup: false }),
    stored: async () => ['localhost'],
  }
  for (const argv of [
    ['explain', '--json', 'GET', '/'],
    ['reactions', '--json', 'GET', '/'],
    ['outbound', '--json'],
    ['sites', '--json'],
    ['query', '/', '1'],
    ['query', '--raw', '/', '1'],
  ])
    it(`JSON of ${argv.join(' ')} says the same to a program, and nothing of it is for the terminal`, async () => {
      const { output } = await scriptorium(argv, { commands })
      expect(output).to.match(/^[\n -~\u00e9\u{1f600}]+$/u)
      const found: string[] = []
      JSON.parse(output, (_key, value) => (typeof value === 'string' ? found.push(value) : value))
      expect(found).to.include(odd)
    })
})
