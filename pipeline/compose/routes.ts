/**
 * Parameterized routes (COMP-96 to COMP-99): documents whose stored path has segments that begin with a colon serve all
 * paths that match it.
 */

import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { byBytes } from './graph.ts'

/** What serves a path. */
export interface Resolved {
  file: StoredFile
  /** What a route has captured, in path order; undefined for what is stored at the path itself. */
  params: ReadonlyMap<string, string> | undefined
}

/** A segment of a template: as it is, or a name with what has to follow it. */
type Segment = string | { name: string; suffix: string }

interface Route {
  /** Path of the template. */
  path: string
  segments: readonly Segment[]
  literals: number
}

/**
 * What serves a path: what is stored there, else the template of the best route (COMP-97).
 *
 * @param path canonical
 * @param unseen what is stored at the path itself does not count
 */
export async function resolvePath(site: Site, path: string, unseen = false): Promise<Resolved | undefined> {
  const file = unseen ? undefined : await site.find(path)
  if (file) return { file, params: undefined }
  const segments = path.split('/')
  for (const route of await routesOf(site)) {
    const params = matchRoute(route, segments)
    const template = params && (await site.find(route.path))
    if (template?.isDocument) return { file: template, params }
  }
  return undefined
}

/** Value of the field that tells what a route has captured (COMP-100). */
export function routeParameters(params: ReadonlyMap<string, string>): string {
  return [...params].map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`).join(', ')
}

/** All but the unreserved characters of RFC 3986. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
}

function matchRoute({ segments }: Route, path: readonly string[]): Map<string, string> | undefined {
  if (segments.length !== path.length) return undefined
  const params = new Map<string, string>()
  for (const [i, segment] of segments.entries()) {
    const given = path[i] ?? ''
    if (typeof segment === 'string') {
      if (segment !== given) return undefined
      continue
    }
    const { name, suffix } = segment
    if (given.length <= suffix.length || !given.endsWith(suffix)) return undefined
    params.set(name, given.slice(0, given.length - suffix.length))
  }
  return params
}

/** Routes of a site, the most literal first; found anew after a commit that may have changed them. */
const tables = new WeakMap<Site, { routes: Promise<readonly Route[]> | undefined }>()

function routesOf(site: Site): Promise<readonly Route[]> {
  let table = tables.get(site)
  if (!table) {
    const made = { routes: undefined as Promise<readonly Route[]> | undefined }
    table = made
    tables.set(site, made)
    site.watch(paths => {
      for (const path of paths) if (path.endsWith('/') || path.includes('/:')) made.routes = undefined
    })
  }
  if (!table.routes) {
    const reading = readRoutes(site)
    table.routes = reading
    const { routes } = table
    reading.catch(() => {
      if (table.routes === routes) table.routes = undefined
    })
  }
  return table.routes
}

/** Another object whenever a route may have changed. */
export function currentRoutes(site: Site): unknown {
  return tables.get(site)?.routes
}

async function readRoutes(site: Site): Promise<Route[]> {
  const routes: Route[] = []
  for await (const { path, kind } of site.store.walk('/')) {
    if (kind !== 'document' || !path.includes('/:')) continue
    const segments = path.split('/').map(segmentOf)
    const literals = segments.filter(segment => typeof segment === 'string').length
    if (literals < segments.length) routes.push({ path, segments, literals })
  }
  return routes.sort((a, b) => b.literals - a.literals || byBytes(a.path, b.path))
}

/** The name runs up to the first dot. */
function segmentOf(text: string): Segment {
  if (!text.startsWith(':') || text === ':') return text
  const dot = text.indexOf('.')
  const name = dot < 0 ? text.slice(1) : text.slice(1, dot)
  return name === '' ? text : { name, suffix: dot < 0 ? '' : text.slice(dot) }
}
