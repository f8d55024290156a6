/** What scripts of a schema get of an item is written in turns: anybody may make it long by appending (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { scripts } from '../../pipeline/evaluation/scripts.ts'
import { AllowanceSpent } from '../../pipeline/language/allowance.ts'
import type { ScriptJob } from '../../pipeline/language/javascript/interface.ts'
import { ElementValue } from '../../pipeline/language/values.ts'
import type { CodeHost, CodeValues } from '../../pipeline/model/code.ts'
import type { Site } from '../../pipeline/site/site.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { compileSelector, selectAll, selectFirst } from '../../pipeline/tree/selector/selector.ts'
import { NS } from '../support/content.ts'
import { turnsOf } from '../support/turns.ts'
import { unhurried } from '../support/unhurried.ts'

const PARTS = 1_000
/** Milliseconds that one of many parts takes, as the thousands of a long item do together. */
const OF_ONE = 0.02

const source = `<!DOCTYPE html><main itemscope itemtype="urn:t"><div itemprop="o" itemscope>${`<i>${'x'.repeat(1_000)}</i>`.repeat(PARTS)}</div></main>`
const code = { type: `${NS}/JavaScript/Module`, source: 'export default () => true' }

type Slot = (host: CodeHost, at: CodeValues) => Promise<unknown>
const SLOTS: Record<string, Slot> = {
  'MOD-66 a validator of an item': (host, at) => host.validateItem(code, at),
  'MOD-65 a validator of a property': (host, at) => host.validateValues(code, at),
  'MOD-70 @write': (host, at) => host.write(code, at),
  'MOD-71 @read': (host, at) => host.read([{ code, at }]),
  'MOD-32 a default': (host, at) => host.default(code, { ...at, declared: ['o'] }),
}

describe('scripts that get an item with very much in it', () => {
  for (const [slot, asked] of Object.entries(SLOTS))
    it(`${slot} SEC-12: others have their turn while it is written`, async () => {
      const document = parseDocument('html', source)
      const element = selectFirst(compileSelector('main'), document)
      const value = selectFirst(compileSelector('main > div'), document)
      if (!element || !value) throw new Error('no item')
      for (const part of value.childNodes) {
        const { childNodes } = part as typeof value
        Object.defineProperty(part, 'childNodes', {
          get() {
            const end = performance.now() + OF_ONE
            while (performance.now() < end);
            return childNodes
          },
        })
      }
      const given = Promise.withResolvers<void>()
      const evaluate = async () => {
        given.resolve()
        return { value: null, truthy: true }
      }
      const javascript = { evaluate, batch: (jobs: unknown[]) => Promise.all(jobs.map(evaluate)) }
      const site = { settings: { ns: NS }, store: { name: 't' } } as Site
      const host = scripts(javascript as never)(site, unhurried(), []).code
      const at = {
        document,
        path: '/t.html',
        element,
        itemtype: 'urn:t',
        property: 'o',
        elements: [value],
        asList: false,
      }
      const turns = await turnsOf(async () => {
        asked(host, at).catch(given.reject)
        await given.promise
      })
      expect(turns).to.be.at.least(2)
    })

  it('MOD-71 SEC-12 SES-213: of items in each other not many are written before they are paid for', async () => {
    const nested = '<div itemprop="o" itemscope>'.repeat(12) + '\u00a0'.repeat(100_000)
    const document = parseDocument('html', `<!DOCTYPE html><main itemscope itemtype="urn:t">${nested}</main>`)
    const items = selectAll(compileSelector('[itemscope]'), document)
    const sent: number[] = []
    const batch = async (jobs: ScriptJob[]) => {
      sent.push(JSON.stringify(jobs.map(each => each.arguments)).length)
      return jobs.map(() => ({ failure: { language: code.type, variant: 'out-of-memory', message: 'spent' } }))
    }
    const site = { settings: { ns: NS }, store: { name: 't' } } as Site
    const host = scripts({ batch } as never)(site, unhurried(), []).code
    const steps = items.slice(1).map((value, i) => {
      const element = items[i] ?? value
      const at = { document, path: '/t.html', element, itemtype: 'urn:t', property: 'o', elements: [value] }
      return { code, at: { ...at, asList: false } }
    })
    expect((await host.read(steps)).length).to.equal(steps.length)
    expect(sent.length).to.be.above(1)
    expect(Math.max(...sent)).to.be.below(5_500_000)
  })

  it('MOD-72 SEC-12 SES-213: of copies that an expression reads no more is written than can be handed over', async () => {
    const document = parseDocument('html', `<!DOCTYPE html><main itemscope>${'\u00a0'.repeat(20_000)}</main>`)
    const element = selectFirst(compileSelector('main'), document)
    if (!element) throw new Error('no item')
    let asked = 0
    const evaluate = async () => {
      asked++
      return { value: 'x', truthy: true }
    }
    const site = { settings: { ns: NS }, store: { name: 't' } } as Site
    const language = scripts({ evaluate } as never)(site, unhurried({ memory: 500_000 }), [])
    const read = async (count: number) =>
      language.call?.(code, {
        self: Array.from({ length: count }, () => new ElementValue(element)),
        parameters: new Map(),
        context: new Map(),
      } as never)
    await read(2)
    const error = await read(40).catch(thrown => thrown)
    expect([error instanceof AllowanceSpent, asked]).to.deep.equal([true, 1])
  })
})
