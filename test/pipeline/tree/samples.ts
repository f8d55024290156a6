/** Random documents for properties, and ways to look at trees. */

import fc from 'fast-check'
import { type AnyNode, type ChildNode, type ElementNode, isElement } from '../../../pipeline/tree/nodes.ts'
import type { Steps } from '../../../pipeline/tree/steps.ts'
import { provingWithinLimits } from '../../../pipeline/tree/tag-limits.ts'
import type { TagTokens } from '../../../pipeline/tree/tag-tokens.ts'

/** Options of a property: the same documents in every run unless FUZZ names a number of seconds. */
export function runs(count: number): fc.Parameters<unknown> {
  const seconds = Number(process.env.FUZZ ?? 0)
  return seconds > 0
    ? { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1000, markInterruptAsFailure: false }
    : { numRuns: count, seed: 20_261_121 }
}

/** Proves that a text stays within the limits, as its bytes are proved to. */
export function provingText(source: string, tokens?: TagTokens): Steps<boolean> {
  return provingWithinLimits(Buffer.from(source), source.length, tokens)
}

/** All elements below a node in tree order, contents of templates included. */
export function elementsOf(node: AnyNode): ElementNode[] {
  return nodesOf(node).filter(isElement)
}

/** All nodes below a node in tree order, contents of templates included. */
export function nodesOf(node: AnyNode): ChildNode[] {
  if (!('childNodes' in node)) return []
  const children = isElement(node) && node.content ? node.content.childNodes : node.childNodes
  return children.flatMap(child => [child, ...nodesOf(child)])
}

/** The first element with this name below a node. */
export function find(node: AnyNode, tagName: string): ElementNode {
  const element = elementsOf(node).find(e => e.tagName === tagName)
  if (!element) throw new Error(`no ${tagName}`)
  return element
}

/** The source text of a node. */
export function sliceOf(source: string, node: ChildNode): string {
  const place = node.sourceCodeLocation
  return place ? source.slice(place.startOffset, place.endOffset) : ''
}

const text = fc.constantFrom('a', 'b c', '\r\n', '\n', ' ', '&amp;', '&lt;', '&#x1F600;', '😀', 'é', ']]&gt;', '"', "'")

/** Pieces of HTML in any order, well nested or not. */
export const htmlSoup: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      text,
      fc
        .constantFrom(
          ...'div p b i a ul li table tbody tr td th caption colgroup col form select option template svg g foreignObject'.split(
            ' ',
          ),
          ...'math mi h1 span br img input pre textarea title style script noscript button dl dd ruby rt nobr font html head body'.split(
            ' ',
          ),
        )
        .chain(name =>
          fc.constantFrom(
            `<${name}>`,
            `</${name}>`,
            `<${name} id=x class="a b">`,
            `<${name.toUpperCase()} ID='y' id="z">`,
            `<${name}/>`,
          ),
        ),
      fc.constantFrom(
        '<!--c-->',
        '<!-->',
        '<!doctype html>',
        '<![CDATA[x]]>',
        '</',
        '<',
        '&',
        '\0',
        '</body>',
        '</html>',
        '<?pi?>',
        '<image>',
      ),
    ),
    { maxLength: 40 },
  )
  .map(parts => parts.join(''))

/** HTML in which every element is closed where it belongs. */
export const tidyHtml: fc.Arbitrary<string> = fc
  .letrec<{ nodes: string; node: string }>(tie => ({
    nodes: fc.array(tie('node'), { maxLength: 5, depthIdentifier: 'html' }).map(parts => parts.join('')),
    node: fc.oneof(
      { depthIdentifier: 'html', maxDepth: 5 },
      text,
      fc.constantFrom(
        '<br>',
        '<img src="x.png" alt=\'"\'>',
        '<!-- note -->',
        '<input disabled>',
        '<pre>\n\nx</pre>',
        '<svg viewBox="0 0 1 1"><path d="M0"/></svg>',
      ),
      fc
        .tuple(fc.constantFrom('div', 'section', 'article', 'ul', 'span', 'b', 'main', 'template'), tie('nodes'))
        .map(([name, inner]) => (name === 'ul' ? `<ul><li>${inner}</li></ul>` : `<${name} class=k>${inner}</${name}>`)),
      tie('nodes').map(inner => `<table><tbody><tr><td>${inner}</td></tr></tbody></table>`),
    ),
  }))
  .nodes.map(body => `<!DOCTYPE html>\n<html>\n<head><title>t</title></head>\n<body>${body}</body>\n</html>\n`)

const xmlText = fc.constantFrom(
  'a',
  ' ',
  '\n',
  '\r\n',
  '&amp;',
  '&lt;',
  '&#13;',
  '&#x1F600;',
  '😀',
  '<![CDATA[<x>]]>',
  '>',
  "'",
)
const xmlValue = fc.constantFrom('', 'v', 'a b', '&quot;', '&#10;', '\t', '\r\n', '😀', '>')
const uris = fc.constantFrom('urn:a', 'urn:b', 'urn:c')

/** Well-formed XML with namespaces declared at any depth. */
export const xmlMarkup: fc.Arbitrary<string> = fc
  .letrec<{ nodes: string; node: string; element: string }>(tie => ({
    nodes: fc.array(tie('node'), { maxLength: 4, depthIdentifier: 'xml' }).map(parts => parts.join('')),
    node: fc.oneof(
      { depthIdentifier: 'xml', maxDepth: 5 },
      xmlText,
      fc.constantFrom('<!-- - -->', '<?pi?>', '<?pi a="b" ??>', '<empty/>', '<empty\r\n/>'),
      tie('element'),
    ),
    element: fc
      .record({
        name: fc.constantFrom('a', 'p:a', 'q:b', 'xml:a', 'é', 'html', '_x.y-z'),
        declarations: fc.uniqueArray(fc.tuple(fc.constantFrom('xmlns', 'xmlns:p', 'xmlns:q'), uris), {
          selector: d => d[0],
        }),
        attributes: fc.uniqueArray(fc.tuple(fc.constantFrom('k', 'p:k', 'xml:lang', 'id'), xmlValue), {
          selector: a => a[0],
        }),
        inner: tie('nodes'),
        space: fc.constantFrom('', ' ', '\n'),
      })
      .map(({ name, declarations, attributes, inner, space }) => {
        const all = [...attributes, ...declarations].map(([key, value]) => ` ${key}="${value}"`).join('')
        return inner === '' ? `<${name}${all}${space}/>` : `<${name}${all}${space}>${inner}</${name}${space}>`
      }),
  }))
  .element.map(inner => `<root xmlns:p="urn:a" xmlns:q="urn:b">${inner}</root>`)

/** Whole XML documents. */
export const xmlDocument: fc.Arbitrary<string> = fc
  .record({
    before: fc.constantFrom(
      '',
      '\n',
      '<?xml version="1.0" encoding="utf-8"?>\r\n',
      '<?xml version="1.0"?><!-- 😀 -->\n',
    ),
    doctype: fc.constantFrom(
      '',
      '<!DOCTYPE root>',
      '<!DOCTYPE root PUBLIC "-//X//Y" "z.dtd">\n',
      "<!DOCTYPE root SYSTEM 'z'>",
    ),
    root: xmlMarkup,
    after: fc.constantFrom('', '\n', '<?end?>\n', '\n<!-- after -->'),
  })
  .map(({ before, doctype, root, after }) => before + doctype + root + after)
