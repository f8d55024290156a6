/** PROPFIND: properties of a resource and its members (RFC 4918 §9.1, DAV-30 to DAV-37). */

import type { Answer, PiecesBody, Reuse } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import { inTurns } from '../../pipeline/tree/steps.ts'
import { asSeen, atOneState, known, type Listing, listing, viewerOf } from '../access/visibility.ts'
import { answerTag, memberTag } from '../conditions/answer-tags.ts'
import { depthOf, type Exchange } from '../exchange.ts'
import { multistatusBody, tellsRoom } from '../listings/multistatus.ts'
import { locksInListing, locksOn, type ShownLocks, takenOn } from '../locks/locks-in-force.ts'
import type { Mount } from '../mount.ts'
import { isCollection, type Node } from '../places/place.ts'
import { SYNC_TOKEN_KEY } from '../properties/live-properties.ts'
import { namesIn, type PropRequest, readPropRequest } from '../properties/prop-request.ts'
import { keyOf } from '../properties/property-name.ts'
import { XML_TYPE } from '../properties/response.ts'
import { LARGEST_XML } from '../requests/xml.ts'

const DEPTHS = ['0', '1', '1,noroot', 'infinity'] as const
type Depth = (typeof DEPTHS)[number]

export async function propfind(exchange: Exchange): Promise<Answer> {
  const depth = depthOf<Depth>(exchange, DEPTHS, '1')
  let asked: PropRequest | undefined
  return atOneState(exchange, async (stored, isLast) => {
    const node = await asSeen(exchange, stored)
    if (isCollection(node) && depth === 'infinity') throw tooDeep()
    asked ??= await readPropRequest(await exchange.body.bytes(LARGEST_XML))
    return answerTo(exchange, { stored, node, asked, depth, isLast })
  })
}

/** @returns undefined where properties were changed meanwhile */
async function answerTo(
  exchange: Exchange,
  target: Pick<Question, 'stored' | 'node' | 'asked' | 'isLast'> & { depth: Depth },
): Promise<Answer | undefined> {
  const { stored, node, asked, depth } = target
  const collection = isCollection(node)
  const headers: Record<string, string> = { Vary: 'Depth', 'Cache-Control': 'no-cache, no-transform' }
  if (collection && !exchange.path.endsWith('/'))
    headers['Content-Location'] = exchange.mount.prefix + encodePath(node.resource.path)
  const tellsToken = collection && namesIn(asked).some(name => keyOf(name) === SYNC_TOKEN_KEY)
  const ownEntry = depth !== '1,noroot' || !collection
  const isRepeatable = !tellsToken && !tellsRoom(exchange, asked)
  const question: Question = { exchange, ...target, headers, ownEntry, isRepeatable, tellsToken }
  if (collection && depth !== '0') return list(question)
  if (!tellsToken) return describe(question)
  const found = await listing(exchange, stored)
  await keepSyncState(exchange, found)
  return describe({ ...question, ...found })
}

/** Makes the token that is about to be told one that a report can start from, unless something changes right now. */
async function keepSyncState(exchange: Exchange, { node, leaves, isSettled }: Listing): Promise<void> {
  if (!isSettled) return
  const members = leaves.flat().map(({ resource }) => resource)
  await inTurns(exchange.mount.syncStates.keep(viewerOf(exchange), node.resource, members), 0)
}

/** One PROPFIND after its gates. */
interface Question {
  exchange: Exchange
  /** The target as everybody sees it, and as the credential does. */
  stored: Node
  node: Node
  asked: PropRequest
  /** Of the answer; more are added. */
  headers: Record<string, string>
  /** The target has an entry of its own in the answer. */
  ownEntry: boolean
  /** Nothing has to be done when the answer is given again. */
  isRepeatable: boolean
  /** A sync token is among the properties. */
  tellsToken: boolean
  /** Properties are told even if they have changed meanwhile. */
  isLast: boolean
}

/** The target alone. */
async function describe(question: Question): Promise<Answer | undefined> {
  const { exchange, node, asked, isLast } = question
  const { mount } = exchange
  await known(exchange, node)
  const looked = await lookFor(mount, () => locksOn(mount.locks, mount.site.store.name, node.resource.path))
  const { locks } = looked
  const tag = answerTag(node.resource, '0', locks.own)
  if (locks.known && isCurrent(exchange, tag)) return repeatable(question, looked, unchanged(question, tag))
  const etag = isCollection(node) ? tag : memberTag(node.resource)
  const isStanding = isLast ? undefined : () => Promise.resolve(true)
  const body = await multistatusBody({ exchange, asked, locks }, { node, etag }, undefined, undefined, isStanding)
  if (!body) return undefined
  const isTold = locks.known && !isLast
  const answer = multistatus(question, isTold ? tag : undefined, body)
  return isLast ? answer : repeatable(question, looked, answer)
}

/** The target and its members. The members are read only when the answer has to be made. */
async function list(question: Question): Promise<Answer | undefined> {
  const { exchange, stored, asked, ownEntry, tellsToken, isLast } = question
  const { mount } = exchange
  const { resource } = question.node
  const looked = await lookFor(mount, () => locksInListing(mount.locks, mount.site.store.name, resource.path))
  const { locks } = looked
  // Without locks on members the state of the collection says it all.
  if (locks.known && locks.taken.size === 0 && !tellsToken) {
    const tag = answerTag(resource, '1', locks.own)
    if (isCurrent(exchange, tag)) return repeatable(question, looked, unchanged(question, tag))
  }
  const found = await listing(exchange, stored)
  const { node, leaves } = found
  const isSettled = found.isSettled && !isLast
  if (tellsToken) await keepSyncState(exchange, found)
  const members = locks.taken.size === 0 ? [] : leaves.flat()
  const shown = [...locks.own, ...members.flatMap(({ resource }) => takenOn(locks, resource.path))]
  const tag = answerTag(node.resource, '1', shown)
  const isTold = locks.known && isSettled
  if (isTold && isCurrent(exchange, tag)) return unchanged(question, tag)
  const own = ownEntry ? { node, etag: tag } : undefined
  const isStanding = isSettled ? found.isStanding : undefined
  const body = await multistatusBody({ exchange, asked, locks }, own, leaves, undefined, isStanding)
  if (!body) return undefined
  const answer = multistatus(question, isTold ? tag : undefined, body)
  return isSettled ? repeatable({ ...question, ...found }, looked, answer) : answer
}

/** Locks that an answer shows, and whether there are still none. */
interface Looked {
  locks: ShownLocks
  areNone: () => boolean | Promise<boolean>
  /** Whether there are none, if that can be told at once. */
  areSurelyNone: () => boolean
}

/** @param look finds the locks as they are then */
async function lookFor({ locks, site }: Mount, look: () => Promise<ShownLocks>): Promise<Looked> {
  const { name } = site.store
  let taken = locks.taken?.(name)
  const areSurelyNone = () => taken !== undefined && locks.taken?.(name) === taken
  return {
    locks: await look(),
    areSurelyNone,
    areNone() {
      if (areSurelyNone()) return true
      const now = locks.taken?.(name)
      return look().then(shown => {
        const free = isFree(shown)
        if (free) taken = now
        return free
      })
    },
  }
}

/**
 * An answer that may be given again until the target changes, which includes its members: it shows no locks, since those
 * count their seconds.
 */
function repeatable(
  { exchange, stored, isRepeatable }: Question,
  { locks, areNone, areSurelyNone }: Looked,
  answer: Answer,
): Answer {
  const { view } = exchange.mount
  if (!isRepeatable || !isFree(locks) || !view.isCurrent(stored)) return answer
  const reuse: Reuse = { holds: () => view.isCurrent(stored), confirm: areNone, isConfirmed: areSurelyNone }
  return { ...answer, reuse }
}

function isFree({ known, own, taken }: ShownLocks): boolean {
  return known && taken.size === 0 && own.length === 0
}

function unchanged({ headers }: Question, tag: string): Answer {
  return { status: 304, headers: { ...headers, ETag: tag } }
}

/** @param tag undefined for an answer that does not say everything */
function multistatus({ headers }: Question, tag: string | undefined, body: PiecesBody): Answer {
  return { status: 207, headers: { ...headers, ...(tag && { ETag: tag }), 'Content-Type': XML_TYPE }, body }
}

function tooDeep(): Fault {
  return new Fault(403, 'FiniteDepthOnly', 'Listings go one level deep: send Depth: 0 or 1.', {
    precondition: { code: 'propfind-finite-depth' },
  })
}

/**
 * Conditions on a property answer: only its own tag counts, and `*` never means that a client has it (DAV-50).
 *
 * @returns whether the client has the answer already
 * @throws Fault 412
 */
function isCurrent(exchange: Exchange, tag: string): boolean {
  const conditions = readConditions(exchange.request.headers)
  if (!conditions) return false
  const { ifMatch, ifNoneMatch } = conditions
  const opaque = tag.slice(1, -1)
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.some(listed => !listed.weak && listed.opaque === opaque))
    throw new Fault(412, 'PreconditionFailed', 'The resource has other properties by now.', { headers: { ETag: tag } })
  return ifNoneMatch !== undefined && ifNoneMatch !== '*' && ifNoneMatch.some(listed => listed.opaque === opaque)
}
