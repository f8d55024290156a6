/**
 * The nodes of parsed documents. The shape is that of parse5's default tree, so that HTML trees need no conversion;
 * XML trees are built in the same shape, with names as written and any namespace.
 */

/** Half-open range of UTF-16 code units in the source text. */
export interface Span {
  startOffset: number
  endOffset: number
}

/** Where a node stands in its source; tags are missing where the parser implied them. */
export interface SourcePlace extends Span {
  startTag?: Span
  endTag?: Span
}

export interface Attribute {
  /** HTML: lower-case name. XML and foreign content: local name; `prefix` holds what stood before the colon. */
  name: string
  value: string
  namespace?: string
  prefix?: string
}

export interface TextNode {
  nodeName: '#text'
  value: string
  parentNode: ParentNode | null
  sourceCodeLocation?: SourcePlace | null
}

export interface CommentNode {
  nodeName: '#comment'
  data: string
  parentNode: ParentNode | null
  sourceCodeLocation?: SourcePlace | null
}

export interface DoctypeNode {
  nodeName: '#documentType'
  name: string
  publicId: string
  systemId: string
  parentNode: ParentNode | null
  sourceCodeLocation?: SourcePlace | null
}

/** XML only: `<?target data?>`; the XML declaration is not a node. */
export interface InstructionNode {
  nodeName: '#instruction'
  target: string
  data: string
  parentNode: ParentNode | null
  sourceCodeLocation?: SourcePlace | null
}

export interface ElementNode {
  /** Same as `tagName`. */
  nodeName: string
  /** HTML: lower-case (foreign elements as the standard adjusts them). XML: qualified name as written, prefix included. */
  tagName: string
  namespaceURI: string
  attrs: Attribute[]
  childNodes: ChildNode[]
  parentNode: ParentNode | null
  sourceCodeLocation?: SourcePlace | null
  /** Only on HTML `template` elements. */
  content?: FragmentNode
  /** XML is written of it without names that some editions of XML do not know. */
  isCommon?: true
  /** HTML is written of it with tags of this name. */
  writtenAs?: 'div' | 'span'
}

export interface FragmentNode {
  nodeName: '#document-fragment'
  childNodes: ChildNode[]
  /** The `template` whose contents it is, in the tree of a document. */
  host?: ElementNode
}

export interface DocumentNode {
  nodeName: '#document'
  mode?: string
  childNodes: ChildNode[]
  sourceCodeLocation?: SourcePlace | null
}

export type ParentNode = DocumentNode | FragmentNode | ElementNode
export type ChildNode = ElementNode | TextNode | CommentNode | DoctypeNode | InstructionNode
export type AnyNode = ParentNode | ChildNode

export type DocumentKind = 'html' | 'xml'

/**
 * A parsed document. The source text is the truth; the tree and its offsets describe it.
 * An edit that settles changes it in place: whoever reads it over several turns of the event loop pins it.
 */
export interface TreeDocument {
  kind: DocumentKind
  /** The text without byte order mark. */
  source: string
  root: DocumentNode
  /**
   * HTML: source order equals tree order, ranges nest, nothing was moved by the parser. Only then can an edit be proved
   * locally. Always true for XML.
   */
  clean: boolean
  /** HTML: prefixed elements stand where they are written, and end where composition ends them (COMP-6). */
  asWritten?: boolean
}

/** Name of an element whose name is kept from whoever looks: no parser makes such a one, and no selector can say it. */
export const NAMELESS = ''

export const HTML_NAMESPACE = 'http://www.w3.org/1999/xhtml'
export const SVG_NAMESPACE = 'http://www.w3.org/2000/svg'
export const MATHML_NAMESPACE = 'http://www.w3.org/1998/Math/MathML'

/** An element of HTML without content that stands nowhere. */
export function elementAlone(tagName: string): ElementNode {
  return { nodeName: tagName, tagName, namespaceURI: HTML_NAMESPACE, attrs: [], childNodes: [], parentNode: null }
}

/** Every other node has a name that begins with `#`; comparing a character is faster than looking for a property. */
export function isElement(node: AnyNode): node is ElementNode {
  return node.nodeName.charCodeAt(0) !== 0x23
}

export function isText(node: AnyNode): node is TextNode {
  return node.nodeName === '#text'
}

/** The document element: `html`, or the root element of an XML document. */
export function rootElement(document: TreeDocument): ElementNode | undefined {
  return document.root.childNodes.find(isElement)
}

/** The element that holds this one, or undefined for the document element and detached nodes. */
export function parentElement(node: ChildNode): ElementNode | undefined {
  const parent = node.parentNode
  return parent && isElement(parent) ? parent : undefined
}

/** The uppermost node of the tree that a node stands in. */
export function treeOf(node: ParentNode): ParentNode {
  let top = node
  while (isElement(top) && top.parentNode) top = top.parentNode
  return top
}

/** Value of an attribute without namespace, or undefined. */
export function attribute(element: ElementNode, name: string): string | undefined {
  for (const a of element.attrs) if (a.name === name && !a.prefix) return a.value
  return undefined
}
