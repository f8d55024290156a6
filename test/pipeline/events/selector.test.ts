import { expect } from 'chai'
import { describe, it } from 'mocha'
import { eventSelector } from '../../../pipeline/events/selector.ts'
import { attribute } from '../../../pipeline/tree/nodes.ts'
import { compileSelector, type Extensions, selectFirst } from '../../../pipeline/tree/selector/selector.ts'
import { html } from '../access/site.ts'

const document = html(
  '<form><input id="one" type="checkbox" checked><input id="two"></form><ul class="l"><li>a<li id="b" lang="en">b</ul><details open></details>',
)

/** A pseudo-class of the server's own. */
const extensions: Extensions = new Map([
  ['titled', { compile: title => element => attribute(element, 'id') === title }],
])

/** What an event says for a selector that a writer sent. */
function sent(text: string): string {
  const selector = compileSelector(text, { extensions })
  const element = selectFirst(selector, document)
  if (!element) throw new Error(`${text} finds nothing`)
  const told = eventSelector(text, selector, element, document)
  expect(selectFirst(compileSelector(told), document), 'finds the same').to.equal(element)
  return told
}

describe('selectors of events', () => {
  for (const selector of [
    '#b',
    'ul.l > li:first-child',
    'li:nth-last-of-type(2n+1)',
    'li:nth-child(2 of li)',
    'ul:has(> #b) li',
    ':is(ul, ol) > li:not(#b)',
    'li:where([lang|="en" i])',
    ':root body ul',
    'form input:enabled',
    '*|li',
    'li ~ li, #none',
  ])
    it(`EVT-23 ${selector} is told as it was sent`, () => expect(sent(selector)).to.equal(selector))

  const replaced: [selector: string, told: string][] = [
    ['input:checked', '#one'],
    ['li:not(:hover)', 'html > body:nth-child(2) > ul:nth-child(2) > li:nth-child(1)'],
    ['ul:has(li:not(:focus)) > #b:not(:target)', '#b'],
    ['details:open', 'html > body:nth-child(2) > details:nth-child(3)'],
    ['li:lang(en)', '#b'],
    ['li:lang(en), #none', '#b'],
    ['#none, li:lang(en)', '#b'],
    ['[lang="en" s]', '#b'],
    ['li:titled(b)', '#b'],
    ['ul:has(li:titled(b))', 'html > body:nth-child(2) > ul:nth-child(2)'],
    ['li:nth-child(1 of li, :visited)', 'html > body:nth-child(2) > ul:nth-child(2) > li:nth-child(1)'],
    ['li:nth-child(1 of :not(:visited))', 'html > body:nth-child(2) > ul:nth-child(2) > li:nth-child(1)'],
  ]
  for (const [selector, told] of replaced)
    it(`EVT-23 ${selector}, which a browser may understand otherwise, is told as ${told}`, () =>
      expect(sent(selector)).to.equal(told))
})
