/** The decision (DEC-1 to DEC-4): what a site's rules say to one requester about a method, a path and an element. */

import { atOnce, type Steps } from '../tree/steps.ts'
import type { AccessRules } from './access-rules.ts'
import { Applicability } from './applicability.ts'
import { pathNames } from './glob.ts'
import { Membership } from './groups.ts'
import {
  applies,
  type Decision,
  type Key,
  lastingTest,
  type MatchingRule,
  NOBODY,
  resolve,
  sharedTest,
  singleTest,
} from './matching.ts'
import { canBeMet, collectingNames, namesAround } from './needs.ts'
import { type Requester, verifiedEmail } from './principal.ts'
import type { Actor, Group, Rule, Tier } from './rules.ts'

export interface PermitOptions {
  /** An event stream is asked for, which default-GET never grants (METH-3). */
  subscribe?: boolean
  /** The target is session content, which needs no rule (DEC-8). */
  session?: boolean
}

export interface AccessSettings {
  /** Answer to a GET or HEAD that no rule matches (DEC-4). */
  defaultGet: 'allow' | 'deny'
}

/** Up to so many elements are tested one by one; for more, all elements of a selector are found at once. */
const FEW = 16

/** Rules that elements are held against in one step: a few milliseconds. */
export const RULES_PER_STEP = 5000

/** What an element costs beside its rules, in rules. */
const ELEMENT = 10

/**
 * What one requester may do, by one snapshot of the rules. Made once for each request; remembers what it found out.
 * Groups that decide by themselves have to be resolved before they are asked about; until then a rule that names one
 * does not allow, and refuses if it is a Deny.
 */
export class Access {
  readonly rules: AccessRules
  readonly requester: Requester
  readonly settings: AccessSettings
  readonly #findMembership: () => Membership
  #membership: Membership | undefined
  #applicability: Applicability | undefined
  readonly #matching = new Map<string, readonly MatchingRule[]>()
  #anonymous: Access | undefined

  /**
   * @param membership gives the memberships of the request, also those found out before the rules have changed; asked once,
   *   if at all
   */
  constructor(
    rules: AccessRules,
    requester: Requester,
    settings: AccessSettings,
    membership: () => Membership = () => new Membership(requester.principal),
  ) {
    this.rules = rules
    this.requester = requester
    this.settings = settings
    this.#findMembership = membership
  }

  get membership(): Membership {
    return (this.#membership ??= this.#findMembership())
  }

  /** What each rule says to this request. */
  get applicability(): Applicability {
    return (this.#applicability ??= new Applicability(this.rules, this.requester, this.membership))
  }

  /**
   * What the rules answer (DEC-1).
   *
   * @param method upper case
   * @param path decoded
   * @param key without it, only resource-level rules can match (KEY-3)
   */
  decide(method: string, path: string, key?: Key): Decision {
    if (key) return this.#decide(method, path, key)
    const shared = this.rules.sharedDecision(method, path)
    if (shared !== undefined && shared !== 'varies') return shared
    const decision = this.#decide(method, path)
    if (!shared) this.rules.shareDecision(method, path, this.dependsOnRequest(method, path) ? 'varies' : decision)
    return decision
  }

  #decide(method: string, path: string, key?: Key, test = singleTest()): Decision {
    const names = pathNames(path)
    let decision: Decision = 'unmatched'
    let tier: Tier | typeof NOBODY = NOBODY
    // Strongest first, so that most rules need not be looked at once one has matched.
    const isSettled = (by: Tier, { allow }: Rule) => by < tier || (by === tier && (allow || decision === 'deny'))
    const here = key && surroundings(key)
    for (const rules of this.rules.candidates(method, names)) {
      for (const rule of rules) {
        if (rule.strongest < tier) break
        if (isSettled(rule.strongest, rule)) continue
        const own = this.applicability.tierOf(rule)
        if (own === NOBODY || isSettled(own, rule) || !this.applicability.mayBeFor(rule, here)) continue
        if (!this.applicability.coversPath(rule, names)) continue
        const scope = this.applicability.scopeOf(rule)
        if (rule.selector && !scope && rule.allow) continue
        if (!applies({ rule, scope }, key, test)) continue
        tier = own
        decision = rule.allow ? 'allow' : 'deny'
      }
    }
    return decision
  }

  /** Whether a request is permitted: the rules' answer or, where none matches, the default (DEC-4, DEC-8). */
  permit(method: string, path: string, key?: Key, options: PermitOptions = {}): boolean {
    const decision = this.decide(method, path, key)
    if (decision === 'unmatched' && options.session) {
      return this.readable(path) || (key !== undefined && this.permit('GET', path, key))
    }
    return this.#permitted(decision, method, options.subscribe)
  }

  #permitted(decision: Decision, method: string, subscribe = false): boolean {
    if (decision !== 'unmatched') return decision === 'allow'
    return (method === 'GET' || method === 'HEAD') && !subscribe && this.settings.defaultGet === 'allow'
  }

  /**
   * Whether each of several elements is permitted by itself (ALL-1). Takes time in proportion to the document and not, as
   * asking one by one could, to its square.
   *
   * @param keys elements of trees that do not change meanwhile
   */
  permitEvery(method: string, path: string, keys: readonly Key[]): boolean {
    return atOnce(this.permittingEvery(method, path, keys))
  }

  /** `permitEvery` in steps. */
  *permittingEvery(method: string, path: string, keys: readonly Key[]): Steps<boolean> {
    if (keys.length > 0 && !this.selectorDependence(method, path)) return this.permit(method, path)
    if (keys.length <= FEW) {
      const test = singleTest()
      return keys.every(key => this.#permitted(this.#decide(method, path, key, test), method))
    }
    const near = this.#near(method, path, yield* collectingNames(elementsOf(keys)))
    const test = sharedTest()
    let asked = 0
    for (const key of keys) {
      asked += ELEMENT + near.length
      if (asked >= RULES_PER_STEP) {
        asked = 0
        yield
      }
      const decision = resolve(near, rule => applies(rule, key, test))
      if (!this.#permitted(decision, method)) return false
    }
    return true
  }

  /**
   * `permit` for many elements of trees that do not change meanwhile, asked one by one; together they take time in
   * proportion to the document.
   *
   * @param asked is told of the rules that each answer goes through
   */
  permitting(method: string, path: string, asked: (rules: number) => void): (key: Key) => boolean {
    if (!this.selectorDependence(method, path)) {
      const permitted = this.permit(method, path)
      return () => permitted
    }
    const matching = this.matching(method, path)
    const test = lastingTest()
    return key => {
      asked(matching.length)
      const decision = resolve(matching, rule => applies(rule, key, test))
      return this.#permitted(decision, method)
    }
  }

  /**
   * Which elements of a tree that does not change meanwhile rules for elements deny, whatever is said of the whole (SES-127).
   *
   * @param names around its elements
   * @param asked is told of the rules that each answer goes through
   * @returns undefined where none can
   */
  denying(
    method: string,
    path: string,
    names: ReadonlySet<string>,
    asked: (rules: number) => void,
  ): ((key: Key) => boolean) | undefined {
    if (!this.mayDenyElements(method, path)) return undefined
    // A Deny of the whole is no answer for one element: all of them would be denied.
    const near = this.#near(method, path, names).filter(({ rule }) => rule.allow || rule.selector !== undefined)
    if (!near.some(deniesElements)) return undefined
    const test = lastingTest()
    return key => {
      asked(ELEMENT + near.length)
      return resolve(near, rule => applies(rule, key, test)) === 'deny'
    }
  }

  /** Whether rules for elements may deny some. */
  mayDenyElements(method: string, path: string): boolean {
    return this.matching(method, path).some(deniesElements)
  }

  /** Rules that match some element with these names around it, as far as names tell. */
  #near(method: string, path: string, names: ReadonlySet<string>): readonly MatchingRule[] {
    return this.matching(method, path).filter(({ rule: { selector }, scope }) => {
      return !scope || !selector?.needs || canBeMet(selector.needs, names)
    })
  }

  /** Whether the requester may GET the resource as a whole: R of section 9. */
  readable(path: string): boolean {
    return this.permit('GET', path)
  }

  /**
   * Whether the rules could grant a method on some element of a resource: no resource-level Deny decides, and some Allow
   * is for this requester (ABS-3 b, c).
   *
   * @param transient whether the page holds a transient element, so that a write may need no rule (DEC-8)
   */
  mayBeGranted(method: string, path: string, transient = false): boolean {
    if (this.decide(method, path) === 'deny') return false
    return transient || this.matching(method, path).some(({ rule }) => rule.allow)
  }

  /** Whether an anonymous request for the same would have been permitted too (PRIV-1). */
  permitAnonymous(method: string, path: string, key?: Key): boolean {
    return this.anonymous.permit(method, path, key)
  }

  /** What an anonymous requester may do who sends the same. */
  get anonymous(): Access {
    if (!this.requester.principal) return this
    this.#anonymous ??= new Access(this.rules, { facts: this.requester.facts }, this.settings)
    return this.#anonymous
  }

  /**
   * Whether the element asked about can make a difference to `permit` for this requester; if not, asking without a key
   * gives the answer for every element.
   */
  selectorDependence(method: string, path: string): boolean {
    const covering = this.#covering(method, path)
    let whole = NOBODY
    for (const { rule, tier } of covering) if (!rule.selector && tier > whole) whole = tier
    const permitted = this.permit(method, path)
    return covering.some(({ rule, tier }) => {
      if (!rule.selector) return false
      return permitted ? !rule.allow && tier >= whole : rule.allow && tier > whole
    })
  }

  /**
   * Whether the answer for a method and path can differ between requests: some rule that may cover them names anybody
   * but `*` or looks something up. If not, answers can be shared by all requesters.
   */
  dependsOnRequest(method: string, path: string): boolean {
    return this.rules.anyCovers('request', method, path, rule => rule.looksUp || rule.actors.some(isSomebody))
  }

  /**
   * Whether the answer for a method and path can differ between anonymous requests: some rule for everybody that may
   * cover them looks something up. If so, what one of them gets is not for the caches of others.
   */
  dependsOnFacts(method: string, path: string): boolean {
    return this.rules.anyCovers('facts', method, path, rule => rule.looksUp && !rule.actors.every(isSomebody))
  }

  /**
   * Whether files may come to a path from visitors who are not named: from anybody, or whoever signs in. Refusals and
   * lookups are left out of account, in favour of a yes.
   */
  takesFromAnybody(path: string): boolean {
    const grants = ({ allow, selector, actors }: Rule) => allow && !selector && actors.some(isUnnamed)
    return ['PUT', 'MOVE'].some(method => this.rules.anyCovers('anybody', method, path, grants))
  }

  /**
   * The rules that match this requester, a method and a path, whatever the element.
   *
   * @param method upper case, or undefined for rules of any method
   */
  matching(method: string | undefined, path: string): readonly MatchingRule[] {
    const memo = `${method ?? ''} ${path}`
    let matching = this.#matching.get(memo)
    if (!matching) {
      matching = this.#covering(method, path).flatMap(({ rule, tier }) => {
        const scope = this.applicability.scopeOf(rule)
        return rule.selector && !scope && rule.allow ? [] : { rule, tier, scope }
      })
      this.#matching.set(memo, matching)
    }
    return matching
  }

  /** Whether any rule for elements, whoever it is for, covers a path (CAP-7). */
  hasScopedRules(path: string): boolean {
    const names = pathNames(path)
    for (const rules of this.rules.candidates(undefined, names)) {
      for (const rule of rules) if (rule.selector && this.applicability.coversPath(rule, names)) return true
    }
    return false
  }

  /**
   * Asks the groups that decide by themselves and are named by rules for these paths (GRP-5). Needed before a decision
   * wherever the site has such groups.
   *
   * @param paths every path that will be asked about
   */
  async resolveGroups(paths: readonly string[]): Promise<void> {
    const { principal } = this.requester
    if (this.rules.subtypedGroups === 0 || !principal || verifiedEmail(principal) === undefined) return
    await this.membership.resolveGroups(new Set(paths.flatMap(path => this.#groupsAt(path))))
  }

  /** Whether what may be done at a path depends on groups that decide by themselves, by whatever they look at (GRP-4). */
  asksGroups(path: string): boolean {
    const { principal } = this.requester
    if (this.rules.subtypedGroups === 0 || !principal || verifiedEmail(principal) === undefined) return false
    return this.#groupsAt(path).some(({ subtypes }) => subtypes.length > 0)
  }

  /** Groups that rules at a path name. */
  #groupsAt(path: string): Group[] {
    const names = pathNames(path)
    return [...this.rules.candidates(undefined, names)].flatMap(rules =>
      rules.flatMap(rule => {
        const named = rule.actors.flatMap(actor => [...this.applicability.groupsOf(actor)])
        return named.length > 0 && this.applicability.coversPath(rule, names) ? named : []
      }),
    )
  }

  /** Rules that match but for their selector, which is not looked at. */
  #covering(method: string | undefined, path: string): { rule: Rule; tier: Tier }[] {
    const names = pathNames(path)
    const found = new Map<Rule, Tier>()
    for (const rules of this.rules.candidates(method, names)) {
      for (const rule of rules) {
        const tier = this.applicability.tierOf(rule)
        if (tier !== NOBODY && !found.has(rule) && this.applicability.coversPath(rule, names)) found.set(rule, tier)
      }
    }
    return Array.from(found, ([rule, tier]) => ({ rule, tier }))
  }
}

function deniesElements({ rule }: MatchingRule): boolean {
  return rule.selector !== undefined && !rule.allow
}

/** Whether an actor is anybody but `*`. */
function isSomebody({ form }: Actor): boolean {
  return form !== 'everybody'
}

/** Whether an actor may be anybody, or anybody who is signed in. */
function isUnnamed({ form }: Actor): boolean {
  return form === 'everybody' || form === 'signed-in' || form === 'lookup'
}

function* elementsOf(keys: readonly Key[]): Iterable<Key['element']> {
  for (const { element } of keys) yield element
}

/** The names around an element, collected when a rule first asks for them. */
function surroundings({ element }: Key): () => ReadonlySet<string> {
  let names: ReadonlySet<string> | undefined
  return () => (names ??= namesAround([element]))
}
