/** PUT, POST, DELETE, MOVE and PATCH as operations: the fields of the request, read (gates 4 and 7 of HTTP-1). */

import { checkBodyFields, destinationField, header, mayOverwrite } from '../../edge/request.ts'
import { mayPut } from '../../pipeline/authority.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { parseDestination } from '../../pipeline/http/destination.ts'
import { readingForm, textOf } from '../../pipeline/http/form.ts'
import { canonicalPath, isReserved, reserved } from '../../pipeline/http/path.ts'
import { parseDestinationRange, parseRange, placementOf, type SelectorRange } from '../../pipeline/http/range.ts'
import type { Operation } from '../../pipeline/operation.ts'
import { refuseForbidden, toSelector } from '../../pipeline/refusals.ts'
import { inTurns } from '../../pipeline/tree/steps.ts'
import { createDocument, deleteDocument, putDocument } from '../../pipeline/write/document.ts'
import { writeElement } from '../../pipeline/write/element.ts'
import { refusePatch } from '../../pipeline/write/element-target.ts'
import { createFromTemplate } from '../../pipeline/write/from-template.ts'
import { moveDocument } from '../../pipeline/write/move.ts'
import { refuseLocked } from '../../pipeline/write/whole.ts'
import type { Exchange } from './exchange.ts'
import { refuseHelper } from './helper-files.ts'
import { pageReader } from './reader.ts'

/** A whole document or blob, or one element by selector. */
export function put(exchange: Exchange): Operation {
  const { site, authority } = exchange
  checkBodyFields(exchange)
  const range = writeRange(exchange)
  if (range) return writeElement(site, { ...commonOfFirst(exchange), op: 'put', range }, authority)
  const language = header(exchange, 'content-language')
  const type = header(exchange, 'content-type')
  return putDocument(site, { ...commonOfWhole(exchange), type, ...(language && { language }) }, authority)
}

/** A fragment into a document, or a new resource below a directory. */
export function post(exchange: Exchange): Operation {
  const { site, target, authority } = exchange
  checkBodyFields(exchange)
  const range = writeRange(exchange)
  if (range) {
    const placement = placementOf(range.placement)
    return writeElement(site, { ...commonOfElement(exchange), op: 'post', range, placement }, authority)
  }
  if (!target.path.endsWith('/')) return creation(exchange)
  const type = header(exchange, 'content-type')
  return createDocument(
    site,
    { ...commonOfWhole(exchange), path: target.path, type, triggered: put => exchange.triggered(exchange, put) },
    authority,
  )
}

/** Without a range a document makes another one of the request (COMP-106). */
function creation(exchange: Exchange): Operation {
  const { site, hosted, authority, authorities } = exchange
  const reader = async (bytes: Uint8Array, type = header(exchange, 'content-type')) => {
    const text = await inTurns(textOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)), bytes.length)
    const fields = await inTurns(readingForm(type, bytes), bytes.length)
    return pageReader(exchange, 'POST', fields ? { text, fields } : { text })
  }
  return createFromTemplate(
    site,
    {
      ...commonOfWhole(exchange),
      authorities,
      reader,
      refuse: path => refuseHelper(hosted.helpers, path),
      triggered: put => exchange.triggered(exchange, put),
    },
    authority,
  )
}

/** A whole document or blob, or one element by selector. */
export function remove(exchange: Exchange): Operation {
  const { site, authority } = exchange
  const range = writeRange(exchange)
  return range
    ? writeElement(site, { ...commonOfFirst(exchange), op: 'delete', range }, authority)
    : deleteDocument(site, commonOfWhole(exchange), authority)
}

/** An element within its document, or a whole document to another path. */
export function move(exchange: Exchange): Operation {
  const { site, hosted, path, authority } = exchange
  const destination = destinationField(exchange)
  const destinationRange = header(exchange, 'destination-range')
  const to =
    destination === undefined ? undefined : canonicalPath(parseDestination(destination, 'public', exchange.authorities))
  // Gate 4 comes before the syntax of the other fields, for either end.
  if (to !== undefined && isReserved(to, site.settings.brand)) throw reserved()
  if (to !== undefined) refuseHelper(hosted.helpers, to)
  if (header(exchange, 'range') === undefined && destinationRange === undefined) {
    if (to === undefined) throw incomplete('Destination is missing.')
    return moveDocument(site, { ...commonOfWhole(exchange), to, overwrite: mayOverwrite(exchange) }, authority)
  }
  const range = parseRange(header(exchange, 'range'))
  if (!range || destinationRange === undefined) throw incomplete('Range and Destination-Range belong together.')
  if (to === undefined) throw incomplete('Destination is missing.')
  // Unlike in other writes, a unit that is not known is 422 (HTTP-106).
  if (range.unit !== 'selector') throw new Fault(422, 'InvalidRange', 'Range must have the form selector=<css>.')
  const place = parseDestinationRange(destinationRange)
  if (to !== path)
    throw new Fault(501, 'MoveCrossResource', 'Elements move within one document; the Destination names another.')
  return writeElement(site, { ...commonOfElement(exchange), op: 'move', range, destination: place }, authority)
}

function incomplete(message: string): Fault {
  return new Fault(422, 'MoveMissingHeaders', message)
}

/** PATCH is listed by OPTIONS, but no change format is defined (HTTP-115); transient elements have none at all (COMP-76). */
export function patch(exchange: Exchange): Operation {
  const { path, site, authority } = exchange
  const range = parseRange(header(exchange, 'range'))
  const selector = range?.unit === 'selector' ? toSelector(range.selector, site) : undefined
  const admit = async () => {
    if (selector) await refusePatch(site, path, selector, authority(), pageReader(exchange))
    refuseForbidden(authority(), { ask: 'patch', path, exists: true }, 'PATCH', path)
    return {}
  }
  return {
    admit,
    async carryOut() {
      await admit()
      throw new Fault(501, 'NotImplemented', 'No patch format is understood here. Use PUT with Range: selector=<css>.')
    },
  }
}

/** What every write says. Its cause is the session, and the stream's token where the client names it (EVT-56). */
function common(exchange: Exchange) {
  const { request, path, session, hosted, authority, allowance, alongside, transitions } = exchange
  const token = header(exchange, `${hosted.settings.brand}-connection`)
  const cause = { session: session.id, ...(token && { token }) }
  const conditions = readConditions(request.headers)
  return {
    path,
    conditions,
    cause,
    allowance,
    transitions,
    mayPut: (other: string) => mayPut(authority(), other),
    ...(alongside && { alongside }),
  }
}

/** The same for writes of elements, which are looked for in the page as the requester sees it (COMP-86). */
function commonOfElement(exchange: Exchange) {
  return { ...common(exchange), reader: pageReader(exchange) }
}

/** The same for writes that change the first element only, and say so where the selector matches more. */
function commonOfFirst(exchange: Exchange) {
  return { ...commonOfElement(exchange), matchesField: `${exchange.hosted.settings.brandHeader}-Matches` }
}

/** The same for writes of whole documents, which locks of the mount bind where the site wants it (HTTP-85). */
function commonOfWhole(exchange: Exchange) {
  const { hosted, locks, site } = exchange
  const write = common(exchange)
  const own = write.conditions ? { ...write, pageReader: pageReader(exchange) } : write
  if (!hosted.settings.locksBindPublicWrites) return own
  return {
    ...own,
    refuseLocked: (paths: readonly string[]) => refuseLocked(locks, site.store.name, paths),
  }
}

/**
 * The `Range` of a write.
 *
 * @returns undefined for a whole-document write
 * @throws Fault 400 for any other unit: ignoring it would turn an element write into a whole one (HTTP-46)
 */
function writeRange(exchange: Exchange): SelectorRange | undefined {
  const field = header(exchange, 'range')
  const range = field === undefined ? undefined : parseRange(field)
  if (range === undefined || range.unit === 'selector') return range
  throw new Fault(400, 'InvalidRange', 'A write understands only Range: selector=<css>.')
}
