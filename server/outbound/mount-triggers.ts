/** Triggers around writes of the mount, where a site wants them (REA-6, `mountReactions`). */

import type { IncomingHttpHeaders } from 'node:http'
import { normalizeHost } from '../../config/hosts.ts'
import { requireKnown } from '../../dav/access/credentials.ts'
import type { Scope } from '../../dav/access/scope.ts'
import { checkWritable, scopeAuthority } from '../../dav/access/scope-authority.ts'
import type { Exchange } from '../../dav/exchange.ts'
import { toForm, transferTo } from '../../dav/methods/copy-move.ts'
import { elementMove, movesElement, selectorRange } from '../../dav/methods/elements.ts'
import type { Mount } from '../../dav/mount.ts'
import { isCollection } from '../../dav/places/place.ts'
import { checkedBody } from '../../dav/requests/body-checks.ts'
import { destinationOf } from '../../dav/requests/destination.ts'
import type { MountTriggers } from '../../dav/triggers.ts'
import { checkBodyFields, header } from '../../edge/request.ts'
import { mostBodies } from '../../edge/request-body.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { NO_BODY } from '../../pipeline/body.ts'
import { scripts } from '../../pipeline/evaluation/scripts.ts'
import { Fault } from '../../pipeline/fault.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { parseRange } from '../../pipeline/http/range.ts'
import type { Allowance } from '../../pipeline/language/allowance.ts'
import type { Admitted } from '../../pipeline/operation.ts'
import { KeptBody } from '../../pipeline/react/body.ts'
import { mostCallsAt } from '../../pipeline/react/calls.ts'
import { reactionsTo } from '../../pipeline/react/chain.ts'
import { mayReadBody } from '../../pipeline/react/context.ts'
import { type Candidates, codeOf } from '../../pipeline/react/declared/reactions.ts'
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
import { refuseHelper } from '../public/helper-files.ts'
import { depthFor, type ReactionParts } from '../public/reactions.ts'

const METHODS: ReadonlySet<string> = new Set(['PUT', 'DELETE', 'MOVE', 'COPY'])

export function mountTriggers(parts: ReactionParts): MountTriggers {
  return {
    depthOf: ({ request, mount }) => depthFor(parts, request, mount.settings.brand),

    async ofRequest(exchange) {
      const { mount, method, path, author, request, authorities } = exchange
      // What repairs a site must not be kept from it by what is to be repaired (DAV-7).
      if (!METHODS.has(method) || path.endsWith('/') || exchange.raw) return undefined
      const triggers = triggersOn(mount, method, path)
      if (!triggers) return undefined
      const to = refuseEarly(exchange)
      const selector = selectorOf(header(exchange, 'range'))
      if (!(await isOfFile(exchange))) return undefined
      // The scope may open the folder that was named, and no file of this name.
      if (to !== undefined) checkWritable(author.scope, toForm(to, false))
      const isBlob = selector === undefined && kindOf(storedType(path, header(exchange, 'content-type'))) === 'blob'
      const { settings } = mount
      const isShown =
        isBlob && codeOf({ triggers, processors: [] }).some(({ source }) => mayReadBody(source, 'request'))
      const held = isShown ? mostBodies() : 0
      const limits = { document: largestDocument(mount.site.settings), body: settings.maxBody, held }
      // What was promised is about what was sent, which code may replace.
      const sent = method === 'PUT' && selector === undefined ? checkedBody(exchange) : exchange.body
      const body = new KeptBody(sent, limits, isBlob, parts.stage)
      // What makes a draft does nothing else (DAV-60).
      if (method === 'PUT' && !isBlob && selector === undefined) {
        await body.read()
        if (body.received?.length === 0) return { body, calls: NO_CALLS }
      }
      const [authority = settings.host] = authorities
      // The credential of the mount is nobody's business.
      const { authorization: _, ...headers } = request.headers
      const allowance = exchange.allowance()
      const know = () => requireKnown(mount, author)
      const { scope } = author
      const { depth = 0 } = exchange
      const asked = { mount, method, path, triggers, selector, body, authority, headers, allowance, scope, know, depth }
      const { calls, run, guard } = reacting(parts, asked)
      exchange.afterwards(() => {
        calls.dispatch()
        void body.discard()
      })
      const done = await run()
      return 'body' in done ? { body: done.body, calls, guard } : done
    },

    async ofSettling({ mount, path, headers, scope, depth, allowance }, publish) {
      const method = 'PUT'
      const triggers = triggersOn(mount, method, path)
      if (!triggers) return publish(NO_BODY).then(() => true)
      const { site, settings } = mount
      const limits = { document: largestDocument(site.settings), body: settings.maxBody, held: 0 }
      const body = new KeptBody(NO_BODY, limits, false, parts.stage)
      const about = {
        mount,
        method,
        path,
        triggers,
        selector: undefined,
        body,
        authority: settings.host,
        headers,
        scope,
        depth,
      }
      const { calls, run } = reacting(parts, { ...about, allowance: allowance(), know: () => undefined })
      try {
        const done = await run().catch(endOf)
        if ('body' in done) await publish(done.body, calls).finally(() => calls.record())
        else {
          const { status } = done.answer
          parts.report(site.store.name, 'A trigger has kept an empty file from being published', { path, status })
        }
        return 'body' in done
      } finally {
        calls.dispatch()
      }
    },
  }
}

/**
 * How triggers that fail end the publication of a draft: code would do again what it has done, and fail again.
 *
 * @throws whatever another moment may bring to a better end
 */
function endOf(failure: unknown): { answer: Answer } {
  const isOfCode = failure instanceof Fault && (failure.kind === 'BindingFailure' || failure.kind === 'BudgetExceeded')
  if (!isOfCode) throw failure
  return { answer: { status: failure.status, headers: {} } }
}

/** Of a draft: triggers wait until it is published. */
const NO_CALLS = { notes: () => [], stored: () => undefined, record: async () => undefined }

/** What triggers are to run for, on whichever occasion. */
interface Asked {
  mount: Mount
  method: string
  path: string
  triggers: Candidates['triggers']
  selector: string | undefined
  body: KeptBody
  authority: string
  headers: IncomingHttpHeaders
  allowance: Allowance
  scope: Scope
  /** Calls of this server that have led here (REA-88). */
  depth: number
  /** @throws Fault 401 where the author is not known any more */
  know: () => void
}

/** @returns undefined where none may run */
function triggersOn({ site, settings }: Mount, method: string, path: string): Candidates['triggers'] | undefined {
  if (!settings.mountReactions) return undefined
  const triggers = site.declarations('reactions').candidates(method, path)?.triggers
  return triggers?.length ? triggers : undefined
}

/** @returns runs the triggers, and the calls that they cause: recorded already where nothing is to be written any more */
function reacting(parts: ReactionParts, asked: Asked) {
  const { mount, method, path, triggers, selector, body, authority, headers, allowance, scope, know, depth } = asked
  const { site, settings } = mount
  const { brand, brandHeader } = settings
  const calls = requestCalls(parts.outbound(), { site: site.store.name, authority, brand, brandHeader, depth })
  const scoped = scopeAuthority(scope)
  const writes = writingPlatform({
    site,
    authority: () => {
      know()
      return scoped
    },
    allowance,
    count: { writes: 0 },
    own: method === 'PUT' ? { path, body, isFragment: selector !== undefined } : undefined,
    transitions: undefined,
    configure: scope.configure,
    refuse: to => refuseHelper(mount.names, to),
    ...(settings.locksBindPublicWrites && {
      refuseLocked: (paths: readonly string[]) => refuseLocked(mount.locks, site.store.name, paths),
    }),
  })
  const sessionCookie = `${brand}_session`
  const reactions = reactionsTo({
    site,
    candidates: { triggers, processors: [] },
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
        sessionCookie,
        params: new Map(),
        body: '',
        identity: undefined,
      }),
    body,
    // Without processors nothing of an answer is read.
    hold: () => undefined,
    allowance,
    sessionCookie,
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
  async function run() {
    try {
      let done: Awaited<ReturnType<typeof reactions.before>>
      do done = await reactions.before(selector === undefined ? {} : await addressed(site, path, selector), body)
      while (!done)
      if ('answer' in done) await calls.record()
      return done
    } catch (error) {
      await calls.record()
      throw error
    }
  }
  return { calls, run, guard: reactions.guard }
}

/**
 * What comes before triggers: the scope, reserved paths, and fields that cannot be read (REA-6, REA-10).
 *
 * @returns where a whole file goes
 * @throws Fault as the method itself would
 */
function refuseEarly(exchange: Exchange): string | undefined {
  const { method, path, author } = exchange
  if (method === 'COPY') return transferTo(exchange, 'copy')
  if (method === 'MOVE') {
    if (!movesElement(exchange)) return transferTo(exchange, 'move')
    elementMove(exchange, destinationOf(exchange))
  } else {
    checkWritable(author.scope, path)
    const isPart = header(exchange, 'range') !== undefined
    if (method === 'PUT' || isPart) checkBodyFields(exchange)
    if (isPart) selectorRange(exchange)
  }
  return undefined
}

/**
 * Whether a request is about a file of the site, be there one or not (REA-6): neither about a file of a desktop system, nor
 * about a collection that is named without its slash (DAV-12), nor about what the credential does not see. A draft over
 * nothing is none before it is published: only a PUT can do that.
 */
async function isOfFile({ mount, path, method, author }: Exchange): Promise<boolean> {
  if (!author.scope.covers(path) || (await mount.view.isHelper(path))) return false
  const node = await mount.view.find(path)
  return !node || !(isCollection(node) || (node.place.isNew && method !== 'PUT'))
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
