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

  const XML = 'http://www.w3.org/XML/1998/namespace'
  const NAMES: readonly [namespace: string, name: string, value: string, isStored: boolean][] = [
    ['DAV:', 'a', 'v', true],
    ['', 'a', 'v', true],
    ['urn:\n"<x', 'a', 'v', true],
    [XML, 'a', 'v', true],
    ['urn:x', 'a(', 'v', false],
    ['', 'a,b', '', false],
    ['DAV:', 'a}', 'v', false],
    ['http://www.w3.org/2000/xmlns/', 'a', '', false],
    [' urn:x', 'a', 'v', false],
    // As older versions stored them; they are not told.
    ['urn:x', '1', 'v', true],
    ['urn:x', '1', 'v<b/>', false],
    ['urn:x', '\u{10000}', 'v', true],
    ['urn:x', 'a', `<n:a xmlns:n="urn:x" xmlns="${XML}"><xmlU00003Ab/></n:a>`, true],
    [XML, 'b', `<xmlU00003Ab c="d" xmlns="${XML}">t</xmlU00003Ab>`, true],
    ['urn:x', 'a', `<n:a xmlns:n="urn:x" q=">" xmlns="${XML}"/>`, false],
    ['urn:x', 'a', `<n:a xmlns:n="urn:x" xmlns="${XML}"/></D:prop>`, false],
  ]
  for (const [namespace, name, value, isStored] of NAMES)
    it(`DAV-34 ${isStored ? 'may be' : 'are never'} ${JSON.stringify(value)} of ${JSON.stringify(`{${namespace}}${name}`)}`, () =>
      expect(isStoredValue({ namespace, name, value })).to.equal(isStored))

  const SET = [
    'text',
    ']]&gt; &amp;lt; "&apos;',
    '&#13;&#10;&#9;',
    '<![CDATA[<b>]]>',
    ' <i y="&#10;">x</i><!-- c --><?p i?>',
    '<a xmlns=""/>',
    '<xml:a>x</xml:a>',
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
