/** The schemas of a site as classes of scripts (JS-8 to JS-10, JS-16); what they do is done by expressions. */

import { Fault } from '../fault.ts'
import { type Allowance, AllowanceSpent } from '../language/allowance.ts'
import {
  type Evaluate,
  FailedElsewhere,
  type MethodCall,
  type SchemaClass,
  type SchemaClasses,
} from '../language/javascript/interface.ts'
import { SesselError, SesselSyntaxError } from '../language/sessel/failure.ts'
import type { ForeignCall } from '../language/sessel/host.ts'
import { ClassValue } from '../language/sessel/kinds.ts'
import { sameHandle } from '../language/sessel/select.ts'
import { compileInTurns, evaluate as evaluateExpression, type SesselHost } from '../language/sessel/sessel.ts'
import { ElementValue, type Value } from '../language/values.ts'
import { readItem, valueReader } from '../model/items.ts'
import type { Schema } from '../model/schema.ts'
import type { Site } from '../site/site.ts'
import type { Language, LanguageOf } from './languages.ts'
import { SiteReach } from './reach.ts'
import { referringIn } from './readable.ts'
import { callingBy, schemasOf } from './schemas.ts'

/**
 * @param others languages of the request beside scripts
 * @param caller `Context` of the script and what it reaches, for methods that it calls; the whole site by default
 * @param nested makes the language of scripts for what a script calls or builds while it waits: it runs in the same worker
 */
export function scriptSchemas(
  site: Site,
  allowance: Allowance,
  others: readonly Language[],
  nested: (evaluate: Evaluate) => LanguageOf,
  caller: Pick<ForeignCall, 'context' | 'reach'> = {},
): SchemaClasses {
  const { model, settings } = site
  const { ns } = settings

  /** Runs an expression over some values. */
  const expression = async (
    text: string,
    names: ReadonlyMap<string, Value>,
    spent: Allowance,
    languages: readonly Language[],
  ): Promise<Value> => {
    const own = new SiteReach(site, spent, { scope: '/' })
    // Nobody follows what is read in this way.
    if (!caller.reach) allowance.readFleeting()
    try {
      const host: SesselHost = {
        ns,
        self: undefined,
        prior: undefined,
        names,
        reach: caller.reach ?? own,
        base: undefined,
        schemas: schemasOf(model, callingBy(languages)),
        refersIn: referringIn(site),
        selectors: site.selectors,
        platform: undefined,
      }
      const outcome = await evaluateExpression(await compileInTurns(text), host, spent)
      if ('value' in outcome) return outcome.value
      throw new SesselError('RuntimeError', outcome.failure.message)
    } catch (error) {
      throw isOwn(error) ? error : new FailedElsewhere(error)
    } finally {
      own.release()
    }
  }

  /** The languages of the request, with scripts run by `evaluate`. */
  const languagesBy = (evaluate: Evaluate, spent: Allowance): readonly Language[] => {
    const languages = others.filter(each => !each.speaks(`${ns}/JavaScript/Module`))
    languages.push(nested(evaluate)(site, spent, languages))
    return languages
  }

  const constructed = (type: string, fields: ReadonlyMap<string, Value>, languages: readonly Language[]) =>
    expression(
      'it.construct(fields)',
      new Map<string, Value>([
        ['it', new ClassValue(type)],
        ['fields', new Map(fields)],
      ]),
      allowance,
      languages,
    )

  return {
    find: type => {
      const schema = model.schema(type)
      return schema && classOf(schema, parent => parent === `${ns}/Map` || model.schema(parent) !== undefined)
    },

    fields: instance => {
      const { node, type } = instance
      const item = readItem(node)
      const read = valueReader(ns)
      const fields = new Map<string, Value>()
      for (const name of model.schema(type ?? '')?.properties.keys() ?? []) {
        const values = (item.properties.get(name) ?? []).map(
          element => read(element, item) ?? sameHandle(instance, element),
        )
        if (values.length > 0) fields.set(name, values.length > 1 ? values : (values[0] ?? null))
      }
      return fields
    },

    async build(type, fields, evaluate) {
      const value = await constructed(type, fields, languagesBy(evaluate, allowance))
      if (!(value instanceof ElementValue)) throw new Error(`No instance of ${type} could be made.`)
      return value
    },

    async call({ type, name, static: isStatic, derived, receiver, arguments: given }: MethodCall, spent, inner) {
      const languages = languagesBy(inner, spent)
      const it = isStatic
        ? new ClassValue(type)
        : (receiver?.element ?? (await constructed(type, receiver?.fields ?? new Map(), languages)))
      const names = new Map<string, Value>([
        ['it', it],
        ['property', name],
      ])
      if (caller.context !== undefined) names.set('Context', caller.context)
      for (const [i, value] of given.entries()) names.set(`a${i}`, value)
      const list = given.map((_, i) => `a${i}`).join(', ')
      return expression(derived ? 'it[property]' : `it.${name}(${list})`, names, spent, languages)
    },
  }
}

/** Whether an expression, or what it was called with, is to blame. */
function isOwn(error: unknown): boolean {
  if (error instanceof Fault) return error.status < 500
  return error instanceof SesselError || error instanceof SesselSyntaxError || error instanceof AllowanceSpent
}

/** @param isClass whether a type has a class: a parent that the site does not declare, as `{ns}/Group`, has nothing to give */
function classOf({ type, chain, properties, methods }: Schema, isClass: (type: string) => boolean): SchemaClass {
  const [, parent] = chain
  return {
    type,
    parent: parent !== undefined && isClass(parent) ? parent : undefined,
    properties: [...properties.values()].map(({ name, cardinality, computed, read }) => ({
      name,
      many: cardinality.text !== undefined && cardinality.most > 1,
      derived: computed !== undefined || read.length > 0,
    })),
    methods: methods.map(method => ({ name: method.name, static: method.static })),
  }
}
