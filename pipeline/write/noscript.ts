/**
 * Elements that are text for browsers with scripts and markup for those without, and for what scripts parse by themselves
 * (`DOMParser`, and `live.mjs` with it): in one reading they may hold what they leave in the other. What
 * XML holds may leave its place where an HTML page shows it.
 */

import { asciiLower } from '../tree/ascii.ts'
import { comparing } from '../tree/compare.ts'
import {
  findingDifferent,
  isCustomised,
  isForeign,
  isNestedAlike,
  isOrdinaryName,
  keptText,
} from '../tree/edit/kept-text.ts'
import { parsingFragment } from '../tree/fragment.ts'
import { type HtmlNodes, parserOptions, surroundings } from '../tree/html.ts'
import { TreeError } from '../tree/limits.ts'
import { LongText, testing } from '../tree/long-text.ts'
import {
  type ChildNode,
  type ElementNode,
  elementAlone,
  HTML_NAMESPACE,
  isElement,
  isText,
  type ParentNode,
  parentElement,
  type TreeDocument,
} from '../tree/nodes.ts'
import { parsingFragmentAlike } from '../tree/readings.ts'
import { writingHtml, writingStart } from '../tree/serialize-html.ts'
import { SteppedParser } from '../tree/stepped-parser.ts'
import { NODES_PER_STEP, type Steps } from '../tree/steps.ts'

/** Comes to be wherever it stands, and stays open. */
const END = '<template>'
/** What pages have around the documents that they show. */
const AROUND = '<!DOCTYPE html><body><main><article><section><div>'
/** Tags that close what stands before a text. */
const OWED = /^(?:<\/[a-z][^\t\n\f\r <>]*>)+/i
/** Names of tags. */
const TAGS = /<\/?([a-z][^\t\n\f\r />]*)/gi

/** Instructions by which browsers put something in the place of others. */
const MARK = /<\?(?:start|end|marker)(?![^\t\n\f\r ?>])/i

const DIV = elementAlone('div')
/** What contents of templates do not know that they stand in. */
const TEMPLATE = elementAlone('template')

export function isNoscript(node: ChildNode): node is ElementNode {
  return isElement(node) && node.tagName === 'noscript' && node.namespaceURI === HTML_NAMESPACE
}

/** Whether it may hold markup. */
export function holdsMarkup({ childNodes }: ElementNode): boolean {
  return childNodes.some(node => isText(node) && node.value.includes('<'))
}

/**
 * Whether what follows a text is read the same behind it, be `noscript` markup or not; in steps. What is written as one entry
 * may come apart by itself.
 *
 * @param place whose children the text becomes; undefined stands for the document itself
 */
export function* endingAlike(place: ElementNode | undefined, text: string): Steps<boolean> {
  const source = `${place ? yield* writingAround(place) : ''}${text.replace(OWED, '')}`
  const mode = place && surroundings(place).mode
  const state = yield* findingState(source, true, mode)
  return state !== '' && state === (yield* findingState(source, false, mode))
}

/**
 * Whether all browsers read what a `noscript` holds as the parser does where that is markup, and as a part of it, in steps. They
 * do of elements of text, if nothing around them is read otherwise.
 */
export function* isReadAlike(noscript: ElementNode): Steps<boolean> {
  // Of many short ones none would take a step of its own.
  yield
  for (let at = parentElement(noscript); at; at = parentElement(at)) if (isForeign(at) || isCustomised(at)) return false
  const text = noscript.childNodes.map(node => (isText(node) ? node.value : '')).join('')
  if (yield* testing(MARK, text)) return false
  let seen = 0
  for (const [, name = ''] of text.matchAll(TAGS)) {
    if (!isOrdinaryName(asciiLower(name))) return false
    if (++seen % NODES_PER_STEP === 0) yield
  }
  const around = parentElement(noscript) ?? TEMPLATE
  if (!(yield* findingDifferent(text, around))) return true
  try {
    return (yield* keptText('html', around, yield* parsingFragment('html', text, around), text)) !== undefined
  } catch (error) {
    if (error instanceof TreeError) return false
    throw error
  }
}

/**
 * Whether nodes of HTML, which pages that are put together write anew, are read as the same again; in steps. What a table has moved
 * out of it need not be: a `li` before one in a `div` in another `li` ends both, and the end tag of the `div` one around them.
 *
 * @param place whose children they are
 */
export function* isReadAgain(
  document: Pick<TreeDocument, 'kind' | 'asWritten'>,
  place: ElementNode,
  nodes: ChildNode[],
): Steps<boolean> {
  const markup = new LongText()
  for (const node of nodes) yield* writingHtml(node, markup)
  // Read again, a carriage return is a line feed, which moves nothing.
  const text = markup.whole.replaceAll('\r', '&#13;')
  try {
    if (!(yield* comparing(nodes, yield* parsingFragmentAlike(document, text, place)))) return false
    // It may end what the place stands in.
    const lead = yield* writingAround(place)
    const { mode } = surroundings(place)
    const owed = owedIn(place)
    return (
      (yield* findingState(`${lead}${owed}`, true, mode)) === (yield* findingState(`${lead}${text}${owed}`, true, mode))
    )
  } catch (error) {
    if (error instanceof TreeError) return false
    throw error
  }
}

/** Whether nothing of a text of XML reaches beyond its place where that stands in an HTML page, in steps. */
export function* endingAsBegun(place: ElementNode | undefined, text: string): Steps<boolean> {
  const lead = `${AROUND}${place ? yield* writingAround(place) : ''}`
  const owed = owedIn(place)
  const state = yield* findingState(`${lead}${owed}`, true)
  const read = (scriptingEnabled: boolean) => findingState(`${lead}${text}${owed}`, scriptingEnabled)
  return state === (yield* read(true)) && state === (yield* read(false))
}

/** Rows and columns of a table stand in a group that nobody has written: what follows them does not mind. */
function owedIn(place: ElementNode | undefined): string {
  return place !== undefined && asciiLower(place.tagName) === 'table' ? '</tbody>' : ''
}

/**
 * What a text of XML becomes in an HTML page, in what it stands in there, from an offset on, and whether all browsers read it as the
 * parser does; in steps. No nodes without what may be read otherwise.
 */
export function* readingAround(
  place: ElementNode | undefined,
  text: string,
): Steps<{ nodes: readonly ChildNode[]; from: number; isAlike: boolean }> {
  const lead = place ? yield* writingAround(place) : ''
  const source = `${lead}${text}${endTagsAround(place)}`
  const from = lead.length
  if (!(yield* findingDifferent(source, DIV))) return { nodes: [], from, isAlike: true }
  const nodes = yield* parsingFragment('html', source, DIV)
  return { nodes, from, isAlike: yield* isNestedAlike(DIV, nodes, source) }
}

/** What a parser goes on by behind a text, in steps. @returns empty where no element can begin there, or a limit is exceeded */
function* findingState(text: string, scriptingEnabled: boolean, mode?: string): Steps<string> {
  const source = `${text}${END}`
  const parser = new SteppedParser({ ...parserOptions(source, { mode, depth: 0 }), scriptingEnabled })
  try {
    yield* parser.read(source, false)
  } catch (error) {
    if (error instanceof TreeError) return ''
    throw error
  }
  return stateOf(parser, text.length)
}

/** Start tags of all that an element stands in, and its own, in steps. */
function* writingAround(place: ElementNode): Steps<string> {
  const around: ElementNode[] = []
  let at: ParentNode | null = place
  for (; at && isElement(at); at = at.parentNode) around.unshift(at)
  const markup = new LongText()
  // Contents do not know their template.
  if (at?.nodeName === '#document-fragment') markup.add('<body><template>')
  for (const each of around) {
    if (each.tagName === 'body') markup.add('<head></head>')
    yield* writingStart(each, markup)
  }
  return markup.whole
}

function endTagsAround(place: ElementNode | undefined): string {
  const ends: string[] = []
  for (let at = place; at; at = parentElement(at)) ends.push(`</${at.tagName}>`)
  return ends.join('')
}

function stateOf(parser: SteppedParser<HtmlNodes>, end: number): string {
  const { openElements, activeFormattingElements, formElement, insertionMode, tmplInsertionModeStack } = parser
  const open = openElements.items.slice(0, openElements.stackTop + 1).map(told)
  if (!open.pop()?.endsWith(` ${end}`)) return ''
  const formatting: string[] = []
  for (let entry = activeFormattingElements.newest; entry; entry = entry.older)
    formatting.push('element' in entry ? told(entry.element) : '')
  return JSON.stringify([open, formatting, formElement && told(formElement), insertionMode, tmplInsertionModeStack])
}

/** Two elements that an end tag has made of one begin at the same place. */
function told(node: ParentNode): string {
  return isElement(node) ? `${node.tagName} ${node.attrs.length} ${node.sourceCodeLocation?.startOffset}` : ''
}
