/** One document's rules and groups, compiled from what was extracted when its version was stored (RULE-7 to RULE-13). */

import { asciiLower, asciiUpper } from '../tree/ascii.ts'
import {
  compileSelector,
  type Extensions,
  parseSelector,
  type Selector,
  SelectorError,
} from '../tree/selector/selector.ts'
import type { Steps } from '../tree/steps.ts'
import type { RawAccess, RawRule } from './extract.ts'
import { compilePattern, mistakenPattern, type Pattern } from './glob.ts'
import { type Part, plainText, splitLookups } from './lookup.ts'
import { type Needs, needsOf } from './needs.ts'
import { renderSelector, selectorTemplate, type TemplatePart } from './selector-template.ts'

export type { RawAccess } from './extract.ts'

/** Whom a rule is for (ACT-3). `name` is a user, email, group or role; `lookup` is one literal name once looked up. */
export type Actor =
  | { form: 'everybody' }
  | { form: 'signed-in'; tier: 1 | 2 }
  | { form: 'role'; name: string }
  | { form: 'name'; name: string }
  | { form: 'lookup'; parts: readonly Part[] }

/** 3 a user name, 2 the deprecated forms, 1 group, role, email or signed-in, 0 everybody (ACT-3). */
export type Tier = 0 | 1 | 2 | 3

/**
 * Which elements a rule is for; the text has its white space collapsed. Missing needs of a template say that only its
 * values decide whether it is a selector at all; otherwise it is one with any values that are there and not too long.
 */
export type RuleSelector =
  | { text: string; exact: string; selector: Selector; needs: Needs }
  | { template: readonly TemplatePart[]; lookups: readonly string[]; text?: undefined; needs: Needs | undefined }

export interface Rule {
  /** Path of the document that holds the rule. */
  readonly document: string
  /** Place of the rule among those of its document. */
  readonly order: number
  readonly allow: boolean
  readonly actors: readonly Actor[]
  /** The highest tier that the rule can have for anybody. */
  readonly strongest: Tier
  readonly patterns: readonly Pattern[]
  /** Upper case; `*` stands for every method. */
  readonly methods: ReadonlySet<string>
  /** Missing in a resource-level rule. */
  readonly selector: RuleSelector | undefined
  /** Whether its paths or selector are filled in for each request (LOOK-1). */
  readonly looksUp: boolean
}

export interface Group {
  readonly document: string
  /** Place of the item's element among the document's elements (see `findingPositions`). */
  readonly position: number
  readonly name: string
  readonly subtypes: readonly string[]
  readonly members: ReadonlySet<string>
}

/** Something an author should know: an item that is ignored or not taken as written (RULE-13). */
export interface RuleFinding {
  document: string
  /** Place of a rule among those of its document; missing for a group. */
  order?: number
  /** Place of the item's element among the document's elements. */
  position: number
  /** Row of a table item. */
  row?: number
  reason: string
}

export interface CompiledAccess {
  readonly raw: RawAccess
  readonly rules: readonly Rule[]
  readonly groups: readonly Group[]
  readonly findings: readonly RuleFinding[]
}

/** What `*` covers in a rule for elements (KEY-7). */
export const ELEMENT_METHODS = ['GET', 'HEAD', 'PUT', 'DELETE', 'POST'] as const

/** Deprecated actors that mean any signed-in principal (ACT-3). */
const DEPRECATED = new Set([':username', `\${username}`, `\${request.auth.username}`])
const BUILT_IN = new Set(['users', 'authenticated'])
/** What rules are asked about (METH-3), and the wildcard. */
const ASKED = new Set('GET HEAD PUT DELETE POST MOVE PATCH QUERY OPTIONS *'.split(' '))
/** RFC 9110 §9.1, or the wildcard. */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Z-]+$/

/** Rules that are compiled in one step. */
const RULES_PER_STEP = 100

/**
 * Compiles the rules and groups of one document, in steps. Never fails: what cannot be used is left out or, if it refuses,
 * widened, and reported.
 *
 * @param path of the document
 * @param extensions the server's additions to the selector language
 */
export function* compilingAccess(path: string, raw: RawAccess, extensions?: Extensions): Steps<CompiledAccess> {
  const findings: RuleFinding[] = []
  const rules: Rule[] = []
  for (const [order, rule] of raw.rules.entries()) {
    if (order % RULES_PER_STEP === RULES_PER_STEP - 1) yield
    const report = (reason: string) => {
      const { position, row } = rule
      findings.push({ document: path, order, position, ...(row === undefined ? {} : { row }), reason })
    }
    const compiled = compileRule({ document: path, order }, rule, extensions, report)
    if (compiled) rules.push(compiled)
  }
  const groups = raw.groups.flatMap(group => {
    const { position, name, subtypes, members } = group
    if (name && !BUILT_IN.has(name)) return { document: path, position, name, subtypes, members: new Set(members) }
    const reason = name ? `The group ${name} is built in and cannot be changed.` : 'A group without a name is ignored.'
    findings.push({ document: path, position, reason })
    return []
  })
  return { raw, rules, groups, findings }
}

function compileRule(
  place: { document: string; order: number },
  raw: RawRule,
  extensions: Extensions | undefined,
  report: (reason: string) => void,
): Rule | undefined {
  for (const field of ['actor', 'resource', 'method', 'action'] as const) {
    if (raw[field].length > 0) continue
    report(`A rule without ${field} is ignored.`)
    return undefined
  }
  const actions = raw.action.map(action => asciiLower(action))
  const allow = !actions.includes('deny')
  if (allow && actions.some(action => action !== 'allow')) {
    report('A rule whose action is neither Allow nor Deny is ignored.')
    return undefined
  }
  const methods = new Set(raw.method.map(method => asciiUpper(method)))
  for (const method of methods)
    if (!METHOD.test(method)) report(`The method ${method} is none: each stands in an element of its own.`)
    else if (!ASKED.has(method)) report(`No request asks for the method ${method}.`)
  let selectorText = raw.selector.join(', ')
  if (selectorText && methods.has('MOVE')) {
    if (allow) {
      report('A rule that allows MOVE on a selector is ignored.')
      return undefined
    }
    report('A rule that denies MOVE on a selector denies the whole resource.')
    selectorText = ''
  }
  if (selectorText.includes('{{')) {
    report('A rule whose selector contains {{ matches nothing.')
    return undefined
  }
  const selector = selectorText ? compileRuleSelector(selectorText, extensions) : undefined
  if (selector === 'broken') {
    report(allow ? 'A selector does not parse: the rule allows nothing.' : 'A selector does not parse: all is denied.')
    if (allow) return undefined
  }
  const scope = selector === 'broken' ? undefined : selector
  if (scope && methods.delete('*')) for (const method of ELEMENT_METHODS) methods.add(method)
  const actors = raw.actor.flatMap(actor => compileActor(actor, report) ?? [])
  if (actors.length === 0) return undefined
  const patterns = raw.resource.map(resource => {
    const pattern = compilePattern(splitLookups(resource, true))
    if (!pattern.compiled) report('A resource is no pattern and compared as it is written.')
    const hint = mistakenPattern(resource)
    if (hint) report(`The resource ${cut(resource)} ${hint}.`)
    return pattern
  })
  const strongest = actors.reduce<Tier>((most, actor) => Math.max(most, tierFor(actor)) as Tier, 0)
  const looksUp = patterns.some(pattern => pattern.open) || (scope !== undefined && scope.text === undefined)
  return { ...place, allow, actors, strongest, patterns, methods, selector: scope, looksUp }
}

function tierFor(actor: Actor): Tier {
  switch (actor.form) {
    case 'everybody':
      return 0
    case 'signed-in':
      return actor.tier
    default:
      return actor.form === 'role' ? 1 : 3
  }
}

function compileActor(text: string, report: (reason: string) => void): Actor | undefined {
  if (text.includes('{{')) {
    report('An actor that contains {{ matches nobody.')
    return undefined
  }
  if (DEPRECATED.has(text)) {
    report(`The actor ${text} is deprecated; it means any signed-in user.`)
    return { form: 'signed-in', tier: 2 }
  }
  if (text === '*') return { form: 'everybody' }
  if (BUILT_IN.has(text)) return { form: 'signed-in', tier: 1 }
  const parts = splitLookups(text, false)
  const name = plainText(parts)
  if (name === undefined) return { form: 'lookup', parts }
  if (!name.startsWith('role:')) return { form: 'name', name }
  const role = name.slice('role:'.length)
  return BUILT_IN.has(role) ? { form: 'signed-in', tier: 1 } : { form: 'role', name: role }
}

function compileRuleSelector(text: string, extensions: Extensions | undefined): RuleSelector | 'broken' {
  const parts = splitLookups(text, true)
  const plain = plainText(parts)
  if (plain === undefined) {
    const template = selectorTemplate(parts)
    if (!template) return 'broken'
    const lookups = parts.flatMap(part => (typeof part === 'string' ? [] : part.lookup))
    const isShort = text.length <= COMMON_LENGTH && lookups.length <= COMMON_LOOKUPS
    return { template, lookups, needs: isShort ? templateNeeds(template) : undefined }
  }
  const selector = parseSelector(plain, extensions)
  return selector ? { text: collapse(plain), exact: exactly(plain), selector, needs: needsOf(selector) } : 'broken'
}

/** What leaves room for values in a selector: characters as written, and values. */
const COMMON_LENGTH = 1_000
const COMMON_LOOKUPS = 4

/** Stands for a value: a name like any other, which no author writes. */
const UNKNOWN = '\ue000'

/** What a selector with lookups needs, if any name in their places makes it a selector; extensions may think otherwise. */
function templateNeeds(template: readonly TemplatePart[]): Needs | undefined {
  try {
    return needsOf(compileSelector(renderSelector(template, () => UNKNOWN)), UNKNOWN)
  } catch (error) {
    if (error instanceof SelectorError) return undefined
    throw error
  }
}

/** The form in which the texts of selectors are compared (CAP-3): runs of white space are one space. */
export function collapse(selector: string): string {
  return selector.trim().replace(/\s+/g, ' ')
}

/** Space that may be part of a name or value: beside strings, escapes and comments, or none to CSS. */
const MEANT = /["'\\]|\/\*|[^\S \t\n\r\f]/

/** A text that only selectors have in common which say the same (EVT-67). */
export function exactly(selector: string): string {
  return MEANT.test(selector) ? selector : collapse(selector)
}

/** The beginning of what an author has written, for a finding. */
export function cut(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
