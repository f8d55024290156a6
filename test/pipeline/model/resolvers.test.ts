import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { CodeValues } from '../../../pipeline/model/code.ts'
import { Registry } from '../../../pipeline/model/registry.ts'
import { type Chain, takingValues } from '../../../pipeline/model/resolvers.ts'
import { cloneNode } from '../../../pipeline/tree/clone.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { isElement } from '../../../pipeline/tree/nodes.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'

const VALUES = 200
const REGISTRY = Registry.empty({ ns: 'urn:ns', schemaHost: 'urn:host' })

describe('What a resolver gives', () => {
  it('SEC-12 MOD-70 is found among many values in time that goes with them', () => {
    const { root } = parseDocument('xml', `<r>${'<v/>'.repeat(VALUES)}</r>`)
    const before = root.childNodes.flatMap(node => (isElement(node) ? node.childNodes : [])).filter(isElement)
    const copies = before.map(element => cloneNode(element))
    let looked = 0
    const elements = new Proxy(copies, {
      get: (list, name, receiver) => {
        looked++
        return Reflect.get(list, name, receiver)
      },
    })
    const chain = { instance: { item: { types: [] } } } as unknown as Chain
    const given = [...copies].reverse()
    const at = { elements } as unknown as CodeValues
    const after = atOnce(takingValues(REGISTRY, '@write', chain, at, before, { value: { elements: given } }))
    expect(after).to.have.length(VALUES)
    expect(after.every((element, i) => element === before.at(-1 - i))).to.equal(true)
    expect(looked).to.be.at.most(10 * VALUES)
  })

  it('SEC-12 MOD-22 texts take the place of what is in an element without a look at it', () => {
    const { root } = parseDocument('xml', `<r>${'<v/>'.repeat(VALUES)}</r>`)
    const before = root.childNodes.filter(isElement)
    const chain = { instance: { item: { types: [] } } } as unknown as Chain
    let looked = 0
    for (const element of before)
      element.childNodes = new Proxy(element.childNodes, {
        get: (list, name, receiver) => {
          looked++
          return Reflect.get(list, name, receiver)
        },
      })
    const texts = Array.from({ length: VALUES }, (_, i) => `${i}`)
    const at = { elements: before } as unknown as CodeValues
    const after = atOnce(takingValues(REGISTRY, '@write', chain, at, before, { value: { texts } }))
    expect(after.map(element => element.childNodes.map(node => 'value' in node && node.value))).to.deep.equal(
      texts.map(text => [text]),
    )
    expect(looked).to.be.at.most(VALUES)
  })
})
