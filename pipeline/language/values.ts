/**
 * The values that expressions, templates and scripts of one page hand to each other (SES-60, LIQ-15, JS-35, JS-36).
 * They are Sessel's values; the other languages convert at their own border.
 */

import type { ElementNode, TreeDocument } from '../tree/nodes.ts'

/**
 * An Integer is a bigint within 64 bits, a Float a finite number. What only one language knows (a lambda, a class, a
 * selector, a point in time) is a `NamedValue` that the others see as text or refuse.
 */
export type Value = null | boolean | bigint | number | string | List | Dictionary | ElementValue | NamedValue

/** Immutable. */
export type List = readonly Value[]

/** Entries in insertion order. `LazyDictionary` looks them up when they are asked for. */
export type Dictionary = Map<string, Value> | LazyDictionary

/** The document that a stored element belongs to. */
export interface Source {
  /** Canonical path; undefined for the Request document, which has no address. */
  path: string | undefined
  document: TreeDocument
  /** Told of every element of it that becomes a value: of the Request document that makes a page private (COMP-115). */
  found?(): void
}

/** An element: one of a stored document, which nobody changes, or one that code has built. */
export class ElementValue {
  readonly node: ElementNode
  /** Where it is stored; undefined for an element that code has built. */
  readonly source: Source | undefined
  /** Type URL of the schema that it is read through; undefined for an element that is no Instance. */
  readonly type: string | undefined

  constructor(node: ElementNode, source?: Source, type?: string) {
    this.node = node
    this.source = source
    this.type = type
    source?.found?.()
  }
}

/** A value with a type of its own. */
export abstract class NamedValue {
  /** The name of its type for messages and `isa`, such as `Temporal.PlainDate`. */
  abstract readonly typeName: string
  /** The text form (SES-64). */
  abstract text(): string
}

/**
 * A read-only dictionary whose entries are made when they are looked up. The request is one: that its headers or identity
 * were read makes an answer private (COMP-22), so whoever implements it can tell what was read.
 */
export abstract class LazyDictionary {
  /** Undefined where there is no such entry. */
  abstract get(key: string): Value | undefined
  /** Names of all entries; asking for them counts as reading all of them. */
  abstract keys(): Iterable<string>

  has(key: string): boolean {
    return this.get(key) !== undefined
  }
}

/** What is handed to programs to be read, all of it at once: others of the same request see it, too (SES-43). */
export class FixedDictionary extends Map<string, Value> {}

export function isDictionary(value: Value): value is Dictionary {
  return value instanceof Map || value instanceof LazyDictionary
}

export function isList(value: Value): value is List {
  return Array.isArray(value)
}
