import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isStoredValue } from '../../../dav/properties/stored-value.ts'

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
})
