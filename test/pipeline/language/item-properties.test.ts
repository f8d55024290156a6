/** What items cost that refer to others, in the languages that read them (SEC-12, SES-213, LIQ-70). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Allowance } from '../../../pipeline/language/allowance.ts'
import { compile, evaluate } from '../../../pipeline/language/sessel/sessel.ts'
import type { ElementValue } from '../../../pipeline/language/values.ts'
import { unhurried } from '../../support/unhurried.ts'
import { elements, items, rendered } from './liquid/rendering.ts'
import { became, hostFor } from './sessel/site.ts'

const ENTRY = '<li class=e itemscope itemref=r><b itemprop=n>1</b></li>'
const REFERRED = '<i id=r itemprop=r>R</i>'

/** Ways to read `r` of each item of a list. */
const READERS: readonly [
  name: string,
  read: (list: readonly ElementValue[], allowance: Allowance) => Promise<string>,
][] = [
  ['Sessel, a property', (list, allowance) => evaluated('es.map(e => e.r).join("")', list, allowance)],
  ['Sessel, microdata()', (list, allowance) => evaluated('es.map(e => e.microdata().r).join("")', list, allowance)],
  ['Liquid', (es, allowance) => rendered('{% for e in es %}{{ e.r }}{% endfor %}', { names: { es }, allowance })],
]

async function evaluated(program: string, es: readonly ElementValue[], allowance = unhurried()): Promise<string> {
  const outcome = await evaluate(compile(program), hostFor('/shop.html', { names: new Map([['es', es]]) }), allowance)
  return 'value' in outcome ? String(outcome.value) : 'failed'
}

/** How often a walk comes by the last element of a tree, to which nothing refers. */
function visitsTo(item: ElementValue | undefined): () => number {
  const last = elements(item?.source?.document.root ?? { nodeName: '#document', childNodes: [] }).at(-1)
  if (!last) throw new Error('There is no element.')
  const { attrs } = last
  let visits = 0
  const get = () => {
    visits++
    return attrs
  }
  Object.defineProperty(last, 'attrs', { get })
  return () => visits
}

describe('language/item-properties', () => {
  for (const [name, read] of READERS)
    it(`SEC-12 a document is gone through once for all its items with itemref: ${name}`, async () => {
      const list = items(`${ENTRY.repeat(60)}${REFERRED}<u></u>`)
      const visits = visitsTo(list[0])
      expect(await read(list, unhurried())).to.equal('R'.repeat(60))
      expect(visits()).to.be.within(1, 5)
    })

  for (const [name, read] of READERS)
    it(`SES-213 LIQ-70 what an itemref leads through is paid for, whatever is found there: ${name}`, async () => {
      const spent = async (count: number) => {
        const allowance = unhurried()
        await read(items(`${ENTRY}${'<p></p>'.repeat(count)}<div id=r>${'<p></p>'.repeat(count)}</div>`), allowance)
        return [allowance.stepsTaken, allowance.memoryLeft] as const
      }
      const [[few, room], [many, less]] = [await spent(0), await spent(800)]
      expect(many - few).to.be.at.least(300)
      expect(room - less).to.be.at.least(1600 * 32)
    })

  it('SES-144 SES-143 items that code builds and changes are read as they are', async () => {
    const program =
      'let i = new p[itemscope][itemref="r"] {}; let d = new div { i, new b#r[itemprop="n"] { "1" } };' +
      'let a = i.n; d.prepend(new b#r[itemprop="n"] { "2" }); a + i.n'
    expect(await became(program)).to.equal('"12"')
  })
})
