/** Multistatus bodies of PROPFIND and REPORT: one `response` for each resource, listings leaf by leaf (RFC 4918 §13, DAV-37). */

import { setImmediate } from 'node:timers/promises'
import { header } from '../../edge/request.ts'
import type { PiecesBody } from '../../pipeline/answer.ts'
import { trimField } from '../../pipeline/http/field-text.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import type { Property } from '../../pipeline/store/resource.ts'
import { ZERO } from '../../pipeline/store/tags.ts'
import { memberTag } from '../conditions/answer-tags.ts'
import { checkAwaited, type Exchange } from '../exchange.ts'
import { locksTold } from '../locks/lock-xml.ts'
import type { ShownLocks } from '../locks/locks-in-force.ts'
import { isCollection, type Node } from '../places/place.ts'
import type { View } from '../places/view.ts'
import { CHECKSUMS_KEY, QUOTA_KEYS, type Subject } from '../properties/live-properties.ts'
import { namesIn, type PropRequest } from '../properties/prop-request.ts'
import { keyOf } from '../properties/property-name.ts'
import { hrefOf, MULTISTATUS_END, multistatusStart, needsWindows, propertyResponse } from '../properties/response.ts'
import { isSteady, type LeafResponses, unwritten, writeLeaf, writtenBefore } from './leaf-responses.ts'
import { checkCells } from './listing-bounds.ts'
import type { Leaf } from './listings.ts'

/** Properties, and bytes of members, written between two turns of the event loop. */
const SLICE = 8000
const SLICE_BYTES = 1024 * 1024
/** Properties of a member that are asked for all at once, without dead ones. */
const USUAL = 16
/** Bytes up to which an answer is put into one piece. */
const SMALL = 32 * 1024

/** What an answer tells, and to whom. */
export interface Telling {
  exchange: Exchange
  asked: PropRequest
  locks: ShownLocks
}

/** The target of a request, with the tag that it is told by, quoted. */
export interface Target {
  node: Node
  etag: string
}

/** By path; resources without any are left out. */
type Dead = ReadonlyMap<string, readonly Property[]>

const NO_LEAVES: readonly Leaf[] = []
const NO_RESPONSES: ReadonlyMap<Leaf, LeafResponses> = new Map()

/**
 * Writes the responses of a target, and of members of a collection. They are kept leaf by leaf: as long as a leaf, or a member
 * in another leaf, is the same object, nothing of it is written again.
 *
 * @param target undefined where it has no entry of its own
 * @param around further elements before and behind the responses
 * @param isStanding whether the members still are as they are here: dead properties are read after them. Undefined where that
 *   is all the same
 * @returns undefined where dead properties were not those of what they stand beside
 * @throws Fault 507 where it would be too long, 400 where nobody waits for it any more
 */
export async function multistatusBody(
  telling: Telling,
  target: Target | undefined,
  leaves = NO_LEAVES,
  around = { start: '', end: '' },
  isStanding?: () => Promise<boolean>,
): Promise<PiecesBody | undefined> {
  const { asked, locks } = telling
  checkAwaited(telling.exchange)
  const { view, listingCache } = telling.exchange.mount
  const members = leaves.reduce((sum, leaf) => sum + leaf.length, 0)
  checkCells(asked, members)
  const question = questionOf(telling)
  const kept = question === undefined || leaves.length === 0 ? NO_RESPONSES : listingCache.of(question)
  const ready = leaves.map(leaf => {
    const page = kept.get(leaf)
    return page && isSteady(page, leaf, locks) ? page : undefined
  })
  const before = writtenBefore(kept, new Set(ready))
  const described = leaves.map((leaf, i) => (ready[i] ? undefined : unwritten(leaf, before, locks)))
  const dead = await propertiesOf(view, asked, described)
  if (isStanding && described.some(leaf => leaf?.some(hasProperties)) && !(await isStanding())) return undefined
  const write = await responseWriter(telling, members)
  const weight = Math.max(USUAL, namesIn(asked).length)
  let [written, bytes] = [0, 0]
  const writeMember = (node: Node, properties: readonly Property[]) => {
    const target = { node, etag: memberTag(node.resource) }
    written += weight + properties.length
    bytes += asked.bytes
    for (const { namespace, name, value } of properties) bytes += namespace.length + name.length + value.length
    if (written < SLICE && bytes < SLICE_BYTES) return write(target, false, properties)
    ;[written, bytes] = [0, 0]
    return setImmediate().then(() => {
      checkAwaited(telling.exchange)
      return write(target, false, properties)
    })
  }
  const all = new Map<Leaf, LeafResponses>()
  for (const [i, leaf] of leaves.entries())
    all.set(leaf, ready[i] ?? (await writeLeaf(leaf, before, locks, dead, writeMember)))
  if (question !== undefined && all.size > 0) listingCache.keep(question, all)
  const own = target && (await writeTarget(view, write, target, isStanding !== undefined))
  if (target && !own) return undefined
  return joined(own ? [own, ...all.values()] : [...all.values()], around)
}

/** What the responses of leaves depend on beside the leaves; undefined where that changes all the time. */
function questionOf({ exchange, asked, locks }: Telling): string | undefined {
  const inherits = locks.inherited.length > 0
  if (exchange.method !== 'PROPFIND' || !locks.known || inherits || tellsRoom(exchange, asked)) return undefined
  return `${exchange.mount.site.store.name}\n${exchange.path}\n${exchange.author.view}\n${wantsMinimal(exchange)}\n${asked.key}`
}

/**
 * Dead properties of members.
 *
 * @param asked says whose values are wanted
 * @param leaves in their order; undefined for those that are not needed. There is one look-up for all that follow one
 *   another (DAV-37)
 */
async function propertiesOf(view: View, asked: PropRequest, leaves: readonly (Leaf | undefined)[]): Promise<Dead> {
  const values = asked.form === 'allprop' ? undefined : namesIn(asked)
  const dead = new Map<string, readonly Property[]>()
  let run: Node[] = []
  for (const leaf of [...leaves, undefined]) {
    if (leaf) run.push(...leaf)
    else if (run.length > 0) {
      for (const [path, properties] of await view.propertiesOf(run, values)) dead.set(path, properties)
      run = []
    }
  }
  return dead
}

type WriteResponse = (target: Target, isTarget: boolean, dead: readonly Property[]) => Promise<string> | string

function hasProperties({ resource }: Node): boolean {
  return resource.properties !== ZERO
}

/** @param isChecked its properties have to be its own */
async function writeTarget(
  view: View,
  write: WriteResponse,
  target: Target,
  isChecked: boolean,
): Promise<Page | undefined> {
  const properties = await (isChecked ? view.propertiesWith(target.node) : view.properties(target.node))
  if (!properties) return undefined
  const windows = new Set(needsWindows(properties) ? [target.node] : [])
  return { bytes: Buffer.from(await write(target, true, properties)), windows }
}

type Page = Pick<LeafResponses, 'bytes' | 'windows'>

function joined(pages: readonly Page[], { start, end }: { start: string; end: string }): PiecesBody {
  const first = multistatusStart(pages.some(({ windows }) => windows.size > 0)) + start
  const pieces = [Buffer.from(first), ...pages.map(({ bytes }) => bytes), Buffer.from(end + MULTISTATUS_END)]
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return { pieces: size > SMALL ? pieces : [Buffer.concat(pieces, size)], size }
}

/** Writes the responses of one answer. @param members how many there are in it */
async function responseWriter({ exchange, asked, locks }: Telling, members: number): Promise<WriteResponse> {
  const { mount, author } = exchange
  const { prefix, settings } = mount
  const minimal = wantsMinimal(exchange)
  const title = settings.title ?? settings.host
  const room = tellsRoom(exchange, asked) ? await roomOn(exchange) : undefined
  const wantsChecksums = namesIn(asked).some(name => keyOf(name) === CHECKSUMS_KEY)
  const hrefOfLock = (path: string) => prefix + encodePath(path)
  const told = locks.known ? locksTold(locks, { members, user: author.user, hrefOf: hrefOfLock }) : undefined

  function respond(
    { node: { resource }, etag }: Target,
    isTarget: boolean,
    dead: readonly Property[],
    checksums?: Subject['checksums'],
  ): string {
    // A collection that only leads to what is open shows nothing but the way.
    const isOpen = author.scope.covers(resource.path)
    const subject: Subject = {
      resource,
      etag,
      displayName: displayName(resource.path, title),
      lockDiscovery: isTarget ? told?.ofTarget : told?.ofMember(resource.path),
      writable: author.scope.write && isOpen,
      short: needsWindows(dead),
      ...(checksums && { checksums }),
      ...(room && { room }),
    }
    return propertyResponse(hrefOf(prefix, resource.path), subject, isOpen ? dead : [], asked, minimal)
  }

  if (!wantsChecksums) return respond
  return async (target, isTarget, dead) => {
    const { node } = target
    const sums = isCollection(node) ? undefined : await node.place.partOf(mount).store.checksums(node.resource)
    return respond(target, isTarget, dead, sums)
  }
}

/** Room on the site changes with writes anywhere, so that it says nothing about the target (DAV-50). */
export function tellsRoom({ mount }: Exchange, asked: PropRequest): boolean {
  return mount.site.usage !== undefined && namesIn(asked).some(name => QUOTA_KEYS.has(keyOf(name)))
}

/**
 * What is left whoever may write finds out by writing. What all files take tells of those out of a scope, so that nobody is
 * told who does not see them.
 */
async function roomOn({ mount, author: { scope } }: Exchange): Promise<Subject['room']> {
  const { usage } = mount.site
  if (!usage || !(scope.whole || scope.write)) return undefined
  return { used: scope.whole ? await usage.used() : undefined, available: await usage.left() }
}

/** `Prefer: return=minimal` and Microsoft's `Brief: t` (DAV-37). */
function wantsMinimal(exchange: Exchange): boolean {
  const prefer = header(exchange, 'prefer')
  if (prefer !== undefined && /(^|[,;])[ \t]*return[ \t]*=[ \t]*"?minimal\b/i.test(prefer)) return true
  return trimField(header(exchange, 'brief') ?? '').toLowerCase() === 't'
}

function displayName(path: string, title: string): string {
  if (path === '/') return title
  const end = path.endsWith('/') ? path.length - 1 : path.length
  return path.slice(path.lastIndexOf('/', end - 1) + 1, end)
}
