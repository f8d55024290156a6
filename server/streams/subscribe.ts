/** GET with `Accept: text/event-stream`: an event stream of one path (EVT-1 to EVT-5). */

import { randomUUID } from 'node:crypto'
import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { names } from '../../pipeline/http/accept.ts'
import { cacheControl } from '../../pipeline/http/caching.ts'
import { directoryLocation, mayNameDirectory } from '../../pipeline/http/path.ts'
import type { Operation } from '../../pipeline/operation.ts'
import { refuseForbidden, requireAllowed } from '../../pipeline/refusals.ts'
import type { Exchange } from '../public/exchange.ts'
import { sessionCookies } from '../sessions/steps.ts'

/** Whether a request asks for an event stream (EVT-1). */
export function asksForStream(exchange: Exchange): boolean {
  return exchange.method === 'GET' && names(header(exchange, 'accept'), 'text/event-stream')
}

/** A subscription as an operation. */
export function subscription(exchange: Exchange): Operation {
  const { path, target, authority } = exchange
  return {
    async admit() {
      if (!(await redirect(exchange)))
        refuseForbidden(authority(), { ask: 'subscribe', path, exists: true }, 'GET', target.path)
      return {}
    },
    carryOut: () => subscribe(exchange),
  }
}

/**
 * @returns 200 with a stream, or the redirect of a directory
 * @throws Fault 401 or 403 when the rules do not admit the subscriber, 503 when too many streams are open
 */
async function subscribe(exchange: Exchange): Promise<Answer> {
  const { site, path, target, session, streams, hosted, response } = exchange
  const moved = await redirect(exchange)
  if (moved) return moved
  // What exists makes no difference: whoever is admitted may wait for it (EVT-4).
  const decided = exchange.authority()
  requireAllowed(decided, { ask: 'subscribe', path, exists: true }, 'GET', target.path)
  const lastEventId = header(exchange, 'last-event-id')
  const stream = await streams.open(site, hosted.settings.events, {
    path,
    // Where no session can be had, every subscriber is somebody else (EVT-57).
    session: session.missing ? randomUUID() : session.id,
    address: exchange.address,
    authority: exchange.authority,
    isGuardedAnew: guardedAnew(exchange),
    lastEventId: lastEventId === '' ? undefined : lastEventId,
  })
  const cookie = session.issue ?? sessionCookies(hosted.settings, exchange.request.headers.cookie)
  const forget = hosted.siteSessions.watch(session, cookie, why => stream.endSession(`session-${why}`))
  const release = () => {
    forget()
    stream.end('at once')
  }
  if (response.destroyed) release()
  else response.once('close', release)
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      // Proxies that keep answers until they are complete would keep this one for ever.
      'X-Accel-Buffering': 'no',
    },
    stream: sink => stream.start(sink),
  }
}

/** @returns whether a trigger stands before the path that was none of those that the request has passed (EVT-3, EVT-65) */
function guardedAnew({ site, path, reactions }: Exchange): () => boolean {
  const passed = new Set(reactions.guards(path))
  let seen = reactions
  return () => {
    const now = site.declarations('reactions')
    if (now === seen) return false
    if (now.guards(path).some(guard => !passed.has(guard))) return true
    seen = now
    return false
  }
}

/** The 301 that a GET without the slash of a directory gets (EVT-2, HTTP-15). */
async function redirect({ site, path, target, authority }: Exchange): Promise<Answer | undefined> {
  const requested = target.path
  // Where no redirect would be told, nothing is looked for that could tell by its time what is there.
  if (!mayNameDirectory(requested) || authority().admitDirectory(requested, true, false) !== 'redirect')
    return undefined
  if (await site.find(path)) return undefined
  const index = (await site.find(`${requested}/index.html`)) !== undefined
  if (authority().admitDirectory(requested, index, false) !== 'redirect') return undefined
  const location = directoryLocation(requested, target.query)
  return { status: 301, headers: { Location: location, 'Cache-Control': cacheControl('redirect', true) }, body: '' }
}
