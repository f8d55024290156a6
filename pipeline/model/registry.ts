/**
 * All declarations of a site at one moment: schemas, enumerations and shapes. Immutable: a commit that changes a
 * document's declarations makes a new snapshot that shares everything else with the old one. What follows from several
 * documents together is worked out when it is first asked for.
 */

import { pathNames } from '../access/glob.ts'
import { PersistentMap } from '../access/persistent-map.ts'
import type { Extensions } from '../tree/selector/selector.ts'
import { atOnce, type Steps } from '../tree/steps.ts'
import type { RawDeclarations, RawEnum, RawProperty, RawSchema } from './declarations.ts'
import { doubtsAbout, doubtsAboutShapes, MOST_DOUBTED } from './doubts.ts'
import { Inheritance, MOST_LEVELS } from './inheritance.ts'
import { combine, type Schema } from './schema.ts'
import { appliesTo, compilingShapes, type Shape } from './shape.ts'
import { shown } from './violations.ts'
import type { Vocabulary } from './vocabulary.ts'

/** A declaration with its place; the first by path and position wins (MOD-6). */
interface Placed<Raw> {
  document: string
  raw: Raw
}

interface Compiled {
  raw: RawDeclarations
  shapes: readonly Shape[]
  /** What is told of the shapes, once somebody has asked. */
  doubts?: readonly string[]
}

/** What the author of a document should know about its declarations. */
export interface ModelFinding {
  path: string
  reason: string
}

type Index<Raw> = PersistentMap<readonly Placed<Raw>[]>

/** Properties, methods and group constraints that a schema has of its parents; more are taken for a chain without end (MOD-12). */
const MOST_INHERITED = 256

/** Properties of schemas that are kept put together: some 60 MB at most. */
const MOST_RESOLVED = 100_000

export class Registry {
  readonly vocabulary: Vocabulary
  /** What selectors of shapes may use beside CSS. */
  readonly #selectors: Extensions | undefined
  readonly #documents: PersistentMap<Compiled>
  readonly #schemas: Index<RawSchema>
  readonly #enums: Index<RawEnum>
  /** Numbers of declarations. */
  readonly #sizes: { schemas: number; shapes: number }
  /** There are neither schemas nor shapes, so that nothing is judged. */
  readonly isEmpty: boolean
  readonly #resolved = new Map<string, Schema>()
  readonly #permitted = new Map<string, ReadonlySet<string>>()
  /** What there is still room for in it. */
  #room = MOST_RESOLVED
  #inheritance: Inheritance | undefined
  #shapes: Shape[] | undefined

  private constructor(parts: {
    vocabulary: Vocabulary
    selectors: Extensions | undefined
    documents: PersistentMap<Compiled>
    schemas: Index<RawSchema>
    enums: Index<RawEnum>
    sizes: { schemas: number; shapes: number }
  }) {
    this.vocabulary = parts.vocabulary
    this.#selectors = parts.selectors
    this.#documents = parts.documents
    this.#schemas = parts.schemas
    this.#enums = parts.enums
    this.#sizes = parts.sizes
    this.isEmpty = parts.sizes.schemas + parts.sizes.shapes === 0
  }

  /**
   * A site without declarations.
   *
   * @param selectors what selectors of shapes may use beside CSS
   */
  static empty(vocabulary: Vocabulary, selectors?: Extensions): Registry {
    return new Registry({
      vocabulary,
      selectors,
      documents: PersistentMap.empty(),
      schemas: PersistentMap.empty(),
      enums: PersistentMap.empty(),
      sizes: { schemas: 0, shapes: 0 },
    })
  }

  /**
   * The declarations after a document has changed. Only that document is compiled.
   *
   * @param path canonical path of the document
   * @param raw what its new version declares; undefined when it declares nothing or is gone
   */
  withDocument(path: string, raw: RawDeclarations | undefined): Registry {
    return atOnce(this.exchanging(path, raw))
  }

  /** `withDocument` in steps. */
  *exchanging(path: string, raw: RawDeclarations | undefined): Steps<Registry> {
    yield
    const before = this.#documents.get(path)
    if (!before && !raw) return this
    const after = raw && { raw, shapes: yield* compilingShapes(raw.shapes, this.#selectors) }
    const difference = (count: (declared: RawDeclarations) => number) =>
      (raw ? count(raw) : 0) - (before ? count(before.raw) : 0)
    return new Registry({
      vocabulary: this.vocabulary,
      selectors: this.#selectors,
      documents: this.#documents.with(path, after),
      schemas: yield* exchanging(
        this.#schemas,
        path,
        before?.raw.schemas ?? [],
        raw?.schemas ?? [],
        ({ type }) => type,
      ),
      enums: yield* exchanging(this.#enums, path, before?.raw.enums ?? [], raw?.enums ?? [], ({ url }) => url),
      sizes: {
        schemas: this.#sizes.schemas + difference(({ schemas }) => schemas.length),
        shapes: this.#sizes.shapes + difference(({ shapes }) => shapes.length),
      },
    })
  }

  /** What a document declares, as it was extracted. */
  document(path: string): RawDeclarations | undefined {
    return this.#documents.get(path)?.raw
  }

  /** Of what a document declares: the schemas and enumerations that count under the same names (MOD-6). */
  standingFor({ schemas, enums }: RawDeclarations): (RawSchema | RawEnum | undefined)[] {
    const [ofTypes, ofUrls] = [this.#schemas, this.#enums]
    return [
      ...schemas.map(({ type }) => ofTypes.get(type)?.[0]?.raw),
      ...enums.map(({ url }) => ofUrls.get(url)?.[0]?.raw),
    ]
  }

  /** Declarations of a document that have no effect (MOD-6, MOD-8), or another one than they seem to have. */
  findings(path: string): ModelFinding[] {
    const compiled = this.#documents.get(path)
    const raw = compiled?.raw
    const reasons = [...(raw?.ignored ?? [])]
    const taken = (what: string, url: string, [first]: readonly Placed<unknown>[], own: unknown) => {
      if (first && first.raw !== own) reasons.push(`${what} ${shown(url)}: ${first.document} declares it already`)
    }
    for (const own of raw?.schemas ?? []) taken('the schema of', own.type, this.#schemas.get(own.type) ?? [], own)
    for (const own of raw?.enums ?? []) taken('the enumeration', own.url, this.#enums.get(own.url) ?? [], own)
    const knows = (url: string) => this.#schemas.get(url) !== undefined || this.#enums.get(url) !== undefined
    const isUnique = (type: string, property: string) => this.isUnique(type, property)
    // In one turn, after each write of the document.
    let left = MOST_DOUBTED
    for (const schema of raw?.schemas.slice(0, MOST_DOUBTED) ?? []) {
      const [properties, constraints] = [schema.properties.slice(0, left), schema.constraints.slice(0, left)]
      reasons.push(...doubtsAbout({ ...schema, properties, constraints }, this.vocabulary, knows, isUnique))
      left = Math.max(0, left - properties.length - constraints.length)
    }
    for (const { url, values } of raw?.enums ?? [])
      if (values.length === 0) reasons.push(`the enumeration ${shown(url)} has no value: it permits none`)
    // Selectors that do not parse are kept nowhere: they would be read again with every write of the document.
    if (compiled) reasons.push(...(compiled.doubts ??= doubtsAboutShapes(compiled.raw.shapes, this.#selectors)))
    return reasons.map(reason => ({ path, reason }))
  }

  /** Those of all documents, in the order of their paths. */
  allFindings(): ModelFinding[] {
    return [...this.#documents.entries()]
      .map(([path]) => path)
      .sort(comparePaths)
      .flatMap(path => this.findings(path))
  }

  /** Paths of the declaring documents at a path: the document itself or, for a path ending in `/`, all below it. */
  documentsUnder(path: string): string[] {
    if (!path.endsWith('/')) return this.#documents.get(path) ? [path] : []
    return [...this.#documents.entries()].map(([document]) => document).filter(document => document.startsWith(path))
  }

  get hasSchemas(): boolean {
    return this.#sizes.schemas > 0
  }

  /** All shapes of the site. */
  get shapes(): readonly Shape[] {
    if (this.#sizes.shapes === 0) return []
    this.#shapes ??= [...this.#documents.entries()]
      .sort(([a], [b]) => comparePaths(a, b))
      .flatMap(([, { shapes }]) => shapes)
    return this.#shapes
  }

  /** Shapes that speak of a path. */
  shapesAt(path: string): readonly Shape[] {
    const names = pathNames(path)
    return this.shapes.filter(shape => appliesTo(shape, names))
  }

  /** Whether a closed shape speaks of a path (MOD-94). */
  isClosed(path: string): boolean {
    return this.shapes.length > 0 && this.shapesAt(path).some(({ closed }) => closed)
  }

  /** Shapes that speak of a path and not of another one: the page that is written through, or the document behind it (MOD-91). */
  shapesBeside(known: string, path: string): readonly Shape[] {
    if (known === path) return []
    const others = new Set(this.shapesAt(known))
    return this.shapesAt(path).filter(shape => !others.has(shape))
  }

  /** The schema that governs items of a type. */
  schema(type: string): Schema | undefined {
    const known = this.#resolved.get(type)
    // Types without schema are not remembered: anybody may write any number of them.
    if (known || !this.hasSchemas || !this.#schemas.get(type)) return known
    const schema = this.#resolve(type)
    if (!schema) return undefined
    if ((this.#room -= 1 + schema.properties.size) < 0) {
      this.#resolved.clear()
      this.#room = MOST_RESOLVED
    }
    this.#resolved.set(type, schema)
    return schema
  }

  /**
   * Whether a property is unique by itself (MOD-40), told without putting together all that the schema inherits: what many refer
   * to may be as many schemas that have much of one parent.
   *
   * @returns undefined for a type without schema
   */
  isUnique(type: string, property: string): boolean | undefined {
    const { levels } = this.#levels(type)
    if (levels.length === 0) return undefined
    return levels.some(level => declaredBy(level).get(property)?.unique.includes('true'))
  }

  /** What declares a type, and the types above it. */
  #levels(type: string): { levels: RawSchema[]; next: string | undefined; cyclic: boolean } {
    const levels: RawSchema[] = []
    const seen = new Set<string>()
    let next: string | undefined = type
    while (next !== undefined && !seen.has(next) && levels.length < MOST_LEVELS) {
      const level: RawSchema | undefined = this.#schemas.get(next)?.[0]?.raw
      if (!level) break
      seen.add(next)
      levels.push(level)
      next = level.parent
    }
    return { levels, next, cyclic: next !== undefined && (seen.has(next) || levels.length === MOST_LEVELS) }
  }

  #resolve(type: string): Schema | undefined {
    const { levels, next, cyclic } = this.#levels(type)
    if (levels.length === 0) return undefined
    const inherited = levels.slice(1).reduce((sum, level) => sum + partsOf(level), 0)
    if (inherited <= MOST_INHERITED) return combine(levels, cyclic, cyclic ? undefined : next)
    const chain = levels.map(level => level.type)
    return {
      ...combine(levels.slice(0, 1), true, undefined),
      chain: next === undefined || cyclic ? chain : [...chain, next],
    }
  }

  /** Values that an enumeration permits. */
  enumeration(url: string): ReadonlySet<string> | undefined {
    const values = this.#enums.get(url)?.[0]?.raw.values
    let known = this.#permitted.get(url)
    if (values && !known) this.#permitted.set(url, (known = new Set(values)))
    return known
  }

  /** MOD-14: a type is another one, or descends from it. */
  isa(type: string, ancestor: string): boolean {
    return type === ancestor || this.schema(type)?.chain.includes(ancestor) === true
  }

  /** A type and all types that descend from it (MOD-14). */
  subtypes(type: string): ReadonlySet<string> {
    return this.hasSchemas ? this.inheritance.subtypes(type) : new Set([type])
  }

  /** What schemas have of each other. */
  get inheritance(): Inheritance {
    this.#inheritance ??= atOnce(Inheritance.of(this.#all()))
    return this.#inheritance
  }

  /** Has it put together in steps, before somebody asks. */
  *inheriting(): Steps<void> {
    if (this.hasSchemas) this.#inheritance ??= yield* Inheritance.of(this.#all())
  }

  *#all(): Generator<RawSchema> {
    for (const [, [first]] of this.#schemas.entries()) if (first) yield first.raw
  }

  /** Whether values of some property cannot go without anything happening (MOD-52). */
  get hasGuarded(): boolean {
    return this.hasSchemas && this.inheritance.hasGuarded
  }

  /**
   * Names of properties of a type whose values cannot go without anything happening, as it and each type above it have
   * them: all together are put together for none of the many types that may be below them.
   */
  guardedOf(type: string): readonly ReadonlySet<string>[] {
    return this.hasGuarded ? this.inheritance.guardedOf(type) : []
  }

  /** Types that have such properties. */
  get guardedTypes(): ReadonlySet<string> {
    const types = new Set<string>()
    if (!this.hasGuarded) return types
    for (const ancestor of this.inheritance.guarded) for (const type of this.subtypes(ancestor)) types.add(type)
    return types
  }
}

const declared = new WeakMap<RawSchema, ReadonlyMap<string, RawProperty>>()

/** What one schema declares itself, by name: of equal ones the first counts (MOD-13). */
function declaredBy(schema: RawSchema): ReadonlyMap<string, RawProperty> {
  let properties = declared.get(schema)
  if (!properties) {
    properties = new Map(schema.properties.toReversed().map(property => [property.name, property]))
    declared.set(schema, properties)
  }
  return properties
}

function partsOf({ properties, methods, constraints }: RawSchema): number {
  return properties.length + methods.length + constraints.length
}

/** Declarations that are put into an index in one step. */
const PER_STEP = 500

function* exchanging<Raw>(
  index: Index<Raw>,
  document: string,
  before: readonly Raw[],
  after: readonly Raw[],
  keyOf: (raw: Raw) => string,
): Steps<Index<Raw>> {
  const added = new Map<string, Placed<Raw>[]>()
  for (const raw of before) added.set(keyOf(raw), [])
  for (const raw of after) {
    const placed = added.get(keyOf(raw))
    if (placed) placed.push({ document, raw })
    else added.set(keyOf(raw), [{ document, raw }])
  }
  // Names whose hashes are the same share a leaf, however many: it is copied once.
  const builder = index.builder()
  let seen = 0
  for (const [key, placed] of added) {
    if (++seen % PER_STEP === 0) yield
    const others = (index.get(key) ?? []).filter(declaration => declaration.document !== document)
    const at = firstBehind(others, document)
    const all = [...others.slice(0, at), ...placed, ...others.slice(at)]
    builder.set(key, all.length > 0 ? all : undefined)
  }
  return builder.finished()
}

/** @param sorted by document @returns the index of the first one behind a document */
function firstBehind(sorted: readonly Placed<unknown>[], document: string): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (comparePaths(sorted[middle]?.document ?? '', document) < 0) from = middle + 1
    else to = middle
  }
  return from
}

/** Paths are compared by their bytes (MOD-6). */
function comparePaths(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}
