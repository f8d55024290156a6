/** The reactions of a site around a request on its public surface (REA-6). */

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { header } from '../../edge/request.ts'
import { holder, mostBodies } from '../../edge/request-body.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { resolvePath } from '../../pipeline/compose/routes.ts'
import { scripts } from '../../pipeline/evaluation/scripts.ts'
import { kindOf, storedType } from '../../pipeline/http/media.ts'
import { parseRange } from '../../pipeline/http/range.ts'
import type { JavaScript } from '../../pipeline/language/javascript/interface.ts'
import { type Operation, perform } from '../../pipeline/operation.ts'
import { KeptBody } from '../../pipeline/react/body.ts'
import { mostCallsAt } from '../../pipeline/react/calls.ts'
import { type Phase, type ReactingRequest, reactionsTo } from '../../pipeline/react/chain.ts'
import type { ReactionLanguage } from '../../pipeline/react/code.ts'
import { mayReadBody } from '../../pipeline/react/context.ts'
import { type Candidates, codeOf, leavesAlone, type Reaction } from '../../pipeline/react/declared/reactions.ts'
import { deliveriesOf } from '../../pipeline/react/handlers.ts'
import { javascriptReactions } from '../../pipeline/react/javascript.ts'
import type { Outbound } from '../../pipeline/react/outbound/queue.ts'
import { requestCalls } from '../../pipeline/react/outbound/request-calls.ts'
import { sesselReactions } from '../../pipeline/react/sessel.ts'
import { writingPlatform } from '../../pipeline/react/writes.ts'
import { largestDocument } from '../../pipeline/site/site.ts'
import type { StagedBlob, StagingOptions } from '../../pipeline/store/blobs.ts'
import { generatedName, type LedPut } from '../../pipeline/write/document.ts'
import type { Fired } from '../../pipeline/write/transitions.ts'
import { mayRead, refuseLocked } from '../../pipeline/write/whole.ts'
import { depthOf } from '../outbound/inside.ts'
import { asksForStream } from '../streams/subscribe.ts'
import { type Exchange, requestValue } from './exchange.ts'
import { refuseHelper } from './helper-files.ts'
import { asksForProgram } from './programs.ts'

/** What reactions need of the process. */
export interface ReactionParts {
  stage: (body: Readable, options: StagingOptions) => Promise<StagedBlob>
  javascript: JavaScript
  outbound: () => Outbound
  report: (site: string, message: string, details: object) => void
}

/** Delivers transitions; what fails is lost (REA-125). */
export async function deliver(parts: ReactionParts, exchange: Exchange, fired: readonly Fired[]): Promise<void> {
  const { site } = exchange
  const report = (message: string, details: object) => parts.report(site.store.name, message, details)
  try {
    const about = aboutOf(parts, exchange)
    const calls = await deliveriesOf(site, fired, [scripts(parts.javascript)], report)
    const outbound = parts.outbound()
    // What a visitor has written may fire for each of its items; what calls have led to may not multiply (REA-88).
    outbound.deliver(outbound.entries(about.depth === 0 ? calls : calls.slice(0, mostCallsAt(about.depth)), about))
  } catch (error) {
    report('Transitions could not be delivered', { err: error })
  }
}

/** What the queue has to know of the request that a call comes from. */
function aboutOf(parts: ReactionParts, exchange: Exchange) {
  const { site, hosted, authorities } = exchange
  const { brand, brandHeader } = hosted.settings
  const [authority = hosted.settings.host] = authorities
  return { site: site.store.name, authority, brand, brandHeader, depth: depthFor(parts, exchange.request, brand) }
}

/** How many calls have led to a request: one that has come back to this server over the network counts, too. */
export function depthFor({ outbound }: ReactionParts, request: IncomingMessage, brand: string): number {
  const delivery = header({ request }, `${brand}-delivery`)
  return depthOf(request) || (delivery === undefined ? 0 : outbound().depthOf(delivery))
}

/**
 * Runs the operation of a request with the reactions of its site around it.
 *
 * @param candidates what may run for its method and path
 * @param prepare reads the fields of the request; throws Fault where one is malformed (gate 7)
 * @param toAnswer a failure as the answer that it would be
 * @param afterwards takes what is to be done once the answer is sent
 */
export async function performReacting(
  parts: ReactionParts,
  exchange: Exchange,
  candidates: Candidates,
  prepare: (exchange: Exchange) => Operation,
  toAnswer: (failure: unknown) => Answer,
  afterwards: (work: () => void) => void,
): Promise<Answer> {
  // A PUT that another request leads to stores the calls of both.
  const queue = exchange.alongside ?? requestCalls(parts.outbound(), aboutOf(parts, exchange))
  const acted = new Set<Reaction>()
  const operation = prepare({ ...exchange, alongside: queue, acted, guarded: candidates.triggers.length > 0 })
  const body = keptBody(parts, exchange, candidates)
  const own = { queue: queue.add, candidates, toAnswer, acts: (reaction: Reaction) => void acted.add(reaction) }
  const request = { ...reactingRequest(parts, exchange, body), ...own }
  try {
    const answer = await perform(operation, body, reactionsTo(request))
    if (!answer.reuse || leavesAlone(candidates, answer.status)) return answer
    // What reactions may change or refuse must not be given again without them.
    const { reuse: _, ...once } = answer
    return once
  } finally {
    await body.discard()
    if (queue !== exchange.alongside && !queue.isEmpty()) {
      await queue.record()
      afterwards(queue.dispatch)
    }
  }
}

/**
 * Carries out a PUT that a request leads to with the triggers of its path, but for those that have acted for the folder
 * it is stored in; processors see the answer to the request itself (COMP-106, COMP-108).
 *
 * @param exchange of the request
 * @returns the answer of the PUT, or that of a trigger
 * @throws Fault of the PUT, and of a trigger that fails
 */
export async function performTriggered(
  parts: ReactionParts,
  exchange: Exchange,
  { path, type, body, operation }: LedPut,
  afterwards: (work: () => void) => void,
): Promise<Answer> {
  const found = exchange.reactions.candidates('PUT', path)?.triggers ?? []
  // Those of a folder are those of what comes to stand in it, mostly: what they do for a new resource, they do once.
  const above = exchange.target.path.endsWith('/') ? exchange.acted : undefined
  const triggers = found.filter(trigger => !above?.has(trigger))
  if (triggers.length === 0) return perform(operation(), body)
  const { 'content-length': _, ...fields } = exchange.request.headers
  const headers = { ...fields, ...(type !== undefined && { 'content-type': type }) }
  const request = Object.create(exchange.request, { headers: { value: headers } })
  const put = { ...exchange, request, method: 'PUT', target: { path }, path, body }
  const candidates = { triggers, processors: [] }
  return performReacting(parts, put, candidates, ({ alongside }) => operation(alongside), rethrown, afterwards)
}

function rethrown(failure: unknown): never {
  throw failure
}

function keptBody({ stage }: ReactionParts, exchange: Exchange, candidates: Candidates): KeptBody {
  const { method, path, hosted, site, target } = exchange
  const isWhole = !hasSelector(exchange)
  const sent = exchange.body.type ?? header(exchange, 'content-type')
  const isCreation = method === 'POST' && target.path.endsWith('/')
  // It is stored by a PUT, whose triggers see the same body (COMP-108).
  const to = isCreation ? target.path + generatedName(sent) : path
  const isBlob = isWhole && (method === 'PUT' || isCreation) && kindOf(storedType(to, sent)) === 'blob'
  const later = isCreation ? exchange.reactions.candidates('PUT', to) : undefined
  const code = [candidates, ...(later ? [later] : [])].flatMap(codeOf)
  const isShown = isBlob && code.some(({ source }) => mayReadBody(source, 'request'))
  const held = isShown ? mostBodies() : 0
  const limits = { document: largestDocument(site.settings), body: hosted.settings.maxBody, held }
  return new KeptBody(exchange.body, limits, isBlob, stage)
}

function reactingRequest(
  parts: ReactionParts,
  exchange: Exchange,
  body: KeptBody,
): Omit<ReactingRequest, 'candidates' | 'toAnswer' | 'queue'> {
  const { site, hosted, method, path, authority, locks, transitions } = exchange
  const allowance = exchange.allowance()
  const { brand } = hosted.settings
  const isFragment = hasSelector(exchange)
  const isReplaceable = method === 'PUT' || method === 'POST'
  const refuse = (to: string) => refuseHelper(hosted.helpers, to)
  const common = { site, authority, allowance, transitions, refuse, count: exchange.made }
  const bound = hosted.settings.locksBindPublicWrites && {
    refuseLocked: (paths: readonly string[]) => refuseLocked(locks, site.store.name, paths),
  }
  const { javascript } = parts
  const languagesOf = (phase: Phase) => {
    const own = phase === 'trigger' && isReplaceable ? { path, body, isFragment } : undefined
    const writes = writingPlatform({ ...common, ...bound, own })
    return [
      sesselReactions({ site, allowance, more: [scripts(javascript)], writes }),
      javascriptReactions({ site, allowance, path, javascript }),
    ]
  }
  const languages = new Map<Phase, readonly ReactionLanguage[]>()
  return {
    site,
    path,
    hasSelector: isFragment,
    request: async () => {
      // Code says more of what it sees than its author thinks of: files that the requester may not read do not count (SEC-6).
      const unseen = !mayRead(authority(), path)
      const params = (await resolvePath(site, path, unseen))?.params ?? new Map<string, string>()
      return requestValue(exchange, { params, body: '', repeated: 'first' })
    },
    body,
    hold: holder(exchange.response),
    allowance,
    sessionCookie: `${brand}_session`,
    mostCalls: mostCallsAt(depthFor(parts, exchange.request, brand)),
    made: exchange.made,
    languages(phase) {
      const known = languages.get(phase) ?? languagesOf(phase)
      languages.set(phase, known)
      return known
    },
    report: (message, details) => parts.report(site.store.name, message, { method, path, ...details }),
  }
}

/**
 * Whether a request is about elements (REA-23). Streams and programs are about whole pages, and ignore what a selector there says
 * (EVT-1, SES-233).
 */
function hasSelector(exchange: Exchange): boolean {
  if (asksForStream(exchange) || asksForProgram(exchange)) return false
  return parseRange(header(exchange, 'range'))?.unit === 'selector'
}
