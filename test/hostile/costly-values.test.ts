// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions have placeholders of their own
/** What programs and templates do with large values is paid for, leaves others their turn, and grows with the values alone (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { itemsOf } from '../../pipeline/compose/splice.ts'
import { type Allowance, AllowanceSpent } from '../../pipeline/language/allowance.ts'
import { Sender, Unsendable } from '../../pipeline/language/javascript/encode.ts'
import { compileTemplate } from '../../pipeline/language/liquid/liquid.ts'
import { rendering } from '../../pipeline/language/liquid/render.ts'
import { Run } from '../../pipeline/language/liquid/run.ts'
import { ElementValue, type Value } from '../../pipeline/language/values.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { elementsIn } from '../../pipeline/tree/ids.ts'
import { atOnce, type Steps } from '../../pipeline/tree/steps.ts'
import { textKey } from '../../pipeline/tree/text-key.ts'
import { NS, scopeOf } from '../pipeline/language/liquid/rendering.ts'
import { became, hostFor } from '../pipeline/language/sessel/site.ts'
import { running } from '../pipeline/language/sessel/turns.ts'
import { takesLess } from '../support/cost.ts'
import { stepsOf } from '../support/steps.ts'
import { unhurried } from '../support/unhurried.ts'

/** `let NAME = …`: a value in which the one before stands twice, `times` times over. */
const doubled = (name: string, first: string, twice: (before: string) => string, times: number) =>
  `let ${name}0 = ${first};${Array.from({ length: times }, (_, i) => `let ${name}${i + 1} = ${twice(`${name}${i}`)};`).join('')}` +
  `let ${name} = ${name}${times};`

const lists = (name: string) => doubled(name, '[1]', before => `[${before}, ${before}]`, 14)
const dictionaries = (name: string) => doubled(name, '{ x: 1 }', before => `{ a: ${before}, b: ${before} }`, 12)
const text = (name: string, power: number) => doubled(name, '"a"', before => `${before} + ${before}`, power)
const items = (power: number) =>
  `${doubled('s', '"a,"', before => `${before} + ${before}`, power)}let xs = s.split(",");`

/** What a program may do with a megabyte: two texts that differ in their last character alone. */
const alike = `${text('t', 20)}let a = t + "b";let b = t + "c";`

/** Steps of the allowance that a program takes. */
function paid(program: string): number {
  const allowance = unhurried()
  atOnce(running(program, hostFor(), allowance))
  return allowance.stepsTaken
}

function sender(): Sender {
  return new Sender({ site: 'a', ns: NS, origin: undefined, place: 'expression', source: '' }, unhurried())
}

function* template(source: string, names: Record<string, Value>): Steps<void> {
  const compiled = compileTemplate(source, { kind: 'html', element: 'div' })
  for (const _ of rendering(compiled, new Run(scopeOf(names), unhurried()))) yield
}

describe('costly values', () => {
  const turns: [what: string, least: number, program: string][] = [
    ['SES-211 failures that are caught', 900, `${items(10)}xs.map(x => try { throw x } catch (e) { 1 })`],
    ['SES-52 lists in lists that are compared', 15, `${lists('a')}${lists('b')}a == b`],
    ['SES-52 dictionaries that are compared', 8, `${dictionaries('a')}${dictionaries('b')}a == b`],
    ['SES-64 the text of lists in lists', 15, `${lists('a')}"#{a}"`],
    ['SES-64 the text of dictionaries', 8, `${dictionaries('a')}"#{a}"`],
    ['SES-63 a dictionary that becomes a text', 8, `${dictionaries('a')}a.String()`],
    ['SES-80 large values that are joined', 30, `${lists('a')}[a, a].join(",")`],
    ['SES-80 large values of which each is kept once', 30, `${lists('a')}[a, a].unique()`],
    ['SES-80 a large value that is looked for', 30, `${lists('a')}[a].contains(a)`],
    ['SES-81 numbers in a list', 30, `${items(14)}xs.sum()`],
    ['SES-81 the least of a list', 30, `${items(14)}xs.min()`],
    [
      'SES-82 long texts that are sorted',
      30,
      `${alike}${items(5)}xs.map((x, i) => if (i / 2 * 2 == i) { a } else { b }).sort()`,
    ],
  ]
  for (const [what, least, program] of turns)
    it(`SEC-12 ${what}: ${least} turns at least`, () => {
      expect(stepsOf(running(program))).to.be.at.least(least)
    })

  const costs: [what: string, least: number, program: string][] = [
    ['SES-53 the order of long texts', 30_000, `${alike}${'a < b;'.repeat(20)}`],
    ['SES-52 the likeness of long texts', 30_000, `${alike}${'a == b;'.repeat(20)}`],
    ['SES-82 long texts that are sorted', 30_000, `${alike}[a, b, a, b, a, b, a, b].sort()`],
    ['SES-162 a long text in a script', 10_000, `${alike}new script { text: a }`],
  ]
  for (const [what, least, program] of costs)
    it(`SEC-12 ${what}: ${least} steps at least`, () => {
      expect(paid(program) - paid(alike)).to.be.at.least(least)
    })

  const moves: [what: string, program: string][] = [
    ['SES-144 elements that are replaced', 'e.children().map(c => c.replaceWith(new b))'],
    ['SES-144 elements that are removed', 'let c = e.children();c.map((x, i) => c.at(0 - i - 2)?.remove())'],
    ['SES-144 elements in front of the first', 'xs.map(x => e.prepend(new b))'],
    ['SES-144 elements in front of the last', 'let l = e.children().last();xs.map(x => (new b).insertBefore(l))'],
  ]
  for (const [what, program] of moves)
    it(`SEC-12 ${what} among many cost more than among few`, () => {
      const each = (power: number) => {
        const before = `${items(power)}let e = new ul { xs.map(x => new li) };`
        return (paid(`${before}${program}`) - paid(before)) / 2 ** power
      }
      expect(each(12)).to.be.above(each(8) + 8)
    })

  it('SES-162 SEC-12 what is put into a script looks at what stands beside it, not at all that it holds', async () => {
    const program = `${text('t', 21)}${items(7)}let s = new style { text: t };xs.map(x => s.append("x")).count()`
    await takesLess(60, () => became(program))
  })

  const ends: [program: string, is: RegExp][] = [
    ['let s = new style { text: "le>" };s.prepend("</sty")', /would end/],
    ['let s = new style { text: "</sty" };s.append("le>")', /would end/],
    ['let s = new style { text: "</s" };s.append("ty");s.append("LE>")', /would end/],
    ['let s = new script { text: "-" };s.prepend("<!-")', /would end/],
    ['let s = new style { text: "yle>" };s.append("</st");s.getHTML()', /"yle><\/st"/],
  ]
  for (const [program, is] of ends)
    it(`SES-162 texts that would end their element together are refused, and others not: ${program}`, async () => {
      expect(await became(program)).to.match(is)
    })

  it('SEC-12 SES-43 keys have a length', async () => {
    const key = `${text('t', 12)}let d = {};`
    expect(await became(`${key}d[t] = 1;d.count()`)).to.equal('1')
    expect(await became(`${key}d[t + "a"] = 1`)).to.match(/key is longer than 4096/)
    expect(await became(`${key}{ "#{t}a": 1 }`)).to.match(/key is longer than 4096/)
  })

  it('SEC-12 SES-64 a large value becomes no text where nobody can wait', async () => {
    const large = doubled('a', '{ x: 1 }', before => `{ a: ${before}, b: ${before} }`, 15)
    expect(await became(`${large}new p { text: a }`)).to.match(/too large to become a text/)
    expect(await became(`${large}(new p { text: a.String() }).text().count() > 100000`)).to.equal('true')
  })

  it('SEC-12 LIQ-19 a hash is printed in steps, and too large where nobody can wait', () => {
    let hash: Value = new Map([['x', 1n]])
    for (let i = 0; i < 16; i++)
      hash = new Map([
        ['a', hash],
        ['b', hash],
      ])
    expect(stepsOf(template('{{ x }}', { x: hash }))).to.be.at.least(100)
    const printed = stepsOf(template('{{ "" | append: x }}{{ y }}', { x: hash, y: 1n }))
    expect(printed).to.be.below(5)
  })

  const long = Array.from({ length: 1_000 }, (_, i) => `${'a'.repeat(16_400)}${1_000 + i}`)
  for (const filter of ['uniq', 'group_by: "a"'])
    it(`SEC-12 LIQ-71 long texts of one length are told apart in linear time: ${filter}`, async () => {
      const x = filter === 'uniq' ? long : long.map(each => new Map([['a', each]]))
      await takesLess(250, () => stepsOf(template(`{% assign y = x | ${filter} %}`, { x })))
    })

  it('SEC-12 JS-35 a value that stands in others many times is paid for each time that it is handed to a script', () => {
    let value: Value = [1n]
    for (let i = 0; i < 20; i++)
      value =
        i % 2
          ? [value, value]
          : new Map([
              ['a', value],
              ['b', value],
            ])
    expect(() => sender().value(value)).to.throw(AllowanceSpent)
    expect(() => sender().value(Array(100_000).fill('x'))).not.to.throw()
    expect(() => sender().value(['x'.repeat(200 * 1024 * 1024)])).to.throw(AllowanceSpent)
  })

  /** Hands over some of a hundred elements in each other. */
  const handed = (within: string, count: number, isOwn: boolean): Allowance => {
    const document = parseDocument('html', `${'<div>'.repeat(100)}${within}`)
    const all = [...elementsIn(document.root.childNodes)].filter(({ tagName }) => tagName === 'div')
    const allowance = unhurried({ steps: 50_000, memory: 200_000 })
    const job = { site: 'a', ns: NS, origin: undefined, place: 'expression', source: '' } as const
    const sending = new Sender(isOwn ? { ...job, document: { document } } : job, allowance)
    sending.value(all.slice(0, count).map(each => new ElementValue(each)))
    return allowance
  }
  for (const isOwn of [false, true])
    it(`SEC-12 JS-35 elements in each other${isOwn ? ' of the page itself' : ''} are paid for with all that is in each`, () => {
      const within = '<i></i>'.repeat(1_000)
      expect(handed(within, 2, isOwn).stepsTaken).to.be.above(2_000)
      expect(() => handed(within, 100, isOwn)).to.throw(AllowanceSpent, /steps/)
    })

  it('SEC-12 JS-35 texts and attributes of elements in each other are paid for with each', () => {
    for (const within of ['a'.repeat(10_000), `<i title="${'a'.repeat(10_000)}">`, `<!--${'a'.repeat(10_000)}-->`]) {
      expect(() => handed(within, 2, false)).not.to.throw()
      expect(() => handed(within, 100, false)).to.throw(AllowanceSpent, /memory/)
    }
  })

  it('SEC-12 COMP-31 a value that stands in others many times is paid for each time that it is put into a page', () => {
    let list: Value = ['x']
    for (let i = 0; i < 20; i++) list = [list, list]
    expect(() => itemsOf(list, unhurried())).to.throw(AllowanceSpent)
    let empty: Value = []
    for (let i = 0; i < 20; i++) empty = [empty, empty]
    expect(() => itemsOf(empty, unhurried())).to.throw(AllowanceSpent)
    let deep: Value = 'x'
    for (let i = 0; i < 50_000; i++) deep = i % 2 ? [deep] : [deep, null]
    expect(itemsOf(deep, unhurried())).to.deep.equal(['x'])
    expect(itemsOf([1n, ['a', ['b', null], []], 2n], unhurried())).to.deep.equal([1n, 'a', 'b', 2n])
  })

  it('SEC-12 JS-35 a value that is nested too deeply is handed to no script', () => {
    let value: Value = 1n
    for (let i = 0; i < 500; i++) value = [value]
    expect(sender().value(value).text).to.equal(`${'['.repeat(500)}1${']'.repeat(500)}`)
    expect(() => sender().value([value])).to.throw(Unsendable, /nested deeper/)
    for (let i = 0; i < 50_000; i++) value = [value]
    expect(() => sender().value(value)).to.throw(Unsendable, /nested deeper/)
  })

  it('SEC-12 what stands for a text in a set stands for no other', () => {
    const texts = ['', 'a', 'a'.repeat(4_096), 'a'.repeat(4_097), 'a'.repeat(4_098), `${'a'.repeat(4_096)}b`]
    const lone = ['\ud800', '\ud801', '\udc00'].map(each => 'a'.repeat(5_000) + each)
    const keys = [...texts, ...lone].map(textKey)
    expect(new Set([...keys, ...keys.map(textKey)]).size).to.equal(2 * keys.length - 3)
    for (const key of keys) expect(key.length).to.be.below(5_000)
    expect(keys.slice(0, 3)).to.deep.equal(texts.slice(0, 3))
  })
})
