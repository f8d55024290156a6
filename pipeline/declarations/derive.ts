/** What is found out about a document when it is committed, so that no request has to (design, invariant 3). */

import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import { listingBoth, listingEntries } from '../model/entries.ts'
import { isTemplate } from '../model/items.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import { ownText } from '../own-text.ts'
import { packingEntries } from '../store/packed-entries.ts'
import type { Entry } from '../store/resource.ts'
import { decodeInTurn, parsingDocument, TreeError, withoutMark } from '../tree/document.ts'
import { typesOf } from '../tree/microdata.ts'
import {
  attribute,
  type ChildNode,
  type DocumentKind,
  type ElementNode,
  type FragmentNode,
  isElement,
  type TreeDocument,
} from '../tree/nodes.ts'
import { copyingPlain, writingPlain } from '../tree/plain-json.ts'
import { readingAsWritten } from '../tree/readings.ts'
import { inTurns, lookingThrough, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { provingWithinLimits } from '../tree/tag-limits.ts'
import { TagTokens } from '../tree/tag-tokens.ts'
import { TokenCollector } from '../tree/tokens.ts'
import { findingSlips, type Slips } from './fields.ts'
import type { Derivation } from './kind.ts'
import { type Declares, KIND_NAMES, KINDS, type KindName, mayDeclare } from './kinds.ts'
import { isMeant } from './misspelt.ts'

/** Facts about a document that are found when it is committed (design, invariant 3). */
export interface Profile {
  /** The bytes are valid UTF-8 (HTTP-25). */
  utf8: boolean
  /** Item types that occur, each once. */
  types: string[]
  /** Namespace URIs bound to prefixes by `xmlns:` declarations, contents of templates included (COMP-1). */
  namespaces: string[]
  /** An attribute with the local name `transient` and a prefix occurs (COMP-1). */
  transient?: boolean
  /** Composition reads it otherwise than HTML does (COMP-6): pages may show items that HTML does not have. */
  otherwise?: boolean
}

/** A microdata item as a document's derived data tells of it: what it is, and which one. */
export type ItemEntry = [types: string[], id: string | null]

export interface Derived {
  profile: Profile
  /** What it declares about the site. */
  declares: Declares
  /** What selectors ask for by name (`tree/tokens.ts`). */
  tokens: string[]
  /** Every item of the document in tree order, nested ones and those inside templates left out. */
  items: ItemEntry[]
  /** Its items, for the index of the site. */
  entries: Entry[]
}

/** What was found out about fields, of documents that this process has read: it is said, and kept by no store. */
const slips = new WeakMap<Profile, Slips>()

/** What is known of the fields of a document; undefined where nothing is, as of one without types. */
export function slipsIn(profile: Profile | undefined): Slips | undefined {
  return profile && slips.get(profile)
}

/** Children that are being looked at. */
interface Level {
  nodes: readonly ChildNode[]
  next: number
  /** Not inside a template. */
  isShown: boolean
}

/** An item of a document. */
export interface NotedItem {
  element: ElementNode
  types: string[]
  /** What is told of it in the list of items: the same from edit to edit, as what an item is called is not read again. */
  listed: ItemEntry
  /** Not inside a template. */
  isShown: boolean
}

/** What the elements of a document tell about it. */
export interface Noted {
  /** In tree order. */
  items: readonly NotedItem[]
  /** Elements that have a type and are no items, outside of templates. */
  bare: readonly ElementNode[]
  prefixes: Prefixes
  tokens: Pick<TokenCollector, 'tokens'>
}

/** Where that is noted. */
export interface Notes {
  items: NotedItem[]
  bare: ElementNode[]
  prefixes: Prefixes
  tokens: Pick<TokenCollector, 'add'>
}

/**
 * @param utf8 whether the document's bytes are valid UTF-8
 * @throws TreeError (`too-large`) when references between items multiply beyond all proportion to the text
 */
export function* deriving(document: TreeDocument, derivation: Derivation, utf8: boolean): Steps<Derived> {
  const noted = { items: [], bare: [], prefixes: new Prefixes(), tokens: new TokenCollector() }
  yield* notingAll(document.root.childNodes, true, noted)
  const derived = yield* concluding(document, noted, derivation, utf8)
  yield* writingStoredForm(derived)
  return derived
}

/** Types of an item up to which a step has room for many of them: it may have thousands. */
const FEW_TYPES = 20

/**
 * Notes what elements tell, with all that they hold.
 *
 * @param isShown whether they are not inside a template
 */
export function* notingAll(nodes: readonly ChildNode[], isShown: boolean, into: Notes): Steps<void> {
  const { items, bare, prefixes, tokens } = into
  const open: Level[] = [{ nodes, next: 0, isShown }]
  let seen = 0
  for (let level = open.at(-1); level; level = open.at(-1)) {
    const node = level.nodes[level.next++]
    if (!node) open.pop()
    if (!node || !isElement(node)) continue
    if (++seen % NODES_PER_STEP === 0) yield
    tokens.add(node)
    if (node.content) yield* prefixes.notingWithin(node.content)
    const what = node.attrs.length > 0 ? noting(node, prefixes) : undefined
    const item = what === 'item' ? notedItem(node, level.isShown) : undefined
    if (item) items.push(item)
    else if (what === 'typed' && level.isShown) bare.push(node)
    if (item && item.types.length > FEW_TYPES) yield
    // The children of an HTML parser's template are in its contents; an XML parser leaves them here.
    const { childNodes } = node
    const first = childNodes[0]
    // Most elements hold one text or nothing.
    if (!first || (childNodes.length === 1 && !isElement(first))) continue
    open.push({ nodes: childNodes, next: 0, isShown: level.isShown && !isTemplate(node) })
  }
}

/**
 * What follows for a document from what its elements tell.
 *
 * @param edit what of it an edit in place has changed, and the document as composition reads it then; missing when nothing
 *   is known
 * @throws TreeError as `deriving`
 */
export function* concluding(
  document: TreeDocument,
  { items, bare, prefixes, tokens }: Noted,
  derivation: Derivation,
  utf8: boolean,
  edit?: { changed: ReadonlySet<ElementNode>; shown: TreeDocument },
): Steps<Derived> {
  const types = new Set<string>()
  yield* lookingThrough(items, ({ types: own }) => {
    for (const type of own) types.add(type)
    return own.length
  })
  const elements = items.filter(({ isShown }) => isShown).map(({ element }) => element)
  yield
  const declares: Partial<Record<KindName, unknown>> = {}
  for (const name of KIND_NAMES) {
    if (!mayDeclare(name, types, derivation)) continue
    const raw = yield* KINDS[name].extracting({ document, items: elements }, derivation)
    // What memory keeps is as the store gives it back: texts that were cut from the document would keep the whole of it.
    if (raw !== undefined) declares[name] = yield* copyingPlain(raw)
  }
  // HTML drops some tags, and with them what they bind: that no prefix is bound in its tree does not tell that both are one.
  const shown = edit?.shown ?? (yield* readingAsWritten(document))
  const found = prefixes.found()
  const names = { types: yield* owning(types), namespaces: yield* owning(found.namespaces) }
  const profile = { utf8, ...found, ...names, ...(shown !== document && { otherwise: true }) }
  if (types.size > 0 || bare.length > 0) slips.set(profile, yield* findingSlips(items, bare, derivation))
  return {
    profile,
    declares: declares as Declares,
    tokens: tokens.tokens(),
    items: items.map(({ listed }) => listed),
    entries: yield* shown === document
      ? listingEntries(elements, derivation.ns, edit?.changed)
      : listingBoth(document, shown, derivation.ns),
  }
}

/** Names as texts on their own, in steps. */
function* owning(names: Iterable<string>): Steps<string[]> {
  const own: string[] = []
  for (const name of names) if (own.push(ownText(name)) % NODES_PER_STEP === 0) yield
  return own
}

function notedItem(element: ElementNode, isShown: boolean): NotedItem {
  const types = typesOf(element)
  return { element, types, listed: [types, attribute(element, 'itemid')?.trim() ?? null], isShown }
}

/** @returns whether the element is an item, or has a type without being one */
function noting(element: ElementNode, prefixes: Prefixes): 'item' | 'typed' | undefined {
  prefixes.note(element)
  let isTyped = false
  for (const { name, prefix } of element.attrs) {
    if (prefix) continue
    if (name === 'itemscope') return 'item'
    isTyped ||= name === 'itemtype'
  }
  return isTyped ? 'typed' : undefined
}

/** What prefixes a document declares, and whether one marks something as transient. */
export class Prefixes {
  readonly #namespaces = new Set<string>()
  #transient = false

  note({ attrs }: ElementNode): void {
    for (const { name, prefix, value } of attrs) {
      if ((prefix === 'xmlns' || name.startsWith('xmlns:')) && value !== '') this.#namespaces.add(value)
      else if (prefix ? name === 'transient' : name.endsWith(':transient')) this.#transient = true
    }
  }

  /** Contents of templates, which may hold others; in steps. */
  *notingWithin({ childNodes }: FragmentNode): Steps<void> {
    const open = [childNodes.values()]
    let seen = 0
    for (let level = open.at(-1); level; level = open.at(-1)) {
      const { value: node } = level.next()
      if (++seen % NODES_PER_STEP === 0) yield
      if (!node) open.pop()
      else if (isElement(node)) {
        this.note(node)
        open.push(node.childNodes.values())
        if (node.content) open.push(node.content.childNodes.values())
      }
    }
  }

  /** Whether nothing of that was found. */
  get isEmpty(): boolean {
    return this.#namespaces.size === 0 && !this.#transient
  }

  found(): Pick<Profile, 'namespaces' | 'transient'> {
    return { namespaces: [...this.#namespaces], ...(this.#transient && { transient: true }) }
  }
}

/**
 * As `deriving`, sharing the event loop where the document is large.
 *
 * @throws Fault 422
 */
export async function deriveInTurns(document: TreeDocument, derivation: Derivation, utf8: boolean): Promise<Derived> {
  try {
    return await inTurns(deriving(document, derivation, utf8), document.source.length)
  } catch (error) {
    throw error instanceof TreeError ? unusable(error) : error
  }
}

/** A parsed document with everything derived from it. */
export interface ParsedDocument {
  text: string
  tree: TreeDocument
  derived: Derived
}

/** A document that is about to be stored; without a tree where its text alone tells what there is to know. */
export type ReadDocument = Omit<ParsedDocument, 'tree'> & { tree?: TreeDocument }

/**
 * Finds what is to be known of the bytes of a document that is about to be stored, by its tags alone where they tell
 * enough. What is long shares the event loop.
 *
 * @throws Fault as `parseForStorage`
 */
export async function readForStorage(
  bytes: Uint8Array,
  kind: DocumentKind,
  derivation: Derivation,
): Promise<ReadDocument> {
  if (kind !== 'html') return parseForStorage(bytes, kind, derivation)
  const { text, utf8 } = await decodeInTurn(bytes)
  const tokens = new TagTokens()
  const tags = provingWithinLimits(withoutMark(bytes), text.length, tokens)
  if (!(await inTurns(tags, text.length))) return parseForStorage(bytes, kind, derivation)
  const profile = { utf8, types: [], namespaces: [] }
  const derived = { profile, declares: {}, tokens: tokens.tokens(), items: [], entries: [] }
  // Whether what has a type stands in a template, tags alone do not tell.
  if (derived.tokens.some(token => token.startsWith('type:') && isMeant(token.slice('type:'.length), derivation))) {
    const parsed = await parseForStorage(bytes, kind, derivation)
    const { subtypes } = derivation
    slips.set(profile, slipsIn(parsed.derived.profile) ?? { fields: [], bare: [], subtypes })
  }
  return { text, derived }
}

/**
 * Parses the bytes of a document that is about to be stored. What is long shares the event loop.
 *
 * @throws Fault 422 when it breaks a limit, or is XML that is not well formed (HTTP-23, HTTP-181)
 */
export async function parseForStorage(
  bytes: Uint8Array,
  kind: DocumentKind,
  derivation: Derivation,
): Promise<ParsedDocument> {
  const { text, utf8 } = await decodeInTurn(bytes)
  if (kind === 'xml' && !utf8)
    throw new Fault(422, 'InvalidFragment', 'The document is not valid UTF-8. Save it as UTF-8 and upload it again.')
  try {
    return await inTurns(reading(kind, text, utf8, derivation), text.length)
  } catch (error) {
    throw error instanceof TreeError ? unusable(error, kind === 'html' ? text : undefined) : error
  }
}

function* reading(kind: DocumentKind, text: string, utf8: boolean, derivation: Derivation): Steps<ParsedDocument> {
  const tree = yield* parsingDocument(kind, text)
  return { text, tree, derived: yield* deriving(tree, derivation, utf8) }
}

/** An element with a prefix that is meant to end with its start tag. */
const SELF_CLOSED = /<([a-z][\w.-]*:[\w.-]+)(?![\w.-])[^<>]*\/>/i

/** UTF-16 code units before the place that breaks a limit in which such an element is looked for: it is done in one go. */
const NEAR = 256 * 1024

/**
 * What a document or fragment that breaks a limit is answered with.
 *
 * @param html the text, if it is HTML: there elements such as `<x:y/>` stay open to the end of their parent
 */
export function unusable(error: TreeError, html = ''): Fault {
  const { offset = NEAR } = error
  const near = error.reason === 'too-deep' ? html.slice(Math.max(0, offset - NEAR), offset) : ''
  const name = SELF_CLOSED.exec(near)?.[1]?.slice(0, 60)
  const advice = name === undefined ? '' : ` HTML does not end <${name}/> there: write <${name}></${name}>.`
  return new Fault(422, 'InvalidFragment', `The document cannot be stored: ${error.message}${advice}`, { cause: error })
}

/** The profile of bytes that are stored already, for documents whose derived data is missing. */
export async function profileOf(bytes: Uint8Array, type: string, vocabulary: Vocabulary): Promise<Profile | undefined> {
  const kind = kindOf(type)
  return kind === 'blob' ? undefined : (await parseForStorage(bytes, kind, vocabulary)).derived.profile
}

/** What is found out about a document as a store keeps it: one text a name, and what its index is made from. */
export interface StoredForm {
  derived: Record<string, string>
  entries: Entry[]
}

/** What is stored of the items of a document that had some, and has none. */
export const NO_ITEMS = '[]'

/** What was written in steps. */
const written = new WeakMap<Derived, Record<string, string>>()

export function storedForm(derived: Derived): StoredForm {
  const texts = written.get(derived)
  if (texts) return { derived: texts, entries: derived.entries }
  const form = Object.fromEntries(Object.entries(kept(derived)).map(([name, value]) => [name, JSON.stringify(value)]))
  return { derived: form, entries: derived.entries }
}

/** Items, or tokens, of a document whose form takes a millisecond at least. */
const MANY = 1000

function isLong({ items, tokens, declares }: Derived): boolean {
  return items.length > MANY || tokens.length > MANY || Object.keys(declares).length > 0
}

/** Makes that form in steps where it is long, for whoever asks for it soon: at the commit it would be made without a pause. */
export function* writingStoredForm(derived: Derived): Steps<void> {
  if (!isLong(derived)) return
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(kept(derived))) texts[name] = yield* writingPlain(value)
  written.set(derived, texts)
  yield* packingEntries(derived.entries)
}

/** Declarations as a new version of a document is stored with them. */
export function storedDeclarations(declares: Declares): Record<string, string> {
  return Object.fromEntries(Object.entries(declares).map(([name, raw]) => [name, JSON.stringify(raw)]))
}

function kept({ profile, tokens, declares, items }: Derived): Record<string, unknown> {
  return { profile, tokens, ...declares, ...(items.length > 0 && { items }) }
}
