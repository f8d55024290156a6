/** REPORT: what changed in a collection since it was last asked for (RFC 6578, DAV-38). */

import type { Answer } from '../../pipeline/answer.ts'
import { busy } from '../../pipeline/failures.ts'
import { Fault } from '../../pipeline/fault.ts'
import { encodePath } from '../../pipeline/http/path.ts'
import { trimmed } from '../../pipeline/tree/ascii.ts'
import type { ElementNode } from '../../pipeline/tree/nodes.ts'
import { textContent } from '../../pipeline/tree/serialize.ts'
import { inTurns } from '../../pipeline/tree/steps.ts'
import { atOneState, listing, viewerOf } from '../access/visibility.ts'
import type { Exchange } from '../exchange.ts'
import { inLeaves } from '../listings/listings.ts'
import { multistatusBody } from '../listings/multistatus.ts'
import { syncToken } from '../listings/sync-states.ts'
import { locksInListing } from '../locks/locks-in-force.ts'
import { isCollection, type Node } from '../places/place.ts'
import { type PropRequest, readingRequest } from '../properties/prop-request.ts'
import { hrefOf, XML_TYPE } from '../properties/response.ts'
import { davChild, isDav, LARGEST_XML, parseLongXmlBody } from '../requests/xml.ts'

export async function report(exchange: Exchange): Promise<Answer> {
  let sent: Sent | undefined
  return atOneState(exchange, async found => {
    sent ??= await readBody(exchange)
    if (!isCollection(found)) throw unsupported()
    return changes(exchange, sent, found)
  })
}

/** What the body of a `sync-collection` says. */
interface Sent {
  asked: PropRequest
  /** What a client has, as it was told; empty when it has nothing yet. */
  token: string
}

async function readBody({ body }: Exchange): Promise<Sent> {
  const bytes = await body.bytes(LARGEST_XML)
  const root = await parseLongXmlBody(bytes)
  if (!isDav(root, 'sync-collection') || levelOf(root) !== '1') throw unsupported()
  return { asked: await inTurns(readingRequest(root), bytes.length), token: tokenIn(root) }
}

/** @returns undefined where members were changed meanwhile */
async function changes(exchange: Exchange, { asked, token }: Sent, found: Node): Promise<Answer | undefined> {
  const { mount, path } = exchange
  const { node, leaves, isSettled, isStanding } = await listing(exchange, found)
  if (!isSettled) throw busy()
  const { resource } = node
  const members = leaves.flat()
  const resources = members.map(member => member.resource)
  const viewer = viewerOf(exchange)
  const { syncStates } = mount
  // Most collections are small: their states are one step.
  const since = token === '' ? undefined : await inTurns(syncStates.since(viewer, resource, token, resources), 0)
  if (token !== '' && !since) throw unknownToken()
  await inTurns(syncStates.keep(viewer, resource, resources), 0)

  const locks = await locksInListing(mount.locks, mount.site.store.name, resource.path)
  const changed = since ? members.filter(member => since.changed.has(member.resource)) : members
  // They come first: where a collection has taken the name of a file, clients may know both by one name.
  const start = since?.gone.map(each => goneResponse(mount.prefix, each)).join('') ?? ''
  const end = `<D:sync-token>${syncToken(resource)}</D:sync-token>`
  const headers: Record<string, string> = { 'Content-Type': XML_TYPE, 'Cache-Control': 'no-store' }
  if (!path.endsWith('/')) headers['Content-Location'] = mount.prefix + encodePath(resource.path)
  const around = { start, end }
  const told = await multistatusBody({ exchange, asked, locks }, undefined, inLeaves(changed), around, isStanding)
  return told && { status: 207, headers, body: told }
}

function tokenIn(body: ElementNode): string {
  const element = davChild(body, 'sync-token')
  return element ? trimmed(textContent(element)) : ''
}

function levelOf(body: ElementNode): string {
  const element = davChild(body, 'sync-level')
  return element ? trimmed(textContent(element)) : '1'
}

function goneResponse(prefix: string, path: string): string {
  return `<D:response>${hrefOf(prefix, path)}<D:status>HTTP/1.1 404 Not Found</D:status></D:response>`
}

function unsupported(): Fault {
  return new Fault(403, 'Forbidden', 'The only report is sync-collection of level 1, on collections.', {
    precondition: { code: 'supported-report' },
  })
}

function unknownToken(): Fault {
  return new Fault(403, 'Forbidden', 'The sync token is not known any more. Send an empty one to get everything.', {
    precondition: { code: 'valid-sync-token' },
  })
}
