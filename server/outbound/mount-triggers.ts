/** Triggers around writes of the mount, where a site wants them (REA-6, `mountReactions`). */

import { normalizeHost } from '../../config/hosts.ts'
import { requireKnown } from '../../dav/access/credentials.ts'
import { checkWritable, scopeAuthority } from '../../dav/access/scope-authority.ts'
import type { Exchange } from '../../dav/exchange.ts'
import { transferTo } from '../../dav/methods/copy-move.ts'
import { elementMove, movesElement, selectorRange } from '../../dav/methods/elements.ts'
import { isCollection } from '../../dav/places/place.ts'
import { destinationOf } from '../../dav/requests/destination.ts'
import type { MountTriggers } from '../../dav/triggers.ts'
import { checkBodyFields, header } from '../../edge/request.ts'
import { mostBodies } from '../../edge/request-body.ts'
import { scripts } from '../../pipeline/evaluation/scripts.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { parseRange } from '../../pipeline/http/range.ts'
import type { Admitted } from '../../pipeline/operation.ts'
import { KeptBody } from '../../pipeline/react/body.ts'
import { mostCallsAt } from '../../pipeline/react/calls.ts'
import { reactionsTo } from '../../pipeline/react/chain.ts'
import { mayReadBody } from '../../pipeline/react/context.ts'
import { codeOf } from '../../pipeline/react/declared/reactions.ts'
import { javascriptReactions } from '../../pipeline/react/javascript.ts'
import { requestCalls } from '../../pipeline/react/outbound/request-calls.ts'
import { sesselReactions } from '../../pipeline/react/sessel.ts'
import { writingPlatform } from '../../pipeline/react/writes.ts'
import { lookAt } from '../../pipeline/read/representation.ts'
import { toSelector } from '../../pipeline/refusals.ts'
import { RequestValue } from '../../pipeline/request-value.ts'
import { largestDocument, type Site } from '../../pipeline/site/site.ts'
import { selectingFirst } from '../../pipeline/tree/selector/selector.ts'
import type { Steps } from '../../pipeline/tree/steps.ts'
import { refuseLocked } from '../../pipeline/write/whole.ts'
import { depthFor, type ReactionParts } from '../public/reactions.ts'

const METHODS: ReadonlySet<string> = new Set(['PUT', 'DELETE', 'MOVE', 'COPY'])

/** @returns runs the triggers of a request; undefined where none may run */
export function mountTriggers(parts: ReactionParts): MountTriggers {
  return async exchange => {
    const { mount, method, path, author, request, authorities } = exchange
    const { site, settings } = mount
    // What repairs a site must not be kept from it by what is to be repaired (DAV-7).
    if (!settings.mountReactions || !METHODS.has(method) || path.endsWith('/') || exchange.raw) return undefined
    const found = site.declarations('reactions').candidates(method, path)
    if (!found || found.triggers.length === 0) return undefined
    refuseEarly(exchange)
    if (!(await isOfFile(exchange))) return undefined
    const allowance = exchange.allowance()
    const selector = selectorOf(header(exchange, 'range'))
    const isBlob = selector === undefined && kindOf(storedType(path, header(exchange, 'content-type'))) === 'blob'
    const candidates = { triggers: found.triggers, processors: [] }
    const isShown = isBlob && codeOf(candidates).some(({ source }) => mayReadBody(source, 'request'))
    const held = isShown ? mostBodies() : 0
    const limits = { document: largestDocument(site.settings), body: settings.maxBody, held }
    const body = new KeptBody(exchange.body, limits, isBlob, parts.stage)
    const [authority = settings.host] = authorities
    const { brand, brandHeader } = settings
    const depth = depthFor(parts, request, brand)
    const calls = requestCalls(parts.outbound(), { site: site.store.name, authority, brand, brandHeader, depth })
    const scoped = scopeAuthority(author.scope)
    const writes = writingPlatform({
      site,
      authority: () => {
        requireKnown(mount, author)
        return scoped
      },
      allowance,
      count: { writes: 0 },
      own: method === 'PUT' ? { path, body, isFragment: selector !== undefined } : undefined,
      transitions: undefined,
      configure: author.scope.configure,
      ...(settings.locksBindPublicWrites && {
        refuseLocked: (paths: readonly string[]) => refuseLocked(mount.locks, site.store.name, paths),
      }),
    })
    // The credential of the mount is nobody's business.
    const { authorization: _, ...headers } = request.headers
    const reactions = reactionsTo({
      site,
      candidates,
      path,
      hasSelector: selector !== undefined,
      request: async () =>
        new RequestValue({
          method,
          path,
          host: normalizeHost(authority) ?? '',
          query: '',
          repeated: 'first',
          headers,
          sessionCookie: `${settings.brand}_session`,
          params: new Map(),
          body: '',
          identity: undefined,
        }),
      body,
      allowance,
      sessionCookie: `${settings.brand}_session`,
      languages: () => [
        sesselReactions({ site, allowance, more: [scripts(parts.javascript)], writes }),
        javascriptReactions({ site, allowance, path, javascript: parts.javascript }),
      ],
      mostCalls: mostCallsAt(depth),
      made: { calls: 0 },
      queue: calls.add,
      toAnswer: failure => {
        throw failure
      },
      report: (message, details) => parts.report(site.store.name, message, { method, path, ...details }),
    })
    exchange.afterwards(() => {
      calls.dispatch()
      void body.discard()
    })
    try {
      let done: Awaited<ReturnType<typeof reactions.before>>
      do done = await reactions.before(selector === undefined ? {} : await addressed(site, path, selector), body)
      while (!done)
      if ('body' in done) return { body: done.body, calls }
      await calls.record()
      return done
    } catch (error) {
      await calls.record()
      throw error
    }
  }
}

/**
 * What comes before triggers: the scope, reserved paths, and fields that cannot be read (REA-6, REA-10).
 *
 * @throws Fault as the method itself would
 */
function refuseEarly(exchange: Exchange): void {
  const { method, path, author } = exchange
  if (method === 'COPY') transferTo(exchange, 'copy')
  else if (method === 'MOVE') {
    if (movesElement(exchange)) elementMove(exchange, destinationOf(exchange))
    else transferTo(exchange, 'move')
  } else {
    checkWritable(author.scope, path)
    const isPart = header(exchange, 'range') !== undefined
    if (method === 'PUT' || isPart) checkBodyFields(exchange)
    if (isPart) selectorRange(exchange)
  }
}

/**
 * Whether a request is about a file of the site, be there one or not (REA-6): neither about a file of a desktop system, nor
 * about a collection that is named without its slash (DAV-12), nor about what the credential does not see.
 */
async function isOfFile({ mount, path, author }: Exchange): Promise<boolean> {
  if (!author.scope.covers(path) || (await mount.view.isHelper(path))) return false
  const node = await mount.view.find(path)
  return !node || !isCollection(node)
}

/** Selector of a `Range`. */
function selectorOf(field: string | undefined): string | undefined {
  const range = parseRange(field)
  return range?.unit === 'selector' ? range.selector : undefined
}

/** The element that a write is about (REA-23). @throws Fault 422 for a selector that does not parse */
async function addressed(site: Site, path: string, text: string): Promise<Admitted> {
  const selector = toSelector(text, site)
  const found = await lookAt(site, path, function* ({ view }): Steps<Admitted> {
    const target = view && (yield* selectingFirst(selector, view.tree))
    return target ? { addressed: { view, elements: [target] } } : {}
  })
  return found ?? {}
}
