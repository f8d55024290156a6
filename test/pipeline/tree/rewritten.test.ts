/** What is read again of trees that HTML has no markup for (COMP-147). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { parseHtml } from '../../../pipeline/tree/html.ts'
import { rootElement, type TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { changesNames, type Place } from '../../../pipeline/tree/rewritten.ts'
import { writingMarkup } from '../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { parseXml } from '../../../pipeline/tree/xml.ts'
import { elementsOf, find } from './samples.ts'

const DOCUMENT: Place = { isLive: uri => uri !== 'urn:foreign', frame: ['', ''] }
const HIDDEN = '<p:include resource="/secret"></p:include>'
const ESCAPED = HIDDEN.replaceAll('<', '&lt;')
/** As a table leaves a link around a link in SVG. */
const left = (text: string) =>
  `<svg><a><svg><desc><a><table><a><i></i><table><iframe>${text}</iframe></table></table></a></desc></svg></a></svg>`
const LINKS = '<svg><a><svg><desc><a><a><i/></a><table/></a>'

const html = (body: string): TreeDocument => ({ kind: 'html', source: body, root: parseHtml(body), clean: false })
function xml(body: string): TreeDocument {
  const source = `<html xmlns="http://www.w3.org/1999/xhtml"><head/><body>${body}</body></html>`
  return { kind: 'xml', source, root: parseXml(source), clean: false }
}

const GAINING: [what: string, tree: TreeDocument][] = [
  ['a link around a link in SVG', html(left(HIDDEN))],
  ['names of attributes alone', html(left('<b p:template="text/liquid">{{ x }}</b>'))],
  ['one while another of the name is lost', html(`${left(`${HIDDEN}<p><xmp>`)}<p:include resource="/ok"></p:include>`)],
  ['one while its like is lost', html(`${left(`${HIDDEN}<p><xmp>`)}${HIDDEN}`)],
  ['svg in the namespace of HTML', xml(`${LINKS}<iframe>${ESCAPED}</iframe></desc></svg></a></svg>`)],
  ['raw text behind a column in a template', xml(`<template><col/><xmp>&lt;/template>${ESCAPED}</xmp></template>`)],
  ['names behind plaintext, which are text', xml('<plaintext/><p:x xmlns:p="urn:p"/>')],
  ['a form that is dropped', xml('<form xmlns:p="urn:p"><form p:y="1"/></form>')],
  ['a body whose names come to the first one', xml('<b xmlns:p="urn:p"><body p:y="1"/></b>')],
  ['a directive that leaves another one', xml('<li xmlns:p="urn:p" p:x="1"><li><i p:y="1"/></li></li>')],
  [
    'a declaration that goes with a tag',
    xml('<b xmlns:p="urn:p"><form><form xmlns:p="urn:q"><i p:y="1"/></form></form></b>'),
  ],
]

const ALIKE: [what: string, tree: TreeDocument][] = [
  ['SVG, raw text and names', html(`<svg><a p:x="1"><p:y/></a></svg><b p:x="1"><script>"<p:x>"</script>${HIDDEN}`)],
  ['a link around a link without names', html(left('<b>12:30</b>'))],
  ['a form that is dropped without a directive', xml('<form xmlns:p="urn:foreign"><form p:y="1"/></form>')],
  ['markup in noscript', xml(`<noscript><p:x xmlns:p="urn:p"/></noscript><b xmlns:p="urn:p" p:x="1"/>`)],
]

describe('COMP-147 a tree that is written and read again', () => {
  const gains = ({ root }: TreeDocument) => atOnce(changesNames(root, DOCUMENT))
  for (const [what, tree] of GAINING) it(`gains names: ${what}`, () => expect(gains(tree)).to.equal(true))
  for (const [what, tree] of ALIKE) it(`gains none: ${what}`, () => expect(gains(tree)).to.equal(false))

  it('gains none in a fragment whose names mean nothing anywhere, wherever they come to stand', () => {
    const place = { ...DOCUMENT, frame: undefined }
    const changes = (namespace: string) => {
      const p = find(xml(`<p><span><p xmlns:o="${namespace}"><o:p/></p></span></p>`).root, 'p')
      p.attrs = [{ name: 'x:on', value: '' }]
      return atOnce(changesNames(p, place))
    }
    expect(changes('urn:foreign')).to.equal(false)
    expect(changes('urn:p'), 'one that leaves another one').to.equal(true)
  })

  it('gains those in a template that comes to stand in SVG', () => {
    const tree = html('<svg></svg><template xmlns:p="urn:p"><p:x></p:x></template>')
    const [, template] = elementsOf(tree.root).filter(({ tagName }) => /svg|template/.test(tagName))
    find(tree.root, 'svg').childNodes = template ? [template] : []
    find(tree.root, 'body').childNodes.pop()
    expect(gains(tree)).to.equal(true)
  })

  it('is read as what is stored of an element, which has a doctype', () => {
    const root = rootElement(xml('<p><b xmlns:p="urn:p" p:x="1"><table/>x</b></p><svg/>'))
    expect(root && atOnce(changesNames(root, { ...DOCUMENT, frame: ['<!DOCTYPE html>', ''] }))).to.equal(true)
  })

  it('is refused where it is too much to be told, instead of failing', () => {
    const names = Array.from({ length: 999 }, (_, i) => `a${i}`).join(' ')
    expect(gains(html(`<svg></svg><b p:x ${names}></b>`))).to.equal(true)
  })

  it('is the same afterwards', () => {
    const tree = html(`<svg><p:y a="1"/></svg>${HIDDEN}`)
    const written = atOnce(writingMarkup(tree.root, 'html'))
    gains(tree)
    expect(atOnce(writingMarkup(tree.root, 'html'))).to.equal(written)
    expect(rootElement(tree)?.attrs).to.deep.equal([])
  })
})
