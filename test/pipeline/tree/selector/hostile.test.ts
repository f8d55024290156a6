import { expect } from 'chai'
import { before, describe, it } from 'mocha'
import type { TreeDocument } from '../../../../pipeline/tree/nodes.ts'
import { STEPS } from '../../../../pipeline/tree/selector/query.ts'
import { compileSelector, SelectorError, selectAll, stepsOf } from '../../../../pipeline/tree/selector/selector.ts'
import { cost, takesLess } from '../../../support/cost.ts'
import { board, deep, heavy, thicket, wide } from './documents.ts'

/** The bound is 50 ms where code is compiled and nobody else is busy. */
const MILLISECONDS = 250

const row = (part: string, count: number, between = ' ') => Array(count).fill(part).join(between)
const many = (count: number, make: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at)).join(',')
const nest = (name: string, inside: string) => `:${name}(`.repeat(30) + inside + ')'.repeat(30)
const haystack = `${'a'.repeat(4_000)}b${'a'.repeat(3_000)}`

/** Selectors that have to be answered: real people could write them, give or take. */
const ANSWERED = [
  '*',
  `.no ${row('div', 12)} p`,
  `.no ${row('*', 12)} p`,
  `${row('.a', 12)} .no`,
  'nope ~ * *',
  'nope ~ * ~ * *',
  'nope ~ * * ~ * * ~ * *',
  '.no * ~ * * ~ *',
  '* > * * > * ~ * + * *',
  `${row('*', 10, '~')}~.no`,
  `${row('*', 10, '+')}+.no`,
  `.no > ${row('*', 10, '>')}`,
  ':has(* * *)',
  ':has(.no * *)',
  ':has(* .no)',
  ':has(> * > * > .no)',
  ':has(~ .no)',
  ':has(~ * ~ .no)',
  ':has(~ * .no)',
  ':has(+ * + * ~ .no)',
  ':has(> .no) > b',
  ':not(:has(* .no)) > *',
  ':not(:is(:has(* .no), :has(~ .no)))',
  ':is(* *, * ~ *, * > *):not(.no *):has(* + *)',
  ':is(:is(* *) *) :is(* ~ :is(* *))',
  ':nth-child(2n of :is(.a .b))',
  ':nth-child(2n of :has(~ .no))',
  ':nth-child(odd of :nth-child(odd of :nth-last-child(odd of .a)))',
  ':nth-last-of-type(2n)',
  ':nth-last-child(3 of .a)',
  ':only-of-type',
  ':last-of-type ~ *',
  nest('is', '.a .b'),
  nest('not', '.no .a'),
  `${':nth-child(2n of '.repeat(8)}.a${')'.repeat(8)}`,
  many(500, at => `.x${at}`),
  many(500, at => `#x${at}`),
  many(250, at => `.x${at} > b`),
  many(60, at => `.x${at} *`),
  row(':has(* .no)', 40, ''),
  ':not(:empty) > b',
  `[title*="${haystack}"]`,
  `[title*="${haystack}"] > b`,
  `[title*="${haystack}" i] > b`,
  '.zz > b',
  '[class~=zz] ~ b, [class~=zz] > b',
  ':lang(en)',
  ':dir(rtl)',
  ':disabled',
  ':checked, :default, :indeterminate',
  ':read-write',
  ':contains("no such text")',
  `:contains("${haystack}", i)`,
  ':not(:less-than(5)):has(:equals("leaf"))',
  ':only(*)',
  ':only(div, p, b):not(:only(b))',
]

/** Selectors that nobody writes: they are answered, or refused as too costly, but in time. */
const BOUNDED = [
  `${':nth-child(2n of '.repeat(30)}.a${')'.repeat(30)}`,
  row('*', 512),
  row('.a', 512),
  row('*', 512, '>'),
  row('*', 512, '~'),
  row('*', 512, '+'),
  row('* ~ *', 100),
  `:has(${row('*', 100)} .no)`,
  `:has(${row('*', 100, ' ~ ')})`,
  `:has(${row('*', 500, ' > ')})`,
  row(':is(* *, * ~ *)', 40),
  row(':not(.no *, .no ~ *)', 40, ' ~ '),
  `:is(${Array(40).fill(':has(~ .no)').join(',')})`,
  many(250, at => `.x${at} *`),
  many(250, at => `:is(.x${at})`),
  many(120, at => `:is(.x${at} .y *)`),
  many(300, at => `[a${at}]`),
  many(200, at => `[title*="${at}${'a'.repeat(16)}"]`),
  many(200, at => `:nth-child(${at}n+3)`),
  many(100, at => `:nth-child(${at}n+3 of :not(.x${at}))`),
  many(100, at => `:lang(x${at}) ~ :lang(y${at})`),
  many(100, at => `:contains("${at}"):only(> *)`),
  ':only(> * > *, > *, * * *)',
  `:only(${many(100, at => `> * > .x${at}, *`)})`,
]

/** Searches with selectors of which each takes too long, or is refused where it must not be. */
async function failures(texts: readonly string[], document: TreeDocument, mayRefuse: boolean): Promise<unknown[]> {
  const failed: unknown[] = []
  for (const text of texts) {
    const { milliseconds, result: refused } = await cost(MILLISECONDS, () => {
      try {
        selectAll(compileSelector(text), document)
        return false
      } catch (error) {
        if (!(error instanceof SelectorError) || error.fault !== 'cost') throw error
        return true
      }
    })
    if (milliseconds >= MILLISECONDS || (refused && !mayRefuse))
      failed.push({ text: text.slice(0, 60), milliseconds, refused })
  }
  return failed
}

describe('HTTP-45 Hostile selectors on documents of 1 MB', () => {
  let documents: Record<string, TreeDocument> = {}
  before(() => {
    documents = { board: board(), wide: wide(), deep: deep(), thicket: thicket(), heavy: heavy() }
  })

  for (const name of ['board', 'wide', 'deep', 'thicket', 'heavy']) {
    const document = () => {
      const found = documents[name]
      if (!found) throw new Error(`no document ${name}`)
      return found
    }

    it(`answers on “${name}” in time what may be asked`, async () => {
      expect(await failures(ANSWERED, document(), false)).to.deep.equal([])
    })

    it(`answers or refuses on “${name}” in time what nobody asks`, async () => {
      expect(await failures(BOUNDED, document(), true)).to.deep.equal([])
    })
  }

  it('takes steps in proportion to selector and document, not to their powers', () => {
    const elements = 11_000
    for (const [text, parts] of [
      [`.no ${row('div', 12)} p`, 14],
      ['.no * ~ * * ~ *', 5],
      [':not(:is(:has(* .no), :has(~ .no)))', 6],
      [nest('is', '.a .b'), 32],
      [':nth-child(odd of :nth-child(odd of :nth-last-child(odd of .a)))', 4],
    ] as const) {
      for (const document of Object.values(documents)) {
        expect(stepsOf(compileSelector(text), document), text).to.be.lessThan(STEPS.free + 10 * parts * elements)
      }
    }
  })

  it('compiles the longest texts in no time', () => {
    const texts = [
      'a'.repeat(8_192),
      '\\61'.repeat(2_700),
      '.a'.repeat(2_000),
      ':is('.repeat(32),
      '('.repeat(8_000),
      '['.repeat(8_000),
      `"${'\\'.repeat(8_000)}`,
      '/*'.repeat(4_000),
      `:is(${'!,'.repeat(4_000)})`,
      'url('.repeat(2_000),
      '#'.repeat(8_192),
      '-'.repeat(8_192),
      `:nth-child(${'9'.repeat(8_000)}n)`,
      `[a="${'\\\n'.repeat(4_000)}"]`,
    ]
    return takesLess(MILLISECONDS, () => {
      for (const text of texts) {
        try {
          compileSelector(text)
        } catch (error) {
          if (!(error instanceof SelectorError)) throw error
        }
      }
    })
  })
})
