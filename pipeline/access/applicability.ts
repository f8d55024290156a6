/**
 * Whom, which paths and which elements rules are for, as one request reads them: their lookups are filled in (ACT-3, PATH,
 * LOOK-1 to LOOK-7).
 */

import { normalForm } from '../tree/normal-form.ts'
import { type Extensions, parseSelector, type Selector, selectorFor } from '../tree/selector/selector.ts'
import type { AccessRules } from './access-rules.ts'
import { fillPattern, matchesNames, mayMatchNames, type Pattern } from './glob.ts'
import type { Membership } from './groups.ts'
import { isOfPrincipal, lookUp, type Part } from './lookup.ts'
import { type MatchingRule, NOBODY } from './matching.ts'
import { canBeMet } from './needs.ts'
import { type Requester, verifiedEmail } from './principal.ts'
import { type Actor, collapse, exactly, type Group, type Rule, type Tier } from './rules.ts'
import { renderSelector } from './selector-template.ts'

/** Characters of a value in a selector: with a longer one it is too large to be one, with a common one it never is. */
const LONGEST_VALUE = 1_000
const COMMON_VALUE = 400

/** Made once for each request; remembers what was looked up. */
export class Applicability {
  readonly #rules: AccessRules
  readonly #requester: Requester
  readonly #membership: Membership
  readonly #email: string | undefined
  readonly #values = new Map<string, string>()
  /** Patterns with their lookups filled in, by their text, and whether they open somebody else's place. */
  readonly #patterns = new Map<string, { pattern: Pattern; foreign: boolean }>()
  #names: readonly string[] | undefined

  constructor(rules: AccessRules, requester: Requester, membership: Membership) {
    this.#rules = rules
    this.#requester = requester
    this.#membership = membership
    this.#email = requester.principal && verifiedEmail(requester.principal)
  }

  /** The highest tier that a rule has for the requester (ACT-3); `NOBODY` when it is for others. */
  tierOf(rule: Rule): Tier | typeof NOBODY {
    let tier: Tier | typeof NOBODY = NOBODY
    for (const actor of rule.actors) {
      const own = this.#actorTier(actor, rule.allow)
      if (own > tier) tier = own
    }
    return tier
  }

  #actorTier(actor: Actor, allow: boolean): Tier | typeof NOBODY {
    const { principal } = this.#requester
    if (actor.form === 'everybody') return 0
    if (!principal) return NOBODY
    if (actor.form === 'signed-in') return actor.tier
    if (actor.form === 'lookup' && !this.#mayBeNamed(actor.parts)) return NOBODY
    const name = actor.form === 'lookup' ? this.#render(actor.parts) : actor.name
    if (name === '') return NOBODY
    if (actor.form !== 'role') {
      if (name === principal.sub) return 3
      if (name === this.#email) return 1
    }
    return (this.#membership.holds(name, this.#rules) ?? !allow) ? 1 : NOBODY
  }

  /** Whether parts with lookups can make a name of the principal, as far as their first shows. */
  #mayBeNamed([first]: readonly Part[]): boolean {
    if (typeof first !== 'string') return true
    this.#names ??= this.#allNames()
    for (const name of this.#names) if (name.startsWith(first)) return true
    return false
  }

  /** Every name that the principal has, or may have once a group was asked (ACT-2). */
  #allNames(): string[] {
    const { principal } = this.#requester
    if (!principal) return []
    const groups = [...this.#rules.groups()].filter(group => this.#membership.includes(group) !== false)
    return [principal.sub, this.#email ?? '', ...principal.roles, ...groups.map(({ name }) => name)]
  }

  /** The groups that an actor may name. */
  groupsOf(actor: Actor): readonly Group[] {
    const name = this.nameOf(actor)
    return name === undefined ? [] : this.#rules.groupsNamed(name)
  }

  /** What an actor value says after its lookups; undefined for the forms that name nobody. */
  nameOf(actor: Actor): string | undefined {
    return actor.form === 'lookup' ? this.#render(actor.parts) : 'name' in actor ? actor.name : undefined
  }

  /** Whether a rule is for a path, by one of its names. */
  coversPath({ patterns, allow }: Rule, names: readonly string[]): boolean {
    for (const pattern of patterns) {
      if (mayMatchNames(pattern, names) && (!pattern.open || this.#coversFilled(pattern, names, allow))) return true
    }
    return false
  }

  #coversFilled(written: Pattern, names: readonly string[], allow: boolean): boolean {
    let filled = this.#patterns.get(written.source)
    if (!filled) {
      let foreign = false
      const pattern = fillPattern(written, path => {
        const value = this.#value(path)
        // Paths cannot tell it from the name that it is brought to, which may be another user's (ACT-3).
        foreign ||= isOfPrincipal(path) && normalForm(value) !== value
        return value
      })
      this.#patterns.set(written.source, (filled = { pattern, foreign }))
    }
    return !(allow && filled.foreign) && matchesNames(filled.pattern, names)
  }

  /**
   * Whether a rule can be for an element, as far as that can be told without its selector's text.
   *
   * @param here gives the names around the element; missing when none is asked about
   */
  mayBeFor({ selector, allow }: Rule, here: (() => ReadonlySet<string>) | undefined): boolean {
    if (!selector) return true
    const { needs } = selector
    if (here && (!needs || canBeMet(needs, here()))) return true
    // A Deny whose selector turns out to be none counts for the whole resource (RULE-10).
    return selector.text === undefined && !allow && !(needs && this.#fits(selector.lookups))
  }

  /** Whether the values in a selector leave it one, if any name does: they are there, and of common length. */
  #fits(lookups: readonly string[]): boolean {
    for (const lookup of lookups) {
      const { length } = this.#value(lookup)
      if (length === 0 || length > COMMON_VALUE) return false
    }
    return true
  }

  /** The rule's selector for this request; undefined also when it does not parse after its lookups (RULE-10). */
  scopeOf({ selector: written }: Rule): MatchingRule['scope'] {
    if (!written || written.text !== undefined) return written
    if (written.lookups.some(lookup => this.#value(lookup).length > LONGEST_VALUE)) return undefined
    const text = renderSelector(written.template, lookup => this.#value(lookup))
    const { extensions } = this.#rules
    // What is known to be a selector is parsed when it is tried, which OPTIONS never does.
    if (written.needs && this.#fits(written.lookups)) return new LazyScope(text, extensions)
    const selector = parseSelector(text, extensions)
    return selector && { text: collapse(text), exact: exactly(text), selector }
  }

  #render(parts: readonly Part[]): string {
    let text = ''
    for (const part of parts) text += typeof part === 'string' ? part : this.#value(part.lookup)
    return text
  }

  #value(path: string): string {
    let value = this.#values.get(path)
    if (value === undefined) this.#values.set(path, (value = lookUp(path, this.#requester)))
    return value
  }
}

/** A selector that is parsed when it is first tried. */
class LazyScope {
  readonly text: string
  readonly #written: string
  readonly #extensions: Extensions | undefined
  #selector: Selector | undefined

  /** @param text known to parse */
  constructor(text: string, extensions: Extensions | undefined) {
    this.text = collapse(text)
    this.#written = text
    this.#extensions = extensions
  }

  get exact(): string {
    return exactly(this.#written)
  }

  get selector(): Selector {
    return (this.#selector ??= selectorFor(this.#written, this.#extensions))
  }
}
