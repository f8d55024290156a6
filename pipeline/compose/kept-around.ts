/** Parts whose tags would end elements of the page around them, where browsers read it (COMP-31). */

import { asciiLower } from '../tree/ascii.ts'
import {
  type ElementNode,
  isElement,
  MATHML_NAMESPACE,
  type ParentNode,
  SVG_NAMESPACE,
  type TreeDocument,
} from '../tree/nodes.ts'
import { isSpecial } from '../tree/prefixed-extents.ts'
import { HTML_AGAIN } from '../tree/raw-text.ts'
import { NODES_PER_STEP } from '../tree/steps.ts'
import type { Composing } from './composing.ts'
import type { Work } from './work.ts'

/** What an element may be in, a bit each: its own kind, whose tags end it. */
const Kind = {
  item: 1,
  term: 2,
  button: 4,
  form: 8,
  link: 16,
  nobr: 32,
  cell: 64,
  select: 128,
  body: 256,
  /** Kinds that end only where nothing stands between. */
  heading: 512,
  option: 1024,
  ruby: 2048,
  /** No kind: within a table, outside of its cells, also in what stands there and leaves it: a table in it ends it. */
  rows: 4096,
  /** No kind: elements of the part itself are ended as well. */
  own: 8192,
} as const

const DIRECT = Kind.heading | Kind.option | Kind.ruby

const named = (kind: number, ...names: string[]) => names.map(name => [name, kind] as const)
const ROWS = ['tr', 'tbody', 'thead', 'tfoot', 'colgroup', 'col']
const CELLS = ['td', 'th', 'caption']
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const COMMON = [
  ...named(Kind.item, 'li'),
  ...named(Kind.term, 'dd', 'dt'),
  ...named(Kind.button, 'button'),
  ...named(Kind.form, 'form'),
  ...named(Kind.link, 'a'),
  ...named(Kind.nobr, 'nobr'),
  ...named(Kind.cell, ...CELLS),
  ...named(Kind.heading, ...HEADINGS),
]

/** Elements by what they are to those in them. In an `rtc` there may be an `rt`, in an `optgroup` an `option`. */
const OPENS = new Map([
  ...COMMON,
  ...named(Kind.ruby, 'rt', 'rp', 'rb'),
  ...named(Kind.select, 'select'),
  ...named(Kind.body, 'body'),
  ...named(Kind.option, 'option'),
])

/** Elements by the kind that their tags end; the attributes of an `html` or `body` become those of the page's. */
const ENDS = new Map([
  ...COMMON,
  ...named(Kind.cell, ...ROWS),
  ...named(Kind.rows, 'table'),
  ...named(Kind.select, 'select', 'input', 'textarea', 'keygen'),
  ...named(Kind.body, 'html', 'body', 'frameset'),
  ...named(Kind.option, 'option', 'optgroup'),
  ...named(Kind.ruby, 'rt', 'rp', 'rb', 'rtc'),
])

/** Elements of text: a `span` stands for them where they would end another one, and a `div` for all others. */
const PHRASES = new Set(['a', 'nobr', 'button', 'select', 'input', 'textarea', 'keygen', 'option', 'optgroup'])
for (const name of [...HEADINGS, 'rt', 'rp', 'rb', 'rtc']) PHRASES.add(name)

/** These leave SVG and MathML wherever they stand in it. */
const LEAVING = new Set(['li', 'dd', 'dt', 'nobr', 'body', ...HEADINGS])

/** Within a body, their tags are not there for browsers. */
const DROPPED = new Set(['html', 'head', 'body', 'frameset', 'frame'])

const SCOPES = new Set(['applet', 'caption', 'td', 'th', 'marquee', 'object', 'table', 'template'])
const MARKERS = new Set(['applet', 'caption', 'td', 'th', 'marquee', 'object', 'template'])

/** What an element keeps the tags in it from ending outside of it. */
function bounds(element: ElementNode, name: string): number {
  if (isForeign(element))
    return HTML_AGAIN.has(name) ? Kind.item | Kind.term | Kind.button | Kind.nobr | Kind.select : 0
  if (name === 'template') return ~Kind.own
  let kinds = DIRECT
  if (name !== 'address' && name !== 'div' && name !== 'p' && isSpecial(name)) kinds |= Kind.item | Kind.term
  if (SCOPES.has(name)) kinds |= Kind.button | Kind.nobr | Kind.select
  if (MARKERS.has(name)) kinds |= Kind.link
  if (name === 'table') kinds |= Kind.cell
  return kinds
}

/** Whether browsers read the page as HTML; one that is stored is judged as it is (COMP-147). */
export function isShown({ kind, creating }: Composing): boolean {
  return kind === 'html' && !creating
}

/** Kinds that are open in a place, of which a part would end the element outside of it: what the page's own elements are. */
export function openIn(place: ParentNode): number {
  const around: ElementNode[] = []
  for (let node: ParentNode | null = place; node && isElement(node); node = node.parentNode) around.push(node)
  const open = around.reduceRight((kinds, element) => within(kinds, element) | (OPENS.get(nameOf(element)) ?? 0), 0)
  return around.some(element => nameOf(element) === 'ruby') ? open : open & ~Kind.ruby
}

/** Which of the kinds are open in an element of a part. */
export function within(open: number, element: ElementNode): number {
  const name = nameOf(element)
  if (DROPPED.has(name) && (open & Kind.body) > 0) return open
  const isOfTable = ROWS.includes(name) || CELLS.includes(name)
  // Outside of a table, their tags are not there for browsers.
  if (isOfTable && (open & Kind.rows) === 0) return open
  // Outside of a `ruby`, what stands in one is like any other element.
  const own = (open & Kind.own) > 0 ? (OPENS.get(name) ?? 0) & ~Kind.ruby : 0
  const kinds = (open & ~bounds(element, name)) | own
  if (name === 'table') return kinds | Kind.rows
  return CELLS.includes(name) ? kinds & ~Kind.rows : kinds
}

const nestings = new WeakMap<TreeDocument, number>()

/**
 * Kinds that count for a part of a document, beside those that are open in its place: where browsers have moved what stood in a
 * table, or left a form open, elements have others of their own kind in them, for which there is no markup; tags that are left over
 * would end the page's.
 *
 * @param open in the place
 * @returns in steps
 */
export function* openFor(document: TreeDocument, part: ElementNode, open: number): Work<number> {
  let nesting = nestings.get(document)
  if (nesting === undefined) {
    nesting = 0
    for (const node of document.root.childNodes)
      if (isElement(node) && (yield* endingOne(Kind.own, node, () => true))) nesting = Kind.own
    nestings.set(document, nesting)
  }
  // HTML has no second body within its own.
  return nesting | (document.kind === 'html' && !DROPPED.has(nameOf(part)) ? open & ~Kind.body : open)
}

/**
 * Has an element that has been copied into the page written with another name where its own would end one of the kinds. Selectors,
 * of rules as well, go by the name that it was given.
 */
export function keepAround(open: number, element: ElementNode): void {
  if (open !== 0 && endsKind(open, element)) writeOtherwise(element)
}

/** The same for a part with all that is in it, in steps. */
export function* keepingAround(open: number, part: ElementNode): Work<void> {
  yield* endingOne(open, part, element => {
    writeOtherwise(element)
    return false
  })
}

function writeOtherwise(element: ElementNode): void {
  element.writtenAs = PHRASES.has(nameOf(element)) ? 'span' : 'div'
}

/** Whether something is said to be enough of the elements of a part that would end one of the kinds. */
function* endingOne(open: number, part: ElementNode, isEnough: (element: ElementNode) => boolean): Work<boolean> {
  const parts = open === 0 ? [] : [{ element: part, open }]
  let seen = 0
  for (let next = parts.pop(); next; next = parts.pop()) {
    if (++seen % NODES_PER_STEP === 0) yield
    const { element } = next
    if (endsKind(next.open, element) && isEnough(element)) return true
    const inside = within(next.open, element)
    if (inside === 0) continue
    for (const node of element.childNodes) if (isElement(node)) parts.push({ element: node, open: inside })
  }
  return false
}

function endsKind(open: number, element: ElementNode): boolean {
  const name = nameOf(element)
  if ((open & (ENDS.get(name) ?? 0)) === 0) return false
  if (isForeign(element) && !LEAVING.has(name)) return false
  // Browsers drop the tags of a second one; data about it, as the Request document has, changes nothing that is shown.
  return name !== 'body' || element.attrs.some(attr => !attr.name.startsWith('item'))
}

/** What has another namespace yet is HTML once it is written. */
function isForeign({ namespaceURI }: ElementNode): boolean {
  return namespaceURI === SVG_NAMESPACE || namespaceURI === MATHML_NAMESPACE
}

/** What XML has in capitals is written so, and read in small letters. */
function nameOf({ tagName, writtenAs }: ElementNode): string {
  return writtenAs ?? asciiLower(tagName)
}
