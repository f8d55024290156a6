/** The selectors that subscribers are told of a write to a page that is put together (EVT-23). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { type Extension, SelectorError, selectFirst, selectorFor } from '../../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { findingEventSelectors } from '../../../pipeline/write/element-commit.ts'
import type { ElementWrite } from '../../../pipeline/write/element-target.ts'
import { stepsOf } from '../../support/steps.ts'

describe('selectors of events', () => {
  /** Spends all that a search may on each element. */
  const busy: Extension = {
    compile: () => (_, context) => {
      context.spend(1e9)
      return true
    },
  }
  const site = { selectors: new Map([['busy', busy]]) }
  const page = { tree: parseDocument('html', '<p id="in">x</p>') }
  const stored = parseDocument('html', `${'<p>x</p>'.repeat(20_000)}<p id="in">x</p>`)
  const element = selectFirst(selectorFor('#in'), stored)
  if (!element) throw new Error('no element')
  const target = { element, document: stored }
  const finding = (selector: string) => {
    const write = { op: 'put', path: '/a.html', range: { unit: 'selector', selector, wire: selector } } as ElementWrite
    return findingEventSelectors(site, write, { target, view: page })
  }

  it('SEC-12 EVT-23 what is stored is searched in many steps', () => {
    expect(stepsOf(finding('p[id]'))).to.be.at.least(20)
    expect(atOnce(finding('p[id]')).target).to.equal('p[id]')
    expect(atOnce(finding('p')).target).to.equal('#in')
  })

  it('SEC-6 EVT-23 one that costs too much there refuses no write: its sender has it matched against less', () => {
    const costly = 'p:busy()'
    expect(() => selectFirst(selectorFor(costly, site.selectors), stored)).to.throw(SelectorError)
    expect(atOnce(finding(costly)).target).to.equal('#in')
  })
})
