/** The sites of this process: found by host name, opened when first asked for. */

import { hkdfSync } from 'node:crypto'
import { getHeapStatistics } from 'node:v8'
import type { SiteSettings, SiteTable } from '../config/sites.ts'
import { type HelperNames, helperNames } from '../dav/places/helper-names.ts'
import { type SurfaceHeaders, surfaceHeaders } from '../edge/security-headers.ts'
import type { GroupOracle } from '../pipeline/access/groups.ts'
import { pageLanguages } from '../pipeline/compose/connected.ts'
import type { Languages } from '../pipeline/compose/languages.ts'
import type { FanOut } from '../pipeline/coordination/fan-out.ts'
import type { Leases } from '../pipeline/coordination/leases.ts'
import type { RateLimits } from '../pipeline/coordination/rate-limits.ts'
import type { Sessions } from '../pipeline/coordination/sessions.ts'
import type { Basis } from '../pipeline/declarations/rederive.ts'
import { codeHostOf } from '../pipeline/evaluation/languages.ts'
import { scripts } from '../pipeline/evaluation/scripts.ts'
import type { Streams } from '../pipeline/events/streams.ts'
import type { JavaScript } from '../pipeline/language/javascript/interface.ts'
import type { DocumentCache } from '../pipeline/site/cache.ts'
import type { Coherence } from '../pipeline/site/coherence.ts'
import { schemaGroups } from '../pipeline/site/schema-groups.ts'
import type { PipelineSettings } from '../pipeline/site/site.ts'
import { Site } from '../pipeline/site/site.ts'
import type { Store } from '../pipeline/store/store.ts'
import type { Log } from './log.ts'
import { createSiteSessions, type SiteSessions } from './sessions/site-sessions.ts'
import { createSignIn, type SignInEndpoints } from './sign-in/endpoints.ts'

/** A site with what the edge needs beside the pipeline's part. */
export interface HostedSite {
  site: Site
  settings: SiteSettings
  siteSessions: SiteSessions
  signIn: SignInEndpoints
  /** What all its answers say. */
  headers: SurfaceHeaders
  /** Names of files that desktop systems and editors keep for themselves. */
  helpers: HelperNames
  /** The languages of its pages. */
  pages: Languages
  /** Answers for groups that decide membership by themselves (GRP-4); without it members count. */
  groups?: GroupOracle
}

export interface Hosting {
  readonly store: Store
  /** The site of a request's host name, if it is open already. */
  opened(host: string): HostedSite | undefined
  /**
   * A site with all of its parts, if it is the one that answers for its name now: sites are closed when there are too many,
   * and opened anew.
   */
  partsOf(site: Site): HostedSite | undefined
  /**
   * The site of a host name (without port, in lower case); undefined when no site is configured for it.
   */
  open(host: string): Promise<HostedSite | undefined>
}

/** Spellings of host names for which the open site is remembered, with the characters that each may have. */
const MOST_SPELLINGS = 1_000
const LONGEST_SPELLING = 300

/** Open sites at most, and of those without files: clients can invent hosts that match a wildcard. */
const MOST_SITES = 10_000
export const MOST_EMPTY_SITES = 250

/** What an open site with its drive takes of the heap, in bytes, and the part of it that all of them may. */
const BYTES_OF_SITE = 64 * 1024
const PART_OF_HEAP = 1 / 4

/** @param heap its limit in bytes @returns how many sites may be open; of more, the first are closed, and opened when they are asked */
export function mostSites(heap: number): number {
  return Math.min(MOST_SITES, Math.max(MOST_EMPTY_SITES, Math.floor((heap * PART_OF_HEAP) / BYTES_OF_SITE)))
}

/** Closed sites of which is looked after at the first whether they are in use. */
const MANY_RESTING = 1_000

/**
 * @param parts.secret kept with the data: signs session cookies and keys fragment tags (SEC-11)
 */
export function createHosting(parts: {
  table: SiteTable
  store: Store
  leases: Leases
  sessions: Sessions
  cache: DocumentCache
  log: Log
  secret: Uint8Array
  fanOut: FanOut
  streams: Streams
  /** Of all sites together: whoever may invent hosts is counted once. */
  rateLimits: RateLimits
  javascript: JavaScript
  coherence?: Coherence | undefined
  following?: Coherence | undefined
}): Hosting {
  const { store, leases, cache, log, secret, sessions, fanOut, streams, rateLimits, javascript, coherence, following } =
    parts
  const pages = pageLanguages(javascript)
  const audience = { fanOut, onlookers: (site: string, path: string) => streams.onlookers(site, path) }
  const sites = new Map<string, Promise<HostedSite>>()
  const ready = new Map<string, HostedSite>()
  /** Open sites by host names as clients spell them, which are read once. */
  const spelled = new Map<string, HostedSite>()
  /** Closed sites that a request may still be working on: opened again, they must be the same that it commits to. */
  const resting = new Map<string, WeakRef<Site>>()
  let manyResting = MANY_RESTING
  const most = mostSites(getHeapStatistics().heap_size_limit)
  /** Names of open sites that had no files when they were opened. */
  const empty = new Set<string>()

  async function start(settings: SiteSettings): Promise<HostedSite> {
    const { host: name } = settings
    const report = (message: string, details: object) => log.warn({ site: name, ...details }, message)
    const open = async () => {
      const opened: Site = await Site.open({
        code: allowance => codeHostOf(() => opened, allowance, [scripts(javascript)]),
        settings: pipelineSettings(settings),
        store: store.site(name),
        leases,
        cache,
        basis: basisOf(store, name),
        report,
        audience,
        coherence,
        quota: settings.quota,
        tagKey: Buffer.from(hkdfSync('sha256', secret, 'fragment tags', name, 32)),
      })
      return opened
    }
    const site = resting.get(name)?.deref() ?? (await (following ? following.open(name, open) : open()))
    resting.delete(name)
    const { external, ...lifetimes } = settings.sessions
    const issuer = settings.oidc?.issuer
    const siteSessions = createSiteSessions({ secret, site: name, sessions, issuer, lifetimes, external, report })
    const isStored = async (path: string) => !!(await site.find(path))
    const signIn = createSignIn({ settings, siteSessions, rateLimits, report, isStored })
    const headers = surfaceHeaders(settings)
    const helpers = helperNames(settings.helperFiles)
    return { site, settings, headers, helpers, siteSessions, signIn, pages, groups: schemaGroups(site) }
  }

  function close(name: string, hosted: HostedSite): void {
    spelled.clear()
    empty.delete(name)
    ready.delete(name)
    sites.delete(name)
    hosted.siteSessions.close()
    streams.closeSite(hosted.site.store.name)
    cache.clear(hosted.site.store.name)
    resting.set(name, new WeakRef(hosted.site))
    if (resting.size < manyResting) return
    for (const [other, site] of resting) if (!site.deref()) resting.delete(other)
    manyResting = 2 * resting.size + MANY_RESTING
  }

  /** Makes room for a site that was opened: whoever invents hosts leaves those open that have files. */
  function trim(name: string, { site }: HostedSite): void {
    if (site.awaitsFiles) empty.add(name)
    if (empty.size > MOST_EMPTY_SITES) {
      const [first = name] = empty
      const hosted = ready.get(first)
      if (hosted?.site.awaitsFiles) close(first, hosted)
      empty.delete(first)
    }
    const [oldest] = ready
    if (oldest && ready.size > most) close(...oldest)
  }

  async function begin(host: string): Promise<HostedSite | undefined> {
    const settings = parts.table.siteFor(host)
    if (!settings) return undefined
    const known = sites.get(settings.host)
    if (known) return known
    const opening = start(settings)
    sites.set(settings.host, opening)
    try {
      const hosted = await opening
      ready.set(settings.host, hosted)
      trim(settings.host, hosted)
      return hosted
    } catch (error) {
      sites.delete(settings.host)
      throw error
    }
  }

  function opened(host: string): HostedSite | undefined {
    const known = spelled.get(host)
    if (known) return known
    const settings = parts.table.siteFor(host)
    const hosted = settings && ready.get(settings.host)
    if (spelled.size >= MOST_SPELLINGS) spelled.clear()
    if (hosted && host.length <= LONGEST_SPELLING) spelled.set(host, hosted)
    return hosted
  }

  return {
    store,
    opened,
    partsOf: site => {
      const hosted = ready.get(site.store.name)
      return hosted?.site === site ? hosted : undefined
    },
    open: async host => opened(host) ?? begin(host),
  }
}

/** Where a site remembers by what its derived data was made. */
export function basisOf(store: Store, site: string): Basis {
  const key = `derived-by:${site}`
  return { read: () => store.setting(key), write: basis => store.setSetting(key, basis) }
}

/** The settings of a site as the pipeline needs them. */
export function pipelineSettings(settings: SiteSettings): PipelineSettings {
  const { host, brand, ns, errorNs, schemaHost, defaultGet } = settings
  const { maxBody, maxDocument, sessionContentMax, declarationsIn } = settings
  const names = { host, brand, ns, errorNs, schemaHost }
  return { ...names, defaultGet, maxBody, maxDocument, sessionContentMax, declarationsIn }
}
