/** Lines of the command line: names come from sites and folders of anybody. */

import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { entry, line } from '../../../server/cli/terminal.ts'

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
    entry(output, 'a\nb.html: caf\u00e9\tgpj.\u202eexe\u2028\u001b')
    expect(String(output.read())).to.equal('a\\x0ab.html: caf\u00e9\tgpj.\\u202eexe\\u2028\\x1b\n')
  })
})
