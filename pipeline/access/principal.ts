/** Who asks: a signed-in principal, or nobody, and the facts of the request that rules may look up. */

/** A signed-in visitor, as the identity provider described them (ACT-1). */
export interface Principal {
  /** User name. */
  sub: string
  email?: string
  /** Only then does the email count for anything (ACT-2). */
  emailVerified: boolean
  name?: string
  /** Entries of the roles claim at sign-in. */
  roles: string[]
  /** All identity claims as received. */
  claims: Record<string, unknown>
}

/** What `${request…}` in rules can see of a request (LOOK-2). */
export interface RequestFacts {
  /** Upper case. */
  method: string
  /** Decoded, without query. */
  path: string
  /** Value of a header by its lower-case name, repeated headers joined by `, `. */
  headers(name: string): string | undefined
  /** Raw, without `?`; empty when the URL has none. */
  queryString: string
}

export interface Requester {
  principal?: Principal
  facts: RequestFacts
}

/**
 * Reads a principal from identity claims (ACT-1, ACT-2).
 *
 * @param claims all claims as received
 * @param roles entries of the roles claim
 * @returns undefined without a `sub`, which nobody can be signed in without
 */
export function principalFromClaims(claims: Record<string, unknown>, roles: string[]): Principal | undefined {
  const { sub, email, name } = claims
  if (typeof sub !== 'string' || sub === '') return undefined
  return {
    sub,
    ...(typeof email === 'string' && email !== '' ? { email } : {}),
    emailVerified: claims.email_verified === true || claims.email_verified === 'true',
    ...(typeof name === 'string' ? { name } : {}),
    roles,
    claims,
  }
}

/** The email by which a principal is known to rules and groups: only a verified one (ACT-4, GRP-2). */
export function verifiedEmail(principal: Principal): string | undefined {
  return principal.emailVerified && principal.email ? principal.email : undefined
}

/** Status of a refusal (DENY-1). */
export function refusalStatus(principal: Principal | undefined): 401 | 403 {
  return principal ? 403 : 401
}
