/** A server that runs: the composition root's work, from settings to listeners and back. */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { Settings } from '../config/schema.ts'
import { siteTable } from '../config/sites.ts'
import { notOffered as mountNotOffered } from '../dav/app.ts'
import { DAV_HEADERS } from '../dav/methods/options.ts'
import { KnownRequests } from '../edge/known-requests.ts'
import { limitBlobs, openBlobs } from '../edge/open-blobs.ts'
import { clientReader, proxyTrust, type TrustsProxy } from '../edge/request.ts'
import { type BodyReading, bytesOfBodies, limitBodies } from '../edge/request-body.ts'
import { securityHeaders } from '../edge/security-headers.ts'
import { bytesOfAnswers, limitAnswers } from '../edge/unread-answers.ts'
import { compiled } from '../pipeline/compiled.ts'
import { systemClock } from '../pipeline/events/clock.ts'
import { Streams } from '../pipeline/events/streams.ts'
import { Fault } from '../pipeline/fault.ts'
import { createJavaScript } from '../pipeline/language/javascript/javascript.ts'
import type { Outbound } from '../pipeline/react/outbound/queue.ts'
import { notOffered } from '../pipeline/refusals.ts'
import { documentCacheIn } from '../pipeline/site/cache.ts'
import type { Store } from '../pipeline/store/store.ts'
import { mountAddress } from './addresses.ts'
import { publicApp } from './app.ts'
import { openAudit } from './audit.ts'
import { afterCatchingUp } from './catching-up.ts'
import type { AnswersByBytes } from './connections.ts'
import { type Coordination, openCoordination } from './coordination.ts'
import { type ConnectionRoom, connectionRoom, descriptors, ENDLESS, sharedOut } from './descriptors.ts'
import { errorDocument, errorHeaders } from './documents/error.ts'
import { readiness, servicesOf } from './health.ts'
import { createHosting, type Hosting } from './hosting.ts'
import { type Listener, type ListenOptions, listen } from './listen.ts'
import type { Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import { createMounts, type Mounts, routeToMount } from './mounts.ts'
import { memoryOf } from './open-store.ts'
import { mountTriggers } from './outbound/mount-triggers.ts'
import { serverOutbound } from './outbound/outbound.ts'
import { isForOperators, platformRoutes } from './platform/routes.ts'
import type { ReactionParts } from './public/reactions.ts'
import { createResponseCache } from './response-cache.ts'
import { watchOwnHeap, watchRest } from './rest.ts'
import { isWorker, spreadsConnections } from './workers.ts'
import { createContentBrake, createWriteBrake } from './write-brake.ts'

export interface RunningServer {
  /** Such as `http://localhost:8080`. */
  publicOrigin: string
  /** Origin of the mount when it has a port of its own. */
  mountOrigin?: string
  hosting: Hosting
  mounts: Pick<Mounts, 'tend' | 'close'>
  store: Store
  outbound: Outbound
  /**
   * Takes what can change while the server runs: credentials, and the files of certificates and of the record of changes,
   * which are read or opened anew.
   *
   * @throws the system's error when a certificate cannot be read; then the old one stays
   */
  renew(settings: Settings): void
  /** Ends gracefully: running requests are answered, commits finished, the store closed. */
  close(): Promise<void>
}

/** Name of the value in the store. */
export const SESSION_SECRET = 'session-secret'

/** The key that signs sessions; made once and kept with the data, so that a restart keeps every visitor's session. */
async function sessionSecret(store: Store): Promise<Uint8Array> {
  const kept = await store.setting(SESSION_SECRET)
  if (kept !== undefined) return Buffer.from(kept, 'base64')
  await store.setSetting(SESSION_SECRET, randomBytes(32).toString('base64'), { unlessSet: true })
  return sessionSecret(store)
}

/** How a host that no site answers for is answered. */
function fallbackOf({ defaults }: Settings) {
  return { ...defaults, errorNs: defaults.errorNs ?? `${defaults.ns}/error` }
}

/** Room for connections, as far as the system lets this process have descriptors. */
function roomOf(log: Log, trusts: TrustsProxy): ConnectionRoom {
  const found = descriptors()
  if (!found) return ENDLESS
  return connectionRoom({
    ...sharedOut(found),
    beside: openBlobs,
    isProxy: address => trusts(address, 0),
    full: (connections, refused) =>
      log.warn(
        { connections, descriptors: found.limit, ...refused },
        'too few descriptors for more connections: they are 503, or closed unanswered where nobody can wait for their keys',
      ),
  })
}

/** How the server listens, on whichever port. */
function listenOptions(settings: Settings): Omit<ListenOptions, 'port'> {
  const headers = securityHeaders()
  const { listen, tls, limits } = settings
  const knowClient = clientReader(proxyTrust(settings.trustProxy))
  return {
    host: listen.host,
    tls,
    reusePort: isWorker && spreadsConnections,
    headers: limits.headers,
    headerWait: limits.headerWait,
    notOffered,
    brokenDocument: (fault, request) => ({
      headers: {
        ...errorHeaders(fault),
        ...headers(request ? knowClient(request).secure : tls !== undefined, true),
      },
      body: errorDocument(fault, { ...fallbackOf(settings), method: 'GET', path: '/', accept: 'text/html' }),
    }),
  }
}

/** The same for a listener of the mount alone, where every answer names the class of WebDAV (DAV-20). */
function ofMount<T extends Omit<ListenOptions, 'port'>>(options: T): T {
  return {
    ...options,
    notOffered: mountNotOffered,
    brokenDocument: (...asked) => {
      const { headers, body } = options.brokenDocument(...asked)
      return { headers: { ...DAV_HEADERS, ...headers }, body }
    },
  }
}

/**
 * Starts a server.
 *
 * @param unrecorded open; closed together with the server
 * @throws the system's error when an address is taken
 */
export async function startServer(settings: Settings, unrecorded: Store, log: Log): Promise<RunningServer> {
  const audit = openAudit(settings.log, log)
  const store = audit?.recording(unrecorded) ?? unrecorded
  const coordination = await openCoordination(settings, store, log)
  try {
    return await startCoordinated(settings, { store, audit, coordination }, log)
  } catch (error) {
    // What goes on would ask a store that is closed, and keep the process.
    await coordination.close()
    throw error
  }
}

interface Opened {
  store: Store
  audit: ReturnType<typeof openAudit>
  coordination: Coordination
}

async function startCoordinated(
  settings: Settings,
  { store, audit, coordination }: Opened,
  log: Log,
): Promise<RunningServer> {
  const { leases, locks, sessions, rateLimits, fanOut, coherence, following } = coordination
  const { now = Date.now } = store
  const failed = (error: unknown) => log.error({ err: error }, 'an event stream failed')
  const memory = memoryOf(settings)
  const waiting = { most: memory.limit / 2, grown: () => memory.makeRoom() }
  const streams = new Streams({ fanOut, clock: { ...systemClock, now }, waiting, failed })
  following?.onCommit((_, isSetBack) => isSetBack && streams.setBack())
  const javascript = createJavaScript({
    workers: settings.javascript.workers,
    limits: settings.javascript,
    log: ({ level, ...line }) => log[level === 'log' ? 'info' : level](line, 'a script has written'),
    failed: error => log.error({ err: error }, 'a worker for scripts has not started'),
    grown: () => memory.makeRoom(),
  })
  const services = servicesOf(store, settings.redis === undefined ? undefined : coordination.isUp)
  let room = ENDLESS
  const metrics = createMetrics({
    services,
    streams: () => streams.size,
    outbound: () => outbound.figures(),
    scripts: () => javascript.counters(),
    refused: () => room.refused,
    memory,
  })
  watchOwnHeap(memory)
  const table = siteTable(settings)
  const cache = documentCacheIn(memory)
  const kept = createResponseCache(site => hosting.partsOf(site) !== undefined, memory.share('answers'))
  memory.hold('answers', kept.memory)
  compiled.limit(memory.share('programs'))
  memory.hold('programs', compiled)
  if (store.pages) memory.hold('pages', store.pages)
  const hosting = createHosting({
    javascript,
    table,
    store,
    leases,
    sessions,
    cache,
    log,
    secret: await sessionSecret(store),
    fanOut,
    streams,
    rateLimits,
    coherence,
    following,
  })
  const trusts = proxyTrust(settings.trustProxy)
  const knowClient = clientReader(trusts)
  // What bodies hold is there beside the caches, which give way to it.
  limitBodies(Math.min(settings.limits.bodies, memory.limit), () => memory.makeRoom())
  memory.need('bodies', bytesOfBodies)
  memory.need('scripts', () => javascript.counters().memory)
  memory.need('streams', () => streams.waiting)
  limitAnswers(waiting)
  memory.need('unread', bytesOfAnswers)
  const bodies: BodyReading = {
    stage: (body, options) => store.stage(body, { ...options, files: openBlobs }),
    idle: settings.limits.bodyIdle,
  }
  let ready = false
  const brands = new Set([settings.defaults.brand, ...settings.sites.map(site => site.brand)])
  const operators = { brands, open: { health: settings.health.public, metrics: settings.metrics.public } }
  const platform = platformRoutes({
    ...operators,
    metrics,
    isServing: () => ready,
    readiness: readiness({
      isServing: () => ready,
      services,
      hasRoom: () => room.hasRoom(),
      takesWrites: () => store.takesWrites?.() !== false && coordination.takesWrites(),
      folder: settings.data,
    }),
  })
  const fallback = fallbackOf(settings)
  const reactions: ReactionParts = {
    stage: bodies.stage,
    javascript,
    outbound: () => outbound,
    report: (site, message, details) => log.warn({ site, ...details }, message),
  }
  const handler = publicApp({
    hosting,
    knowClient,
    kept,
    bodies,
    log,
    logged: settings.log,
    audit,
    mountOf: ({ authority, secure }) =>
      authority === undefined
        ? undefined
        : mountAddress(settings.mount, `${secure ? 'https' : 'http'}://${authority}`, mountPort),
    brakeWrites: createWriteBrake(rateLimits, settings.limits.writesPerMinute),
    brakeContent: createContentBrake(rateLimits, settings.limits.writesPerMinute),
    metrics,
    platform,
    locks,
    streams,
    reactions,
    fallback,
  })
  let publicPort: number | undefined
  let mountPort: string | undefined
  const mounts = createMounts({
    triggers: mountTriggers(reactions),
    place: settings.mount,
    table,
    hosting,
    store,
    leases,
    cache,
    memory,
    locks,
    rateLimits,
    coherence,
    following,
    knowClient,
    bodies,
    log,
    logged: settings.log,
    audit,
    metrics,
    publicPort: () => publicPort,
    fallback,
  })
  const isForMount = routeToMount(settings.mount, table, knowClient)
  const shared: RequestListener = isForMount
    ? (request, response) => (isForMount(request) ? mounts.handler : handler)(request, response)
    : handler
  room = roomOf(log, trusts)
  limitBlobs(room.mayOpen)
  const byBytes = (holder: 'requests' | 'mount-requests'): AnswersByBytes | undefined => {
    // Whoever has to be asked before each request would be asked twice.
    if (following?.asks) return undefined
    const known = new KnownRequests(memory.share(holder))
    memory.hold(holder, known)
    return { known, isInStep: () => following?.inStep() === undefined, trusts }
  }
  const listening = { ...listenOptions(settings), room }
  const facing = (handler: RequestListener, isForDocuments: (request: IncomingMessage) => boolean = () => false) =>
    afterCatchingUp(following, {
      handler,
      isFree: request => isForOperators(request, operators) && !isForDocuments(request),
      unready(request, response) {
        const fault = new Fault(503, 'Unavailable', 'The server cannot read its documents now. Try again in a moment.')
        const { headers, body } = listening.brokenDocument(fault, request)
        response.writeHead(fault.status, headers).end(body)
      },
    })
  const outbound = serverOutbound({
    table,
    store,
    leases,
    shared: coherence !== undefined,
    handler: facing(handler),
    publicPort: () => publicPort,
    log,
  })
  const listener = await listen(facing(shared, isForMount), {
    ...listening,
    byBytes: byBytes('requests'),
    port: settings.listen.port,
  })
  publicPort = portOf(listener)
  const mountListener =
    'port' in settings.mount
      ? await listen(
          facing(mounts.handler, () => true),
          {
            ...ofMount(listening),
            byBytes: byBytes('mount-requests'),
            port: settings.mount.port,
          },
        ).catch(async (error: unknown) => {
          await listener.close(0)
          throw error
        })
      : undefined
  mountPort = mountListener && new URL(mountListener.origin).port
  mounts.resume()
  void outbound.resume()
  ready = true
  const rest = watchRest(
    () => metrics.requests.total,
    () => {
      memory.release()
      store.relax?.()
    },
  )
  return {
    publicOrigin: listener.origin,
    ...(mountListener && { mountOrigin: mountListener.origin }),
    hosting,
    mounts,
    store,
    outbound,
    renew(renewed) {
      mounts.renewCredentials(siteTable(renewed))
      audit?.reopen()
      listener.renewCertificate()
      mountListener?.renewCertificate()
    },
    async close() {
      ready = false
      rest.close()
      streams.close()
      const { shutdown } = settings.limits
      await Promise.all([listener.close(shutdown), mountListener?.close(shutdown)])
      await outbound.close()
      await mounts.close()
      await javascript.close()
      await coordination.close()
      await store.close()
      metrics.close()
      audit?.close()
    },
  }
}

function portOf({ origin }: Listener): number | undefined {
  const { port } = new URL(origin)
  return port === '' ? undefined : Number(port)
}
