/** What has to hold of every edit, checked by parsing and mutating independently of how edits are made. */

import { equalTrees } from '../../../../pipeline/tree/compare.ts'
import { parseDocument } from '../../../../pipeline/tree/document.ts'
import { type Edit, EditError, edit, type ProposedEdit, type Way } from '../../../../pipeline/tree/edit/edit.ts'
import { parseFragment } from '../../../../pipeline/tree/fragment.ts'
import {
  type AnyNode,
  type ChildNode,
  type ElementNode,
  isElement,
  isText,
  type ParentNode,
  type TreeDocument,
} from '../../../../pipeline/tree/nodes.ts'
import { atOnce } from '../../../../pipeline/tree/steps.ts'
import { treeBytes } from '../../../../pipeline/tree/weight.ts'
import { elementsOf, nodesOf } from '../samples.ts'

/** The tree as lines, one per node, with the source ranges when wanted; ends of html and body are left out. */
export function dump(root: AnyNode, places: boolean): string {
  const lines: string[] = []
  const range = (span: { startOffset: number; endOffset: number } | undefined | null): string =>
    span ? `${span.startOffset}-${span.endOffset}` : '-'
  const walk = (nodes: ChildNode[], indent: string, parent: AnyNode): void => {
    for (const node of nodes) {
      const { sourceCodeLocation: place } = node
      const shell = node.nodeName === 'html' || node.nodeName === 'body'
      let line = `${indent}${describe(node)}`
      if (places && isElement(node) && shell) line += ` @${range(place?.startTag)}`
      else if (places && isElement(node)) line += ` @${range(place)} ${range(place?.startTag)} ${range(place?.endTag)}`
      else if (places) line += ` @${range(place)}`
      if (node.parentNode !== parent) line += ' WRONG PARENT'
      lines.push(line)
      if (!isElement(node)) continue
      walk(node.childNodes, `${indent}  `, node)
      if (node.content) walk(node.content.childNodes, `${indent} #`, node.content)
    }
  }
  if ('childNodes' in root) walk(root.childNodes, '', root)
  return lines.join('\n')
}

function describe(node: ChildNode): string {
  if (isElement(node)) {
    const attrs = node.attrs.map(a => `${a.prefix ?? ''}|${a.namespace ?? ''}|${a.name}=${JSON.stringify(a.value)}`)
    return `${node.tagName} ${node.namespaceURI} ${attrs.join(' ')}`
  }
  const { parentNode: _, sourceCodeLocation: __, ...content } = node
  return JSON.stringify(content)
}

/** The tree that an edit asks for, by plain list operations on a tree of its own; undefined for the shell of a document. */
function mutated(document: TreeDocument, copy: TreeDocument, wanted: Edit): TreeDocument | undefined {
  const before = elementsOf(document.root)
  const after = elementsOf(copy.root)
  if (before.length !== after.length) return undefined
  const same = (element: ElementNode): ElementNode => after[before.indexOf(element)] as ElementNode
  const parentOf = (element: ElementNode): ParentNode => element.parentNode as ParentNode
  const context = (parent: ParentNode): ElementNode =>
    isElement(parent)
      ? parent
      : {
          nodeName: 'template',
          tagName: 'template',
          namespaceURI: 'http://www.w3.org/1999/xhtml',
          attrs: [],
          childNodes: [],
          parentNode: null,
        }
  const put = (anchor: ElementNode, placement: string, nodes: ChildNode[]): void => {
    const inside = placement === 'append' || placement === 'prepend'
    const parent = inside ? (anchor.content ?? anchor) : parentOf(anchor)
    const at = {
      append: parent.childNodes.length,
      prepend: 0,
      before: parent.childNodes.indexOf(anchor),
      after: parent.childNodes.indexOf(anchor) + 1,
    }[placement]
    parent.childNodes.splice(at ?? 0, 0, ...nodes)
    for (const node of nodes) node.parentNode = parent
  }
  switch (wanted.op) {
    case 'insert': {
      const inside = wanted.placement === 'append' || wanted.placement === 'prepend'
      const nodes = parseFragment(document.kind, wanted.text, inside ? wanted.anchor : context(parentOf(wanted.anchor)))
      put(same(wanted.anchor), wanted.placement, nodes)
      return copy
    }
    case 'replace': {
      const parent = parentOf(wanted.target)
      if (parent.nodeName === '#document' || (isElement(parent) && parent.tagName === 'html')) return undefined
      const nodes = parseFragment(document.kind, wanted.text, context(parent))
      const target = same(wanted.target)
      put(target, 'before', nodes)
      parentOf(target).childNodes.splice(parentOf(target).childNodes.indexOf(target), 1)
      return copy
    }
    case 'remove': {
      const target = same(wanted.target)
      parentOf(target).childNodes.splice(parentOf(target).childNodes.indexOf(target), 1)
      return copy
    }
    case 'move': {
      if (wanted.source === wanted.anchor) return copy
      const source = same(wanted.source)
      parentOf(source).childNodes.splice(parentOf(source).childNodes.indexOf(source), 1)
      put(same(wanted.anchor), wanted.placement, [source])
      return copy
    }
  }
}

/**
 * The document without the white space behind `</body>` or `</html>`: where it belongs depends on what is open at the
 * end, so it is no part of what an edit asks for.
 *
 * @returns one for each such end tag, from the last to the first
 */
function withoutLastSpace(source: string): TreeDocument[] {
  const list: TreeDocument[] = []
  for (const { index } of source.matchAll(/<\/(?:body|html)[\t\n\f\r ]*>/gi)) {
    const end = source.slice(index)
    if (!LAST.test(end) || !isMarkup(source.slice(0, index))) continue
    const tags = end.replace(/(<!--[\s\S]*?-->|<[^>]*>)|[\t\n\f\r ]+/g, (_, kept = '') => kept)
    list.unshift(parseDocument('html', source.slice(0, index) + tags))
  }
  return list
}

const LAST = /^(?:<\/(?:body|html)[\t\n\f\r ]*>|<!--(?:(?!-->)[\s\S])*-->|[\t\n\f\r ])*$/i

/** Whether a tag could stand behind this text. */
function isMarkup(text: string): boolean {
  const { root } = parseDocument('html', `${text}<!--here-->`)
  return nodesOf(root).some(node => 'data' in node && node.data === 'here')
}

/** Takes the white space behind the end tags out of the text that holds it, wherever that stands. */
function shortened(document: TreeDocument): TreeDocument {
  const { source } = document
  const first = [...source.matchAll(/<\/(?:body|html)[\t\n\f\r ]*>/gi)].find(({ index }) =>
    LAST.test(source.slice(index)),
  )
  if (!first) return document
  const space = source
    .slice(first.index)
    .replace(/<!--[\s\S]*?-->|<[^>]*>/g, '')
    .replace(/\r\n?/g, '\n')
  for (const node of nodesOf(document.root)) {
    if (!isText(node) || (node.sourceCodeLocation?.endOffset ?? 0) <= first.index) continue
    if (node.value.endsWith(space)) node.value = node.value.slice(0, node.value.length - space.length)
  }
  return document
}

/** Without namespace declarations: an element that moves may have to take some along. */
function undeclared(document: TreeDocument): TreeDocument {
  for (const element of elementsOf(document.root)) {
    element.attrs = element.attrs.filter(a => a.name !== 'xmlns' && a.prefix !== 'xmlns')
  }
  return document
}

class Violation extends Error {}

function must(condition: boolean, message: () => string): void {
  if (!condition) throw new Violation(message())
}

export interface Judged {
  way: Way
  document: TreeDocument
  local: boolean
}

/**
 * Makes an edit and checks everything about it.
 *
 * @returns the settled document; undefined when the edit was refused
 * @throws Violation
 */
export function judged(document: TreeDocument, wanted: Edit): Judged | undefined {
  const { source } = document
  const before = dump(document.root, true)
  const unchanged = (when: string): void => {
    must(document.source === source, () => `source changed ${when}`)
    const now = dump(document.root, true)
    must(now === before, () => `tree changed ${when}:\n${before}\n--\n${now}`)
  }
  let proposed: ProposedEdit
  try {
    proposed = edit(document, wanted)
  } catch (error) {
    if (!(error instanceof EditError)) throw error
    unchanged('by a refused edit')
    return undefined
  }
  unchanged('by edit')

  let text = ''
  let at = 0
  for (const change of proposed.changes) {
    must(
      change.start >= at && change.end >= change.start,
      () => `changes out of order ${JSON.stringify(proposed.changes)}`,
    )
    text += source.slice(at, change.start) + change.text
    at = change.end
  }
  text += source.slice(at)
  must(text === proposed.source, () => 'changes do not make the source')

  const fresh = parseDocument(document.kind, proposed.source)
  const freshTree = dump(fresh.root, false)
  const freshPlaces = dump(fresh.root, true)
  const boom = new Error('boom')
  try {
    proposed.propose(() => {
      throw boom
    })
  } catch (error) {
    must(error === boom, () => `other error ${error}`)
  }
  unchanged('by a look that threw')
  proposed.propose(view => {
    const shown = dump(view.document.root, false)
    must(shown === freshTree, () => `proposed (${proposed.way}):\n${shown}\nparsed:\n${freshTree}`)
    const all = new Set<AnyNode>(nodesOf(view.document.root))
    for (const node of view.nodes) must(all.has(node), () => 'a new node is not in the tree')
    const contents = [...all].flatMap(node => ('content' in node && node.content ? [node.content] : []))
    const parents = new Set<AnyNode>([...all, ...contents, view.document.root])
    for (const parent of view.parents) must(parents.has(parent), () => 'a parent is not in the tree')
    if (proposed.way !== 'reparsed' && (wanted.op === 'insert' || wanted.op === 'replace')) {
      must(view.nodes.length > 0, () => 'no new nodes')
    }
  })
  unchanged('by propose')

  if (proposed.way !== 'reparsed') {
    const { kind } = document
    const expected = mutated(document, parseDocument(kind, source), wanted)
    if (expected && !equalTrees(expected.root, fresh.root)) {
      must(
        kind === 'html' || equalTrees(undeclared(expected).root, undeclared(parseDocument(kind, proposed.source)).root),
        () => `expected (${proposed.way}):\n${dump(expected.root, false)}\nactual:\n${freshTree}`,
      )
      const actual = kind === 'xml' ? [] : withoutLastSpace(proposed.source)
      const shorter = withoutLastSpace(source).map(copy => mutated(document, copy, wanted))
      const equal =
        kind === 'xml' ||
        shorter.some((copy, i) => copy && actual[i] && equalTrees(copy.root, actual[i].root)) ||
        equalTrees(
          mutated(document, shortened(parseDocument(kind, source)), wanted)?.root ?? fresh.root,
          shortened(fresh).root,
        )
      must(equal, () => `expected (${proposed.way}):\n${dump(expected.root, false)}\nactual:\n${freshTree}`)
    }
  } else must(document.kind === 'html', () => 'XML is always written')

  const settled = atOnce(proposed.accepting())
  must(settled.source === proposed.source, () => 'settled source')
  const places = dump(settled.root, true)
  must(places === freshPlaces, () => `settled (${proposed.way}):\n${places}\nparsed:\n${freshPlaces}`)
  must(settled.clean === fresh.clean, () => `clean is ${settled.clean}, parsed ${fresh.clean}`)
  const [weight, weighed] = [settled, fresh].map(treeBytes)
  must(weight === weighed, () => `weighs ${weight}, parsed ${weighed}`)
  return { way: proposed.way, document: settled, local: settled === document }
}

export { Violation }
