/** The schemas of a site as expressions read them. */

import { SesselError } from '../language/sessel/failure.ts'
import type { Code, MethodView, PropertyView, Schemas, SchemaView } from '../language/sessel/host.ts'
import type { RawCode } from '../model/declarations.ts'
import { checkingValues, instanceOf } from '../model/instance-check.ts'
import { valueReader } from '../model/items.ts'
import type { Registry } from '../model/registry.ts'
import type { Schema, SchemaProperty } from '../model/schema.ts'
import { atOnce } from '../tree/steps.ts'
import type { Language } from './languages.ts'

/**
 * @param languages of code that is not an expression; the first that speaks it runs it
 */
export function schemasOf(registry: Registry, languages: readonly Language[]): Schemas {
  const known = new Map<string, SchemaView>()
  const { ns } = registry.vocabulary
  return {
    schema(type) {
      const view = known.get(type)
      if (view) return view
      const schema = registry.schema(type)
      if (!schema) return undefined
      const made = { ...viewOf(schema, raw => codeOf(raw, ns, languages)), check: checking(registry) }
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

function codeOf(raw: RawCode, ns: string, languages: readonly Language[]): Code {
  if (isSessel(raw.type, ns)) return { sessel: raw.source }
  const language = languages.find(each => each.speaks(raw.type))
  return {
    run(call) {
      if (language?.call) return language.call(raw, call)
      throw new SesselError('RuntimeError', `code of type ${raw.type} cannot be run here`)
    },
  }
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

function viewOf(schema: Schema, code: (raw: RawCode) => Code): SchemaView {
  const properties = new Map<string, PropertyView>()
  for (const [name, property] of schema.properties) properties.set(name, propertyView(name, property, code))
  const methods = schema.methods.map(
    (method): MethodView => ({
      name: method.name,
      parameters: method.parameters.map(({ name }) => name),
      isStatic: method.static,
      implementation: code(method.implementation),
    }),
  )
  return { type: schema.type, properties, methods }
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
