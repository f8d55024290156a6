/** Which groups a principal is in (GRP-1 to GRP-6), found out when a rule needs it and at most once for each request. */

import type { AccessRules } from './access-rules.ts'
import { type Principal, verifiedEmail } from './principal.ts'
import type { Group } from './rules.ts'

/** Answers for groups whose type has an `includes` of its own (GRP-4). */
export interface GroupOracle {
  /** Whether a type of the group, or the nearest ancestor that does, defines `includes`; if not, members count. */
  overrides(group: Group): boolean
  /**
   * Calls `includes` with the email; the call has a small budget of its own. A failure of the program is no membership
   * (GRP-5).
   *
   * @param asking the same object for all groups that are asked one after another, those of a document together
   * @returns undefined for one that is not asked, as those before it have spent what all may or it has changed meanwhile, or that
   *   spent its budget before it answered: rules that refuse its members count then, and those that allow them do not. So it is where it
   *   rejects, as the site cannot be read.
   */
  includes(group: Group, email: string, asking: object): Promise<boolean | undefined>
}

/** The memberships of one principal, kept for one request, also when the rules change meanwhile. */
export class Membership {
  readonly #email: string | undefined
  readonly #roles: ReadonlySet<string>
  readonly #oracle: GroupOracle | undefined
  readonly #answers = new Map<Group, boolean>()

  constructor(principal: Principal | undefined, oracle?: GroupOracle) {
    this.#email = principal && verifiedEmail(principal)
    this.#roles = new Set(principal?.roles)
    this.#oracle = oracle
  }

  /**
   * Whether the principal holds a group or role name (ACT-2, GRP-3).
   *
   * @returns undefined when it depends on a group that has not been resolved
   */
  holds(name: string, rules: AccessRules): boolean | undefined {
    if (this.#roles.has(name)) return true
    let held: boolean | undefined = false
    for (const group of rules.groupsNamed(name)) {
      const included = this.includes(group)
      if (included) return true
      if (included === undefined) held = undefined
    }
    return held
  }

  /** Whether a group includes the principal (GRP-2); undefined when its own `includes` has not been asked yet. */
  includes(group: Group): boolean | undefined {
    if (this.#email === undefined) return false
    if (group.subtypes.length === 0 || !this.#oracle?.overrides(group)) return group.members.has(this.#email)
    return this.#answers.get(group)
  }

  /** Asks the groups that decide by themselves and have not been asked yet (GRP-5). */
  async resolveGroups(groups: Iterable<Group>): Promise<void> {
    const [email, oracle] = [this.#email, this.#oracle]
    if (email === undefined || !oracle) return
    const open = [...new Set(groups)].filter(group => this.includes(group) === undefined)
    // However many there are, each is asked when the one before has answered.
    const asking = {}
    for (const group of open.sort(byDocument)) {
      const answer = await oracle.includes(group, email, asking).catch(() => undefined)
      if (answer !== undefined) this.#answers.set(group, answer)
    }
  }
}

function byDocument(a: Group, b: Group): number {
  return a.document < b.document ? -1 : a.document > b.document ? 1 : a.position - b.position
}
