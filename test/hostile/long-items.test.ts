/** Large items that somebody watches are read and told of in many short steps, counted (SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Registry } from '../../pipeline/model/registry.ts'
import type { PlacedHandler } from '../../pipeline/react/declared/reactions.ts'
import type { Site } from '../../pipeline/site/site.ts'
import { parseDocument } from '../../pipeline/tree/document.ts'
import { TransitionJudge } from '../../pipeline/write/transitions.ts'
import { NS } from '../support/content.ts'

const handler: PlacedHandler = {
  path: '/handler.html',
  handler: {
    selector: '[itemtype="urn:t"]',
    property: 'state',
    becomes: ['done'],
    when: [],
    url: 'https://hooks.example/',
    method: 'POST',
    headers: [],
  },
}

const declared = { constraints: [], handlers: [handler] }
const site = { declarations: () => declared, model: Registry.empty({ ns: NS, schemaHost: NS }) } as unknown as Site

describe('large items', () => {
  const page = (state: string, inside: string) =>
    parseDocument(
      'html',
      `<div itemprop="a" id="x" itemscope itemtype="urn:t"><b itemprop="state">${state}</b>${inside}</div>`,
    )

  function transition(before: string, after: string) {
    const judge = TransitionJudge.of(site, { fired: () => undefined })
    if (!judge) throw new Error('nobody watches')
    const work = judge.whole('/a.html', page('open', before), page('done', after))
    for (let steps = 0; ; steps++) {
      const step = work.next()
      if (step.done) return { steps, fired: step.value.fired }
    }
  }

  it('SEC-12 REA-122 an item of many elements that fires is written in steps', () => {
    const inside = '<p><i>x</i></p>'.repeat(40_000)
    const { steps, fired } = transition('', inside)
    const [first] = fired
    expect(fired).to.have.length(1)
    expect(steps).to.be.at.least((40_000 * 2) / 500)
    const wanted = `<div itemprop="body" id="x" itemscope="" itemtype="urn:t"><b itemprop="state">done</b>${inside}</div>`
    expect(first?.item === wanted).to.equal(true)
  })

  it('SEC-12 REA-102 long values of a property that is watched are read in steps', () => {
    const { steps, fired } = transition('', `<b itemprop="state">${'word \n'.repeat(400_000)}</b>`)
    expect(fired).to.deep.equal([])
    expect(steps).to.be.at.least(20)
  })
})
