/**
 * Finds the reactions that a document declares: triggers and processors, transition constraints and handlers (REA-1 to
 * REA-4). The result is plain data: it is stored with the document's version and compiled when a site's reactions are put
 * together.
 */

import { bareProgram, type RawCode } from '../../model/declarations.ts'
import { isItem, type ModelItem, type ReadValue, readItem, valueReader } from '../../model/items.ts'
import type { Vocabulary } from '../../model/vocabulary.ts'
import { trimmed } from '../../tree/ascii.ts'
import { typesOf } from '../../tree/microdata.ts'
import { jsonLdValue } from '../../tree/microdata-value.ts'
import type { ElementNode } from '../../tree/nodes.ts'
import { textContent } from '../../tree/serialize.ts'
import type { Steps } from '../../tree/steps.ts'

/** A property that is text, or code that is run when its value is needed (REA-3). */
export type RawValue = string | RawCode

/** A header of a call: a pair, whose parts stand in document order, or one line. */
export type RawHeader = { pair: readonly (readonly ['key' | 'value', RawValue])[] } | { line: RawValue }

/** Fields of an outbound request that are there at most once. */
export type CallField = 'url' | 'method' | 'content-type' | 'body' | 'retry'

/** An outbound request as written (REA-80); its properties in document order, as they are evaluated (REA-81). */
export interface RawCall {
  properties: readonly (readonly [CallField, RawValue] | readonly ['header', RawHeader])[]
}

export type RawAction = RawCode | RawCall

/** A trigger or processor: filters as written, trimmed and without blank ones. */
export interface RawReaction {
  kind: 'trigger' | 'processor'
  resource: string[]
  method: string[]
  selector: string[]
  status: string[]
  when: RawCode[]
  action: RawAction[]
  otherwise: RawAction[]
}

/** Its states are kept as written (REA-3). */
export interface RawConstraint {
  selector: string
  property: string
  from: string[]
  to: string[]
}

export interface RawHandler {
  selector: string
  property: string
  becomes: string[]
  /** Code of another language keeps the handler from firing (REA-123). */
  when: RawCode[]
  url: string
  method: string
  headers: (readonly [name: string, value: string])[]
}

/** What one document version declares, each kind in document order. */
export interface RawReactions {
  reactions: RawReaction[]
  constraints: RawConstraint[]
  handlers: RawHandler[]
  /** Why items, or parts of them, were left out (REA-4): the first ones, for the log. */
  ignored?: string[]
}

/** Built-in types below which a site may derive others (REA-2). */
const KINDS = ['Trigger', 'Processor', 'TransitionConstraint', 'TransitionHandler'] as const
type Kind = (typeof KINDS)[number]

const CALL_PROPERTIES = ['header', 'url', 'method', 'content-type', 'body', 'retry'] as const
/** Types of items that are looked at in one step. */
const TYPES_PER_STEP = 1000

/** Reasons kept for one document version. */
const REASONS = 20

export function reactionTypes({ ns }: Vocabulary): string[] {
  return KINDS.map(name => `${ns}/${name}`)
}

/** What the items of a document are read with. */
interface Reading {
  ns: string
  read: ReadValue
  /** The same without trimming. */
  readAsWritten: (element: ElementNode, item: ModelItem) => string
  leaveOut(reason: string): void
}

/**
 * Extracts reactions from stored markup. What cannot be read is left out with a reason (REA-4).
 *
 * @param items elements with `itemscope` outside of templates, in tree order
 * @param isa whether an item type is one of the built-in types, or descends from it
 * @returns undefined when there are none, not even broken ones
 * @throws TreeError (`too-large`) when values repeat each other beyond all proportion to the text
 */
export function* extractingReactions(
  items: readonly ElementNode[],
  { ns }: Vocabulary,
  isa: (type: string, builtIn: string) => boolean,
): Steps<RawReactions | undefined> {
  const ignored: string[] = []
  const found: RawReactions = { reactions: [], constraints: [], handlers: [] }
  const asWritten = jsonLdValue(ns)
  const reading: Reading = {
    ns,
    read: valueReader(ns),
    readAsWritten: (element, item) => asWritten(element, item),
    leaveOut: reason => {
      if (ignored.length < REASONS) ignored.push(reason)
    },
  }
  let seen = 0
  for (const element of items) {
    const types = typesOf(element)
    // Most are none, and each may have thousands of types.
    seen += 1 + types.length
    if (seen >= TYPES_PER_STEP) {
      seen = 0
      yield
    }
    for (const kind of KINDS) {
      if (!types.some(type => isa(type, `${ns}/${kind}`))) continue
      yield
      add(found, kind, readItem(element), reading)
    }
  }
  if (ignored.length > 0) found.ignored = ignored
  const count = found.reactions.length + found.constraints.length + found.handlers.length
  return count + ignored.length > 0 ? found : undefined
}

/** A type that a site derives from a built-in one is read as that one is (REA-2). */
function add(found: RawReactions, kind: Kind, read: ModelItem, reading: Reading): void {
  const item = { ...read, types: [`${reading.ns}/${kind}`] }
  if (kind === 'Trigger' || kind === 'Processor') {
    const reaction = reactionOf(kind === 'Trigger' ? 'trigger' : 'processor', item, reading)
    if (reaction) found.reactions.push(reaction)
  } else if (kind === 'TransitionConstraint') {
    const constraint = constraintOf(item, reading)
    if (constraint) found.constraints.push(constraint)
  } else {
    const handler = handlerOf(item, reading)
    if (handler) found.handlers.push(handler)
  }
}

function reactionOf(kind: RawReaction['kind'], item: ModelItem, reading: Reading): RawReaction | undefined {
  const elements = (name: string) => item.properties.get(name) ?? []
  const [actions, others] = [elements('action'), elements('otherwise')]
  if (actions.length === 0 && (kind === 'processor' || others.length === 0)) {
    reading.leaveOut(`a ${kind} without action`)
    return undefined
  }
  const when: RawCode[] = []
  for (const element of elements('when')) {
    const code = codeOf(element, reading)
    if (!code) {
      reading.leaveOut(`a ${kind} whose "when" is no code with a source`)
      return undefined
    }
    when.push(code)
  }
  const texts = (name: string) => textsOf(item, name, reading)
  return {
    kind,
    resource: texts('resource'),
    method: texts('method'),
    selector: texts('selector'),
    status: texts('status'),
    when,
    action: actions.flatMap(element => actionOf(element, reading)),
    otherwise: others.flatMap(element => actionOf(element, reading)),
  }
}

/** Values that are text, trimmed, without blank ones. */
function textsOf(item: ModelItem, name: string, { read }: Reading): string[] {
  return (item.properties.get(name) ?? []).flatMap(element => {
    const text = trimmed(read(element, item) ?? '')
    return text === '' ? [] : [text]
  })
}

/** An item of a language with a `source`, whose type is the language (REA-1), or a script in Sessel by itself (SES-4). */
function codeOf(element: ElementNode, { ns }: Reading): RawCode | undefined {
  if (!isItem(element)) {
    const source = bareProgram(element)
    return source === undefined ? undefined : { type: `${ns}/Sessel`, source }
  }
  const type = typesOf(element).find(each => isCodeType(each, ns))
  const [source] = readItem(element).properties.get('source') ?? []
  return type !== undefined && source ? { type, source: textContent(source) } : undefined
}

function isCodeType(type: string, ns: string): boolean {
  return type === `${ns}/Sessel` || type === `${ns}/Sessel/Lambda` || type === `${ns}/JavaScript/Module`
}

/** @returns no action when its type is unknown, or it can call nobody (REA-4) */
function actionOf(element: ElementNode, reading: Reading): RawAction[] {
  const { ns, leaveOut } = reading
  const code = codeOf(element, reading)
  if (code) return [code]
  const isCall = typesOf(element).some(type => type === `${ns}/HttpRequest` || type === `${ns}/HTTPRequest`)
  if (!isItem(element) || !isCall) {
    leaveOut('an action that is neither code with a source nor a request')
    return []
  }
  const call = callOf(readItem(element), reading)
  if (call.properties.some(([name]) => name === 'url')) return [call]
  leaveOut('a request without url')
  return []
}

function callOf(item: ModelItem, reading: Reading): RawCall {
  const properties: RawCall['properties'][number][] = []
  const seen = new Set<string>()
  for (const [name, element] of inOrder(item, CALL_PROPERTIES)) {
    if (name === 'header') {
      const header = headerOf(element, item, reading)
      if (header) properties.push(['header', header])
    } else if (!seen.has(name)) {
      const value = propertyValue(element, item, reading, name === 'body')
      if (value === undefined) continue
      seen.add(name)
      properties.push([name, value])
    }
  }
  return { properties }
}

/**
 * Properties of some names in document order: those of one name are in it, and no element comes twice under one name.
 *
 * @param meant few names: an element may have thousands of others
 */
function inOrder<Name extends string>(
  { element: scope, properties }: ModelItem,
  meant: readonly Name[],
): [name: Name, element: ElementNode][] {
  const names = new Map<ElementNode, Name[]>()
  for (const name of meant)
    for (const element of properties.get(name) ?? []) names.set(element, [...(names.get(element) ?? []), name])
  const ordered: [Name, ElementNode][] = []
  const open = [...scope.childNodes].reverse()
  for (let node = open.pop(); node; node = open.pop()) {
    if (!('tagName' in node)) continue
    for (const name of names.get(node) ?? []) ordered.push([name, node])
    // However many they are: as arguments of one call they would be too many.
    if (!isItem(node)) for (const child of node.childNodes.toReversed()) open.push(child)
  }
  return ordered
}

/** @param exact keeps text as it is written: a body is sent unchanged */
function propertyValue(element: ElementNode, item: ModelItem, reading: Reading, exact = false): RawValue | undefined {
  const code = codeOf(element, reading)
  if (isItem(element) && !code) reading.leaveOut('a property of a request that is neither text nor code with a source')
  if (isItem(element) || code) return code
  const text = exact ? reading.readAsWritten(element, item) : trimmed(reading.read(element, item) ?? '')
  return trimmed(text) === '' ? undefined : text
}

function headerOf(element: ElementNode, item: ModelItem, reading: Reading): RawHeader | undefined {
  const isPair = isItem(element) && typesOf(element).includes(`${reading.ns}/Pair`)
  if (!isPair) {
    const line = propertyValue(element, item, reading)
    return line === undefined ? undefined : { line }
  }
  const pair: (readonly ['key' | 'value', RawValue])[] = []
  const own = readItem(element)
  for (const [name, part] of inOrder(own, ['key', 'value'])) {
    const value = propertyValue(part, own, reading)
    if (value !== undefined && !pair.some(([known]) => known === name)) pair.push([name, value])
  }
  return { pair }
}

function statesOf(item: ModelItem, name: string, { readAsWritten }: Reading): string[] {
  const elements = item.properties.get(name) ?? []
  return elements.flatMap(element => (isItem(element) ? [] : [readAsWritten(element, item)]))
}

function constraintOf(item: ModelItem, reading: Reading): RawConstraint | undefined {
  const [selector] = textsOf(item, 'selector', reading)
  const [property] = textsOf(item, 'property', reading)
  const [from, to] = [statesOf(item, 'from', reading), statesOf(item, 'to', reading)]
  if (selector !== undefined && property !== undefined && from.length + to.length > 0)
    return { selector, property, from, to }
  reading.leaveOut('a transition constraint without selector, property or states')
  return undefined
}

/** REA-120, REA-124: one action, a request whose parts are plain text. */
function handlerOf(item: ModelItem, reading: Reading): RawHandler | undefined {
  const { leaveOut } = reading
  const [selector] = textsOf(item, 'selector', reading)
  const [property] = textsOf(item, 'property', reading)
  const becomes = statesOf(item, 'becomes', reading)
  const elements = item.properties.get('action') ?? []
  const actions = elements.flatMap(element => actionOf(element, reading))
  if (selector === undefined || property === undefined || becomes.length === 0 || actions.length === 0) {
    leaveOut('a transition handler without selector, property, state or action')
    return undefined
  }
  const call = plainCall(actions)
  if (!call || actions.length !== elements.length) {
    leaveOut('a transition handler whose action is not one request in plain text')
    return undefined
  }
  const when: RawCode[] = []
  for (const element of item.properties.get('when') ?? []) {
    const code = codeOf(element, reading)
    if (!code || code.type === `${reading.ns}/JavaScript/Module`) {
      leaveOut('a transition handler whose "when" is not in Sessel')
      return undefined
    }
    when.push(code)
  }
  return { selector, property, becomes, when, ...call }
}

function plainCall(actions: readonly RawAction[]): Pick<RawHandler, 'url' | 'method' | 'headers'> | undefined {
  const [action, ...others] = actions
  if (!action || others.length > 0 || !('properties' in action)) return undefined
  const call = { url: '', method: 'POST', headers: [] as [string, string][] }
  for (const property of action.properties) {
    if (property[0] === 'header') {
      const header = property[1]
      const parts = 'line' in header ? splitLine(header.line) : pairOf(header.pair)
      if (!parts) return undefined
      call.headers.push(parts)
    } else if (property[0] === 'url' || property[0] === 'method') {
      if (typeof property[1] !== 'string') return undefined
      call[property[0]] = property[1]
    } else if (typeof property[1] !== 'string') return undefined
  }
  return call
}

function splitLine(line: RawValue): [string, string] | undefined {
  if (typeof line !== 'string') return undefined
  const colon = line.indexOf(':')
  return colon < 0 ? [line, ''] : [trimmed(line.slice(0, colon)), trimmed(line.slice(colon + 1))]
}

function pairOf(pair: readonly (readonly ['key' | 'value', RawValue])[]): [string, string] | undefined {
  const parts = { key: '', value: '' }
  for (const [name, value] of pair) {
    if (typeof value !== 'string') return undefined
    parts[name] = value
  }
  return [parts.key, parts.value]
}

/** Whether two versions of a document declare the same. */
export function sameReactions(a: RawReactions | undefined, b: RawReactions | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
