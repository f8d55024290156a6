/** What anybody can make long is done in steps, and each step is short whatever it is about (SEC-4, LIQ-71). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Allowance } from '../../pipeline/language/allowance.ts'
import { compileTemplate } from '../../pipeline/language/liquid/liquid.ts'
import { rendering } from '../../pipeline/language/liquid/render.ts'
import { Run } from '../../pipeline/language/liquid/run.ts'
import { jsonText, writingJson } from '../../pipeline/language/sessel/sessel.ts'
import type { Value } from '../../pipeline/language/values.ts'
import { atOnce, inTurns, type Steps } from '../../pipeline/tree/steps.ts'
import { scopeOf } from '../pipeline/language/liquid/rendering.ts'
import { stepsOf } from '../support/steps.ts'

const MEGABYTE = 1024 * 1024

/** A template in turns, and how much it may take. */
function* template(source: string, names: Record<string, Value> = {}): Steps<void> {
  const compiled = compileTemplate(source, { kind: 'html', element: 'div' })
  for (const _ of rendering(compiled, new Run(scopeOf(names), new Allowance()))) yield
}

const alike = 'a'.repeat(MEGABYTE)
const names = { a: `${alike}b`, b: `${alike}c`, blanks: ' '.repeat(MEGABYTE), list: Array(MEGABYTE / 8).fill('a') }
const texts = { texts: Array.from({ length: 16 }, (_, i) => `${'a'.repeat(MEGABYTE / 4)}${i}`) }
const often = (test: string) => `{% for i in (1..10) %}{% if ${test} %}x{% endif %}{% endfor %}`

describe('long turns', () => {
  const cases: [what: string, least: number, work: () => Steps<unknown>][] = [
    ['SES-232 a list of values as JSON', 100, () => writingJson(Array(100_000).fill('x'))],
    ['SES-232 lists in lists as JSON', 100, () => writingJson(Array(50_000).fill(['x']))],
    ['SES-232 a dictionary as JSON', 10, () => writingJson(new Map(Object.entries({ ...Array(10_000).fill(1) })))],
    ['SES-232 a long text as JSON', 16, () => writingJson('<\u2028\n😀'.repeat(MEGABYTE / 4))],
    ['LIQ-71 the order of long texts', 5, () => template(often('a < b'), names)],
    ['LIQ-71 the likeness of long texts', 5, () => template(often('a == b'), names)],
    ['LIQ-71 a long text of blanks', 5, () => template(often('blanks == blank'), names)],
    ['LIQ-71 a search in a long list', 9, () => template(often('list contains "z"'), names)],
    ['LIQ-71 texts that are sorted', 5, () => template('{% assign x = texts | sort %}', texts)],
    [
      'LIQ-71 a range that is not gone through',
      10,
      () => template('{% for i in (1..100000) %}{% break %}{% endfor %}'),
    ],
  ]
  for (const [what, least, work] of cases)
    it(`${what}: ${least} steps at least`, () => {
      expect(stepsOf(work())).to.be.at.least(least)
    })

  it('SES-232 JSON in steps is that of JavaScript', () => {
    const long = '<\u2028\n😀"'.repeat(40_000)
    const value = [long, [], ['a', true, null], new Map<string, Value>([['k', ['x', long]]]), new Map()]
    const wanted = JSON.stringify([long, [], ['a', true, null], { k: ['x', long] }, {}])
    expect(atOnce(writingJson(value)) === wanted).to.equal(true)
    expect(jsonText(`${'x'.repeat(70_000)}\ud83d`)).to.equal(`"${'x'.repeat(70_000)}\ufffd"`)
  })

  it('SEC-4 work on a short text that takes long all the same is left for others', async () => {
    let isOver = false
    setImmediate(() => {
      isOver = true
    })
    const giveUp = performance.now() + 10_000
    const waiting = function* (): Steps<boolean> {
      while (!isOver && performance.now() < giveUp) yield
      return isOver
    }
    expect(await inTurns(waiting(), 0)).to.equal(true)
  })
})
