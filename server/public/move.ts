/** MOVE: an element within its document, or a whole document to another path. */

import { header } from '../../edge/fields.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { readConditions } from '../../pipeline/http/conditions.ts'
import { parseDestination } from '../../pipeline/http/destination.ts'
import { canonicalPath, isReserved, reserved } from '../../pipeline/http/path.ts'
import { parseDestinationRange, parseRange } from '../../pipeline/http/range.ts'
import { moveDocument } from '../../pipeline/write/document.ts'
import { writeElement } from '../../pipeline/write/element.ts'
import { causeOf, type Exchange, lockCheck } from './exchange.ts'

export async function move(exchange: Exchange): Promise<Answer> {
  const { request, site, path, authority } = exchange
  const destination = header(exchange, 'destination')
  const destinationRange = header(exchange, 'destination-range')
  const to =
    destination === undefined ? undefined : canonicalPath(parseDestination(destination, 'public', exchange.authorities))
  // Gate 4 comes before the syntax of the other fields, for either end.
  if (to !== undefined && isReserved(to, site.settings.brand)) throw reserved()
  if (header(exchange, 'range') === undefined && destinationRange === undefined) {
    if (to === undefined) throw incomplete('Destination is missing.')
    const overwrite = header(exchange, 'overwrite')?.trim().toUpperCase() !== 'F'
    return moveDocument(
      site,
      {
        ...lockCheck(exchange),
        path,
        to,
        overwrite,
        conditions: readConditions(request.headers),
        cause: causeOf(exchange),
      },
      authority,
    )
  }
  const range = parseRange(header(exchange, 'range'))
  if (!range || destinationRange === undefined) throw incomplete('Range and Destination-Range belong together.')
  if (to === undefined) throw incomplete('Destination is missing.')
  // Unlike in other writes, a unit that is not known is 422 (HTTP-106).
  if (range.unit !== 'selector') throw new Fault(422, 'InvalidRange', 'Range must have the form selector=<css>.')
  const place = parseDestinationRange(destinationRange)
  if (to !== path)
    throw new Fault(501, 'MoveCrossResource', 'Elements move within one document; the Destination names another.')
  return writeElement(
    site,
    {
      path,
      op: 'move',
      range,
      destination: place,
      conditions: readConditions(request.headers),
      cause: causeOf(exchange),
    },
    authority,
  )
}

function incomplete(message: string): Fault {
  return new Fault(422, 'MoveMissingHeaders', message)
}
