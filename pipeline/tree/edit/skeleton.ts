/**
 * Trial parses of one region of an HTML document: the start tags of its ancestors, the region, the tag behind. Parsed
 * once as it stands and once as it shall be, the parser must come out in the same state: then nothing behind the region
 * is read differently.
 */

import {
  type DefaultTreeAdapterMap,
  defaultTreeAdapter,
  InsertionMode,
  type Parser,
  type Token,
  type TreeAdapter,
} from 'parse5'
import { equalNodes } from '../compare.ts'
import { textInsertion } from '../html.ts'
import { MAX_ATTRIBUTES, MAX_DEPTH, tooDeep, tooManyAttributes, tooManyElements } from '../limits.ts'
import {
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  isElement,
  type ParentNode,
  type SourcePlace,
  type TreeDocument,
} from '../nodes.ts'
import { textOf } from '../source-text.ts'
import { SteppedParser } from '../stepped-parser.ts'
import type { Steps } from '../steps.ts'
import { maxAttributeText, maxElements } from '../tag-limits.ts'
import { nodesBehind, type Region } from './region.ts'
import { contentOf, isHtmlElement } from './shape.ts'

/** Everything around the region, the same in every trial. */
export interface Skeleton {
  document: TreeDocument
  region: Region
  prefix: string
  /** Offsets in `prefix` of the start tags of the ancestors, then of the open elements. */
  starts: number[]
  suffix: string
  /** Shells of earlier children that set the mode of a template. */
  shells: number
}

/** An element of the document, and its place in a text that was tried. */
export interface End {
  element: ElementNode
  place: SourcePlace
}

export interface Trial {
  /** All that was parsed. */
  root: DocumentNode
  /** What the region holds; offsets count in `text`. */
  nodes: ChildNode[]
  /** Where elements end that the region or the end of the source closes. */
  ends: End[]
  /** The state of the parser behind the region, comparable between trials of one skeleton; undefined at the end. */
  state: string | undefined
  text: string
}

/** @returns undefined where the region's surroundings cannot be told by start tags alone */
export function skeletonOf(document: TreeDocument, region: Region): Skeleton | undefined {
  const [root, part] = region.ancestors
  if (!root || !part || !isHtmlElement(root, 'html')) return undefined
  const inBody = isHtmlElement(part, 'body')
  if (!inBody && !isHtmlElement(part, 'head')) return undefined

  const skeleton: Skeleton = { document, region, prefix: '', starts: [], suffix: '', shells: 0 }
  region.ancestors.forEach((ancestor, i) => {
    if (i === 1 && inBody) skeleton.prefix += '<head></head>'
    open(skeleton, ancestor)
  })
  const mode = region.host.content && modeSetter(region)
  if (mode && mode !== region.open[0]) {
    skeleton.prefix += `<${mode.tagName}></${mode.tagName}>`
    skeleton.shells = 1
  }
  for (const element of region.open) open(skeleton, element)

  const { next } = region
  if (next.kind !== 'eof') {
    const place = next.element.sourceCodeLocation
    const tag = next.kind === 'start' ? place?.startTag : place?.endTag
    if (!tag) return undefined
    skeleton.suffix = textOf(document).slice(tag.startOffset, tag.endOffset)
  }
  return skeleton
}

function open(skeleton: Skeleton, element: ElementNode): void {
  const tag = element.sourceCodeLocation?.startTag
  skeleton.starts.push(skeleton.prefix.length)
  skeleton.prefix += tag ? textOf(skeleton.document).slice(tag.startOffset, tag.endOffset) : `<${element.tagName}>`
}

/** Children of a template that are read like content of `head` leave its mode as it is. */
const MODELESS = new Set('base basefont bgsound link meta noframes script style template title'.split(' '))

/** The child that decided how the contents of a template are read, when it stands before the region. */
function modeSetter(region: Region): ElementNode | undefined {
  for (const node of region.parent.childNodes.slice(0, region.from)) {
    if (isElement(node) && !MODELESS.has(node.tagName)) return node
  }
  return undefined
}

/**
 * Parses, in steps, the region with this text.
 *
 * @returns undefined when the text reaches out of the region or does not end in it
 * @throws TreeError for a limit
 */
export function* trying(skeleton: Skeleton, content: string): Steps<Trial | undefined> {
  const { region, prefix, suffix } = skeleton
  const text = prefix + content + suffix
  const ended = region.next.kind === 'eof'
  const mode = skeleton.document.root.mode
  const parser = new SteppedParser<DefaultTreeAdapterMap>({
    sourceCodeLocationInfo: true,
    scriptingEnabled: true,
    treeAdapter: adapter(text.length, mode),
  })
  yield* parser.read(text, ended)
  // The adapter makes the nodes that all trees are made of.
  const root = parser.document as unknown as DocumentNode
  const behind = prefix.length + content.length
  const found = find(skeleton, root, behind)
  if (!found) return undefined
  if (ended) return { ...found, root, text, state: undefined }
  const state = stateOf(parser, prefix.length, behind)
  return state === undefined ? undefined : { ...found, root, text, state }
}

type Nodes = DefaultTreeAdapterMap

function adapter(length: number, mode: string | undefined): TreeAdapter<Nodes> {
  let depth = 0
  let elements = 0
  const limit = maxElements(length)
  let attributeText = maxAttributeText(length)
  const { insertText, insertTextBefore } = textInsertion()
  return {
    ...defaultTreeAdapter,
    // The nodes are the same.
    ...({ insertText, insertTextBefore } as unknown as Pick<TreeAdapter<Nodes>, 'insertText' | 'insertTextBefore'>),
    createElement(tagName, namespaceURI, attrs) {
      if (++elements > limit) throw tooManyElements()
      if (attrs.length > MAX_ATTRIBUTES) throw tooManyAttributes()
      for (const { name, value } of attrs) attributeText -= name.length + value.length
      if (attributeText < 0) throw tooManyElements()
      return defaultTreeAdapter.createElement(tagName, namespaceURI, attrs)
    },
    onItemPush() {
      if (++depth > MAX_DEPTH) throw tooDeep()
    },
    onItemPop() {
      depth--
    },
    setNodeSourceCodeLocation(node, location) {
      const place = location && { startOffset: location.startOffset, endOffset: Math.min(location.endOffset, length) }
      const whole = place && 'tagName' in node ? { ...place, startTag: place, endTag: undefined } : place
      node.sourceCodeLocation = whole as Token.ElementLocation | null
    },
    updateNodeSourceCodeLocation(node, { endOffset, ...end }) {
      const place = (node as ChildNode).sourceCodeLocation
      if (!place) return
      const endTag = 'endTag' in end ? end.endTag : undefined
      if (endTag) place.endTag = { startOffset: endTag.startOffset, endOffset: endTag.endOffset }
      if (endOffset !== undefined) place.endOffset = endOffset < (place.startTag?.endOffset ?? 0) ? length : endOffset
    },
    getDocumentMode: document => (mode ?? document.mode) as typeof document.mode,
  }
}

/** The region in a trial's tree, when everything around it stands where it stands in the document. */
function find(skeleton: Skeleton, root: DocumentNode, behind: number): Pick<Trial, 'nodes' | 'ends'> | undefined {
  const { region, starts, shells } = skeleton
  const { ancestors, next } = region
  const nextParent = next.kind === 'start' ? next.element.parentNode : undefined
  const isNext = (node: ChildNode | undefined): boolean => isElementAt(node, behind) && node.childNodes.length === 0

  let parent: ParentNode = root
  const ends: End[] = []
  const ending = (element: ElementNode | undefined, { sourceCodeLocation: place }: ElementNode): void => {
    if (element && place) ends.push({ element, place })
  }
  for (let i = 0; i < ancestors.length; i++) {
    const before = i === 1 && isHtmlElement(ancestors[1] as ElementNode, 'body') ? 1 : 0
    const ancestor = ancestors[i] as ElementNode
    const after = i > 0 && nextParent === ancestors[i - 1] ? 1 : 0
    const nodes: ChildNode[] = parent.childNodes
    const element = nodes[before]
    if (!isElementAt(element, starts[i]) || element.tagName !== ancestor.tagName) return undefined
    if (before === 1 && !isEmpty(nodes[0])) return undefined
    if (next.kind === 'eof' && i < 2) {
      // The end tags of `html` and `body` are part of the region, and so are the comments behind them.
      if (!equalNodes(nodes.slice(before + 1), nodesBehind(ancestor))) return undefined
    } else {
      if (nodes.length !== before + 1 + after || (after === 1 && !isNext(nodes.at(-1)))) return undefined
      // An end tag in the region would leave the one behind it without effect.
      const end = next.kind === 'end' && next.element === ancestor ? behind : undefined
      if (element.sourceCodeLocation?.endTag?.startOffset !== end) return undefined
      if (next.kind === 'eof') ending(ancestor, element)
    }
    parent = element
  }

  if (!isElement(parent)) return undefined
  const content = contentOf(parent).childNodes
  let siblings = content
  for (let i = 0; i < region.open.length; i++) {
    const element = siblings[i === 0 ? shells : 0]
    if (!isElementAt(element, starts[ancestors.length + i])) return undefined
    if (i > 0 && siblings.length !== 1) return undefined
    ending(region.open[i], element)
    siblings = element.childNodes
  }
  if (region.open.length > 0 && siblings.length > 0) return undefined
  if (shells === 1 && !isEmpty(content[0])) return undefined

  const first = shells + Math.min(region.open.length, 1)
  const last = content.length - (nextParent === region.parent ? 1 : 0)
  if (first > last || (last < content.length && !isNext(content[last]))) return undefined
  const nodes = content.slice(first, last)
  const inside = nodes.every(node => {
    const start = node.sourceCodeLocation?.startOffset
    return start === undefined || (start >= skeleton.prefix.length && start < behind)
  })
  return inside ? { nodes, ends } : undefined
}

function isElementAt(node: ChildNode | undefined, offset: number | undefined): node is ElementNode {
  return node !== undefined && isElement(node) && node.sourceCodeLocation?.startOffset === offset
}

function isEmpty(node: ChildNode | undefined): boolean {
  return node !== undefined && isElement(node) && contentOf(node).childNodes.length === 0
}

/**
 * Everything that decides how the next token is read. Elements are named by where they stand: before the region, or
 * behind it.
 *
 * @returns undefined when an element of the region is still open
 */
function stateOf(parser: Parser<Nodes>, start: number, behind: number): string | undefined {
  let leak = false
  const name = (node: Nodes['parentNode'] | null): string => {
    if (!node) return '-'
    const offset = 'sourceCodeLocation' in node ? node.sourceCodeLocation?.startOffset : undefined
    if (offset === undefined || (offset >= start && offset < behind)) leak = true
    return offset === undefined || offset < start ? `${offset}` : `+${offset - behind}`
  }
  const stack: string[] = []
  const { openElements, insertionMode } = parser
  for (let i = openElements.stackTop; i >= 0; i = openElements.slotBelow(i)) {
    const node = openElements.items[i]
    if (node) stack.push(name(node))
  }
  const formatting: string[] = []
  for (let entry = parser.activeFormattingElements.newest; entry; entry = entry.older) {
    formatting.push('element' in entry ? name(entry.element) : '|')
  }
  const returning = insertionMode === InsertionMode.TEXT || insertionMode === InsertionMode.IN_TABLE_TEXT
  const state = [
    insertionMode,
    returning ? parser.originalInsertionMode : '-',
    stack.join(),
    formatting.join(),
    name(parser.formElement),
    parser.tmplInsertionModeStack.join(),
    parser.tokenizer.state,
    parser.skipNextNewLine,
    parser.fosterParentingEnabled,
  ].join(' ')
  return leak ? undefined : state
}
