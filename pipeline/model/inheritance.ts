/**
 * Which types descend from which, and which properties refer to which, told by what schemas declare themselves: what each
 * inherits is put together for none of them, as that would take the product of both.
 */

import type { Steps } from '../tree/steps.ts'
import type { RawProperty, RawSchema } from './declarations.ts'
import { type Cardinality, cardinalityOf, firstOfEach, type Reference, referenceOf } from './schema.ts'

/** Schemas above each other; a longer chain is taken for one without end. */
export const MOST_LEVELS = 32

/** Schemas that are looked at in one step. */
const SCHEMAS_PER_STEP = 200

/** A property of a schema that refers to another. */
export interface Referrer {
  /** Of the schema. */
  type: string
  /** Of the property. */
  name: string
  cardinality: Cardinality
  reference: Reference
}

export class Inheritance {
  readonly #schemas = new Map<string, RawSchema>()
  /** Types by what they name as their parent. */
  readonly #children = new Map<string, string[]>()
  readonly #subtypes = new Map<string, ReadonlySet<string>>()
  /** What is declared to refer to a property of a type, by both. */
  readonly #referrers = new Map<string, Referrer[]>()
  /** Properties, by the type that declares of them that something follows from their end. */
  readonly #cascading = new Map<string, Set<string>>()

  /** @param schemas those that count, each type once */
  static *of(schemas: Iterable<RawSchema>): Steps<Inheritance> {
    const made = new Inheritance()
    let seen = 0
    for (const schema of schemas) {
      if (++seen % SCHEMAS_PER_STEP === 0) yield
      const { type, parent } = schema
      made.#schemas.set(type, schema)
      if (parent !== undefined) put(made.#children, parent, type)
      for (const property of firstOfEach(schema.properties)) made.#note(type, property)
    }
    return made
  }

  #note(type: string, { name, references, cascade, cardinality }: RawProperty): void {
    const reference = references === undefined ? 'broken' : referenceOf(references, cascade)
    if (reference === 'broken') return
    const referrer = { type, name, cardinality: cardinalityOf(cardinality), reference }
    put(this.#referrers, `${reference.type}#${reference.property}`, referrer)
    if (reference.cascade === 'none') return
    const properties = this.#cascading.get(reference.type)
    if (properties) properties.add(reference.property)
    else this.#cascading.set(reference.type, new Set([reference.property]))
  }

  /** A type and all types that descend from it (MOD-14). */
  subtypes(type: string): ReadonlySet<string> {
    const known = this.#subtypes.get(type)
    if (known) return known
    const found = this.#below(type, () => true)
    // Types without schema are not remembered: anybody may write any number of them.
    if (found.size > 1) this.#subtypes.set(type, found)
    return found
  }

  #below(type: string, goesOn: (child: string) => boolean): Set<string> {
    const found = new Set([type])
    let level = [type]
    for (let depth = 1; depth < MOST_LEVELS && level.length > 0; depth++) {
      const next: string[] = []
      for (const parent of level) {
        for (const child of this.#children.get(parent) ?? []) {
          if (found.has(child) || !goesOn(child)) continue
          found.add(child)
          next.push(child)
        }
      }
      level = next
    }
    return found
  }

  /** Properties that are declared to refer to exactly this one of this type: schemas below theirs have them as well. */
  declaring(type: string, property: string): readonly Referrer[] {
    return this.#referrers.get(`${type}#${property}`) ?? []
  }

  /** A property that refers to another, of its own schema and of each that inherits it and declares none of that name (MOD-13). */
  *inheriting(referrer: Referrer): Generator<Referrer> {
    const { name } = referrer
    const hasOwn = (type: string) =>
      this.#schemas.get(type)?.properties.some(property => property.name === name) === true
    for (const type of this.#below(referrer.type, child => !hasOwn(child))) yield { ...referrer, type }
  }

  /** Types of which a property is declared to have followers (MOD-52). */
  get guarded(): Iterable<string> {
    return this.#cascading.keys()
  }

  get hasGuarded(): boolean {
    return this.#cascading.size > 0
  }

  /** Properties that are declared to have followers, of a type and of each above it (MOD-12). */
  guardedOf(type: string): readonly ReadonlySet<string>[] {
    const seen = new Set<string>()
    const guarded: ReadonlySet<string>[] = []
    for (let next: string | undefined = type; next !== undefined && !seen.has(next) && seen.size < MOST_LEVELS; ) {
      seen.add(next)
      const properties = this.#cascading.get(next)
      if (properties) guarded.push(properties)
      next = this.#schemas.get(next)?.parent
    }
    return guarded
  }
}

function put<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
