/** One rendering of a template: its names, what it may spend, and what it has written. */

import { modelValue } from '../../tree/microdata-value.ts'
import { attribute, type ElementNode, isElement, isText } from '../../tree/nodes.ts'
import { normalized } from '../../tree/selector/normal-text.ts'
import { begin, inTurns, NODES_PER_STEP, type Steps } from '../../tree/steps.ts'
import type { Allowance } from '../allowance.ts'
import { type ItemReading, itemProperties } from '../item-properties.ts'
import { ElementValue } from '../values.ts'
import { FilterError } from './error.ts'
import { writingJson } from './json.ts'
import { Output } from './output.ts'
import { startOf } from './place.ts'
import type { LiquidScope } from './scope.ts'
import type { TextNode } from './template.ts'
import { floatText, hashKeys, isHash, isList, type LiquidValue, plain, Range } from './values.ts'
import { Pending, withoutPause } from './work.ts'

/** Bytes of rendered text that one response may hold (LIQ-70). */
const MAX_OUTPUT = 16 * 1024 * 1024

/** Lists inside lists whose text is asked for. */
const MAX_NESTING = 100

/** Steps after which others may get their turn: a few milliseconds. */
const STEPS_PER_TURN = 10_000

/** Bytes that are written without a pause. */
const WRITTEN_PER_TURN = 128 * 1024

/** UTF-16 code units of a text that are gone through for a step. */
const PASSED_PER_STEP = 128

/** Steps of hashes in a text that is made without a pause, or of elements: some 20 milliseconds, in which nobody else has a turn. */
const MOST_AT_ONCE = 50_000

/** Bytes that were printed for each request; its templates share the limit. */
const printed = new WeakMap<Allowance, number>()

export class Run implements ItemReading {
  readonly scope: LiquidScope
  readonly allowance: Allowance
  /** Names of blocks, the innermost last; the first holds what `assign` and `capture` set. */
  readonly frames: Map<string, LiquidValue>[] = [new Map()]
  readonly counters = new Map<string, bigint>()
  /** Where each `cycle` is, and where `offset: continue` goes on. */
  readonly cycles = new Map<string, number>()
  readonly continued = new Map<string, number>()
  /** Predicates that are being evaluated inside each other (LIQ-43). */
  predicateDepth = 0
  /** Steps that were taken when others last had their turn. */
  #turned = 0
  #written = 0
  /** Steps that hashes have taken in the text that is made. */
  #hashSteps = 0
  out = new Output(startOf({ kind: 'html' }))
  readonly #found = new Map<string, LiquidValue>()
  readonly #items = new Map<ElementNode, ReadonlyMap<string, LiquidValue>>()
  readonly #properties = new Map<ElementValue, Map<string, LiquidValue>>()
  readonly #names = new Map<ElementValue, readonly string[]>()
  /** Texts of elements in lists: one may be in them many times. */
  readonly #texts = new Map<ElementNode, string>()
  /** Steps that texts of elements have taken since there was a pause. */
  #textSteps = 0

  constructor(scope: LiquidScope, allowance: Allowance) {
    this.scope = scope
    this.allowance = allowance
  }

  step(count = 1): void {
    this.allowance.step(count)
  }

  spend(steps: number): void {
    this.step(steps)
  }

  refersIn(path: string): boolean {
    return this.scope.refersIn?.(path) ?? true
  }

  get schemas(): LiquidScope['schemas'] {
    return this.scope.schemas
  }

  /** Whether so much was done since it last was that others should get their turn. */
  isDue(): boolean {
    const { stepsTaken } = this.allowance
    if (stepsTaken - this.#turned < STEPS_PER_TURN && this.#written < WRITTEN_PER_TURN) return false
    this.#turned = stepsTaken
    this.#written = 0
    return true
  }

  /** Takes the steps for going through a text, none for a short one. */
  passOver(length: number): void {
    if (length >= PASSED_PER_STEP) this.allowance.step(Math.floor(length / PASSED_PER_STEP))
  }

  /** Counts a text that was built. */
  built(text: string): string {
    this.allowance.take(text.length * 2)
    return text
  }

  /** Prints into the page or a capture. */
  print(piece: string): void {
    this.counted(piece)
    this.out.write(piece)
  }

  printText(node: TextNode): void {
    this.counted(node.text)
    this.out.writeText(node)
  }

  counted(piece: string): void {
    const bytes = Buffer.byteLength(piece)
    this.#written += bytes
    this.allowance.take(bytes)
    const total = (printed.get(this.allowance) ?? 0) + bytes
    printed.set(this.allowance, total)
    // More than is left: the allowance stays spent, as with every other limit.
    if (total > MAX_OUTPUT) this.allowance.take(this.allowance.memoryLeft + 1)
  }

  lookup(name: string): LiquidValue {
    for (let i = this.frames.length - 1; i >= 0; i--) {
      const value = this.frames[i]?.get(name)
      if (value !== undefined) return value
    }
    const found = this.#found.get(name)
    if (found !== undefined) return found
    const value = awaited(this.scope.lookup(name), late => this.#found.set(name, late ?? null))
    if (value !== undefined && value !== null) {
      this.#found.set(name, value)
      return value
    }
    return this.counters.get(name) ?? null
  }

  /** What `value.key` and `value[key]` are (LIQ-16 to LIQ-18). */
  member(container: LiquidValue, key: LiquidValue): LiquidValue {
    const value = plain(container)
    const name = plain(key)
    if (value instanceof ElementValue) return typeof name === 'string' ? this.#itemMember(value, name) : null
    if (isHash(value)) {
      const text = typeof name === 'string' ? name : typeof name === 'bigint' ? String(name) : undefined
      if (text === undefined) return null
      const entry = value.get(text)
      if (entry !== undefined) return entry
      return text === 'size' ? BigInt(value instanceof Map ? value.size : hashKeys(value).length) : null
    }
    if (isList(value)) {
      if (name === 'size') return BigInt(value.length)
      if (name === 'first') return value[0] ?? null
      if (name === 'last') return value.at(-1) ?? null
      return indexed(value, name)
    }
    if (value instanceof Range) {
      if (name === 'size') return value.size
      if (value.size === 0n) return null
      return name === 'first' ? value.first : name === 'last' ? value.last : null
    }
    return typeof value === 'string' && name === 'size' ? this.sizeOf(value) : null
  }

  /** Characters of a text (LIQ-38). */
  sizeOf(text: string): bigint {
    this.passOver(text.length)
    return BigInt(characterCount(text))
  }

  /** Names of an item's properties, each once, in order. */
  keysOf(element: ElementValue): readonly string[] {
    if (element.type === undefined) return [...this.#item(element).keys()]
    const known = this.#names.get(element)
    if (known) return known
    const names = awaited(this.scope.propertyNames(element), late => this.#names.set(element, late))
    this.#names.set(element, names)
    return names
  }

  /** A value as text (LIQ-19), without a pause. @throws FilterError where hashes in it take long */
  text(value: LiquidValue, depth = 0): string {
    if (typeof value === 'string') return value
    if (depth === 0) this.#hashSteps = 0
    const bare = plain(value)
    switch (typeof bare) {
      case 'string':
        return bare
      case 'bigint':
      case 'boolean':
        return String(bare)
      case 'number':
        return floatText(bare)
      default:
    }
    if (isList(bare)) {
      if (depth === 0) this.#readElements(bare)
      if (depth >= MAX_NESTING) throw new FilterError('Lists are nested too deeply to be printed.')
      this.step(1 + bare.length)
      let text = ''
      for (const element of bare) {
        const part = this.text(element, depth + 1)
        this.allowance.take(part.length)
        text += part
      }
      return text
    }
    if (bare instanceof ElementValue)
      return (depth > 0 ? this.#texts.get(bare.node) : undefined) ?? this.#elementText(bare)
    if (bare instanceof Range) return `${bare.first}..${bare.last}`
    return isHash(bare) ? this.#hashText(bare) : ''
  }

  /** Reads the elements of a list, with pauses: when its text is made, theirs are known. */
  #readElements(list: readonly LiquidValue[], read = new Set<unknown>(), depth = 0): void {
    if (read.has(list) || depth >= MAX_NESTING) return
    read.add(list)
    for (const element of list) {
      const bare = plain(element)
      if (isList(bare)) this.#readElements(bare, read, depth + 1)
      if (!(bare instanceof ElementValue) || this.#texts.has(bare.node)) continue
      const { stepsTaken } = this.allowance
      this.#texts.set(bare.node, this.#elementText(bare))
      this.#textSteps += this.allowance.stepsTaken - stepsTaken
      if (this.#textSteps <= MOST_AT_ONCE) continue
      this.#textSteps = 0
      // Whoever asks again for the list finds what is read of it.
      throw new Pending(Promise.resolve())
    }
  }

  #elementText({ node }: ElementValue): string {
    let nodes = 0
    const read = (parent: ElementNode): string => {
      let text = ''
      nodes += parent.childNodes.length
      for (const child of parent.childNodes) {
        if (isText(child)) text += child.value
        else if (isElement(child)) text += read(child)
      }
      return text
    }
    const text = read(node)
    this.step(nodes >> 3)
    this.passOver(text.length)
    return this.built(normalized(text))
  }

  #hashText(hash: Parameters<typeof hashKeys>[0]): string {
    const start = this.allowance.stepsTaken - this.#hashSteps
    const look = () => {
      this.#hashSteps = this.allowance.stepsTaken - start
      if (this.#hashSteps > MOST_AT_ONCE) throw new FilterError('A hash is too large to become a text here.')
    }
    const text = withoutPause(writingJson(hash, 0, this), look)
    look()
    return text
  }

  #itemMember(element: ElementValue, key: string): LiquidValue {
    if (key === '@id') return itemId(element)
    if (key === '@type') return attribute(element.node, 'itemtype') ?? null
    if (key === '@text') return this.text(element)
    if (element.type === undefined) {
      const properties = this.#item(element)
      return properties.get(key) ?? (key === 'size' ? BigInt(properties.size) : null)
    }
    let known = this.#properties.get(element)
    if (!known) this.#properties.set(element, (known = new Map()))
    const found = known.get(key)
    if (found !== undefined) return found
    const properties = known
    const value = awaited(this.scope.property(element, key), late => properties.set(key, late ?? null)) ?? null
    if (value === null && key === 'size') return BigInt(this.keysOf(element).length)
    known.set(key, value)
    return value
  }

  /** Properties of an item without a type. Items in it are read when they are asked for. */
  #item(element: ElementValue): ReadonlyMap<string, LiquidValue> {
    const known = this.#items.get(element.node)
    if (known) return known
    const keep = (properties: ReadonlyMap<string, LiquidValue>) => void this.#items.set(element.node, properties)
    const reading = this.#reading(element)
    const read = begin(reading)
    const properties = read ? read.value : awaited(inTurns(reading, Number.POSITIVE_INFINITY), keep)
    keep(properties)
    return properties
  }

  *#reading(item: ElementValue): Steps<ReadonlyMap<string, LiquidValue>> {
    const properties = new Map<string, LiquidValue>()
    if (attribute(item.node, 'itemscope') === undefined) return properties
    const lists = new Map<string, LiquidValue[]>()
    for (const { name, element, value } of yield* itemProperties(item, modelValue(this.scope.ns), this)) {
      this.step()
      const read = typeof value === 'string' ? value : new ElementValue(element, item.source)
      const list = lists.get(name)
      if (list) list.push(read)
      else if (properties.has(name)) lists.set(name, [properties.get(name) ?? null, read])
      else properties.set(name, read)
      if (properties.size % NODES_PER_STEP === 0) yield
    }
    for (const [name, list] of lists) properties.set(name, list)
    return properties
  }
}

/** `<path>#<id>`, or `<path>` (LIQ-17). */
function itemId({ node, source }: ElementValue): string {
  const path = source?.path ?? ''
  const id = attribute(node, 'id')
  return id ? `${path}#${id}` : path
}

function indexed(list: readonly LiquidValue[], key: LiquidValue): LiquidValue {
  if (typeof key === 'bigint') return list.at(Number(key)) ?? null
  if (typeof key === 'string' && /^-?\d{1,9}$/.test(key)) return list.at(Number(key)) ?? null
  return null
}

/** Characters are code points (LIQ-38). */
export function characterCount(text: string): number {
  if (!/[\ud800-\udbff]/.test(text)) return text.length
  let count = text.length
  for (let i = 0; i + 1 < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      count--
      i++
    }
  }
  return count
}

/** A value that is there; else whoever evaluates has to wait, and then finds it where `keep` put it. */
function awaited<T>(value: T | Promise<T>, keep: (late: T) => void): T {
  if (value instanceof Promise) throw new Pending(value.then(keep))
  return value
}
