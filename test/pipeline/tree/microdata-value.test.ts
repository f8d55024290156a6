import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import {
  isConfiguration,
  jsonLdValue,
  microdataValue,
  modelValue,
  ruleValue,
} from '../../../pipeline/tree/microdata-value.ts'
import type { ElementNode } from '../../../pipeline/tree/nodes.ts'
import { elementsOf } from './samples.ts'

const NS = 'https://p.example/ns'
const plain = { types: ['https://schema.org/Thing'] }
const configuration = { types: ['https://schema.org/Thing', `${NS}/Schema`] }

function property(source: string, kind: 'html' | 'xml' = 'html'): ElementNode {
  const element = elementsOf(parseDocument(kind, source).root).find(e => e.attrs.some(a => a.name === 'itemprop'))
  if (!element) throw new Error('no property')
  return element
}

describe('tree/microdata-value', () => {
  const cases: [source: string, jsonLd: string, model: string, rule: string][] = [
    ['<meta itemprop content=" x ">', ' x ', ' x ', 'x'],
    ['<meta itemprop>', '', '', ''],
    ['<a itemprop href="/a b">t</a>', '/a b', '/a b', 't'],
    ['<a itemprop>t</a>', '', '', 't'],
    ['<map><area itemprop href=x></map>', 'x', 'x', ''],
    ['<link itemprop href=x>', 'x', 'x', ''],
    ['<audio itemprop src=x></audio>', 'x', 'x', ''],
    ['<embed itemprop src=x>', 'x', 'x', ''],
    ['<iframe itemprop src=x></iframe>', 'x', 'x', ''],
    ['<img itemprop src=x>', 'x', 'x', ''],
    ['<img itemprop alt=x>', '', '', ''],
    ['<audio><source itemprop src=x></audio>', 'x', 'x', ''],
    ['<audio><track itemprop src=x></audio>', 'x', 'x', ''],
    ['<video itemprop src=x></video>', 'x', 'x', ''],
    ['<object itemprop data=x></object>', 'x', 'x', ''],
    ['<data itemprop value=" 3 ">three</data>', ' 3 ', ' 3 ', '3'],
    ['<data itemprop>three</data>', '', '', 'three'],
    ['<meter itemprop value=3>three</meter>', '3', '3', 'three'],
    ['<time itemprop datetime=2026>now</time>', '2026', '2026', 'now'],
    ['<time itemprop> now </time>', ' now ', 'now', 'now'],
    ['<p itemprop> a\n <b>b</b> </p>', ' a\n b ', 'a b', 'a\n b'],
    ['<p itemprop content=x>y</p>', 'y', 'y', 'x'],
    ['<p itemprop value=x href=z>y</p>', 'y', 'y', 'y'],
    ['<script itemprop> a  <b> </script>', ' a  <b> ', ' a  <b> ', 'a  <b>'],
    ['<p itemprop>a<!--b--><template>c</template></p>', 'a', 'a', 'a'],
    ['<svg><a itemprop href=x>t</a></svg>', 't', 't', 't'],
  ]
  for (const [source, jsonLd, model, rule] of cases) {
    it(`HTTP-71 of ${source}`, () => {
      expect(microdataValue(property(source), plain)).to.equal(jsonLd)
      expect(jsonLdValue(NS)(property(source), plain)).to.equal(jsonLd)
    })
    it(`MOD-22 of ${source}`, () => expect(modelValue(NS)(property(source), plain)).to.equal(model))
    it(`RULE-3 of ${source}`, () => expect(ruleValue(property(source), configuration)).to.equal(rule))
  }

  it('MOD-22, HTTP-71 content of any element counts on configuration items', () => {
    const element = property('<a itemprop href=y content=" x ">z</a>')
    expect(jsonLdValue(NS)(element, configuration)).to.equal(' x ')
    expect(modelValue(NS)(element, configuration)).to.equal(' x ')
    expect(jsonLdValue(NS)(element, plain)).to.equal('y')
  })

  it('SEC-8 configuration is what the server itself knows, and nothing else below the namespace', () => {
    for (const name of ['Group', 'Schema', 'Trigger', 'Sessel/Lambda', 'JavaScript/Module'])
      expect(isConfiguration([`${NS}/${name}`], NS), name).to.equal(true)
    for (const name of ['PollResponse', 'Invoice', 'Group/x', 'group', '1.0/Error', 'Error', ''])
      expect(isConfiguration([`${NS}/${name}`], NS), name).to.equal(false)
    expect(isConfiguration([`${NS}x/Group`, NS, 'Group'], NS)).to.equal(false)
    expect(isConfiguration([], NS)).to.equal(false)
  })

  it('SEC-8 values of other items below the namespace are read like those of any item', () => {
    const element = property('<b itemprop=y content="hidden">shown</b>')
    const answer = { types: [`${NS}/PollResponse`] }
    expect(jsonLdValue(NS)(element, answer)).to.equal('shown')
    expect(modelValue(NS)(element, answer)).to.equal('shown')
  })

  it('RULE-1 XML reads like HTML, with or without a namespace', () => {
    expect(modelValue(NS)(property('<meta itemprop="" content="x"/>', 'xml'), plain)).to.equal('x')
    expect(ruleValue(property('<data itemprop="" value="x">y</data>', 'xml'), plain)).to.equal('x')
    const prefixed = '<h:a xmlns:h="http://www.w3.org/1999/xhtml" itemprop="" href="x">y</h:a>'
    expect(microdataValue(property(prefixed, 'xml'), plain)).to.equal('x')
    expect(microdataValue(property('<a xmlns="urn:other" itemprop="" href="x">y</a>', 'xml'), plain)).to.equal('y')
  })
})
