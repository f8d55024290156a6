/** Expressions in reactions (REA-33, REA-50): they see the request and the stored documents of the whole site. */

import { fetching } from '../evaluation/fetched.ts'
import { type LanguageOf, languagesOf } from '../evaluation/languages.ts'
import { SiteReach } from '../evaluation/reach.ts'
import { referringIn } from '../evaluation/readable.ts'
import { callingBy, isSessel, schemasOf } from '../evaluation/schemas.ts'
import type { CodeFailure } from '../fault.ts'
import type { Allowance } from '../language/allowance.ts'
import {
  compileInTurns,
  evaluate,
  isTruthy,
  type Platform,
  type SesselHost,
  SesselSyntaxError,
  textForm,
} from '../language/sessel/sessel.ts'
import { ElementValue, type Value } from '../language/values.ts'
import type { Site } from '../site/site.ts'
import type { CodeSite, Ran, ReactionLanguage } from './code.ts'
import type { ContextValue } from './context.ts'

export interface SesselParts {
  site: Site
  allowance: Allowance
  /** Languages of methods beside expressions. */
  more: readonly LanguageOf[]
  /** Write members; actions alone have them (SES-181). */
  writes: Required<Pick<Platform, 'put' | 'delete'>>
}

export function sesselReactions(parts: SesselParts): ReactionLanguage {
  const { site, allowance, writes } = parts
  const spend = (steps: number) => allowance.step(steps)
  return {
    speaks: type => isSessel(type, site.settings.ns),
    gate: at => run(parts, at, {}, isTruthy),
    action: at => run(parts, at, writes, () => undefined),
    property: at =>
      run(parts, at, {}, value => {
        if (value instanceof ElementValue) return textForm(value, spend)
        return value === null ? null : textForm(value, spend)
      }),
  }
}

async function run<T>(
  { site, allowance, more }: SesselParts,
  { code, context, path }: CodeSite,
  members: Platform,
  take: (value: Value) => T,
): Promise<Ran<T>> {
  const { ns } = site.settings
  const reach = new SiteReach(site, allowance, { scope: '/' })
  try {
    const program = await compileInTurns(code.source)
    const host: SesselHost = {
      ns,
      self: undefined,
      prior: undefined,
      names: namesOf(context),
      reach,
      base: path,
      schemas: schemasOf(site.model, callingBy(languagesOf(site, allowance, more))),
      refersIn: referringIn(site),
      selectors: site.selectors,
      platform: { ...members, get: fetching(site, reach) },
    }
    const outcome = await evaluate(program, host, allowance)
    if ('response' in outcome) {
      const { status, body, headers } = outcome.response
      return { response: { status, body, fields: headers } }
    }
    if ('failure' in outcome) return failed(code.type, 'threw', outcome.failure.message)
    return { value: take(outcome.value) }
  } catch (error) {
    if (error instanceof SesselSyntaxError) return failed(code.type, 'parse', error.message)
    throw error
  } finally {
    reach.release()
  }
}

function failed(language: string, variant: CodeFailure['variant'], message: string): { failure: CodeFailure } {
  return { failure: { language, variant, message } }
}

function namesOf(context: ContextValue): SesselHost['names'] {
  return { get: name => (name === 'Context' ? context : undefined) }
}
