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

/** What a site's settings say of its own pages as well. */
interface SurfaceSettings extends SecuritySettings {
  /** Who may show them in frames. */
  frame: 'any' | 'none' | 'self' | readonly string[]
}

type Headers = Readonly<Record<string, string>>

/** Headers that answers lack by whether the request came over HTTPS; made once and shared: copy, do not change. */
export type SurfaceHeaders = Readonly<Record<'plain' | 'secure', { answers: Headers; serverPages: Headers }>>

/** Headers of a site's public surface; without settings, before a site is found, the defaults. */
export function surfaceHeaders(settings?: SurfaceSettings): SurfaceHeaders {
  const headers = settings ? ofSite(settings) : securityHeaders()
  const frame = settings && frameHeaders(settings)
  const of = (secure: boolean) => ({
    answers: { ...headers(secure, false), ...frame },
    serverPages: headers(secure, true),
  })
  return { plain: of(false), secure: of(true) }
}

function ofSite({ referrerPolicy, hsts }: SecuritySettings) {
  return securityHeaders({ referrerPolicy, strictTransport: hsts || undefined })
}

/** Who may show the site's pages in frames, where the operator says so (HTTP-160). */
function frameHeaders({ frame }: SurfaceSettings): Headers {
  if (frame === 'any') return {}
  const sources = frame === 'none' ? "'none'" : frame === 'self' ? "'self'" : frame.join(' ')
  return { 'Content-Security-Policy': `frame-ancestors ${sources}` }
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
      headers = ofSite(settings)
      made.set(settings, headers)
    }
    return headers(secure, serverPage)
  }
}

/** Inline styles are all that pages of the server need. */
export const SERVER_PAGE_POLICY =
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
