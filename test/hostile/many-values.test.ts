/** One item may have as many values as its document has room for: what follows from them is told in steps (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { extractingDeclarations } from '../../pipeline/model/declarations.ts'
import { following } from '../../pipeline/model/effect.ts'
import { entriesOf } from '../../pipeline/model/entries.ts'
import { findingInstances } from '../../pipeline/model/instance-check.ts'
import { findingRequirements } from '../../pipeline/model/integrity.ts'
import { itemElements, valueReader } from '../../pipeline/model/items.ts'
import { findingHeld, tracing } from '../../pipeline/model/losses.ts'
import { Registry } from '../../pipeline/model/registry.ts'
import { WorkingDocuments } from '../../pipeline/model/working.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { atOnce, type Steps } from '../../pipeline/tree/steps.ts'
import { property, SCHEMA_HOST, schema } from '../pipeline/model/markup.ts'
import { NS, page } from '../support/content.ts'
import { stepsOf } from '../support/steps.ts'

const MANY = 10_000
const vocabulary = { ns: NS, schemaHost: SCHEMA_HOST }

/** An item with many values, of which each begins with a letter. */
function item(type: string, name: string, letter: string) {
  const values = Array.from({ length: MANY }, (_, i) => `<b itemprop=${name}>${letter}${i}</b>`)
  const document = parseDocument('html', page(`<p itemscope itemtype="${type}">${values.join('')}</p>`))
  const [element] = itemElements(document.root)
  if (!element) throw new Error('no item')
  return { document, element }
}

describe('an item of many values', () => {
  const declared = page(
    schema('urn:P', {}, property('name', { unique: 'true' })) +
      schema('urn:C', {}, property('ref', { references: 'urn:P#name', cascade: 'true' })),
  )
  const raw = atOnce(extractingDeclarations(itemElements(parseDocument('html', declared).root), vocabulary))
  const registry = Registry.empty(vocabulary).withDocument('/model.html', raw)
  const referred = () => item('urn:P', 'name', 'n').document
  const requirements = (document = referred()) =>
    findingRequirements(registry, atOnce(findingInstances(registry, { document })), valueReader(NS))
  const effects = () => {
    const [referrer] = registry.inheritance.declaring('urn:P', 'name')
    if (!referrer) throw new Error('no referrer')
    return Array.from({ length: MANY }, (_, i) => ({ referrer, value: `n${i}`, to: undefined }))
  }
  const losses = () => Array.from({ length: MANY }, (_, i) => ({ type: 'urn:P', property: 'name', value: `n${i}` }))
  const own = () => {
    const entries = entriesOf(itemElements(referred().root), NS)
    return new Map([['/s.html', { entries, open: () => Promise.reject(new Error('not opened')) }]])
  }
  const site = { store: { lookup: async () => [] }, open: async () => undefined, isGone: () => false }
  const held = (letter: string) => {
    const values = Array.from({ length: MANY }, (_, i) => `${letter}${i}`)
    return new Map([['urn:P name', { type: 'urn:P', property: 'name', values }]])
  }

  const cases: [what: string, least: number, work: () => Steps<unknown>][] = [
    ['MOD-40 that are unique', 115, () => requirements()],
    ['MOD-52 others may refer to', 55, () => findingHeld(registry, item('urn:P', 'name', 'n').element)],
    ['MOD-55 it had others before', 35, () => tracing([], [[held('n'), held('m')]])],
    ['MOD-55 which it has no more', 20, () => tracing(losses(), [])],
    [
      'MOD-54 that may refer to what has gone',
      75,
      () => following(registry, { document: item('urn:C', 'ref', 'x').document }, effects(), true, 1e6),
    ],
    ['MOD-52 that others may hold as well', 20, () => WorkingDocuments.of(NS, site, own())],
  ]
  for (const [what, least, work] of cases)
    it(`SEC-12 ${what}: ${least} steps at least`, () => {
      expect(stepsOf(work())).to.be.at.least(least)
    })
})
