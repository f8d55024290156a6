/** Texts of programs and templates that engines search in the square of their length, or that one step could not go through (SEC-12). */

import { hash } from 'node:crypto'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { FILTERS } from '../../pipeline/language/liquid/filters/filters.ts'
import { MarkupScanner } from '../../pipeline/language/liquid/markup.ts'
import { type MarkupContext, startOf } from '../../pipeline/language/liquid/place.ts'
import { Run } from '../../pipeline/language/liquid/run.ts'
import { rendered, scopeOf } from '../pipeline/language/liquid/rendering.ts'
import { became, hostFor } from '../pipeline/language/sessel/site.ts'
import { takesLess } from '../support/cost.ts'
import { unhurried } from '../support/unhurried.ts'

/** Milliseconds: searched as engines do it, each would take minutes. */
const SOON = 1000

const LONG = 120_000

/** Patterns of which much is found everywhere, and the whole nowhere. */
const PATTERNS = [
  ['with its rare letter in front', `b${'a'.repeat(LONG)}`],
  ['with its rare letter at the end', `${'a'.repeat(LONG)}b`],
  ['with its rare letter inside', `${'a'.repeat(LONG / 2)}b${'a'.repeat(LONG / 2)}`],
] as const

describe('long values', () => {
  for (const [what, pattern] of PATTERNS) {
    it(`SEC-12 templates look for a long text ${what} in linear time`, async () => {
      const names = { text: 'a'.repeat(4 * LONG), pattern }
      const source = `{% if text contains pattern %}1{% endif %}{{ text | replace: pattern, "x" | size }} {{
        text | replace_first: pattern, "x" | size }} {{ text | replace_last: pattern, "x" | size }} {{
        text | remove: pattern | size }} {{ text | split: pattern | size }}`
      const { length } = names.text
      const wanted = `${length} ${length} ${length} ${length} 1`
      expect(await takesLess(SOON, () => rendered(source, { names }))).to.equal(wanted)
    })

    it(`SEC-12 programs look for a long text ${what} in linear time`, async () => {
      const program = `let a = "aaaaaaaaaa"; let b = [a, a, a, a, a, a, a, a, a, a].join("");
        let c = [b, b, b, b, b, b, b, b, b, b, b, b].join(""); let d = [c, c, c, c, c, c, c, c, c, c].join("");
        let e = [d, d, d, d, d, d, d, d, d, d].join(""); let half = [d, d, d, d, d].join("");
        let p = [${pattern.startsWith('b') ? '"b", e' : pattern.endsWith('b') ? 'e, "b"' : 'half, "b", half'}].join("");
        let t = [e, e, e, e].join("");
        [t.contains(p), t.replace(p, "x") == t, t.split(p).count()]`
      expect(await takesLess(SOON, () => became(program, hostFor()))).to.equal('[false,true,1]')
    })
  }

  it('SEC-12 a slug is made of any number of marks in linear time', async () => {
    const program = (marks: number) => `let a = "\u0301\u0316"; let b = [a, a, a, a, a, a, a, a, a, a].join("");
      let c = [b, b, b, b, b, b, b, b, b, b].join(""); let d = [c, c, c, c, c, c, c, c, c, c].join("");
      ["a", ${Array(marks).fill('d').join()}, "b"].join("").slugify()`
    expect(await takesLess(SOON, () => became(program(40), hostFor()))).to.equal('"ab"')
    expect(await became('"Ça va, ÀÉÎ!".slugify()', hostFor())).to.equal('"ca-va-aei"')
  })

  const texts: [what: string, context: MarkupContext, start: string][] = [
    ['text', { kind: 'html', element: 'div' }, ''],
    ['a script', { kind: 'html', element: 'script' }, ''],
    ['a comment', { kind: 'html', element: 'div' }, '<!--'],
    ['a value', { kind: 'html', element: 'div' }, '<p title="'],
  ]
  for (const [what, context, start] of texts)
    it(`SEC-12 ${what} between any number of spans of a template is read in linear time`, () =>
      takesLess(SOON, () => {
        const scanner = new MarkupScanner(startOf(context))
        const text = start + 'x'.repeat(4_000_000)
        scanner.read(text, 0, start.length)
        for (let at = start.length; at < text.length; at += 20) scanner.read(text, at, at + 10)
      }))

  it('LIQ-71 long texts are hashed and written as JSON in turns', () => {
    const text = 'x\u{1f375}"'.repeat(1_200_000)
    for (const [name, wanted] of [
      ['sha256', hash('sha256', text)],
      ['json', JSON.stringify(text)],
    ] as const) {
      const run = new Run(scopeOf({}), unhurried())
      const call = { run, name, input: text, args: [], named: new Map(), evaluating: unused }
      const work = FILTERS.get(name)?.work?.(call)
      let steps = 0
      let step = work?.next()
      for (; step && !step.done; step = work?.next()) steps++
      expect(steps).to.be.at.least(2)
      expect(step?.value === wanted, name).to.equal(true)
    }
  })
})

function* unused(): Generator<undefined, null, undefined> {
  yield undefined
  return null
}
