/**
 * Parameterized routes (COMP-96 to COMP-99): documents whose stored path has segments that begin with a colon serve all
 * paths that match it.
 */

import { filledPaths } from '../site/commit-row.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { Resource } from '../store/resource.ts'
import { rememberChanges } from './changed-paths.ts'
import { byBytes } from './graph.ts'

/** What serves a path. */
export interface Resolved {
  file: StoredFile
  /** What a route has captured, in path order; undefined for what is stored at the path itself. */
  params: ReadonlyMap<string, string> | undefined
  found?: Found
}

/** When it was found: what comes, or goes, from then on may have others serve the path. */
export interface Found {
  /** State of the site before anybody looked. */
  changes: number
  /** As `currentRoutes`, where a route serves it: as long as nothing is stored at the path, and the routes are those. */
  routes?: object | undefined
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
  const { changes } = site
  const file = unseen ? undefined : await site.find(path)
  if (file) return { file, params: undefined, found: { changes } }
  const segments = path.split('/')
  const found = { changes, routes: tableOf(site).state }
  for (const route of await routesOf(site)) {
    const params = matchRoute(route, segments)
    const template = params && (await site.find(route.path))
    if (template?.isDocument) return { file: template, params, found }
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

/** Paths that are looked at again one by one; where more have changed, everything is. */
const MOST_CHANGED = 100

/** The routes of one site. */
interface Table {
  readonly known: Map<string, Route>
  /** What has to be looked at again, collections with all in them. */
  readonly changed: Set<string>
  /** The most literal first; missing where something has changed since. */
  routes: Promise<readonly Route[]> | undefined
  /** Settles when nobody looks any more. */
  looking: Promise<unknown>
  /** Another one after each change. */
  state: object
}

const tables = new WeakMap<Site, Table>()

function tableOf(site: Site): Table {
  const found = tables.get(site)
  if (found) return found
  const table: Table = {
    known: new Map(),
    changed: new Set(['/']),
    routes: undefined,
    looking: Promise.resolve(),
    state: {},
  }
  tables.set(site, table)
  rememberChanges(site)
  site.watch((paths, own) => {
    for (const path of filledPaths(paths, own)) if (path.endsWith('/') || path.includes('/:')) change(table, path)
  })
  return table
}

function change(table: Table, path: string): void {
  const { changed } = table
  if (changed.size >= MOST_CHANGED) {
    changed.clear()
    changed.add('/')
  }
  changed.add(path)
  table.routes = undefined
  table.state = {}
}

/** Routes of a site, the most literal first. A visitor who may write some would have all that is stored gone through for each. */
function routesOf(site: Site): Promise<readonly Route[]> {
  const table = tableOf(site)
  if (table.routes) return table.routes
  const routes = table.looking.then(() => lookAgain(site, table))
  table.routes = routes
  table.looking = routes.catch(() => {
    if (table.routes === routes) table.routes = undefined
  })
  return routes
}

/** Another object whenever a route may have changed. */
export function currentRoutes(site: Site): object | undefined {
  return tables.get(site)?.state
}

/** Looks at what has changed, one after another: of two states of a path the later one is to stay. */
async function lookAgain({ store }: Site, { known, changed }: Table): Promise<readonly Route[]> {
  const paths = [...changed]
  changed.clear()
  try {
    for (const path of paths) {
      if (path.endsWith('/')) {
        for (const each of known.keys()) if (each.startsWith(path)) known.delete(each)
        for await (const resource of store.walk(path)) note(known, resource)
      } else {
        known.delete(path)
        const resource = await store.find(path)
        if (resource) note(known, resource)
      }
    }
  } catch (error) {
    for (const path of paths) changed.add(path)
    throw error
  }
  return [...known.values()].sort((a, b) => b.literals - a.literals || byBytes(a.path, b.path))
}

function note(known: Map<string, Route>, { path, kind }: Resource): void {
  if (kind !== 'document' || !path.includes('/:')) return
  const segments = path.split('/').map(segmentOf)
  const literals = segments.filter(segment => typeof segment === 'string').length
  if (literals < segments.length) known.set(path, { path, segments, literals })
}

/** The name runs up to the first dot. */
function segmentOf(text: string): Segment {
  if (!text.startsWith(':') || text === ':') return text
  const dot = text.indexOf('.')
  const name = dot < 0 ? text.slice(1) : text.slice(1, dot)
  return name === '' ? text : { name, suffix: dot < 0 ? '' : text.slice(dot) }
}
