/** The mounts of this process: the application of the authoring mount, and what it needs from the server. */

import type { IncomingMessage, RequestListener } from 'node:http'
import type { MountPlace, Settings } from '../config/schema.ts'
import type { SiteSettings, SiteTable } from '../config/sites.ts'
import { createGatekeeper, type Gatekeeper } from '../dav/access/credentials.ts'
import { createLoginThrottles } from '../dav/access/login-throttle.ts'
import type { PublicAuthority } from '../dav/answers/cors.ts'
import { mountApp } from '../dav/app.ts'
import { createListingCache } from '../dav/listings/listing-cache.ts'
import { listedMembers } from '../dav/listings/listings.ts'
import { type Mount, openMount } from '../dav/mount.ts'
import { createHousekeeping, type Housekeeping } from '../dav/places/housekeeping.ts'
import type { MountTriggers } from '../dav/triggers.ts'
import type { KnowClient } from '../edge/request.ts'
import type { BodyReading } from '../edge/request-body.ts'
import type { BodySource } from '../pipeline/body.ts'
import type { Leases } from '../pipeline/coordination/leases.ts'
import type { Locks } from '../pipeline/coordination/locks.ts'
import type { RateLimits } from '../pipeline/coordination/rate-limits.ts'
import { KeptTogether } from '../pipeline/kept-together.ts'
import type { Memory } from '../pipeline/memory.ts'
import type { DocumentCache } from '../pipeline/site/cache.ts'
import type { Coherence } from '../pipeline/site/coherence.ts'
import { Site } from '../pipeline/site/site.ts'
import { siteOfUnpublished, unpublishedName } from '../pipeline/site/unpublished-name.ts'
import { blobStream, type StoredBlob } from '../pipeline/store/blobs.ts'
import type { Store } from '../pipeline/store/store.ts'
import type { Audit } from './audit.ts'
import { reportRequest, toldOf } from './finished-requests.ts'
import { basisOf, type HostedSite, type Hosting } from './hosting.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface MountsParts {
  place: MountPlace
  table: SiteTable
  hosting: Hosting
  store: Store
  leases: Leases
  cache: DocumentCache
  memory: Memory
  locks: Locks
  rateLimits: RateLimits
  coherence?: Coherence | undefined
  following?: Coherence | undefined
  knowClient: KnowClient
  bodies: BodyReading
  log: Log
  /** What the log tells of whoever writes. */
  logged: Settings['log']
  audit: Audit | undefined
  triggers: MountTriggers
  metrics: Metrics
  /** Port of the public surface; undefined for the standard port of its scheme. */
  publicPort: () => number | undefined
  fallback: Pick<SiteSettings, 'ns' | 'errorNs'>
}

export interface Mounts {
  /** Answers requests to mounts, wherever they are. */
  handler: RequestListener
  /** Begins to open the mounts on which something may be waiting since the last end of the process. */
  resume(): void
  /**
   * Does what is due on open mounts; runs by itself every second.
   *
   * @param now unix milliseconds
   */
  tend(now: number): Promise<void>
  /** From now on these credentials open the mounts. */
  renewCredentials(table: SiteTable): void
  /** Ends the work that no request waits for. */
  close(): Promise<void>
}

/** Milliseconds between two rounds of housekeeping. */
const HOUSEKEEPING_EVERY = 1_000

/** Milliseconds for which the upkeep of one site keeps that of the next one waiting: triggers may take seconds for a draft. */
const ONE_SITE = 100

export function createMounts(parts: MountsParts): Mounts {
  const { place, hosting, store, log } = parts
  const now = store.now ?? Date.now
  const prefix = 'path' in place ? place.path : ''
  const housekeepers = new Map<Site, Housekeeping>()
  const mounts = mountOpener(parts, prefix, housekeepers, () => closed)
  const { open } = mounts
  let resuming = Promise.resolve()
  let round = Promise.resolve()
  let closed = false

  /** Rounds of sites that have not come to their end, the last one of each. */
  const busy = new Map<Site, Promise<void>>()

  function tendSite(site: Site, housekeeping: Housekeeping, now: number): Promise<void> {
    const run = (busy.get(site) ?? Promise.resolve())
      .then(() => housekeeping.run(now))
      .catch(error => log.error({ err: error, site: site.store.name }, 'housekeeping of a mount failed'))
      .finally(() => {
        if (busy.get(site) === run) busy.delete(site)
      })
    busy.set(site, run)
    return run
  }

  /** @param isDue also where a site has not come to the end of its last round */
  async function tendAll(now: number, isDue: boolean): Promise<void> {
    for (const [site, housekeeping] of housekeepers) {
      // A site that was closed is looked after until nothing of it waits, and is the same if it is opened meanwhile.
      if (!hosting.partsOf(site) && housekeeping.isIdle) housekeepers.delete(site)
      else if (isDue || !busy.has(site)) await atMost(ONE_SITE, tendSite(site, housekeeping, now))
    }
    if (isDue) await Promise.all(busy.values())
  }

  async function openAll(): Promise<void> {
    for (const name of await store.sites()) {
      const site = siteOfUnpublished(name)
      const hosted = site === undefined || closed ? undefined : await hosting.open(site)
      if (hosted) await open(hosted)
    }
  }

  /** Rounds follow one another. */
  function tend(now: number, isDue = true): Promise<void> {
    round = round.then(() => resuming).then(() => (closed ? undefined : tendAll(now, isDue)))
    return round
  }

  let tending = false
  const timer = setInterval(() => {
    if (tending) return
    tending = true
    void tend(now(), false).finally(() => {
      tending = false
    })
  }, HOUSEKEEPING_EVERY).unref()

  return {
    handler: mountHandler(parts, prefix, mounts),
    resume() {
      resuming = openAll().catch(error => log.error({ err: error }, 'mounts could not be opened'))
    },
    tend: now => tend(now),
    renewCredentials: mounts.renewCredentials,
    async close() {
      closed = true
      clearInterval(timer)
      await resuming
      await round
      await Promise.all(busy.values())
    },
  }
}

/** Waits for work, but no longer than some time. @param work fails never */
function atMost(milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function mountHandler(parts: MountsParts, prefix: string, { open, opened }: MountOpener): RequestListener {
  const { place, hosting, log, logged, audit, memory } = parts
  const hostFor = (authority: string) => ('host' in place ? parts.table.mountSiteFor(authority)?.host : authority)
  return mountApp({
    prefix,
    memory,
    mounts: {
      async open(authority) {
        const host = hostFor(authority)
        const hosted = host === undefined ? undefined : await hosting.open(host)
        return hosted && open(hosted)
      },
      opened(authority) {
        const host = hostFor(authority)
        const hosted = host === undefined ? undefined : hosting.opened(host)
        return hosted && opened(hosted.site)
      },
    },
    knowClient: parts.knowClient,
    bodies: parts.bodies,
    publicAuthority: publicAuthority(parts),
    triggers: parts.triggers,
    within:
      audit &&
      (({ request, path, user, address }, work) =>
        audit.within(
          () => ({
            face: 'mount',
            method: request.method ?? '',
            path: path(),
            ...toldOf(logged, { user: user(), address, range: undefined }),
          }),
          work,
        )),
    finished: ({ user, address = '', ...finished }) =>
      reportRequest(parts, { face: 'mount', ...finished, who: { user, address, range: undefined } }),
    failed: (error, message) => log.error({ err: error }, message),
    fallback: parts.fallback,
  })
}

/** Only mounts with a port of their own have another one than the public surface. */
function publicAuthority({ place, table, publicPort }: MountsParts): PublicAuthority {
  if ('path' in place) return authority => authority
  return authority => {
    const port = /:\d*$/.exec(authority)?.[0] ?? ''
    const host = authority.slice(0, authority.length - port.length)
    if ('host' in place) return (table.visitedHost(host) ?? host) + port
    return publicPort() === undefined ? host : `${host}:${publicPort()}`
  }
}

interface MountOpener {
  /** Opens the mount of a site when the first request comes. */
  open(hosted: HostedSite): Promise<Mount>
  /** The mount of a site, if it is open already. */
  opened(site: Site): Mount | undefined
  renewCredentials(table: SiteTable): void
}

/** @param isClosed whether the server is ending */
function mountOpener(
  parts: MountsParts,
  prefix: string,
  housekeepers: Map<Site, Housekeeping>,
  isClosed: () => boolean,
): MountOpener {
  const { store, leases, cache, locks, rateLimits, log, logged, coherence, following } = parts
  const mounts = new WeakMap<Site, Promise<Mount>>()
  const ready = new WeakMap<Site, Mount>()
  const slowed = (address: string) =>
    log.warn(toldOf(logged, { user: undefined, address, range: undefined }), 'wrong passwords have come from there')
  const throttles = createLoginThrottles({ rateLimits, slowed })
  let newest = parts.table
  const listingCache = createListingCache(parts.memory.share('listings'))
  parts.memory.hold('listings', listingCache.memory)
  const members = listedMembers(parts.memory.share('members'))
  parts.memory.hold('members', members)
  const states = new KeptTogether<object>(parts.memory.share('states'))
  parts.memory.hold('states', states)
  const blobSource = (blob: StoredBlob): BodySource => ({
    bytes: () => Promise.reject(new Error('A blob is no body to be held in memory')),
    stage: cap => store.stage(blobStream(blob), { limit: cap }),
  })

  /** Whoever asks gets one by the newest settings, also for a mount that was still being opened when they were read. */
  function gatekeeping(host: string): () => Gatekeeper {
    let made: { table: SiteTable; gatekeeper: Gatekeeper } | undefined
    return () => {
      if (made?.table !== newest) {
        const { credentials = [], entry = host } = newest.siteFor(host) ?? {}
        made = { table: newest, gatekeeper: createGatekeeper(credentials, throttles.of(entry)) }
      }
      return made.gatekeeper
    }
  }

  async function start({ site, settings }: HostedSite): Promise<Mount> {
    const name = unpublishedName(site.store.name)
    const openUnpublished = () =>
      Site.open({
        settings: site.settings,
        store: store.site(name),
        leases,
        cache,
        basis: basisOf(store, name),
        report: (message, details) => log.warn({ site: name, ...details }, message),
        coherence,
      })
    const unpublishedSite = await (following ? following.open(name, openUnpublished) : openUnpublished())
    const failed: Mount['failed'] = (error, message) => log.error({ err: error, site: site.store.name }, message)
    const mount = await openMount({
      site,
      unpublishedSite,
      settings,
      gatekeeper: gatekeeping(settings.host),
      locks,
      listingCache,
      members,
      states,
      blobSource,
      stage: store.stage,
      notes: store,
      prefix,
      failed,
    })
    ready.set(site, mount)
    return mount
  }

  return {
    async open(hosted) {
      const { site } = hosted
      let opening = mounts.get(site)
      if (!opening) {
        opening = start(hosted)
        mounts.set(site, opening)
        opening.catch(() => mounts.delete(site))
      }
      const mount = await opening
      // A site that was closed and opened anew may be the same, with the same mount.
      if (!housekeepers.has(site)) housekeepers.set(site, createHousekeeping(mount, parts.triggers, isClosed))
      return mount
    },
    opened: site => ready.get(site),
    renewCredentials(table) {
      newest = table
    },
  }
}

/**
 * Where requests to the public listener go when mounts have no port of their own.
 *
 * @returns whether a request is for a mount; undefined where none is
 */
export function routeToMount(
  place: MountPlace,
  table: SiteTable,
  knowClient: KnowClient,
): ((request: IncomingMessage) => boolean) | undefined {
  if ('port' in place) return undefined
  if ('host' in place) return request => table.mountSiteFor(knowClient(request).authority ?? '') !== undefined
  const { path } = place
  return ({ url = '', method = '', headers }) => {
    const target = pathOf(url)
    if (target === path || target.startsWith(`${path}/`)) return true
    // On the way down to the mount, desktop systems look at every collection above it (DAV-2).
    if (!`${path}/`.startsWith(target.endsWith('/') ? target : `${target}/`)) return false
    return method === 'PROPFIND' || (method === 'OPTIONS' && looksForMounts(headers))
  }
}

function pathOf(url: string): string {
  const absolute = /^https?:\/\/[^/?#]*([^?]*)/i.exec(url)?.[1] ?? url.split('?', 1)[0] ?? ''
  try {
    return decodeURIComponent(absolute)
  } catch {
    return absolute
  }
}

/** OPTIONS above a mount is about capabilities of the public surface, unless the client is one of mounts. */
function looksForMounts({ authorization, 'user-agent': agent = '' }: IncomingMessage['headers']): boolean {
  return /^Basic /i.test(authorization ?? '') || /^(Microsoft|WebDAV|davfs2|gvfs)/i.test(agent)
}
