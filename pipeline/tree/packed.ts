/**
 * Trees as a row of bytes. A packed tree says where things stand in the source in place of holding them: names are
 * numbers, texts and values are parts of the text. It takes a tenth of the memory, and the tree comes back of it in a
 * small part of the time that parsing takes.
 */

import {
  type Attribute,
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  type FragmentNode,
  HTML_NAMESPACE,
  isElement,
  type ParentNode,
  type SourcePlace,
  type TreeDocument,
} from './nodes.ts'
import { type PackedBytes, PackReader, PackWriter } from './packed-bytes.ts'

/** A tree without its text. */
export interface PackedTree {
  readonly kind: TreeDocument['kind']
  readonly clean: boolean
  readonly mode: string | undefined
  /** UTF-16 code units of the text. */
  readonly length: number
  readonly content: PackedBytes
}

/** Bytes of the objects that a packed tree consists of. Measured. */
const OBJECTS = 400

/** What a node is, in the lowest bits of its first number. */
const ELEMENT = 0
const TEXT = 1
const COMMENT = 2
const DOCTYPE = 3
const INSTRUCTION = 4
const KIND = 7

/** The other bits. */
const PLACED = 8
const START_TAG = 16
const END_TAG = 32
const CONTENT = 64
/** The namespace is not that of the parent. */
const NAMESPACE = 128
/** The node is not as long as its text, or the element ends elsewhere than its end tag. */
const ODD_END = 256

/** Bits of an attribute. */
const HAS_NAMESPACE = 1
const HAS_PREFIX = 2

/** @returns the tree as bytes; the document stays as it is */
export function packTree({ kind, source, root, clean }: TreeDocument): PackedTree {
  const writer = new PackWriter(source)
  packChildren(root.childNodes, writer, HTML_NAMESPACE)
  return { kind, clean, mode: root.mode, length: source.length, content: writer.end() }
}

/**
 * @param source the text that the tree was packed with
 * @returns a tree like the one that was packed; undefined when the text is another one
 */
export function unpackTree(
  { kind, clean, mode, length, content }: PackedTree,
  source: string,
): TreeDocument | undefined {
  if (source.length !== length) return undefined
  const root: DocumentNode = { nodeName: '#document', childNodes: [] }
  if (mode !== undefined) root.mode = mode
  const reader = new PackReader(content, source)
  root.childNodes = unpackChildren(root, reader, HTML_NAMESPACE, [])
  return { kind, source, root, clean }
}

/** Bytes in memory. */
export function packedBytes({ content }: PackedTree): number {
  return OBJECTS + content.bytes.length + content.ownBytes
}

function packChildren(nodes: readonly ChildNode[], writer: PackWriter, namespace: string): void {
  writer.number(nodes.length)
  for (const node of nodes) {
    if (isElement(node)) packElement(node, writer, namespace)
    else packLeaf(node, writer)
  }
}

function packLeaf(node: Exclude<ChildNode, ElementNode>, writer: PackWriter): void {
  const place = node.sourceCodeLocation
  const placed = place ? PLACED : 0
  if (node.nodeName === '#text') {
    const odd = place && place.endOffset - place.startOffset !== node.value.length ? ODD_END : 0
    writer.number(TEXT | placed | odd)
    if (place) writer.offset(place.startOffset)
    writer.text(node.value, 0)
    if (place && odd) writer.offset(place.endOffset)
    else if (place) writer.skip(place.endOffset)
    return
  }
  const kind = node.nodeName === '#comment' ? COMMENT : node.nodeName === '#documentType' ? DOCTYPE : INSTRUCTION
  writer.number(kind | placed)
  if (place) writer.offset(place.startOffset)
  if (node.nodeName === '#comment') writer.text(node.data, '<!--'.length)
  else if (node.nodeName === '#documentType') {
    writer.name(node.name)
    writer.name(node.publicId)
    writer.name(node.systemId)
  } else {
    writer.name(node.target)
    writer.text(node.data, '<? '.length + node.target.length)
  }
  if (place) writer.offset(place.endOffset)
}

function packElement(element: ElementNode, writer: PackWriter, namespace: string): void {
  const { tagName, namespaceURI, attrs, sourceCodeLocation: place, content, childNodes } = element
  const startTag = place?.startTag
  const endTag = place?.endTag
  const odd = place && place.endOffset !== (endTag ?? startTag)?.endOffset
  writer.number(
    ELEMENT |
      (place ? PLACED : 0) |
      (startTag ? START_TAG : 0) |
      (endTag ? END_TAG : 0) |
      (content ? CONTENT : 0) |
      (namespaceURI === namespace ? 0 : NAMESPACE) |
      (odd ? ODD_END : 0),
  )
  writer.name(tagName)
  if (namespaceURI !== namespace) writer.name(namespaceURI)
  if (place) writer.offset(place.startOffset)
  packAttributes(attrs, writer, tagName.length + 1)
  if (startTag) {
    writer.offset(startTag.startOffset)
    writer.offset(startTag.endOffset)
  }
  packChildren(childNodes, writer, namespaceURI)
  if (content) packChildren(content.childNodes, writer, namespaceURI)
  if (endTag) {
    writer.offset(endTag.startOffset)
    writer.offset(endTag.endOffset)
  }
  if (place && odd) writer.offset(place.endOffset)
}

/** @param ahead UTF-16 code units between the start of the tag and its attributes */
function packAttributes(attrs: readonly Attribute[], writer: PackWriter, ahead: number): void {
  writer.number(attrs.length)
  let from = ahead
  for (const { name, value, namespace, prefix } of attrs) {
    const bits = (namespace === undefined ? 0 : HAS_NAMESPACE) | (prefix === undefined ? 0 : HAS_PREFIX)
    writer.nameWith(name, bits)
    if (namespace !== undefined) writer.name(namespace)
    if (prefix !== undefined) writer.name(prefix)
    from = writer.value(value, from, name.length)
  }
}

/** @param stack empty between calls; lists made of it are as long as they have to be */
function unpackChildren(parent: ParentNode, reader: PackReader, namespace: string, stack: ChildNode[]): ChildNode[] {
  const count = reader.number()
  if (count === 0) return []
  const base = stack.length
  for (let i = 0; i < count; i++) {
    const bits = reader.number()
    stack.push(
      (bits & KIND) === ELEMENT
        ? unpackElement(parent, reader, bits, namespace, stack)
        : unpackLeaf(parent, reader, bits),
    )
  }
  const list = stack.slice(base)
  stack.length = base
  return list
}

function unpackLeaf(parentNode: ParentNode, reader: PackReader, bits: number): ChildNode {
  const sourceCodeLocation: SourcePlace | null = bits & PLACED ? { startOffset: reader.offset(), endOffset: 0 } : null
  const kind = bits & KIND
  if (kind === TEXT) {
    const value = reader.text()
    if (sourceCodeLocation)
      sourceCodeLocation.endOffset =
        bits & ODD_END ? reader.offset() : reader.skip(sourceCodeLocation.startOffset + value.length)
    return { nodeName: '#text', value, parentNode, sourceCodeLocation }
  }
  let node: ChildNode
  if (kind === COMMENT) node = { nodeName: '#comment', data: reader.text(), parentNode, sourceCodeLocation }
  else if (kind === DOCTYPE) {
    const [name, publicId, systemId] = [reader.name(), reader.name(), reader.name()]
    node = { nodeName: '#documentType', name, publicId, systemId, parentNode, sourceCodeLocation }
  } else {
    const target = reader.name()
    node = { nodeName: '#instruction', target, data: reader.text(), parentNode, sourceCodeLocation }
  }
  if (sourceCodeLocation) sourceCodeLocation.endOffset = reader.offset()
  return node
}

function unpackElement(
  parentNode: ParentNode,
  reader: PackReader,
  bits: number,
  around: string,
  stack: ChildNode[],
): ElementNode {
  const tagName = reader.name()
  const namespaceURI = bits & NAMESPACE ? reader.name() : around
  const place: SourcePlace | null =
    bits & PLACED ? { startOffset: reader.offset(), endOffset: 0, startTag: undefined, endTag: undefined } : null
  const attrs = unpackAttributes(reader)
  if (place && bits & START_TAG) place.startTag = { startOffset: reader.offset(), endOffset: reader.offset() }
  const element: ElementNode = {
    nodeName: tagName,
    tagName,
    attrs,
    namespaceURI,
    childNodes: NONE,
    parentNode,
    sourceCodeLocation: place,
  }
  element.childNodes = unpackChildren(element, reader, namespaceURI, stack)
  if (bits & CONTENT) {
    const content: FragmentNode = { nodeName: '#document-fragment', childNodes: [], host: element }
    content.childNodes = unpackChildren(content, reader, namespaceURI, stack)
    element.content = content
  }
  if (place && bits & END_TAG) place.endTag = { startOffset: reader.offset(), endOffset: reader.offset() }
  if (place) place.endOffset = bits & ODD_END ? reader.offset() : ((place.endTag ?? place.startTag)?.endOffset ?? 0)
  return element
}

/** Stands in an element until its children are there. */
const NONE: ChildNode[] = []

function unpackAttributes(reader: PackReader): Attribute[] {
  const count = reader.number()
  const attrs: Attribute[] = []
  for (let i = 0; i < count; i++) {
    const bits = reader.number()
    const name = reader.nameWith(bits >> 2)
    const namespace = bits & HAS_NAMESPACE ? reader.name() : undefined
    const prefix = bits & HAS_PREFIX ? reader.name() : undefined
    const attribute: Attribute = { name, value: reader.value() }
    if (namespace !== undefined) attribute.namespace = namespace
    if (prefix !== undefined) attribute.prefix = prefix
    attrs.push(attribute)
  }
  return attrs.length > 0 ? attrs.slice() : attrs
}
