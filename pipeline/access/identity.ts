/** Who asks, as pages and reactions are told of it (IDC-1, IDC-2): the `auth` of expressions and of the request document. */

import type { AccessRules } from './access-rules.ts'
import type { Membership } from './groups.ts'
import { type Principal, verifiedEmail } from './principal.ts'

/** All empty for an anonymous visitor. */
export interface Identity {
  /** The principal's `sub`. */
  readonly username: string
  /** All identity claims as received. */
  readonly claims: Readonly<Record<string, unknown>>
  /** The verified email, the groups, the roles, then `users`, without repetition. */
  readonly roles: readonly string[]
}

const ANONYMOUS: Identity = { username: '', claims: {}, roles: [] }

/** @param membership of the principal; groups that decide by themselves are asked */
export async function identityOf(
  rules: AccessRules,
  principal: Principal | undefined,
  membership: Membership,
): Promise<Identity> {
  if (!principal) return ANONYMOUS
  const groups = [...rules.groups()]
  await membership.resolveGroups(groups)
  const names = groups.filter(group => membership.includes(group)).map(group => group.name)
  const email = verifiedEmail(principal)
  const roles = [...new Set([...(email ? [email] : []), ...names.sort(), ...principal.roles, 'users'])]
  return { username: principal.sub, claims: principal.claims, roles }
}
