/**
 * Finds what a document declares about the site's data: schemas, enumerations and shapes (MOD-1 to MOD-8). The result is
 * plain data: it is stored with the document's version and compiled when a site's registry is put together.
 */

import { asciiLower, trimmed } from '../tree/ascii.ts'
import { typesOf } from '../tree/microdata.ts'
import type { ElementNode } from '../tree/nodes.ts'
import { textContent } from '../tree/serialize.ts'
import type { Steps } from '../tree/steps.ts'
import { isItem, type ModelItem, type ReadValue, readItem, valueReader } from './items.ts'
import { shown } from './violations.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Code in a slot (MOD-7). */
export interface RawCode {
  /** The item type that says which language it is; empty for a bare `<script type="text/sessel">`. */
  type: string
  /** Raw text. */
  source: string
}

/** A default: code, or text that is taken as it is. */
export type RawDefault = RawCode | { text: string }

/** Fields as written: trimmed, blank ones dropped. */
export interface RawProperty {
  name: string
  type?: string
  cardinality?: string
  default?: RawDefault
  unique: string[]
  references?: string
  cascade?: string
  group: string[]
  key: boolean
  validate?: RawCode
  write?: RawCode
  read?: RawCode
  computed?: RawCode
}

export interface RawParameter {
  name: string
  type?: string
}

export interface RawMethod {
  name: string
  returns?: string
  parameters: RawParameter[]
  static: boolean
  implementation: RawCode
}

export interface RawGroupConstraint {
  group: string
  cardinality?: string
  properties: string[]
}

export interface RawSchema {
  /** URL of the governed item type. */
  type: string
  name?: string
  parent?: string
  properties: RawProperty[]
  methods: RawMethod[]
  /** Names of methods without implementation: pages that call one get nothing for it (COMP-58). */
  unimplemented?: string[]
  constraints: RawGroupConstraint[]
  validate?: RawCode
}

export interface RawEnum {
  url: string
  values: string[]
}

export interface RawShape {
  resources: string[]
  selectors: string[]
  constraints: string[]
  permits: string[]
}

/** What one document version declares, each kind in document order. */
export interface RawDeclarations {
  schemas: RawSchema[]
  enums: RawEnum[]
  shapes: RawShape[]
  /** Why declarations were left out (MOD-8): the first ones, for the log. */
  ignored?: string[]
}

/** Reasons kept for one document version. */
const REASONS = 20

/** Takes the reason why a declaration is left out. */
type LeaveOut = (reason: string) => void

/** Item types that declare something. */
export function modelTypes({ ns, schemaHost }: Vocabulary): string[] {
  return [`${ns}/Schema`, `${ns}/ShapeConstraint`, `${schemaHost}/Enum`]
}

/**
 * Extracts declarations from stored markup. What is broken is left out (MOD-8), with a reason.
 *
 * @param items elements with `itemscope`, in tree order
 * @returns undefined when there are none, not even broken ones
 * @throws TreeError (`too-large`) when values repeat each other beyond all proportion to the text
 */
export function* extractingDeclarations(
  items: readonly ElementNode[],
  vocabulary: Vocabulary,
): Steps<RawDeclarations | undefined> {
  const { ns, schemaHost } = vocabulary
  const read = valueReader(ns)
  const found: RawDeclarations = { schemas: [], enums: [], shapes: [] }
  const ignored: string[] = []
  const leaveOut: LeaveOut = reason => {
    if (ignored.length < REASONS) ignored.push(reason)
  }
  for (const element of items) {
    yield
    const types = typesOf(element)
    if (types.includes(`${ns}/Schema`)) {
      const schema = yield* extractingSchema(fieldsOf(element, read), vocabulary, leaveOut)
      if (schema) found.schemas.push(schema)
    }
    if (types.includes(`${schemaHost}/Enum`)) found.enums.push(...enumOf(fieldsOf(element, read), leaveOut))
    if (types.includes(`${ns}/ShapeConstraint`)) found.shapes.push(...shapeOf(fieldsOf(element, read), leaveOut))
  }
  if (ignored.length > 0) found.ignored = ignored
  return found.schemas.length + found.enums.length + found.shapes.length + ignored.length > 0 ? found : undefined
}

/** Whether two versions of a document declare the same. */
export function sameModel(a: RawDeclarations | undefined, b: RawDeclarations | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

/** Access to the fields of a configuration item (MOD-3). */
interface Fields {
  /** First value that is text; a blank one counts as absent. */
  one(name: string): string | undefined
  /** All values that are not blank. */
  all(name: string): string[]
  /** All values, trimmed. */
  raw(name: string): string[]
  /** Values that are items, one after the other. */
  items(name: string): Iterable<Fields>
  code(name: string): RawCode | undefined
  /** First element of a field. */
  element(name: string): ElementNode | undefined
  types: string[]
}

function fieldsOf(element: ElementNode, read: ReadValue): Fields {
  const item: ModelItem = readItem(element)
  const elements = (name: string) => item.properties.get(name) ?? []
  const raw = (name: string) =>
    elements(name).flatMap(value => {
      const text = read(value, item)
      return text === undefined ? [] : [trimmed(text)]
    })
  return {
    types: item.types,
    raw,
    all: name => raw(name).filter(text => text !== ''),
    one: name => {
      const first = elements(name).find(value => !isItem(value))
      return (first && trimmed(read(first, item) ?? '')) || undefined
    },
    *items(name) {
      for (const value of elements(name)) if (isItem(value)) yield fieldsOf(value, read)
    },
    element: name => elements(name)[0],
    code: name => {
      const [first] = elements(name)
      return first && codeOf(first)
    },
  }
}

/** MOD-7: a Sessel script, or an item whose `source` is a script. */
function codeOf(element: ElementNode): RawCode | undefined {
  if (isItem(element)) {
    const [source] = readItem(element).properties.get('source') ?? []
    return { type: typesOf(element)[0] ?? '', source: source ? textContent(source) : '' }
  }
  const source = bareProgram(element)
  return source === undefined ? undefined : { type: '', source }
}

/** @returns the text of a script in Sessel that stands in the place of code without an item around it (SES-4) */
export function bareProgram(element: ElementNode): string | undefined {
  if (!isScript(element)) return undefined
  const type = element.attrs.find(({ name }) => name === 'type')?.value
  return asciiLower(trimmed(type ?? '')) === 'text/sessel' ? textContent(element) : undefined
}

function isScript(element: ElementNode): boolean {
  return element.tagName === 'script'
}

function* extractingSchema(fields: Fields, vocabulary: Vocabulary, leaveOut: LeaveOut): Steps<RawSchema | undefined> {
  const type = fields.one('type')
  if (type === undefined) {
    leaveOut('a schema without type')
    return undefined
  }
  const leaveOutOf: LeaveOut = reason => leaveOut(`${reason}, in the schema of ${shown(type)}`)
  const properties: RawProperty[] = []
  const methods: RawMethod[] = []
  const unimplemented: string[] = []
  for (const member of fields.items('property')) {
    yield
    if (member.types.includes(`${vocabulary.ns}/Method`)) {
      const found = methodOf(member, leaveOutOf)
      methods.push(...found)
      const name = member.one('name')
      if (found.length === 0 && name !== undefined) unimplemented.push(name)
    } else properties.push(...propertyOf(member, vocabulary, leaveOutOf))
  }
  const constraints: RawGroupConstraint[] = []
  for (const item of fields.items('constraint')) {
    yield
    constraints.push(...constraintOf(item, leaveOutOf))
  }
  const [name, parent, validate] = [fields.one('name'), fields.one('parent'), fields.code('@validate')]
  const named = unimplemented.length > 0 ? unimplemented : undefined
  return compact({ type, name, parent, properties, methods, unimplemented: named, constraints, validate })
}

function propertyOf(fields: Fields, vocabulary: Vocabulary, leaveOut: LeaveOut): RawProperty[] {
  const name = fields.one('name')
  if (name === undefined) {
    leaveOut('a property without name')
    return []
  }
  const { computed, read } = readSlots(fields, vocabulary)
  return [
    compact({
      name,
      type: fields.one('type'),
      cardinality: fields.one('cardinality'),
      default: defaultOf(fields),
      unique: fields.all('unique'),
      references: fields.one('references'),
      cascade: fields.one('cascade'),
      group: fields.all('group'),
      key: fields.one('@key') === 'true',
      validate: fields.code('@validate'),
      write: fields.code('@write'),
      read,
      computed,
    }),
  ]
}

/** MOD-61: `@computed` beats `@read`, of which a bare Sessel item is the older spelling of it. */
function readSlots(fields: Fields, { ns }: Vocabulary): { computed: RawCode | undefined; read: RawCode | undefined } {
  const computed = fields.code('@computed')
  const read = fields.code('@read')
  if (computed) return { computed, read: undefined }
  return read?.type === `${ns}/Sessel` ? { computed: read, read: undefined } : { computed: undefined, read }
}

function defaultOf(fields: Fields): RawDefault | undefined {
  const element = fields.element('default')
  const code = element && codeOf(element)
  if (code) return code
  const [text] = fields.raw('default')
  return text === undefined || text === '' ? undefined : { text }
}

function methodOf(fields: Fields, leaveOut: LeaveOut): RawMethod[] {
  const name = fields.one('name')
  const implementation = fields.code('implementation')
  if (name === undefined || implementation === undefined) {
    leaveOut(name === undefined ? 'a method without name' : `the method ${shown(name)} without implementation`)
    return []
  }
  const parameters = [...fields.items('parameter')].flatMap(parameter => {
    const named = parameter.one('name')
    return named === undefined ? [] : [compact({ name: named, type: parameter.one('type') })]
  })
  return [
    compact({
      name,
      returns: fields.one('returns'),
      parameters,
      static: fields.one('static') === 'true',
      implementation,
    }),
  ]
}

function constraintOf(fields: Fields, leaveOut: LeaveOut): RawGroupConstraint[] {
  const group = fields.one('group')
  if (group === undefined) {
    leaveOut('a group constraint without group')
    return []
  }
  return [compact({ group, cardinality: fields.one('cardinality'), properties: fields.all('property') })]
}

/** MOD-26: `type` wins over `name`; a blank value is one that is permitted. */
function enumOf(fields: Fields, leaveOut: LeaveOut): RawEnum[] {
  const url = fields.one('type') ?? fields.one('name')
  if (url !== undefined) return [{ url, values: fields.raw('value') }]
  leaveOut('an enumeration without type and name')
  return []
}

function shapeOf(fields: Fields, leaveOut: LeaveOut): RawShape[] {
  const shape = {
    resources: fields.all('resource'),
    selectors: fields.all('selector'),
    constraints: fields.all('constraint'),
    permits: fields.all('permit'),
  }
  if (shape.constraints.length + shape.permits.length > 0) return [shape]
  leaveOut('a shape with neither constraint nor permit')
  return []
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** An object without the fields that have no value. */
function compact<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>
}
