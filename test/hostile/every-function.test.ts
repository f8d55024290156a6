/** Every filter of templates and every method of expressions counts what it goes through, also one that is added (LIQ-71, SES-213). */

import { expect } from 'chai'
import { FILTERS } from '../../pipeline/language/liquid/filters/filters.ts'
import { NUMBER_FILTERS } from '../../pipeline/language/liquid/filters/numbers.ts'
import { DICTIONARY_METHODS } from '../../pipeline/language/sessel/dictionaries.ts'
import { ELEMENT_METHODS } from '../../pipeline/language/sessel/elements.ts'
import { LIST_METHODS } from '../../pipeline/language/sessel/lists.ts'
import type { Methods } from '../../pipeline/language/sessel/method.ts'
import { compile, evaluate } from '../../pipeline/language/sessel/sessel.ts'
import { STRING_METHODS } from '../../pipeline/language/sessel/strings.ts'
import { ElementValue, type Value } from '../../pipeline/language/values.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { selectingAll, selectorFor } from '../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { rendered } from '../pipeline/language/liquid/rendering.ts'
import { hostFor } from '../pipeline/language/sessel/site.ts'
import { unhurried } from '../support/unhurried.ts'

const MANY = 2_000
const LONG = 64 * 1024
/** Steps of what goes through them: half as many as the coarsest counts for a text, and an eighth of a list. */
const LEAST = 120

const list = Array.from({ length: MANY }, (_, i) => `k${i}`)
const dictionary = new Map<string, Value>(list.map(key => [key, key]))
const source = {
  path: '/x.html',
  document: parseDocument('html', `<p itemscope>${'<b itemprop=a>x</b>'.repeat(MANY)}`),
}
const [paragraph] = atOnce(selectingAll(selectorFor('p'), source.document))
if (!paragraph) throw new Error('no element')
const element = new ElementValue(paragraph, source)

/** The most steps that a call takes with one of some arguments, whether they are right or not. */
async function most(calls: readonly string[], steps: (call: string) => Promise<number>): Promise<number> {
  let found = 0
  for (const call of calls) if (found < LEAST) found = Math.max(found, await steps(call))
  return found
}

async function stepsOf(call: string, receiver: Value): Promise<number> {
  const allowance = unhurried({ steps: 100_000 })
  const host = hostFor('/shop.html', { names: new Map([['v', receiver]]) })
  await Promise.resolve()
    .then(() => evaluate(compile(call), host, allowance))
    .catch(() => undefined)
  return allowance.stepsTaken
}

const ARGUMENTS = ['"a"', 'v', 'x => x', 'x => false', '(a, b) => a', '0', '"a", "b"', '0, (a, b) => a', '']

/** They change what a program has made alone. */
const MUTATORS = 'set_text set_attr append prepend setHTML empty replaceWith insertBefore'

describe('every function', () => {
  const types: [string, Methods, Value, quick: string][] = [
    ['String', STRING_METHODS, 'é'.repeat(LONG), 'Number Integer Float Bool startsWith endsWith matches bcrypt argon2'],
    ['List', LIST_METHODS, list, 'count isEmpty first last at Bool'],
    ['Dictionary', DICTIONARY_METHODS, dictionary, 'contains count isEmpty get'],
    [
      'Element',
      ELEMENT_METHODS,
      element,
      `value attr path document selector parent content metadata remove ${MUTATORS}`,
    ],
  ]
  for (const [type, methods, receiver, quick] of types)
    it(`SES-213 each method of a ${type} that goes through it counts`, async () => {
      const few: string[] = []
      for (const name of methods.keys()) {
        if (/crypt|argon/.test(name)) continue
        const calls = ARGUMENTS.map(args => `v.${name}(${args})`)
        if ((await most(calls, call => stepsOf(call, receiver))) < LEAST) few.push(name)
      }
      expect(few.filter(name => !quick.split(' ').includes(name))).to.deep.equal([])
    })

  const QUICK = [...Object.keys(NUMBER_FILTERS), ...'raw append prepend default first last random diceware'.split(' ')]

  it('LIQ-71 each filter that goes through a text or an array counts', async () => {
    const names: Record<string, Value> = { text: `é${' é'.repeat(LONG / 2)}`, list }
    const few: string[] = []
    for (const name of FILTERS.keys()) {
      if (/crypt|argon/.test(name)) continue
      const calls = ['text', 'list'].flatMap(input =>
        ['', ': "a"', ': "a", "b"', ': "i", "i"', ': 1'].map(args => `{{ ${input} | ${name}${args} | size }}`),
      )
      const steps = async (call: string) => {
        const allowance = unhurried({ steps: 100_000 })
        await rendered(call, { names, allowance }).catch(() => undefined)
        return allowance.stepsTaken
      }
      if ((await most(calls, steps)) < LEAST) few.push(name)
    }
    expect(few.filter(name => !QUICK.includes(name))).to.deep.equal([])
  })
})
