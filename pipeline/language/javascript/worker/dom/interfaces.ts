/**
 * The interfaces of nodes and the properties that reflect attributes (JS-40, JS-42), as one table for both sides: the host
 * tells a node's interface by its number, the realm makes classes of the table.
 */

import { type AnyNode, HTML_NAMESPACE, isElement } from '../../../../tree/nodes.ts'

/**
 * How a property reads its attribute: `text` verbatim; `flag` by presence; `integer` by the rules for parsing integers, within
 * bounds if there are any; `choice` one of some keywords.
 */
export type Reflection =
  | { kind: 'text' | 'flag' }
  | { kind: 'integer'; default: number; least?: number; most?: number; negative?: boolean }
  | { kind: 'choice'; keywords: readonly string[]; missing: string; invalid: string }

export interface Interface {
  name: string
  parent: string
  /** Properties with the attributes that they reflect. */
  properties: Record<string, [attribute: string, reflection: Reflection]>
}

const TEXT: Reflection = { kind: 'text' }
const FLAG: Reflection = { kind: 'flag' }

/** Attributes whose properties are spelt in another way. */
const ATTRIBUTES: Record<string, string> = { httpEquiv: 'http-equiv', htmlFor: 'for', acceptCharset: 'accept-charset' }

const FLAGS = new Set('hidden disabled checked selected required readOnly multiple open async defer'.split(' '))

const length = (start: number): Reflection => ({ kind: 'integer', default: start })
const choice = (keywords: string, missing: string, invalid = missing): Reflection => ({
  kind: 'choice',
  keywords: keywords.split(' '),
  missing,
  invalid,
})

/** Tags of an interface, the properties that are texts or flags, and others. */
type Row = [tags: string, properties?: string, others?: Record<string, Reflection>]

const HTML: Record<string, Row> = {
  Anchor: ['a', 'href target rel type name charset'],
  Area: ['area', 'href target rel alt'],
  Audio: ['audio', 'src'],
  Base: ['base', 'href target'],
  Body: ['body'],
  BR: ['br'],
  Button: ['button', 'name value disabled', { type: choice('submit reset button', 'submit') }],
  Canvas: ['canvas', '', { width: length(300), height: length(150) }],
  Data: ['data', 'value'],
  DataList: ['datalist'],
  Details: ['details', 'open name'],
  Dialog: ['dialog', 'open'],
  Directory: ['dir'],
  Div: ['div'],
  DList: ['dl'],
  Embed: ['embed', 'src type width height name'],
  FieldSet: ['fieldset', 'name disabled'],
  Font: ['font'],
  Form: ['form', 'name target rel action acceptCharset', { method: choice('get post dialog', 'get') }],
  Frame: ['frame', 'src name'],
  FrameSet: ['frameset'],
  Head: ['head'],
  Heading: ['h1 h2 h3 h4 h5 h6'],
  HR: ['hr', 'width'],
  Html: ['html'],
  IFrame: ['iframe', 'src name width height'],
  Image: ['img', 'src alt name', { width: length(0), height: length(0) }],
  Input: [
    'input',
    'name value placeholder alt src min max step disabled checked required readOnly multiple',
    {
      type: choice(
        'hidden text search tel url email password date month week time datetime-local number range color checkbox radio file submit image reset button',
        'text',
      ),
    },
  ],
  Label: ['label', 'htmlFor'],
  Legend: ['legend'],
  LI: ['li', 'type', { value: { kind: 'integer', default: 0, negative: true } }],
  Link: ['link', 'href rel type media target charset disabled'],
  Map: ['map', 'name'],
  Marquee: ['marquee'],
  Menu: ['menu'],
  Meta: ['meta', 'name content httpEquiv media charset'],
  Meter: ['meter'],
  Mod: ['ins del', 'cite dateTime'],
  Object: ['object', 'name type width height'],
  OList: ['ol', 'type', { start: { kind: 'integer', default: 1, negative: true } }],
  OptGroup: ['optgroup', 'label disabled'],
  Option: ['option', 'value label disabled selected'],
  Output: ['output', 'name'],
  Paragraph: ['p'],
  Param: ['param', 'name value type'],
  Picture: ['picture'],
  Pre: ['pre listing xmp'],
  Progress: ['progress'],
  Quote: ['blockquote q', 'cite'],
  Script: ['script', 'src type charset defer async'],
  Select: ['select', 'name disabled required multiple'],
  Slot: ['slot', 'name'],
  Source: ['source', 'src type media', { width: length(0), height: length(0) }],
  Span: ['span'],
  Style: ['style', 'media type disabled'],
  TableCaption: ['caption'],
  TableCell: [
    'td th',
    'width height',
    {
      colSpan: { kind: 'integer', default: 1, least: 1, most: 1_000 },
      rowSpan: { kind: 'integer', default: 1, least: 0, most: 65_534 },
    },
  ],
  TableCol: ['col colgroup', 'width'],
  Table: ['table', 'width'],
  TableRow: ['tr'],
  TableSection: ['tbody thead tfoot'],
  Template: ['template'],
  TextArea: ['textarea', 'name placeholder disabled required readOnly'],
  Time: ['time', 'dateTime'],
  Title: ['title'],
  Track: ['track', 'src label'],
  UList: ['ul', 'type'],
  Video: ['video', 'src', { width: length(0), height: length(0) }],
}

/** The interfaces that are no elements of HTML, each behind its parent. */
const OTHERS: [name: string, parent: string][] = [
  ['Node', ''],
  ['CharacterData', 'Node'],
  ['Text', 'CharacterData'],
  ['Comment', 'CharacterData'],
  ['ProcessingInstruction', 'CharacterData'],
  ['DocumentType', 'Node'],
  ['Document', 'Node'],
  ['DocumentFragment', 'Node'],
  ['Element', 'Node'],
  ['SVGElement', 'Element'],
  ['MathMLElement', 'Element'],
  ['HTMLElement', 'Element'],
]

function reflected(list: string, others: Record<string, Reflection> = {}): Interface['properties'] {
  const properties: Interface['properties'] = {}
  for (const name of list.split(' ').filter(each => each !== ''))
    properties[name] = [ATTRIBUTES[name] ?? name.toLowerCase(), FLAGS.has(name) ? FLAG : TEXT]
  for (const [name, reflection] of Object.entries(others)) properties[name] = [name.toLowerCase(), reflection]
  return properties
}

/** All interfaces; the place in the list is the interface's number. */
export const INTERFACES: readonly Interface[] = [
  ...OTHERS.map(([name, parent]) => ({
    name,
    parent,
    properties: name === 'HTMLElement' ? reflected('title lang hidden') : {},
  })),
  ...Object.entries(HTML).map(([name, [, list = '', others]]) => ({
    name: `HTML${name}Element`,
    parent: 'HTMLElement',
    properties: reflected(list, others),
  })),
]

const NUMBERS = new Map(INTERFACES.map(({ name }, number) => [name, number]))

const BY_TAG = new Map(
  Object.entries(HTML).flatMap(([name, [tags]]) =>
    tags.split(' ').map(tag => [tag, NUMBERS.get(`HTML${name}Element`) ?? 0] as const),
  ),
)

function numberOf(name: string): number {
  return NUMBERS.get(name) ?? 0
}

const OF_NODES: Record<string, number> = {
  '#text': numberOf('Text'),
  '#comment': numberOf('Comment'),
  '#documentType': numberOf('DocumentType'),
  '#instruction': numberOf('ProcessingInstruction'),
  '#document': numberOf('Document'),
  '#document-fragment': numberOf('DocumentFragment'),
}

const ELEMENT = numberOf('Element')
const BY_NAMESPACE = new Map([
  ['http://www.w3.org/2000/svg', numberOf('SVGElement')],
  ['http://www.w3.org/1998/Math/MathML', numberOf('MathMLElement')],
])
const HTML_ELEMENT = numberOf('HTMLElement')

/**
 * @param local the element's local name
 * @returns the number of the node's interface
 */
export function interfaceOf(node: AnyNode, local: string): number {
  if (!isElement(node)) return OF_NODES[node.nodeName] ?? 0
  if (node.namespaceURI === HTML_NAMESPACE) return BY_TAG.get(local) ?? HTML_ELEMENT
  return BY_NAMESPACE.get(node.namespaceURI) ?? ELEMENT
}
