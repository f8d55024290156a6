/** Security headers of every response, and of the pages that the server makes itself (HTTP-160). */

/** Operator's choices. */
export interface SecurityPolicy {
  /** `Referrer-Policy`. */
  referrerPolicy: string
  /** `Strict-Transport-Security`, sent over HTTPS only; undefined to leave it out. */
  strictTransport: string | undefined
}

export const DEFAULT_SECURITY_POLICY: SecurityPolicy = {
  referrerPolicy: 'strict-origin-when-cross-origin',
  strictTransport: 'max-age=31536000',
}

/** What a site's settings say of these headers. */
export interface SecuritySettings {
  referrerPolicy: string
  /** `Strict-Transport-Security`; empty or false to leave it out. */
  hsts: string | false
}

/**
 * Security headers by the settings of sites, made once for each site.
 *
 * @returns a function as `securityHeaders` makes it; without settings, before a site is found, it takes the defaults
 */
export function siteSecurityHeaders(): (
  settings: SecuritySettings | undefined,
  secure: boolean,
  serverPage: boolean,
) => Readonly<Record<string, string>> {
  const plain = securityHeaders()
  const made = new WeakMap<SecuritySettings, ReturnType<typeof securityHeaders>>()
  return (settings, secure, serverPage) => {
    if (!settings) return plain(secure, serverPage)
    let headers = made.get(settings)
    if (!headers) {
      const { referrerPolicy, hsts } = settings
      headers = securityHeaders({ referrerPolicy, strictTransport: hsts || undefined })
      made.set(settings, headers)
    }
    return headers(secure, serverPage)
  }
}

/** Inline styles are all that error and sign-in pages need. */
const SERVER_PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/**
 * @returns a function of a response's facts: `secure`, that the request came over HTTPS, directly or as a trusted proxy
 *   tells, and `serverPage`, that the server made the page. Its results are made once and shared; copy, do not change.
 */
export function securityHeaders(
  policy: SecurityPolicy = DEFAULT_SECURITY_POLICY,
): (secure: boolean, serverPage: boolean) => Readonly<Record<string, string>> {
  const build = (secure: boolean, serverPage: boolean): Record<string, string> => ({
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': policy.referrerPolicy,
    ...(secure && policy.strictTransport !== undefined ? { 'Strict-Transport-Security': policy.strictTransport } : {}),
    ...(serverPage ? { 'Content-Security-Policy': SERVER_PAGE_POLICY } : {}),
  })
  const table = [build(false, false), build(false, true), build(true, false), build(true, true)].map(Object.freeze)
  return (secure, serverPage) => table[(secure ? 2 : 0) + (serverPage ? 1 : 0)] as Readonly<Record<string, string>>
}
