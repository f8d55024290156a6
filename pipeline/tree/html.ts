/**
 * HTML text to trees by the parsing algorithm of the HTML standard (HTTP-23), with source offsets and limits. The
 * scripting flag is on, as in the browsers whose selectors arrive here: the content of `noscript` is text.
 */

import { html, type ParserOptions, type Token, type TreeAdapter, type TreeAdapterTypeMap } from 'parse5'
import { HeapError, treeRoom } from './heap.ts'
import {
  checkName,
  checkNames,
  MAX_ATTRIBUTES,
  MAX_DEPTH,
  MAX_NODES,
  tooDeep,
  tooManyAttributes,
  tooManyElements,
  tooManyNodes,
} from './limits.ts'
import { inOnePiece, LONG } from './long-text.ts'
import {
  type AnyNode,
  type ChildNode,
  type CommentNode,
  type DoctypeNode,
  type DocumentNode,
  type ElementNode,
  type FragmentNode,
  isElement,
  isText,
  type ParentNode,
  type TextNode,
} from './nodes.ts'
import { SteppedParser } from './stepped-parser.ts'
import { atOnce, NODES_PER_STEP, type Steps } from './steps.ts'
import { maxAttributeText, maxElements } from './tag-limits.ts'
import { ATTRIBUTE, ELEMENT, LEAF } from './weight.ts'

/** Our nodes in the words of the parser. */
export type HtmlNodes = TreeAdapterTypeMap<
  AnyNode,
  ParentNode,
  ChildNode,
  DocumentNode,
  FragmentNode,
  ElementNode,
  CommentNode,
  TextNode,
  ElementNode,
  DoctypeNode
>

/**
 * Parses a whole document.
 *
 * @param source the text, without byte order mark
 * @param mode quirks mode to parse in, whatever the doctype says; for parts of a document whose mode is known
 * @returns the document node; offsets are UTF-16 code units in `source`
 * @throws TreeError for a limit; HTML is never malformed
 */
export function parseHtml(source: string, mode?: string): DocumentNode {
  return atOnce(parsingHtml(source, mode))
}

/** `parseHtml` in steps. */
export function* parsingHtml(source: string, mode?: string): Steps<DocumentNode> {
  const parser = new SteppedParser(parserOptions(source, { mode, depth: 0 }, true))
  yield* parser.read(source)
  return parser.document
}

/**
 * Parses a fragment, in steps, in its context element by the standard's fragment algorithm: its insertion mode, tokenizer
 * state, form owner and quirks mode are those of the place.
 *
 * @param source markup
 * @param context element that will be the parent of the nodes
 * @returns the nodes without parent; offsets count from the start of `source`
 * @throws TreeError for a limit; the depth of the context counts
 */
export function* parsingHtmlFragment(source: string, context: ElementNode): Steps<ChildNode[]> {
  const parser = SteppedParser.getFragmentParser<HtmlNodes>(context, parserOptions(source, surroundings(context)))
  // The class that makes the parser is not in the type of what it makes.
  const stepped = parser as SteppedParser<HtmlNodes>
  yield* stepped.read(source)
  return yield* takingFragment(stepped)
}

/** The nodes that a parser of fragments has made, without parent, in steps: `getFragment` takes them out of their root one by one. */
export function* takingFragment({ document }: SteppedParser<HtmlNodes>): Steps<ChildNode[]> {
  const [root] = document.childNodes
  if (!root || !isElement(root)) return []
  const nodes = root.childNodes
  // A parser may live longer than it works: what it holds would stay as long.
  root.childNodes = []
  for (let i = 0; i < nodes.length; i++) {
    if (i % NODES_PER_STEP === NODES_PER_STEP - 1) yield
    const node = nodes[i]
    if (node) node.parentNode = null
  }
  return nodes
}

interface Surroundings {
  mode: string | undefined
  /** Elements that are open around the text, less the one that the parser opens itself. */
  depth: number
}

/** What the text of a fragment is surrounded by. */
export function surroundings(context: ElementNode): Surroundings {
  let node: ParentNode = context
  let depth = 0
  while (isElement(node) && node.parentNode) {
    node = node.parentNode
    if (isElement(node)) depth++
  }
  return { mode: ('mode' in node && node.mode) || html.DOCUMENT_MODE.NO_QUIRKS, depth }
}

/**
 * How parsers of this project are set up: they build our nodes and stop at our limits.
 *
 * @param isKept the source stays in memory as long as the nodes, so that texts may be parts of it
 */
export function parserOptions(source: string, around: Surroundings, isKept = false): ParserOptions<HtmlNodes> {
  const treeAdapter = limitedAdapter(source.length, around, isKept ? source : undefined)
  return { sourceCodeLocationInfo: true, scriptingEnabled: true, treeAdapter }
}

/**
 * Builds the nodes of one parse and counts. Depth is counted on the parser's stack of open elements, so that an endless
 * nesting ends early.
 */
function limitedAdapter(length: number, around: Surroundings, source?: string): TreeAdapter<HtmlNodes> {
  let { depth } = around
  let elements = 0
  let nodes = 0
  const limit = maxElements(length)
  let attributeText = maxAttributeText(length)
  const { share, ...insertion } = textInsertion(source)
  const adopted = new Map<ElementNode, Set<string>>()
  const room = treeRoom()
  let bytes = 0
  const count = (added: number, weight: number): void => {
    nodes += added
    if (nodes > MAX_NODES) throw tooManyNodes()
    bytes += weight
    if (bytes > room) throw new HeapError('small')
  }

  return {
    ...construction,
    ...mutation,
    ...insertion,
    ...inspection,

    createElement(tagName, namespaceURI, attrs) {
      if (++elements > limit) throw tooManyElements()
      count(1 + attrs.length, ELEMENT + ATTRIBUTE * attrs.length)
      checkName(tagName)
      for (const { name, value } of attrs) {
        checkNames(name, value)
        attributeText -= name.length + value.length
      }
      if (attributeText < 0) throw tooManyElements()
      return {
        nodeName: tagName,
        tagName,
        attrs,
        namespaceURI,
        childNodes: [],
        parentNode: null,
        sourceCodeLocation: null,
      }
    },

    onItemPush(node) {
      if (++depth > MAX_DEPTH)
        throw tooDeep('sourceCodeLocation' in node ? node.sourceCodeLocation?.startOffset : undefined)
    },
    onItemPop() {
      depth--
    },

    setNodeSourceCodeLocation(node, location) {
      if (!('parentNode' in node)) return
      if (!isElement(node)) count(1, LEAF)
      // The parser places the end of a comment that the text cuts short behind the text.
      const place = location && { startOffset: location.startOffset, endOffset: Math.min(location.endOffset, length) }
      if (isElement(node)) {
        if (node.attrs.length > MAX_ATTRIBUTES) throw tooManyAttributes(place?.startOffset)
        node.sourceCodeLocation = place && { ...place, startTag: place, endTag: undefined }
      } else {
        node.sourceCodeLocation = place
        if (isText(node)) share(node)
      }
    },

    updateNodeSourceCodeLocation(node, { endOffset, endTag }) {
      const place = 'sourceCodeLocation' in node ? node.sourceCodeLocation : undefined
      if (!place) return
      if (endTag) place.endTag = { startOffset: endTag.startOffset, endOffset: endTag.endOffset }
      // Raw text that the text cuts short ends, for the parser, before its own start tag.
      if (endOffset !== undefined) place.endOffset = endOffset < (place.startTag?.endOffset ?? 0) ? length : endOffset
      if (isText(node)) share(node)
    },

    // A second `html` or `body` tag gives its element the attributes that it does not have yet.
    adoptAttributes(element, attrs) {
      let names = adopted.get(element)
      if (!names) {
        names = new Set(element.attrs.map(a => a.name))
        adopted.set(element, names)
      }
      for (const a of attrs) {
        if (names.has(a.name)) continue
        names.add(a.name)
        checkNames(a.name, a.value)
        element.attrs.push(a)
      }
      if (element.attrs.length > MAX_ATTRIBUTES) throw tooManyAttributes()
    },

    getDocumentMode(document) {
      return (around.mode ?? document.mode ?? html.DOCUMENT_MODE.NO_QUIRKS) as html.DOCUMENT_MODE
    },
  }
}

const construction = {
  createDocument(): DocumentNode {
    return { nodeName: '#document', mode: html.DOCUMENT_MODE.NO_QUIRKS, childNodes: [] }
  },
  createDocumentFragment(): FragmentNode {
    return { nodeName: '#document-fragment', childNodes: [] }
  },
  createCommentNode(data: string): CommentNode {
    return { nodeName: '#comment', data, parentNode: null, sourceCodeLocation: null }
  },
  createTextNode(value: string): TextNode {
    return { nodeName: '#text', value, parentNode: null, sourceCodeLocation: null }
  },
}

const mutation = {
  appendChild(parent: ParentNode, node: ChildNode): void {
    parent.childNodes.push(node)
    node.parentNode = parent
  },
  insertBefore(parent: ParentNode, node: ChildNode, reference: ChildNode): void {
    parent.childNodes.splice(parent.childNodes.lastIndexOf(reference), 0, node)
    node.parentNode = parent
  },
  detachNode(node: ChildNode): void {
    const siblings = node.parentNode?.childNodes
    if (!siblings) return
    siblings.splice(siblings.lastIndexOf(node), 1)
    node.parentNode = null
  },
  setTemplateContent(template: ElementNode, content: FragmentNode): void {
    template.content = content
    content.host = template
  },
  setDocumentType(document: DocumentNode, name: string, publicId: string, systemId: string): void {
    mutation.appendChild(document, { nodeName: '#documentType', name, publicId, systemId, parentNode: null })
  },
  setDocumentMode(document: DocumentNode, mode: html.DOCUMENT_MODE): void {
    document.mode = mode
  },
}

/** UTF-16 code units of texts that are copied anyway. */
const COPIED = 12

/**
 * Inserts text, also in places where it grows by millions of short pieces.
 *
 * @param source that texts may be parts of
 */
export function textInsertion(source?: string) {
  // Of the long text that grew last: what is in large pieces, and what came since.
  let growing: TextNode | undefined
  let whole = ''
  let latest = ''
  // The text that was found to be a part of the source last, and where that ends.
  let shared: TextNode | undefined
  let end = 0
  let added = ''
  const extend = (node: TextNode, text: string): void => {
    if (node.value.length < LONG || node === shared) {
      node.value += text
      return
    }
    if (node !== growing) {
      growing = node
      whole = inOnePiece(node.value)
      latest = ''
    }
    latest += text
    if (latest.length >= LONG) {
      whole += inOnePiece(latest)
      latest = ''
    }
    node.value = whole + latest
  }
  /** Makes a text a part of the source where it stands there as it is: as a sum it would stay in memory as its pieces. */
  const share = (node: TextNode): void => {
    const place = node.sourceCodeLocation
    if (source === undefined || !place) return
    const isBegun = node === shared
    const from = isBegun ? end : place.startOffset
    const isPart = (isBegun || node.value === added) && source.slice(from, place.endOffset) === added
    if (isPart && node.value.length > COPIED) node.value = source.slice(place.startOffset, place.endOffset)
    if (isPart || isBegun) shared = isPart ? node : undefined
    end = place.endOffset
  }
  return {
    share,
    insertText(parent: ParentNode, text: string): void {
      if (text === '') return
      added = text
      const last = parent.childNodes.at(-1)
      if (last && isText(last)) extend(last, text)
      else mutation.appendChild(parent, construction.createTextNode(text))
    },
    insertTextBefore(parent: ParentNode, text: string, reference: ChildNode): void {
      added = text
      const index = parent.childNodes.lastIndexOf(reference)
      const previous = parent.childNodes[index - 1]
      if (previous && isText(previous)) {
        extend(previous, text)
        return
      }
      const node = construction.createTextNode(text)
      node.parentNode = parent
      parent.childNodes.splice(index, 0, node)
    },
  }
}

const inspection = {
  getTemplateContent(template: ElementNode): FragmentNode {
    return (template.content ??= construction.createDocumentFragment())
  },
  getFirstChild: (node: ParentNode): ChildNode | null => node.childNodes[0] ?? null,
  getChildNodes: (node: ParentNode): ChildNode[] => node.childNodes,
  getParentNode: (node: ChildNode): ParentNode | null => node.parentNode,
  getAttrList: (element: ElementNode): ElementNode['attrs'] => element.attrs,
  getTagName: (element: ElementNode): string => element.tagName,
  getNamespaceURI: (element: ElementNode): html.NS => element.namespaceURI as html.NS,
  getTextNodeContent: (text: TextNode): string => text.value,
  getCommentNodeContent: (comment: CommentNode): string => comment.data,
  getDocumentTypeNodeName: (doctype: DoctypeNode): string => doctype.name,
  getDocumentTypeNodePublicId: (doctype: DoctypeNode): string => doctype.publicId,
  getDocumentTypeNodeSystemId: (doctype: DoctypeNode): string => doctype.systemId,
  isTextNode: isText,
  isCommentNode: (node: AnyNode): node is CommentNode => node.nodeName === '#comment',
  isDocumentTypeNode: (node: AnyNode): node is DoctypeNode => node.nodeName === '#documentType',
  isElementNode: isElement,
  getNodeSourceCodeLocation: (node: AnyNode): Token.ElementLocation | null | undefined =>
    // Only offsets are kept; the parser looks whether there is a location and whether it has an end tag.
    ('sourceCodeLocation' in node ? node.sourceCodeLocation : undefined) as Token.ElementLocation | null | undefined,
}
