/** The schemas of a site as expressions read them. */

import type { Allowance } from '../language/allowance.ts'
import { SesselError } from '../language/sessel/failure.ts'
import type {
  Code,
  ForeignCall,
  MaybeLater,
  MethodView,
  PropertyView,
  Schemas,
  SchemaView,
} from '../language/sessel/host.ts'
import type { Value } from '../language/values.ts'
import type { RawCode, RawMethod } from '../model/declarations.ts'
import { checkingValues, instanceOf } from '../model/instance-check.ts'
import { valueReader } from '../model/items.ts'
import type { Registry } from '../model/registry.ts'
import type { Schema, SchemaProperty } from '../model/schema.ts'
import type { Site } from '../site/site.ts'
import { asciiLower } from '../tree/ascii.ts'
import { atOnce } from '../tree/steps.ts'
import type { Language } from './languages.ts'

/** Runs code of other languages for an expression. */
export type CallForeign = (raw: RawCode, call: ForeignCall) => MaybeLater<Value>

/**
 * The schemas of a site, as programs of a request read them.
 *
 * @param allowance pays for code of other languages that is called
 * @param foreign is told when code of other languages runs
 */
export function siteSchemas(
  { model, code }: Pick<Site, 'model' | 'code'>,
  allowance: Allowance,
  foreign?: () => void,
): Schemas {
  return schemasOf(model, (raw, call) => {
    foreign?.()
    return (code(allowance).call ?? unavailable)(raw, call)
  })
}

/** @param languages the first that speaks a language runs its code */
export function callingBy(languages: readonly Language[]): CallForeign {
  return (raw, call) => (languages.find(each => each.speaks(raw.type))?.call ?? unavailable)(raw, call)
}

function unavailable({ type }: RawCode): never {
  throw new SesselError('RuntimeError', `code of type ${type.slice(0, 80)} cannot be run here`)
}

/** @param call runs code that is not an expression */
export function schemasOf(registry: Registry, call: CallForeign): Schemas {
  const known = new Map<string, SchemaView>()
  const { ns } = registry.vocabulary
  const codeOf = (raw: RawCode): Code => {
    return isSessel(raw.type, ns) ? { sessel: raw.source } : { run: given => call(raw, given) }
  }
  return {
    schema(type) {
      const view = known.get(type)
      if (view) return view
      const schema = registry.schema(type)
      if (!schema) return undefined
      const made = { ...viewOf(schema, codeOf), check: checking(registry) }
      known.set(type, made)
      return made
    },
    isa: (type, ancestor) => registry.isa(type, ancestor),
    subtypes: type => registry.subtypes(type),
  }
}

/** SES-4: which code is an expression. */
export function isSessel(type: string, ns: string): boolean {
  return type === '' || type === `${ns}/Sessel` || type === `${ns}/Sessel/Lambda`
}

/** SES-173: types and enumerations of an instance that code has made. */
function checking(registry: Registry): NonNullable<SchemaView['check']> {
  return item => {
    const instance = instanceOf(registry, item)
    if (!instance) return undefined
    const [wrong] = atOnce(checkingValues(registry, [instance], valueReader(registry.vocabulary.ns)))
    return wrong && `${wrong.property ?? wrong.itemtype}: ${wrong.reason}`
  }
}

/** A value for a key that an instance lacks, other ones each time (MOD-45). */
const KEY: Code = { sessel: 'String.random(1, { lower: true }) + String.random(7, { lower: true, digits: true })' }

function viewOf(schema: Schema, code: (raw: RawCode) => Code): SchemaView {
  const properties = new Map<string, PropertyView>()
  for (const [name, property] of schema.properties) {
    const view = propertyView(name, property, code)
    if (property === schema.key) view.default ??= KEY
    properties.set(name, view)
  }
  const methods = new Map<string, readonly MethodView[]>()
  const methodsNamed = (name: string) => {
    let known = methods.get(name)
    if (!known) {
      const named = schema.methodsByName.get(asciiLower(name)) ?? []
      known = named.flatMap(({ method }) => (method.name === name ? methodView(method, code) : []))
      methods.set(name, known)
    }
    return known
  }
  return { type: schema.type, properties, methodsNamed }
}

function methodView(
  { name, parameters, static: isStatic, implementation }: RawMethod,
  code: (raw: RawCode) => Code,
): MethodView {
  return { name, parameters: parameters.map(each => each.name), isStatic, implementation: code(implementation) }
}

function propertyView(name: string, property: SchemaProperty, code: (raw: RawCode) => Code): PropertyView {
  const { cardinality, default: fallback, computed, read, type } = property
  return {
    name,
    many: cardinality.text !== undefined && cardinality.most !== 1,
    single: cardinality.most === 1,
    required: cardinality.least === 1,
    type,
    default: fallback && ('text' in fallback ? fallback : code(fallback)),
    computed: computed && code(computed),
    read: read.map(code),
  }
}
