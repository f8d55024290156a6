/** The mounts of this process: the application of the authoring mount, and what it needs from the server. */

import { createReadStream } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { MountPlace } from '../config/schema.ts'
import type { SiteSettings, SiteTable } from '../config/sites.ts'
import { mountApp } from '../dav/app.ts'
import { createAttempts } from '../dav/attempts.ts'
import { type Mount, openMount } from '../dav/mount.ts'
import type { DocumentCache } from '../pipeline/cache.ts'
import type { Coherence } from '../pipeline/coherence.ts'
import type { Leases } from '../pipeline/coordination/leases.ts'
import type { Locks } from '../pipeline/coordination/locks.ts'
import { ownOrigin } from '../pipeline/http/origin.ts'
import { Site } from '../pipeline/site.ts'
import type { Store } from '../pipeline/store/store.ts'
import type { BodySource } from '../pipeline/write-document.ts'
import { scratchName } from '../pipeline/write-scratch.ts'
import type { Limits } from './app.ts'
import { checkDeclaredLength, readBody } from './body.ts'
import type { KnowClient } from './client.ts'
import { securityHeaders } from './documents/security-headers.ts'
import { basisOf, type HostedSite, type Hosting } from './hosting.ts'
import { type Log, logRequest } from './log.ts'
import type { Metrics } from './metrics.ts'
import { send } from './send.ts'
import { stageBody } from './stage.ts'

export interface MountsParts {
  place: MountPlace
  table: SiteTable
  hosting: Hosting
  store: Store
  leases: Leases
  cache: DocumentCache
  locks: Locks
  coherence?: Coherence | undefined
  knowClient: KnowClient
  limits: Limits
  log: Log
  metrics: Metrics
  /** Port of the public surface; undefined for the standard port of its scheme. */
  publicPort: () => number | undefined
  fallback: Pick<SiteSettings, 'ns' | 'errorNs'>
}

/** @returns the handler of requests to mounts, wherever they are */
export function mountsHandler(parts: MountsParts): RequestListener {
  const { place, hosting, store, log, metrics, limits } = parts
  const prefix = 'path' in place ? place.path : ''
  const open = mountOpener(parts, prefix)
  return mountApp({
    prefix,
    async mountFor(authority) {
      const host = 'host' in place ? parts.table.mountSiteFor(authority)?.host : authority
      const hosted = host === undefined ? undefined : await hosting.open(host)
      return hosted && open(hosted)
    },
    knowClient: parts.knowClient,
    bodyOf: (request, response) => ({
      bytes: cap => readBody(request, response, cap, limits.bodyIdle),
      stage: cap => stageBody((body, options) => store.stage(body, options), request, response, cap, limits.bodyIdle),
    }),
    checkLength: checkDeclaredLength,
    send,
    commonHeaders: commonHeaders(),
    publicOrigins: (settings, { authority = '', secure }) => [
      settings.publicUrl ?? ownOrigin(secure, withPort(authority, parts.publicPort())),
    ],
    finished: ({ request, status, milliseconds }) => {
      const { method = '', url = '' } = request
      metrics.request('mount', method, status, milliseconds / 1000)
      const path = url.split('?', 1)[0] ?? url
      logRequest(log, { face: 'mount', host: request.headers.host ?? '', method, path, status, milliseconds })
    },
    failed: (error, message) => log.error({ err: error }, message),
    fallback: parts.fallback,
  })
}

/** Opens the mount of a site when the first request comes. */
function mountOpener(parts: MountsParts, prefix: string): (hosted: HostedSite) => Promise<Mount> {
  const { store, leases, cache, locks, log, coherence } = parts
  const mounts = new WeakMap<Site, Promise<Mount>>()
  const attempts = createAttempts()
  const fileBody = (file: string): BodySource => ({
    bytes: () => Promise.reject(new Error('A file on disk is no body to be held in memory')),
    stage: cap => store.stage(createReadStream(file), { limit: cap }),
  })

  async function start({ site, settings }: HostedSite): Promise<Mount> {
    const name = scratchName(site.store.name)
    const openScratch = () =>
      Site.open({
        settings: site.settings,
        store: store.site(name),
        leases,
        cache,
        basis: basisOf(store, name),
        report: (message, details) => log.warn({ site: name, ...details }, message),
        coherence,
      })
    const scratch = await (coherence ? coherence.open(name, openScratch) : openScratch())
    return openMount({ site, scratch, settings, locks, attempts, fileBody, prefix })
  }

  return hosted => {
    const known = mounts.get(hosted.site)
    if (known) return known
    const opening = start(hosted)
    mounts.set(hosted.site, opening)
    opening.catch(() => mounts.delete(hosted.site))
    return opening
  }
}

/** Security headers by the settings of a site; made once for each. */
function commonHeaders() {
  const plain = securityHeaders()
  const made = new WeakMap<SiteSettings, ReturnType<typeof securityHeaders>>()
  return (settings: SiteSettings | undefined, secure: boolean) => {
    if (!settings) return plain(secure, false)
    let headers = made.get(settings)
    if (!headers) {
      headers = securityHeaders({
        referrerPolicy: settings.referrerPolicy,
        strictTransport: settings.hsts || undefined,
      })
      made.set(settings, headers)
    }
    return headers(secure, false)
  }
}

function withPort(authority: string, port: number | undefined): string {
  const host = authority.replace(/:\d*$/, '')
  return port === undefined ? host : `${host}:${port}`
}

/** Where requests to the public listener go when mounts have no port of their own. */
export function routeToMount(
  place: MountPlace,
  table: SiteTable,
  knowClient: KnowClient,
): (request: IncomingMessage) => boolean {
  if ('port' in place) return () => false
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
