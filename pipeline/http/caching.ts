/** The table of `Cache-Control` and the members of `Vary` (HTTP-150, HTTP-152). */

import { isStaticAsset, type Kind } from './media.ts'

/** What is answered, as far as caches care. */
export type Cacheable =
  /** CSS, JavaScript, images and fonts. */
  | 'asset'
  | 'blob'
  /** Whole or fragment, JSON-LD, multi-match or CSS QUERY of a composed page. */
  | 'composed'
  /** The same of a document served without composition. */
  | 'plain'
  /** The redirect to a directory. */
  | 'redirect'
  /** Writes, OPTIONS, Sessel QUERY and every 4xx and 5xx. */
  | 'unstored'
  | 'stream'

const TABLE: Readonly<Record<Cacheable, readonly [shared: string, personal: string]>> = {
  asset: ['public, max-age=300', 'private, max-age=300'],
  blob: ['no-cache', 'private, no-cache'],
  composed: ['public, max-age=0, s-maxage=5', 'private, no-cache'],
  plain: ['no-cache', 'private, no-cache'],
  redirect: ['private, max-age=3600', 'private, max-age=3600'],
  unstored: ['no-store', 'no-store'],
  stream: ['no-cache', 'no-cache'],
}

/**
 * @param personal the answer depends on the requester: it reads headers, identity or session data, holds a transient
 *   marker, is granted only to some, or sets a cookie; for assets: an anonymous visitor could not read it
 * @param assetSeconds how long browsers use assets without asking; at 0 they ask each time, as they do for other blobs
 * @returns `Cache-Control`
 */
export function cacheControl(answer: Cacheable, personal: boolean, assetSeconds?: number): string {
  if (answer !== 'asset' || assetSeconds === undefined) return TABLE[answer][personal ? 1 : 0]
  return assetSeconds === 0
    ? cacheControl('blob', personal)
    : `${personal ? 'private' : 'public'}, max-age=${assetSeconds}`
}

/** @returns the row of a stored resource that is read */
export function cacheableOf(kind: Kind, type: string, composed: boolean): Cacheable {
  if (kind !== 'blob') return composed ? 'composed' : 'plain'
  return isStaticAsset(type) ? 'asset' : 'blob'
}

/**
 * For an answer that turns out to depend on its requester after it was made.
 *
 * @param headers those of the answer, with `Cache-Control` of this table
 * @returns the same with those of a personal answer, or the given ones where it is one already
 */
export function personalHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const shared = headers['Cache-Control'] ?? ''
  const asset = /^public, (max-age=[1-9]\d*)$/.exec(shared)?.[1]
  const row = Object.values(TABLE).find(([value]) => value === shared)
  const own = asset ? `private, ${asset}` : row?.[1]
  if (own === undefined || own === shared) return headers
  const Vary = [headers.Vary, 'Cookie', 'Authorization'].filter(member => member !== undefined).join(', ')
  return { ...headers, 'Cache-Control': own, Vary }
}

/** What `Vary` depends on. */
export interface Variance {
  kind: Kind
  personal: boolean
  /** A compressed form may be sent to those who accept it. */
  coded: boolean
  /** Origins are listed for the site, so that answers differ by `Origin`. */
  cors: boolean
}

/** All combinations, so that no request joins strings. */
const VARY: readonly (string | undefined)[] = Array.from({ length: 24 }, (_, index) => {
  const members = [['Accept', 'Range'], ['Range'], []][index >> 3]?.slice() ?? []
  if (index & 1) members.push('Accept-Encoding')
  if (index & 2) members.push('Cookie', 'Authorization')
  if (index & 4) members.push('Origin')
  return members.length === 0 ? undefined : members.join(', ')
})

/** @returns `Vary` of a read, or undefined where nothing varies */
export function vary({ kind, personal, coded, cors }: Variance): string | undefined {
  const row = kind === 'html' ? 0 : kind === 'xml' ? 8 : 16
  return VARY[row + (coded ? 1 : 0) + (personal ? 2 : 0) + (cors ? 4 : 0)]
}
