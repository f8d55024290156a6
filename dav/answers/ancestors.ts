/** Paths above a mount with a prefix: Windows walks down from the root of the origin and gives up on a 404 (DAV-2). */

import type { IncomingMessage } from 'node:http'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { escapeMarkup } from '../../pipeline/http/markup.ts'
import { options } from '../methods/options.ts'
import { hrefOf, MULTISTATUS_END, MULTISTATUS_START, propstat, XML_TYPE } from '../properties/response.ts'

/** Whether a path lies above the mount, on the way from the root. @param path decoded */
function isAncestor(path: string, prefix: string): boolean {
  const collection = path.endsWith('/') ? path : `${path}/`
  return prefix !== '' && `${prefix}/`.startsWith(collection) && path !== prefix
}

/**
 * An ancestor looks like an empty collection to OPTIONS and PROPFIND of depth 0; there is nothing else to it.
 *
 * @param path decoded, outside of the mount
 * @throws Fault 404 for everything that is no ancestor, 405 for other methods
 */
export async function ancestor({ method, headers }: IncomingMessage, path: string, prefix: string): Promise<Answer> {
  if (!isAncestor(path, prefix)) throw new Fault(404, 'NotFound', 'Nothing is stored at this address.')
  if (method === 'OPTIONS') return options()
  if (method !== 'PROPFIND') throw new Fault(405, 'MethodNotAllowed', `The mount begins at ${prefix}/.`)
  if (headers.depth?.toString().toLowerCase() === 'infinity')
    throw new Fault(403, 'FiniteDepthOnly', 'Listings go one level deep.', {
      precondition: { code: 'propfind-finite-depth' },
    })
  const collection = path.endsWith('/') ? path : `${path}/`
  const name = escapeMarkup(collection.split('/').at(-2) ?? '')
  const properties = `<D:displayname>${name}</D:displayname><D:resourcetype><D:collection/></D:resourcetype>`
  const response = `<D:response>${hrefOf('', collection)}${propstat(properties, '200 OK')}</D:response>`
  return {
    status: 207,
    headers: { 'Content-Type': XML_TYPE, Vary: 'Depth', 'Cache-Control': 'no-store' },
    body: MULTISTATUS_START + response + MULTISTATUS_END,
  }
}
