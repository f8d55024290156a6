import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { CodeValues } from '../../../pipeline/model/code.ts'
import { type Chain, valuesAfter } from '../../../pipeline/model/resolvers.ts'
import { cloneNode } from '../../../pipeline/tree/clone.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { isElement } from '../../../pipeline/tree/nodes.ts'

const VALUES = 200

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
    const after = valuesAfter('urn:ns', '@write', chain, { elements } as unknown as CodeValues, before, {
      value: { elements: given },
    })
    expect(after).to.have.length(VALUES)
    expect(after.every((element, i) => element === before.at(-1 - i))).to.equal(true)
    expect(looked).to.be.at.most(10 * VALUES)
  })
})
