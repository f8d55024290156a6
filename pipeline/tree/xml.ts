/**
 * XML text to trees: namespace-aware XML 1.0, case-sensitive, with source offsets and limits (HTTP-23). No document
 * type is loaded; one that declares anything is refused, so that no entity can ever expand.
 */

import { SaxesParser, type SaxesTagNS } from 'saxes'
import { NO_LOCAL_NAME } from './foreign-names.ts'
import { HeapError, treeRoom } from './heap.ts'
import {
  checkName,
  checkNames,
  MAX_ATTRIBUTES,
  MAX_DEPTH,
  MAX_NODES,
  TreeError,
  tooDeep,
  tooManyAttributes,
  tooManyNodes,
} from './limits.ts'
import { inOnePiece, keepingTogether, LONG } from './long-text.ts'
import { inScopeNamespaces } from './namespaces.ts'
import {
  type Attribute,
  type ChildNode,
  type DocumentNode,
  type ElementNode,
  type FragmentNode,
  isElement,
  isText,
  type ParentNode,
  type SourcePlace,
} from './nodes.ts'
import { atOnce, type Steps } from './steps.ts'
import { ATTRIBUTE, ELEMENT, LEAF } from './weight.ts'

/**
 * Parses a whole document.
 *
 * @param source the text, without byte order mark
 * @returns the document node; offsets are UTF-16 code units in `source`. White space outside the root element and the
 *   XML declaration are no nodes. Character data in a row is one text node, CDATA sections included.
 * @throws TreeError when the text is not well formed, uses undeclared prefixes, declares a document type with an
 *   internal subset, or exceeds a limit
 */
export function parseXml(source: string): DocumentNode {
  return atOnce(parsingXml(source))
}

/** `parseXml` in steps. */
export function* parsingXml(source: string): Steps<DocumentNode> {
  const root: DocumentNode = { nodeName: '#document', childNodes: [] }
  yield* read(source, root)
  return root
}

/**
 * Parses, in steps, well-formed content (any number of elements, text, comments, instructions) with the namespaces in
 * scope at its place.
 *
 * @param source markup
 * @param context element that will be the parent of the nodes
 * @returns the nodes without parent; offsets count from the start of `source`
 * @throws TreeError as for documents; the depth of the context counts
 */
export function* parsingXmlFragment(source: string, context: ElementNode): Steps<ChildNode[]> {
  const holder: FragmentNode = { nodeName: '#document-fragment', childNodes: [] }
  yield* read(source, holder, context)
  for (const node of holder.childNodes) node.parentNode = null
  return holder.childNodes
}

/** UTF-16 code units that are read in one step: a millisecond or two. */
const CHUNK = 8 * 1024

/** The beginning of a document that declares its version. */
const DECLARATION = /^\uFEFF?<\?xml[ \t\r\n?]/

/** What the reader has read of a construct and not reported yet, to which it adds one character after the other. */
interface Growing {
  text: string
  readonly entity: string
  readonly piTarget: string
}

/** @param context where the text will stand; without it the text is a whole document */
function* read(source: string, holder: DocumentNode | FragmentNode, context?: ElementNode): Steps<void> {
  // The reader takes a high surrogate and whatever follows it for one character.
  if (!source.isWellFormed()) throw new TreeError('malformed', 'The text has a lone surrogate.')
  const fragment = context !== undefined
  const scope = inScopeNamespaces(context)
  const levels = MAX_DEPTH - depthOf(context)
  const parser = new SaxesParser({
    xmlns: true,
    fragment,
    // A declared version of 1.1 would change what is white space and which characters may stand.
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
    resolvePrefix: (prefix: string) => scope.get(prefix),
  })
  const open: ElementNode[] = []
  let parent: ParentNode = holder
  let attributes = 0
  let nodes = 0
  const room = treeRoom()
  let bytes = 0
  // End of the construct reported last: the next one begins here.
  let cursor = fragment ? 0 : (/^\ufeff?[\t\n\r ]*/.exec(source)?.[0].length ?? 0)

  // What was taken of a long text. Millions of pieces, which a text of brackets is read in, would burden every collection of
  // garbage until its end.
  const growing = parser as unknown as Growing
  let taken = ''
  let isInTag = false
  let isDeclaring = !fragment && DECLARATION.test(source)
  const takeText = (): void => {
    if (growing.text.length < LONG) return
    const text = inOnePiece(growing.text)
    taken += text.slice(0, -1)
    // The reader looks whether there is any.
    growing.text = text.slice(-1)
  }
  const whole = (rest: string): string => {
    const text = taken + rest
    taken = ''
    return text
  }

  const place = (startOffset: number, endOffset: number): SourcePlace => {
    cursor = endOffset
    return { startOffset, endOffset }
  }
  const append = (node: ChildNode): void => {
    if (++nodes > MAX_NODES) throw tooManyNodes(cursor)
    bytes += isElement(node) ? ELEMENT + ATTRIBUTE * node.attrs.length : LEAF
    if (bytes > room) throw new HeapError('small')
    parent.childNodes.push(node)
  }
  const appendText = (value: string, endOffset: number): void => {
    const sourceCodeLocation = place(cursor, endOffset)
    if (value === '' || parent.nodeName === '#document') return
    const last = parent.childNodes.at(-1)
    if (last && isText(last)) {
      last.value += value
      if (last.sourceCodeLocation) last.sourceCodeLocation.endOffset = endOffset
    } else {
      append({ nodeName: '#text', value, parentNode: parent, sourceCodeLocation })
    }
  }

  parser.on('error', error => {
    throw new TreeError('malformed', error.message, Math.min(parser.position, source.length))
  })
  parser.on('xmldecl', () => {
    isDeclaring = false
    cursor = parser.position
  })
  parser.on('doctype', text => {
    const declared = doctype(whole(text))
    if (!declared || fragment) throw refusedDoctype(fragment, cursor)
    append({
      nodeName: '#documentType',
      ...declared,
      parentNode: parent,
      sourceCodeLocation: place(cursor, parser.position),
    })
  })
  parser.on('processinginstruction', ({ target, body }) => {
    const end = cursor + '<?'.length + target.length
    // Other readers show nothing of a document that has no white space there.
    if (source[end] === '?' && source[end + 1] !== '>')
      throw new TreeError('malformed', 'White space must follow the target of a processing instruction.', end)
    const sourceCodeLocation = place(cursor, parser.position)
    append({ nodeName: '#instruction', target, data: whole(body), parentNode: parent, sourceCodeLocation })
  })
  // Reported when its `--` was read.
  parser.on('comment', rest => {
    const sourceCodeLocation = place(cursor, parser.position + 1)
    append({ nodeName: '#comment', data: whole(rest), parentNode: parent, sourceCodeLocation })
  })
  // Reported when the `<` behind it was read, or at the end of a fragment.
  parser.on('text', value => {
    const endOffset = source[parser.position - 1] === '<' ? parser.position - 1 : source.length
    // The reader looks for this only inside elements.
    if (fragment && open.length === 0 && source.slice(cursor, endOffset).includes(']]>')) {
      throw new TreeError('malformed', 'The string "]]>" is disallowed in character data.', cursor)
    }
    appendText(whole(value), endOffset)
  })
  parser.on('cdata', value => appendText(whole(value), parser.position))

  parser.on('opentagstart', ({ name }) => {
    isInTag = true
    checkName(name, cursor)
    checkLocalName(name, parser.position)
    attributes = 0
    if (open.length >= levels) throw tooDeep(cursor)
  })
  parser.on('attribute', ({ name, value }) => {
    nodes++
    checkNames(name, value, cursor)
    checkLocalName(name, parser.position)
    if (++attributes > MAX_ATTRIBUTES) throw tooManyAttributes(cursor)
  })
  parser.on('opentag', tag => {
    isInTag = false
    const startTag = place(cursor, parser.position)
    const element: ElementNode = {
      nodeName: tag.name,
      tagName: tag.name,
      namespaceURI: tag.uri,
      attrs: attributesOf(tag),
      childNodes: [],
      parentNode: parent,
      sourceCodeLocation: {
        startOffset: startTag.startOffset,
        endOffset: startTag.endOffset,
        startTag,
        endTag: undefined,
      },
    }
    append(element)
    open.push(element)
    parent = element
  })
  parser.on('closetag', tag => {
    const element = open.pop()
    parent = open.at(-1) ?? holder
    if (tag.isSelfClosing || !element?.sourceCodeLocation) return
    const endTag = place(cursor, parser.position)
    element.sourceCodeLocation.endOffset = endTag.endOffset
    element.sourceCodeLocation.endTag = endTag
  })

  const together = { text: keepingTogether(), entity: keepingTogether(), piTarget: keepingTogether() }
  for (let at = 0; at < source.length; at += CHUNK) {
    parser.write(source.slice(at, at + CHUNK))
    // Inside tags and the declaration the reader itself reads its text.
    if (isInTag || isDeclaring) together.text(growing.text)
    else takeText()
    together.entity(growing.entity)
    together.piTarget(growing.piTarget)
    yield
  }
  parser.close()
}

function checkLocalName(name: string, offset: number): void {
  if (NO_LOCAL_NAME.test(name))
    throw new TreeError('malformed', 'A name does not begin with a letter behind its prefix.', offset)
}

function depthOf(context: ElementNode | undefined): number {
  let depth = 0
  for (let node: ParentNode | null | undefined = context; node && isElement(node); node = node.parentNode) depth++
  return depth
}

function attributesOf(tag: SaxesTagNS): Attribute[] {
  const list: Attribute[] = []
  for (const name in tag.attributes) {
    const a = tag.attributes[name]
    if (!a) continue
    if (a.uri === '') list.push({ name: a.local, value: a.value })
    else list.push({ name: a.local, value: a.value, namespace: a.uri, prefix: a.prefix })
  }
  return list
}

const NAME = String.raw`[:A-Z_a-z\u00c0-\u{effff}][-.0-9:A-Z_a-z\u00b7-\u{effff}]*`
const PUBLIC_ID = String.raw`"([-\w \n'()+,./:=?;!*#@$%]*)"|'([-\w \n()+,./:=?;!*#@$%]*)'`
const DOCTYPE = new RegExp(
  String.raw`^[ \t\n]+(${NAME})(?:[ \t\n]+(?:SYSTEM|PUBLIC[ \t\n]+(?:${PUBLIC_ID}))[ \t\n]+(?:"([^"]*)"|'([^']*)'))?[ \t\n]*$`,
  'u',
)

/** @param text what stands between `<!DOCTYPE` and `>` */
function doctype(text: string): { name: string; publicId: string; systemId: string } | undefined {
  const found = DOCTYPE.exec(text)
  if (!found) return undefined
  return { name: found[1] ?? '', publicId: found[2] ?? found[3] ?? '', systemId: found[4] ?? found[5] ?? '' }
}

function refusedDoctype(fragment: boolean, offset: number): TreeError {
  const message = fragment
    ? 'A fragment has no document type.'
    : 'The document type is malformed or has an internal subset, which is not accepted.'
  return new TreeError('malformed', message, offset)
}
