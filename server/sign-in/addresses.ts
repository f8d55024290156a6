/** Addresses of signing in and out, and where people may be sent afterwards (OIDC-1, OIDC-3). */

import type { SiteSettings } from '../../config/sites.ts'

export type EndpointName = 'login' | 'callback' | 'logout'

type Addressed = Pick<SiteSettings, 'brand' | 'authAliases' | 'oidc'>

const NAMES: readonly EndpointName[] = ['login', 'callback', 'logout']

/** Path of an endpoint below the site's own prefix. */
export function endpointPath(brand: string, name: EndpointName): string {
  return `/-${brand}/oidc/${name}`
}

/** Path of the redirect URI that is registered at the provider. */
export function callbackPath({ brand, oidc }: Addressed): string {
  return oidc?.authCallback ? '/auth/callback' : endpointPath(brand, 'callback')
}

/**
 * @param path decoded
 * @returns the endpoint of a path; `alias` where a stored resource comes first
 */
export function endpointAt(settings: Addressed, path: string): { name: EndpointName; alias: boolean } | undefined {
  // Most requests are for something else.
  if (!path.startsWith('/-') && !path.startsWith('/auth/')) return undefined
  const { brand, authAliases } = settings
  for (const name of NAMES) {
    if (path === endpointPath(brand, name)) return { name, alias: false }
    if (path === `/auth/${name}` && (authAliases || path === callbackPath(settings))) return { name, alias: true }
  }
  return undefined
}

/** Longest return target; anything longer leads to the start page. */
const LONGEST = 4096
/** Stands for whatever origin the site has. */
const HERE = 'http://here.invalid'

/**
 * The return target of a login or logout (OIDC-3): a path of this site, with query and fragment.
 *
 * @param wanted the parameter, decoded; null without one
 * @returns the path as it can stand in `Location`; `/` for whatever leads elsewhere, or back to signing in
 */
export function returnTarget(wanted: string | null, settings: Addressed): string {
  if (wanted === null || wanted.length > LONGEST || !wanted.isWellFormed()) return '/'
  if (!wanted.startsWith('/') || /^\/[/\\]/.test(wanted) || /[\u0000-\u001f\u007f]/.test(wanted)) return '/'
  const url = URL.parse(wanted, HERE)
  if (!url || url.origin !== HERE) return '/'
  const { pathname, search, hash } = url
  // Dots may have brought two slashes to the front, which would name a host.
  if (pathname.startsWith('//') || isSignIn(pathname, settings)) return '/'
  return pathname + search + hash
}

function isSignIn(pathname: string, settings: Addressed): boolean {
  try {
    return endpointAt(settings, decodeURIComponent(pathname)) !== undefined
  } catch {
    return false
  }
}
