/** What actions and pages store of trees that code has put together, read again: names mean there what they meant (COMP-145, COMP-147). */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { NOWHERE } from '../../pipeline/language/own-names.ts'
import { keepingNames } from '../../pipeline/model/kept-names.ts'
import { isLive } from '../../pipeline/model/meanings.ts'
import { Registry } from '../../pipeline/model/registry.ts'
import { cloningElement, cloningStored, noteStored } from '../../pipeline/tree/clone.ts'
import { parsingFragment } from '../../pipeline/tree/fragment.ts'
import { parseHtml } from '../../pipeline/tree/html.ts'
import { type ElementNode, elementAlone, isElement, type ParentNode } from '../../pipeline/tree/nodes.ts'
import { parsingPrefixed } from '../../pipeline/tree/prefixed-parser.ts'
import { namespaceOf, prefixedNames, prefixIn } from '../../pipeline/tree/prefixes.ts'
import { RAW } from '../../pipeline/tree/raw-text.ts'
import { changesNames } from '../../pipeline/tree/rewritten.ts'
import { writingMarkup } from '../../pipeline/tree/serialize.ts'
import { atOnce } from '../../pipeline/tree/steps.ts'
import { parseXml } from '../../pipeline/tree/xml.ts'
import { SCHEMA_HOST } from '../pipeline/model/markup.ts'
import { elementsOf, runs } from '../pipeline/tree/samples.ts'
import { NS } from '../support/content.ts'

const REGISTRY = Registry.empty({ ns: NS, schemaHost: SCHEMA_HOST })
const isLiveName = (uri: string) => isLive(uri, REGISTRY, 'html')

const NAMES = (
  'html head body frameset table tbody tr td caption colgroup col select option optgroup form a b i nobr font button p div li ' +
  'ul dd dl h1 ruby rt rp svg math desc foreignObject annotation-xml mi mglyph title textarea style script noscript template ' +
  'plaintext xmp iframe image br input pre listing marquee object base link meta'
).split(' ')
const DECLARATIONS = [
  '',
  `xmlns:p="${NS}/1.0"`,
  `xmlns:p="${NS}/Binding/Sessel"`,
  'xmlns:p=""',
  'xmlns:p="http://www.w3.org/x"',
]
const name = fc.constantFrom(...NAMES)
const declared = fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom(...DECLARATIONS))

/** Markup in which each name with a prefix is its own. */
const markup = (kind: string, most: number) =>
  fc
    .array(
      fc.oneof(
        fc
          .tuple(name, declared, fc.boolean())
          .map(([tag, declares, has]) => `<${tag} ${declares}${has ? ' p:@="1"' : ''}>`),
        name.map(tag => `</${tag}>`),
        declared.map(declares => `<p:@ ${declares}>`),
        fc.constantFrom(
          '</p:@>',
          'x',
          '&lt;p:@>',
          '<!--<p:@>-->',
          '<![CDATA[<p:@>]]>',
          '\0',
          '<P:@ XMLNS:P="">',
          '\r',
          '<script><!--<script>',
          '<style><p:@>',
          '<xmp><p:@>',
          '<a><svg><desc><a>',
        ),
      ),
      { maxLength: most },
    )
    .map(parts => {
      let count = 0
      return parts
        .join('')
        .replaceAll('<p:@', () => `<p:${kind}${count++}`)
        .replaceAll('p:@', () => `p:${kind}${count++}`)
    })

const stored = fc.record({
  html: declared,
  body: declared,
  author: markup('a', 8),
  visitors: fc.array(
    fc.record({
      markup: markup('v', 8),
      context: name,
      at: fc.nat(),
      wrapped: fc.option(fc.tuple(name, declared)),
      isWhole: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  root: fc.nat(9),
})
type Case = typeof stored extends fc.Arbitrary<infer T> ? T : never

function contents(element: ElementNode): ParentNode {
  return element.content ?? element
}

function add(parent: ElementNode, nodes: ParentNode['childNodes'], at: number): void {
  const into = contents(parent)
  for (const node of nodes) node.parentNode = into
  const place = at % (into.childNodes.length + 1)
  into.childNodes = [...into.childNodes.slice(0, place), ...nodes, ...into.childNodes.slice(place)]
}

function build({ html, body, author, visitors, root }: Case): ElementNode {
  const page = parseHtml(
    `<!DOCTYPE html><html ${html} p:ah><head><title>t</title></head><body ${body} p:ab>${author}</body></html>`,
  )
  const all = elementsOf(page)
  const [first] = all
  const taken = root < 6 ? first : all[root % all.length]
  const made = atOnce(cloningStored(taken ?? elementAlone('div')))
  for (const { markup, context, at, wrapped, isWhole } of visitors) {
    const read = isWhole ? parseHtml(markup).childNodes : atOnce(parsingFragment('html', markup, elementAlone(context)))
    for (const node of read)
      if (isElement(node)) for (const element of [node, ...elementsOf(node)]) noteStored(element, NOWHERE)
    const places = [made, ...elementsOf(made)]
    let place = places[at % places.length] ?? made
    if (wrapped) {
      const [tag, declares] = wrapped
      const wrap = elementAlone(tag)
      const uri = /"(.*)"/.exec(declares)?.[1]
      wrap.attrs = [...(uri === undefined ? [] : [{ name: 'xmlns:p', value: uri }]), { name: `p:aw${at}`, value: '' }]
      if (tag === 'template') wrap.content = { nodeName: '#document-fragment', childNodes: [], host: wrap }
      add(place, [wrap], at)
      place = wrap
    }
    add(
      place,
      read.filter(node => node.nodeName !== '#documentType'),
      at,
    )
  }
  return made
}

function meanings(elements: readonly ElementNode[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const element of elements.filter(each => !isIn('template', each)))
    for (const written of prefixedNames(element)) {
      const prefix = prefixIn(written)
      const uri = prefix && !written.startsWith('xmlns:') ? namespaceOf(element, prefix) : undefined
      if (uri && isLiveName(uri)) found.set(written, (found.get(written) ?? new Set()).add(uri))
    }
  return found
}

/** Whether an element stands in the contents of a template, or in what HTML reads as text. */
function isIn(what: 'template' | 'text', { parentNode }: ElementNode): boolean {
  if (!parentNode) return false
  if (isElement(parentNode)) return (what === 'text' && RAW.has(parentNode.tagName)) || isIn(what, parentNode)
  if (!('host' in parentNode) || !parentNode.host) return false
  return what === 'template' || isIn(what, parentNode.host)
}

const frameOf = ({ tagName }: ElementNode): [string, string] =>
  tagName === 'html'
    ? ['<!DOCTYPE html>\n', '\n']
    : ['<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title></title></head><body>\n', '\n</body></html>\n']

function judge(c: Case): void {
  const made = build(c)
  const copy = atOnce(cloningElement(made))
  atOnce(keepingNames(copy, undefined, 'html', REGISTRY))
  const frame = frameOf(copy)
  const refused = atOnce(changesNames(copy, { isLive: isLiveName, frame }))
  const [before, behind] = frame
  const text = before + atOnce(writingMarkup(copy, 'html')) + behind
  const was = meanings([copy, ...elementsOf(copy)])
  expect([...was.keys()].filter(written => written.includes(':v'))).to.deep.equal([])
  if (refused) return
  const now = meanings(elementsOf(atOnce(parsingPrefixed(text))))
  for (const written of meanings([copy, ...elementsOf(copy)].filter(element => !isIn('text', element))).keys())
    expect([...now.keys()], text).to.include(written)
  for (const [written, uris] of now)
    expect([...uris], `${written} in ${text}`).to.deep.equal([...(was.get(written) ?? [])])
}

describe('COMP-145 COMP-147 REA-60 a tree that an action stores', () => {
  it('has no name mean something that did not, or something else, and loses none that does', () => {
    fc.assert(
      fc.property(stored, c => judge(c)),
      runs(25),
    )
  })

  const copied: [what: string, stored: ParentNode, around: string, copy: string][] = [
    [
      'of HTML that nobody knows stay',
      parseHtml('<b xmlns:q="urn:q"><i q:x>'),
      '',
      '<b xmlns:q="urn:q"><i q:x=""></i></b>',
    ],
    ['of XML that nobody knows are data', parseXml('<b xmlns:q="urn:q" q:x="1"/>'), '', '<b q:x="1" xmlns:q=""></b>'],
    ['that are unbound stay where no directive is meant', parseHtml('<b q:x>'), 'http://ogp.me/', '<b q:x=""></b>'],
  ]
  for (const [what, stored, around, copy] of copied)
    it(`COMP-12 COMP-120 names ${what}`, () => {
      const b = elementsOf(stored).find(({ tagName }) => tagName === 'b')
      const made = atOnce(cloningStored(b ?? elementAlone('b')))
      const place = { ...elementAlone('div'), attrs: [{ name: 'xmlns:q', value: around }] }
      atOnce(keepingNames(made, around === '' ? undefined : place, 'html', REGISTRY))
      expect(atOnce(writingMarkup(made, 'html'))).to.equal(copy)
    })

  it('SEC-12 others have their turn between its names, each of which is looked for in all that stands around it', () => {
    const names = Array.from({ length: 320 }, (_, n) => `q${n}:x`).join(' ')
    const [first] = elementsOf(parseHtml(`<p ${names}>`)).filter(({ tagName }) => tagName === 'p')
    const copy = atOnce(cloningStored(first ?? elementAlone('p')))
    expect([...keepingNames(copy, undefined, 'html', REGISTRY)].length).to.be.at.least(20)
  })
})
