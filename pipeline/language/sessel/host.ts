/**
 * What a program needs of the place it runs in (SES-2): the documents it reaches, the names it finds, the schemas it knows
 * and what it may write. A host implements `SesselHost`; the language knows nothing else of its surroundings.
 */

import type { ElementNode } from '../../tree/nodes.ts'
import type { Needs } from '../../tree/selector/needs.ts'
import type { Extensions } from '../../tree/selector/selector.ts'
import type { Steps } from '../../tree/steps.ts'
import { type Dictionary, type ElementValue, LazyDictionary, type Source, type Value } from '../values.ts'

/** At once or later. Whoever has the answer gives it at once: an evaluation that waits for nothing is several times faster. */
export type MaybeLater<T> = T | Promise<T>

/** A host without an index of its documents takes every document for one that may hold anything. */
export type { Needs }

/** A document by its path, which is only read when the program comes to it; or one without address (COMP-114). */
export type Candidate = string | Source

/**
 * The documents that a program reaches. Every document that is handed over has to stay as it is until the evaluation has
 * ended: evaluations go on over several turns of the event loop.
 */
export interface Reach {
  /** The scope of a bare `${…}` and of `Class.search` (SES-124, SES-126), in the order of SES-120. */
  everywhere(needs: Needs): MaybeLater<readonly Candidate[]>
  /** Documents in reach whose paths match a glob of authorization rules, in path order (SES-125). */
  matching(glob: string, needs: Needs): MaybeLater<readonly Candidate[]>
  /** A stored document in reach; undefined where there is none, or nothing that can be searched. */
  document(path: string): MaybeLater<Source | undefined>
}

/** A dictionary of the host that programs may write to: `Context` and `Context.response` (SES-43, SES-182). */
export abstract class OpenDictionary extends LazyDictionary {
  /** @throws SesselError when the entry cannot have this value */
  abstract set(key: string, value: Value): void

  /** What is to be done in place of `set`, in steps; undefined where that takes no time. */
  setting(_key: string, _value: Value): Steps<void> | undefined {
    return undefined
  }
}

/** Code in a slot or method: a text of this language, or something that only the host can run. */
export type Code = { sessel: string } | { run(call: ForeignCall): MaybeLater<Value> }

/** What code of another language is run with. */
export interface ForeignCall {
  self: Value
  /** By name of the declared parameter. */
  parameters: ReadonlyMap<string, Value>
  /** `Context` of the program that calls, where there is one (JS-16). */
  context?: Value | undefined
  /** What stored code reaches that this code calls. */
  reach?: Reach
}

export interface PropertyView {
  name: string
  /** `0..n` and `1..n` always give a List (SES-42). */
  many: boolean
  /** There is at most one value. */
  single?: boolean
  /** At least one value is needed. */
  required: boolean
  /** URL of a primitive, an enumeration or a schema. */
  type: string | undefined
  /** SES-2 “Property default”: filled in when an instance is constructed. */
  default: Code | { text: string } | undefined
  /** MOD-60. It beats `read`. */
  computed: Code | undefined
  /** MOD-71: from root to leaf. */
  read: readonly Code[]
}

export interface MethodView {
  name: string
  parameters: readonly string[]
  /** Called on the Class, which is then `self`. */
  isStatic: boolean
  implementation: Code
}

/** A registered schema with what it inherits. */
export interface SchemaView {
  type: string
  properties: ReadonlyMap<string, PropertyView>
  /** Methods of a name, most derived first. */
  methodsNamed(name: string): readonly MethodView[]
  /**
   * Checks types and enumerations of an instance that was constructed (SES-173); how many values there are is checked by
   * the language.
   *
   * @returns what is wrong, as a sentence; undefined when nothing is
   */
  check?(item: ElementNode): string | undefined
}

export interface Schemas {
  schema(type: string): SchemaView | undefined
  /** MOD-14: a type is another one or descends from it. */
  isa(type: string, ancestor: string): boolean
  /** A type and all that descend from it. */
  subtypes(type: string): Iterable<string>
}

/** What `GET` of the platform interface gives (SES-181). */
export type Fetched = { source: Source; metadata: Dictionary } | { path: string; metadata: Dictionary } | undefined

/** `{ns}/1.0` (SES-181). A member that is missing exists, but nothing can be done with it here: a RuntimeError. */
export interface Platform {
  get?(path: string): MaybeLater<Fetched>
  /** @param path canonical, or relative to `base` */
  put?(item: ElementValue, path: string): Promise<void>
  /** @param target a path as for `put`, or an element of a stored document */
  delete?(target: string | ElementValue): Promise<void>
}

export interface SesselHost {
  /** URL prefix of the platform's own types, without slash at the end. */
  readonly ns: string
  /** `self`; undefined where it is unbound. */
  readonly self: Value | undefined
  /** The document before the write in `@validate` and `@write`, null when it is being created; undefined elsewhere. */
  readonly prior: Source | null | undefined
  /**
   * Names of this context beside `self`, `document` and `prior`: `request`, `Context`, `email`, parameters, bindings
   * (SES-2). They stay as they are during an evaluation.
   */
  readonly names: { get(name: string): Value | undefined }
  readonly reach: Reach
  /** What stored code reaches that the program calls, such as a schema's methods; the same as the program when missing. */
  readonly reachOfCode?: Reach
  /** Canonical path that relative paths of sources are resolved against; `/` when undefined. */
  readonly base: string | undefined
  readonly schemas: Schemas
  /** Whether `itemref` leads to other elements of a stored document (SEC-7); in all of them when missing. */
  readonly refersIn?: (path: string) => boolean
  /** Pseudo-classes that selectors may use beside those of CSS; one set for a site, because compiled selectors are kept by it. */
  readonly selectors: Extensions
  /** Undefined in a QUERY, where it does not exist. */
  readonly platform: Platform | undefined
}

/** The host of a program that reaches nothing: for values alone. */
export function emptyHost(ns: string, selectors: Extensions = new Map()): SesselHost {
  return {
    ns,
    self: undefined,
    prior: undefined,
    names: new Map(),
    reach: { everywhere: () => [], matching: () => [], document: () => undefined },
    base: undefined,
    schemas: { schema: () => undefined, isa: (type, ancestor) => type === ancestor, subtypes: type => [type] },
    selectors,
    platform: undefined,
  }
}
