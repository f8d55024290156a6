/** The schemas of a site as expressions of pages read them. */

import { type Code, type MethodView, type PropertyView, type Schemas, SesselError } from '../language/sessel/sessel.ts'
import type { RawCode } from '../model/declarations.ts'
import type { Registry } from '../model/registry.ts'
import type { SchemaProperty } from '../model/schema.ts'

/** SES-4: which code is an expression. */
export function isSessel(type: string, ns: string): boolean {
  return type === '' || type === `${ns}/Sessel` || type === `${ns}/Sessel/Lambda`
}

/** @param used is told of every expression that may be run */
export function pageSchemas(model: Registry, used: (source: string) => void): Schemas {
  const { ns } = model.vocabulary
  const codeOf = ({ type, source }: RawCode): Code => {
    if (!isSessel(type, ns))
      return {
        run() {
          throw new SesselError('RuntimeError', `code of type ${type.slice(0, 80)} cannot be called from an expression`)
        },
      }
    used(source)
    return { sessel: source }
  }
  return {
    schema(type) {
      const schema = model.schema(type)
      if (!schema) return undefined
      const methods = schema.methods.map(
        (method): MethodView => ({
          name: method.name,
          parameters: method.parameters.map(({ name }) => name),
          isStatic: method.static,
          get implementation() {
            return codeOf(method.implementation)
          },
        }),
      )
      const properties = new Map(
        [...schema.properties.values()].map(property => [property.name, viewOf(property, codeOf)]),
      )
      return { type: schema.type, properties, methods }
    },
    isa: (type, ancestor) => model.isa(type, ancestor),
    subtypes: type => model.subtypes(type),
  }
}

function viewOf(property: SchemaProperty, codeOf: (raw: RawCode) => Code): PropertyView {
  const { name, cardinality, type, default: fallback, computed, read } = property
  return {
    name,
    many: cardinality.text !== undefined && cardinality.most > 1,
    required: cardinality.least === 1,
    type,
    default: fallback && ('text' in fallback ? fallback : codeOf(fallback)),
    computed: computed && codeOf(computed),
    read: read.map(codeOf),
  }
}
