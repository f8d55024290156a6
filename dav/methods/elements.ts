/** Elements of documents by selector: as on the public surface, but on stored markup (DAV-45, DAV-48). */

import { checkBodyFields, header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { NO_BODY } from '../../pipeline/body.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import {
  type DestinationRange,
  parseDestinationRange,
  parseRange,
  placementOf,
  type SelectorRange,
} from '../../pipeline/http/range.ts'
import { perform } from '../../pipeline/operation.ts'
import { readResource } from '../../pipeline/read/read.ts'
import { absent } from '../../pipeline/refusals.ts'
import { notHtml } from '../../pipeline/site/stored-file.ts'
import { type ElementWrite, writeElement } from '../../pipeline/write/element.ts'
import { checkWritable, scopeAuthority } from '../access/scope-authority.ts'
import type { Exchange } from '../exchange.ts'
import { checkLocks } from '../locks/guard.ts'
import { isCollection, type Node } from '../places/place.ts'

/** GET and HEAD with a selector range. */
export async function readElements(exchange: Exchange, range: SelectorRange): Promise<Answer> {
  const { mount, path, request, method, author } = exchange
  requireDocument(await mount.view.find(path))
  const authority = scopeAuthority(author.scope)
  const operation = readResource(
    mount.site,
    {
      path,
      requested: path,
      head: method === 'HEAD',
      range,
      accept: header(exchange, 'accept'),
      acceptEncoding: undefined,
      conditions: readConditions(request.headers),
      ifRange: undefined,
      setsCookie: false,
      cors: false,
    },
    () => authority,
  )
  const answer = await perform(operation, NO_BODY)
  return { ...answer, headers: { ...answer.headers, 'Cache-Control': 'private, no-cache, no-transform' } }
}

/** PUT, POST and DELETE with a selector range; the caller has checked the scope. */
export async function writeElements(exchange: Exchange, op: 'put' | 'post' | 'delete'): Promise<Answer> {
  checkBodyFields(exchange)
  const range = selectorRange(exchange)
  if (op === 'put') return write(exchange, { op, range })
  if (op === 'delete') return write(exchange, { op, range })
  return write(exchange, { op, range, placement: placementOf(range.placement) })
}

/** Whether a MOVE is one of an element. */
export function movesElement(exchange: Exchange): boolean {
  return header(exchange, 'range') !== undefined || header(exchange, 'destination-range') !== undefined
}

/** MOVE with `Range` and `Destination-Range`. @param to decoded path of the destination */
export async function moveElement(exchange: Exchange, to: string): Promise<Answer> {
  return write(exchange, { op: 'move', ...elementMove(exchange, to) })
}

/** What a MOVE of an element says. @throws Fault 403 outside of the scope, 422 or 501 for what it cannot say */
export function elementMove(exchange: Exchange, to: string): { range: SelectorRange; destination: DestinationRange } {
  checkWritable(exchange.author.scope, exchange.path)
  const destinationRange = header(exchange, 'destination-range')
  if (header(exchange, 'range') === undefined || destinationRange === undefined)
    throw new Fault(422, 'MoveMissingHeaders', 'Range and Destination-Range belong together.')
  const range = selectorRange(exchange, 422)
  const destination = parseDestinationRange(destinationRange)
  if (to !== exchange.path)
    throw new Fault(501, 'MoveCrossResource', 'Elements move within one document; the Destination names another.')
  return { range, destination }
}

type Particulars<W> = W extends ElementWrite ? Omit<W, 'path' | 'conditions' | 'cause'> : never

async function write(exchange: Exchange, particulars: Particulars<ElementWrite>): Promise<Answer> {
  const { raw, configure, allowance, alongside, mount, path, author, request } = exchange
  const node = await mount.view.find(path)
  // Locks are known without a slash: that of a file would be told where the scope opens the collection of this name alone (DAV-3).
  if (!node) throw absent()
  await checkLocks(exchange, path, 'content')
  const check = async () => {
    await exchange.lookAgain()
    await checkLocks(exchange, path, 'content')
  }
  requireDocument(node)
  const authority = scopeAuthority(author.scope)
  const common = {
    path,
    conditions: readConditions(request.headers),
    cause: {},
    raw,
    configure,
    allowance,
    alongside,
    check,
    matchesField: `${mount.settings.brandHeader}-Matches`,
  }
  const operation = writeElement(mount.site, { ...common, ...particulars }, () => authority)
  return operation.carryOut(exchange.body, exchange.guard)
}

/** Drafts, helper files and collections have no elements. */
function requireDocument(node: Node | undefined): void {
  if (!node) throw absent()
  if (!node.place.isPublished || isCollection(node)) throw notHtml()
}

/**
 * The `Range` of a write.
 *
 * @throws Fault 400 for another unit; of a MOVE 422 (HTTP-46, HTTP-106)
 */
export function selectorRange(exchange: Exchange, status: 400 | 422 = 400): SelectorRange {
  const range = parseRange(header(exchange, 'range'))
  if (range?.unit === 'selector') return range
  throw new Fault(status, 'InvalidRange', 'Writes take no other Range than selector=<css>.')
}
