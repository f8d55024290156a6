import { expect } from 'chai'
import { describe, it } from 'mocha'
import { judge, readInstructions } from '../../../dav/properties/property-update.ts'
import { isStoredValue } from '../../../dav/properties/stored-value.ts'
import { parseXmlBody } from '../../../dav/requests/xml.ts'

describe('values of properties from elsewhere', () => {
  const CASES: readonly [value: string, isStored: boolean][] = [
    ['', true],
    ['text &amp; more &lt;', true],
    ['<n:a xmlns:n="urn:x"/>', true],
    ['<n:a xmlns:n="urn:x" xml:lang="en">text<b>in <i/></b></n:a>', true],
    ['text</x:a></D:prop></D:propstat><D:propstat>', false],
    ['text<b/>', false],
    ['a & b', false],
    ['<n:a xmlns:n="urn:x"/></D:prop>', false],
    ['<n:a xmlns:n="urn:x"/><n:a xmlns:n="urn:x"/>', false],
    ['<n:b xmlns:n="urn:x"/>', false],
    ['<n:a xmlns:n="urn:y"/>', false],
    ['<D:a/>', false],
    ['<x:a xmlns:x="urn:x">', false],
    ['<!DOCTYPE a [<!ENTITY e "e">]><n:a xmlns:n="urn:x">&e;</n:a>', false],
    ['<!DOCTYPE a><n:a xmlns:n="urn:x"/>', false],
    ['<?xml version="1.0"?><n:a xmlns:n="urn:x"/>', false],
    ['<!-- a --><n:a xmlns:n="urn:x"/>', false],
  ]
  for (const [value, isStored] of CASES)
    it(`DAV-34 ${isStored ? 'may be' : 'are never'} ${JSON.stringify(value)}`, () =>
      expect(isStoredValue({ namespace: 'urn:x', name: 'a', value })).to.equal(isStored))

  const SET = [
    'text',
    ']]&gt; &amp;lt; "&apos;',
    '&#13;&#10;&#9;',
    '<![CDATA[<b>]]>',
    ' <i y="&#10;">x</i><!-- c --><?p i?>',
    '<a xmlns=""/>',
  ]
  for (const content of SET)
    for (const attributes of ['', ' z="&lt;"', ' xml:lang="en"'])
      it(`DAV-34 may be what PROPPATCH makes of ${content} with${attributes || ' no attributes'}`, () => {
        const set = `<D:set><D:prop><n:a xmlns:n="urn:x"${attributes}>${content}</n:a><a xmlns=""${attributes}>${content}</a></D:prop></D:set>`
        const body = `<D:propertyupdate xmlns:D="DAV:">${set}</D:propertyupdate>`
        const { patch } = judge(readInstructions(parseXmlBody(Buffer.from(body))), [], false)
        expect(patch.set).to.have.length(2)
        for (const property of patch.set) expect(isStoredValue(property), property.value).to.equal(true)
      })
})
