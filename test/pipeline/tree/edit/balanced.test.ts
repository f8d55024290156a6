import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isBalanced } from '../../../../pipeline/tree/edit/balanced.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'

describe('markup that is read alike without a tree', () => {
  for (const text of [
    'x',
    '<li>a<li>b<br><b title="c d" lang=e hidden>f</b>',
    `<a href="?g=h" title='"'>i</A ><!-- j --><img src=k/l>`,
    '<div><p>m</div>',
  ])
    it(`COMP-6 ${text}`, () => expect(atOnce(isBalanced(text))).to.equal(true))

  for (const text of [
    '</section>',
    '<object></section></object>',
    '<svg></svg>',
    '<STYLE></STYLE>',
    '<i title="<section>"></i></section>',
    '<i a="><section>" b></section>',
    '<i a=b" c="d><section>"></section>',
    '<i a= "b></section>',
    '<!--><section>--></section>',
    '<![CDATA[</section>]]>',
    '<i></i></i>',
    '<',
    '<x:y>',
  ])
    it(`COMP-6 not ${text}`, () => expect(atOnce(isBalanced(text))).to.equal(false))
})
