/** What scripts of a schema get of an item is written in turns: anybody may make it long by appending (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { scripts } from '../../pipeline/evaluation/scripts.ts'
import type { CodeHost, CodeValues } from '../../pipeline/model/code.ts'
import type { Site } from '../../pipeline/site/site.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { compileSelector, selectFirst } from '../../pipeline/tree/selector/selector.ts'
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
})
