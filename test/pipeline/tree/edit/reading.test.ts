/**
 * Edits of pages with directives, which may have no end tag (COMP-6, DAV-45, HTTP-24): what is read of an element is what a
 * write of the same leaves, and everything else stays as it was, in the tree in which directives end where composition ends
 * them.
 */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { equalNodes } from '../../../../pipeline/tree/compare.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { type Edit, EditError, edit, type Placement, type ProposedEdit } from '../../../../pipeline/tree/edit/edit.ts'
import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  isElement,
  type TreeDocument,
} from '../../../../pipeline/tree/nodes.ts'
import {
  boundIn,
  parsingPrefixed,
  parsingPrefixedFragment,
  unprefixedFrom,
} from '../../../../pipeline/tree/prefixed-parser.ts'
import { readingAsWritten } from '../../../../pipeline/tree/readings.ts'
import { findingSame, sameElement, sameLeaf } from '../../../../pipeline/tree/same-nodes.ts'
import { outerMarkup } from '../../../../pipeline/tree/serialize.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'
import { takesLess } from '../../../support/cost.ts'
import { parsedDuring } from '../../../support/parsed-text.ts'
import { elementsOf, nodesOf, runs } from '../samples.ts'

const DIRECTIVES = [
  '<p:include selector="#x"/>',
  '<p:stamp a>',
  '<p:include selector=#a resource=/x/>',
  '<p:stamp b></p:stamp>',
]
const LEAVES = ['x', 'y ', '<br>', '<!--c-->', '<i>i</i>', '<td>1', '<tr><td>2', '<option>o', '<li>q', '</p>', '<b>']
const NAMES = ['p', 'div', 'ul', 'li', 'table', 'tbody', 'tr', 'td', 'b', 'select', 'section', 'p:w']
const SHELL = new Set(['html', 'head', 'body'])

const { node } = fc.letrec<{ node: string }>(tie => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(...LEAVES, ...DIRECTIVES, ...DIRECTIVES),
    fc
      .record({
        name: fc.constantFrom(...NAMES),
        attributes: fc.constantFrom('', ' class=a', ' id="k"'),
        content: fc.array(tie('node'), { maxLength: 4 }),
        isClosed: fc.boolean(),
      })
      .map(({ name, attributes, content, isClosed }) => {
        const end = isClosed ? `</${name}>` : ''
        return `<${name}${attributes}>${content.join('')}${end}`
      }),
  ),
}))

const pages = fc
  .record({
    head: fc.constantFrom(
      '',
      '<head><title>t</title></head>',
      '<head><p:include selector="#x"/><title>t</title></head>',
    ),
    content: fc.array(node, { minLength: 1, maxLength: 5 }),
    end: fc.constantFrom('', '</body></html>'),
  })
  .map(({ head, content, end }) => `<!doctype html><html xmlns:p="urn:v">${head}<body>${content.join('')}${end}`)

const asComposed = (source: string): DocumentNode => atOnce(parsingPrefixed(source))

/** White space behind the body follows what stands at its end. */
const whole = (root: DocumentNode): string => outerMarkup(root, 'html').replace(/\s+(?=(<\/[a-z:]+>)*<\/body>)/, '')

/** Nodes of a fragment beside each other in a parent that may have a prefix. */
function fragment(text: string, parent: ElementNode): ChildNode[] {
  const around = unprefixedFrom(parent)
  if (!around) throw new Error('no parent')
  return atOnce(parsingPrefixedFragment(text, around, boundIn(parent)))
}

interface Picked {
  document: TreeDocument
  /** As composition reads it. */
  read: TreeDocument
  /** There. */
  element: ElementNode
  /** The same in the document; the standard has none of some in `select`. */
  target: ElementNode
}

function pick(document: TreeDocument, which: number): Picked | undefined {
  const read = atOnce(readingAsWritten(document))
  const elements = elementsOf(read.root).filter(({ tagName }) => !SHELL.has(tagName))
  const element = elements[which % elements.length]
  const target = element && sameElement(read, element, document)
  if (!element || !target || sameElement(document, target, read) !== element) return undefined
  return { document, read, element, target }
}

/** Makes an edit. @returns undefined where it cannot be made */
function made(document: TreeDocument, wanted: Edit): ProposedEdit | undefined {
  try {
    return edit(document, { ...wanted, asWritten: true })
  } catch (error) {
    if (error instanceof EditError && error.reason !== 'directives') return undefined
    throw error
  }
}

/** The document that an edit leaves, whose tree is the standard's of its text. */
function accepted(proposed: ProposedEdit): TreeDocument {
  const document = atOnce(proposed.accepting())
  expect(document.source).to.equal(proposed.source)
  expect(equalNodes(document.root.childNodes, parseDocument('html', document.source).root.childNodes)).to.equal(true)
  const read = atOnce(readingAsWritten(document))
  const composed = asComposed(document.source)
  expect(equalNodes(read.root.childNodes, composed.childNodes), 'as composed').to.equal(true)
  expect(placesIn(read.root), 'where it is composed').to.deep.equal(placesIn(composed))
  return document
}

/** Where elements begin, and directives end. */
function placesIn(root: DocumentNode): unknown[] {
  return elementsOf(root).map(({ tagName, sourceCodeLocation: place }) => [
    place?.startTag?.startOffset,
    place?.startTag?.endOffset,
    tagName.includes(':') && place?.endTag?.startOffset,
  ])
}

/** Some content has no text, such as a paragraph in a paragraph. */
function hasText({ element }: Picked, text: string): boolean {
  const parent = element.parentNode
  return parent !== null && isElement(parent) && equalNodes(fragment(text, parent), [element])
}

function putAgain(picked: Picked): TreeDocument | undefined {
  const { document, element, target } = picked
  const { source } = document
  const text = outerMarkup(element, 'html')
  const proposed = hasText(picked, text) ? made(document, { op: 'replace', target, text }) : undefined
  if (!proposed) return undefined
  const { changes, way, inserted, shown } = proposed
  if (way === 'reparsed') return accepted(proposed)
  expect(inserted.trim()).to.equal(text)
  const echo = shown?.nodes ?? proposed.propose(({ nodes }) => nodes)
  expect(echo.filter(isElement).map(each => outerMarkup(each, 'html'))).to.deep.equal([text])
  const place = element.sourceCodeLocation
  if (place && way === 'splice')
    for (const { start, end } of changes) {
      expect(start).to.be.at.least(place.startOffset)
      expect(end).to.be.at.most(place.endOffset)
    }
  if (place && source.slice(place.startOffset, place.endOffset) === text && way === 'splice')
    expect(proposed.source).to.equal(source)
  const next = accepted(proposed)
  expect(whole(asComposed(next.source))).to.equal(whole(asComposed(source)))
  return next
}

const PLACEMENTS: readonly Placement[] = ['append', 'prepend', 'before', 'after']

function change(picked: Picked, op: 'remove' | 'replace' | Placement, text: string): TreeDocument | undefined {
  const { document, element, read, target } = picked
  const root = asComposed(document.source)
  const there = sameElement(read, element, { ...read, root })
  const parent = there?.parentNode
  if (!there || !parent || !isElement(parent)) throw new Error('no place')
  const isInside = op === 'append' || op === 'prepend'
  const wanted: Edit =
    op === 'remove'
      ? { op, target }
      : op === 'replace'
        ? { op, target, text }
        : { op: 'insert', anchor: target, placement: op, text }
  const proposed = made(document, wanted)
  if (!proposed) return undefined
  const nodes = op === 'remove' ? [] : fragment(text, isInside ? there : parent)
  const at = parent.childNodes.indexOf(there)
  if (op === 'append') there.childNodes.push(...nodes)
  else if (op === 'prepend') there.childNodes.unshift(...nodes)
  else if (op === 'before' || op === 'after') parent.childNodes.splice(op === 'before' ? at : at + 1, 0, ...nodes)
  else parent.childNodes.splice(at, 1, ...nodes)
  const next = accepted(proposed)
  if (proposed.way !== 'reparsed') expect(whole(asComposed(next.source))).to.equal(whole(root))
  return next
}

describe('COMP-6 DAV-45 edits among directives with and without end tags', () => {
  it('many nodes are found in the other reading as each of them is', () => {
    fc.assert(
      fc.property(pages, text => {
        const document = parseDocument('html', text)
        const read = atOnce(readingAsWritten(document))
        for (const [from, to] of [
          [document, read],
          [read, document],
        ] as const) {
          const nodes = nodesOf(from.root)
          const each = nodes.flatMap(node => (isElement(node) ? sameElement(from, node, to) : sameLeaf(to, node)) ?? [])
          const together = atOnce(findingSame(from, nodes, to))
          expect(together.length).to.equal(each.length)
          expect(together.every((node, i) => node === each[i])).to.equal(true)
        }
      }),
      runs(100),
    )
  })

  const edits = fc.array(
    fc.record({
      which: fc.nat({ max: 1000 }),
      op: fc.constantFrom('again', 'remove', 'replace', ...PLACEMENTS),
      text: fc.array(node, { minLength: 1, maxLength: 2 }).map(parts => parts.join('')),
    }),
    { minLength: 1, maxLength: 3 },
  )

  it('a write of what was read changes nothing, any other nothing else', () => {
    fc.assert(
      fc.property(pages, edits, (source, list) => {
        let document = parseDocument('html', source)
        for (const { which, op, text } of list) {
          const picked = pick(document, which)
          if (picked) document = (op === 'again' ? putAgain(picked) : change(picked, op, text)) ?? document
        }
      }),
      runs(30),
    )
  })

  for (const include of ['<p:include/>', '<p:include></p:include>', '<p:include>'])
    for (const beside of ['', '<title>t</title>'])
      it(`HTTP-24 the body is found behind ${include} in the head, with ${beside || 'nothing'} beside it`, () => {
        const page = (head: string, body: string) =>
          `<!doctype html><html xmlns:p="urn:v"><head>${head}</head><body class="a">${body}</body></html>`
        const head = include + beside
        let document = parseDocument('html', page(head, '<p>b</p>'))
        const insert = (name: string, placement: Placement, text: string) => {
          const read = atOnce(readingAsWritten(document))
          const there = elementsOf(read.root).find(({ tagName }) => tagName === name)
          const anchor = there && sameElement(read, there, document)
          if (!anchor) throw new Error(`no ${name}`)
          document = accepted(edit(document, { op: 'insert', anchor, placement, text, asWritten: true }))
        }
        insert('head', 'append', '<meta name="m">')
        insert('body', 'append', '<i>1</i>')
        insert('body', 'prepend', '<i>2</i>')
        expect(document.source).to.equal(page(`${head}<meta name="m">`, '<i>2</i><p>b</p><i>1</i>'))
      })

  it('what a page without directives is read as, nobody makes twice', () => {
    const document = parseDocument('html', '<!doctype html><html xmlns:p="urn:v"><p>a:b</p>')
    expect(atOnce(readingAsWritten(document))).to.equal(document)
    const closed = parseDocument('html', '<!doctype html><html xmlns:p="urn:v"><p><p:stamp></p:stamp>')
    expect(atOnce(readingAsWritten(closed))).to.equal(closed)
  })

  it('COMP-6 a prefix that a directive unbinds is not bound in it, in a page as in what is written there', () => {
    const content = '<q:z>a<i>b</i></q:z>'
    const root = asComposed(`<!doctype html><html xmlns:p="urn:v" xmlns:q="urn:v"><p:w xmlns:q=""><q:z>a<i>b</i></p:w>`)
    const parent = elementsOf(root).find(({ tagName }) => tagName === 'p:w')
    if (!parent) throw new Error('no parent')
    expect(outerMarkup(root, 'html')).to.contain(`<p:w xmlns:q="">${content}</p:w>`)
    expect(equalNodes(parent.childNodes, fragment('<q:z>a<i>b</i>', parent))).to.equal(true)
  })

  it('SEC-12 what is declared around thousands of prefixed elements is read once', async () => {
    const attributes = Array.from({ length: 900 }, (_, i) => `a${i}`).join(' ')
    const deep = (content: string) => `${`<div ${attributes}>`.repeat(20)}${content}${'</div>'.repeat(20)}`
    const many = (name: (i: number) => string) =>
      Array.from({ length: 2000 }, (_, i) => `<${name(i)}></${name(i)}>`).join('')
    const html = (body: string) => `<!doctype html><html xmlns:p="urn:v"><body><p:stamp/>${body}`
    const stamped = html(deep(many(() => 'p:stamp')))
    await takesLess(70, () => asComposed(stamped), 'parsing')
    const document = parseDocument('html', html(`${deep('<i></i>')}<b>${many(i => `q${i}:a`)}</b>`))
    const find = (name: string) => elementsOf(document.root).find(({ tagName }) => tagName === name)
    const [source, anchor] = [find('b'), find('i')]
    if (!source || !anchor) throw new Error('no elements')
    const move = { op: 'move', source, anchor, placement: 'append', asWritten: true } as const
    await takesLess(120, () => edit(document, move), 'moving')
  })

  it('SEC-12 elements named as the root are found in the other reading without a look at all that stands before it', async () => {
    const [before, content] = ['<!---->', '<html/>'].map(each => each.repeat(8000))
    const document = parseDocument('html', `${before}<html xmlns:p="urn:v"><p:stamp><svg>${content}`)
    const read = atOnce(readingAsWritten(document))
    const named = elementsOf(document.root).filter(({ tagName }) => tagName === 'html')
    await takesLess(100, () => expect(atOnce(findingSame(document, named, read))).to.have.length(8001), 'finding')
  })

  const LONG = '<p>a:b</p>'.repeat(10_000)
  for (const [what, text, most] of [
    ['none', `<p:stamp>${LONG}<p:stamp/>`, 1],
    ['one at the beginning', `<p:stamp></p:stamp>${LONG}`, 1.4],
  ] as const)
    it(`end tags of directives are not looked for behind the last one: ${what}`, async () => {
      const source = `<!doctype html><html xmlns:p="urn:v">${text}`
      expect(await parsedDuring(() => atOnce(parsingPrefixed(source)))).to.be.at.most(most * source.length)
    })
})
