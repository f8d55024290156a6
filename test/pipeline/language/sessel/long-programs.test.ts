// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
import { expect } from 'chai'
import { compiling } from '../../../../pipeline/language/sessel/compile.ts'
import { parse } from '../../../../pipeline/language/sessel/parse.ts'
import { compileInTurns } from '../../../../pipeline/language/sessel/sessel.ts'

const LENGTH = 256 * 1024 - 64

/** A program of the largest size: one part again and again. */
const repeated = (part: string, before = '', after = '') =>
  before + part.repeat(Math.floor(LENGTH / part.length)) + after

/** A part, what stands around it, and how many pieces of work one part is. */
const PROGRAMS: [name: string, part: string, before?: string, after?: string][] = [
  ['a list', '1,', '[', '1]'],
  ['a sum', '1+', '', '1'],
  ['a chain of members', '.a', 'x'],
  ['a chain of calls', '.a()', 'x'],
  ['statements', 'a;'],
  ['definitions', 'let a=1;'],
  ['lambdas', 'x=>x,', '[', '1]'],
  ['a dictionary', 'a:1,', '{', 'a:1}'],
  ['values in a string', '#{1}', '"', '"'],
  ['selectors', '${a[b=c]},', '[', '1]'],
  ['values in a selector', '[a=b]', '${a', '}'],
  ['elements', 'new p[a=b],', '[', '1]'],
  ['modifiers', '.a', 'new p'],
  ['a pattern', 'a,', 'let [', 'a] = 1'],
  ['blocks', 'if(a){b}'],
  ['branches', 'if(a){b}else ', '', '{}'],
  ['words in brackets', '(a) '],
  ['operators', '!1;'],
]

describe('Programs of the largest size', () => {
  for (const [name, part, before, after] of PROGRAMS)
    it(`SES-28 others get their turn meanwhile: ${name}`, () => {
      const text = repeated(part, before, after)
      let pauses = 0
      for (const work = compiling(text); !work.next().done; ) pauses++
      // One for each 2,048 parts, whatever they are.
      expect(pauses).to.be.least(Math.floor(LENGTH / part.length / 2_048) - 1)
    })

  it('SES-28 what is read with pauses is what is read without', () => {
    // A long comment makes a short program long enough for pauses; every part of the grammar that repeats comes many times.
    const parts = [
      'let {a, b: c} = d; let [e, ...f] = [1, 2];',
      '"x#{a}y#{[1, { k: "v" }]}z";',
      'new p.c#i[a=b][x|y="1"] { "t", k: 1, new b };',
      '(${li[a=b i]:contains(t, i)} from self, "/x").map((x, i) => { x.y[0]?.z(1, 2); return i });',
      'if (a) { 1 } else if (b) { 2 } else { 3 } try { throw 1 } catch (e) { e }',
      '1 + 2 * 3 - -4 <= 5 && a isa Temporal.PlainDate || !b ?? c ? d : e;',
    ]
    const long = parts.join('\n').repeat(200)
    expect(long.length).to.be.greaterThan(32 * 1024)
    const whole = parse(long).body.statements
    const single = parts.flatMap(part => parse(part).body.statements)
    expect(whole).to.deep.equal(Array.from({ length: 200 }, () => single).flat())
  })

  for (const [name, text] of [
    ['brackets', repeated('(')],
    ['closing brackets', repeated(')')],
    ['beginnings of selectors', repeated('${')],
    ['beginnings of values', repeated('#{"')],
    ['selectors without an end', repeated('${a[b=(c]} ')],
    ['functions without an end', `\${${repeated('count(')}}`],
    ['escapes', repeated('\\"', '${count("', '}')],
    ['lambdas', repeated('a=>{')],
    ['braces', repeated('{a:')],
    ['arrows', repeated('(a,')],
    ['noise', repeated('🍵\u0000%@')],
    ['a program with a mistake at its end', repeated('a;', '', ')')],
  ] as const)
    it(`SES-28 garbage is refused: ${name}`, async () => {
      let message = ''
      try {
        await compileInTurns(text)
      } catch (error) {
        message = String(error)
      }
      expect(message).to.match(/line \d+, column \d+/)
    })
})
