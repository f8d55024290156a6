/** The `If` header: what it says, and whether it holds (RFC 4918 §10.4, DAV-89). */

import type { Lock } from '../../pipeline/coordination/locks.ts'
import { Fault } from '../../pipeline/fault.ts'

/** One condition of a list. */
export type IfCondition =
  | { not: boolean; token: string }
  /** `tag` without quotes. */
  | { not: boolean; tag: string; weak: boolean }

/** Conditions that must all hold. */
export interface IfList {
  /** URI of the resource the list is about; the request's target without it. */
  uri?: string
  conditions: readonly IfCondition[]
}

/** The header as it was sent: it holds when one of its lists does. */
export interface IfHeader {
  lists: readonly IfList[]
  /** Every state token anywhere in the header counts as submitted, in false lists and after `Not` too. */
  submitted: ReadonlySet<string>
}

/**
 * Reads the header in one pass.
 *
 * @param header as Node delivers it; several fields joined by commas
 * @throws Fault 400 `BadRequest` for anything the grammar does not allow
 */
export function parseIf(header: string): IfHeader {
  const reader = { text: header, at: 0 }
  const lists: IfList[] = []
  const submitted = new Set<string>()
  let uri: string | undefined
  /** A URI must be followed by a list. */
  let awaitsList = true
  for (skip(reader, BETWEEN_PARTS); reader.at < header.length; skip(reader, BETWEEN_PARTS)) {
    if (header[reader.at] === '<') {
      if (uri !== undefined && awaitsList) throw refused('a resource without a list of conditions')
      uri = bracketed(reader, '>')
      awaitsList = true
    } else {
      lists.push({ uri, conditions: readList(reader, submitted) })
      awaitsList = false
    }
  }
  if (awaitsList) throw refused(uri === undefined ? 'no list of conditions' : 'a resource without a list of conditions')
  return { lists, submitted }
}

interface Reader {
  readonly text: string
  at: number
}

const BETWEEN_PARTS = /[ \t,]*/y
const BLANK = /[ \t]*/y
const NOT = /not/iy

function skip(reader: Reader, pattern: RegExp): boolean {
  pattern.lastIndex = reader.at
  const found = pattern.test(reader.text)
  if (found) reader.at = pattern.lastIndex
  return found
}

function readList(reader: Reader, submitted: Set<string>): IfCondition[] {
  if (reader.text[reader.at] !== '(') throw refused('something that is neither a resource nor a list of conditions')
  reader.at++
  const conditions: IfCondition[] = []
  for (skip(reader, BETWEEN_PARTS); reader.text[reader.at] !== ')'; skip(reader, BETWEEN_PARTS)) {
    const condition = readCondition(reader)
    if ('token' in condition) submitted.add(condition.token)
    conditions.push(condition)
  }
  reader.at++
  if (conditions.length === 0) throw refused('a list without conditions')
  return conditions
}

function readCondition(reader: Reader): IfCondition {
  const not = skip(reader, NOT)
  if (not) skip(reader, BLANK)
  const opening = reader.text[reader.at]
  if (opening === '<') return { not, token: bracketed(reader, '>') }
  if (opening === '[') return { not, ...readTag(reader) }
  throw refused('a list with something that is neither a state token nor an entity tag')
}

/** Reads what stands between angle brackets: never empty, never with white space or another bracket. */
function bracketed(reader: Reader, closing: string): string {
  const end = reader.text.indexOf(closing, reader.at)
  if (end < 0) throw refused(`no "${closing}" where one is due`)
  const content = reader.text.slice(reader.at + 1, end)
  if (content === '' || /[ \t<]/.test(content)) throw refused('an empty or malformed URI')
  reader.at = end + 1
  return content
}

/** Reads an entity tag in square brackets; the tag itself may hold such brackets. */
function readTag(reader: Reader): { tag: string; weak: boolean } {
  const { text } = reader
  reader.at++
  skip(reader, BLANK)
  const weak = text.startsWith('W/', reader.at)
  if (weak) reader.at += 2
  const close = text[reader.at] === '"' ? text.indexOf('"', reader.at + 1) : -1
  if (close < 0) throw refused('an entity tag without quotes')
  const tag = text.slice(reader.at + 1, close)
  reader.at = close + 1
  skip(reader, BLANK)
  if (text[reader.at] !== ']') throw refused('an entity tag without "]" behind it')
  reader.at++
  return { tag, weak }
}

function refused(what: string): Fault {
  return new Fault(400, 'BadRequest', `The If header has ${what}.`)
}

type Awaitable<T> = T | Promise<T>

/** What the header is held against. */
export interface IfWorld {
  /** Decoded path of the request's target. */
  target: string
  /**
   * Reads the URI of a tagged list.
   *
   * @returns the decoded path; undefined where it names another server, or something outside of the mount
   * @throws Fault 502 counts as undefined; any other refuses the request
   */
  decode(uri: string): string | undefined
  /** Content tag of a file, stat tag of a collection, quoted; undefined for what does not exist. */
  tagOf(path: string): Awaitable<string | undefined>
  /** Locks in effect on a path, inherited ones included, whether something is there or not. */
  locksOn(path: string): Awaitable<readonly Pick<Lock, 'token'>[]>
}

/**
 * @returns whether at least one list holds; if none does the answer is 412
 * @throws Fault 400, 414 for the URI of a tagged list that could not be a request target either
 */
export async function evaluateIf({ lists }: IfHeader, world: IfWorld): Promise<boolean> {
  const states = new Map<string, ResourceState>()
  const stateOf = (path: string): ResourceState => {
    let state = states.get(path)
    if (!state) states.set(path, (state = resourceState(path, world)))
    return state
  }
  for (const { uri, conditions } of lists) {
    const path = uri === undefined ? world.target : pathOf(uri, world)
    if (path !== undefined && (await allHold(conditions, stateOf(path)))) return true
  }
  return false
}

/** State of a resource, looked up when a condition asks for it, and once however many do. */
interface ResourceState {
  tag(): Awaitable<string | undefined>
  tokens(): Promise<ReadonlySet<string>>
}

function resourceState(path: string, world: IfWorld): ResourceState {
  let tag: { value: Awaitable<string | undefined> } | undefined
  let tokens: Promise<ReadonlySet<string>> | undefined
  const lockTokens = async () => new Set((await world.locksOn(path)).map(lock => lock.token))
  return {
    tag: () => (tag ??= { value: world.tagOf(path) }).value,
    tokens: () => (tokens ??= lockTokens()),
  }
}

function pathOf(uri: string, world: IfWorld): string | undefined {
  try {
    return world.decode(uri)
  } catch (error) {
    if (error instanceof Fault && error.status === 502) return undefined
    throw error
  }
}

async function allHold(conditions: readonly IfCondition[], state: ResourceState): Promise<boolean> {
  for (const condition of conditions) if ((await matches(condition, state)) === condition.not) return false
  return true
}

async function matches(condition: IfCondition, state: ResourceState): Promise<boolean> {
  if ('token' in condition) return (await state.tokens()).has(condition.token)
  return !condition.weak && (await state.tag()) === `"${condition.tag}"`
}
