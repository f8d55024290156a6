/** GET and HEAD: stored bytes of files, a listing of collections for browsers (DAV-40, DAV-41). */

import { header } from '../../edge/request.ts'
import type { Answer, Reuse } from '../../pipeline/answer.ts'
import {
  evaluateRead,
  formatHttpDate,
  preconditionFailed,
  rangeApplies,
  readConditions,
} from '../../pipeline/http/conditions.ts'
import { encodePath, NO_SCOPE } from '../../pipeline/http/path.ts'
import { parseRange, type Range } from '../../pipeline/http/range.ts'
import { blobBody, rangeAnswer } from '../../pipeline/read/whole.ts'
import { absent } from '../../pipeline/refusals.ts'
import type { StoredFile } from '../../pipeline/site/stored-file.ts'
import { isDescribedAlike } from '../../pipeline/store/resource.ts'
import { contentTag, shownSeconds } from '../../pipeline/store/tags.ts'
import { known, listing, visible } from '../access/visibility.ts'
import { LISTING_POLICY, listingOrder, listingPage } from '../answers/listing-page.ts'
import { systemOf } from '../answers/mount-advice.ts'
import { datesOf } from '../conditions/preconditions.ts'
import type { Exchange } from '../exchange.ts'
import { isCollection, type Node } from '../places/place.ts'
import { readElements } from './elements.ts'
import { explainPath } from './explain.ts'

export async function get(exchange: Exchange): Promise<Answer> {
  const { mount, path } = exchange
  const node = visible(exchange, await mount.view.find(path))
  if (!node) throw absent()
  if (isCollection(node)) return collectionAnswer(exchange, node)
  const range = parseRange(header(exchange, 'range'))
  if (range?.unit === 'selector') return readElements(exchange, range)
  return fileAnswer(exchange, node, range)
}

async function collectionAnswer(exchange: Exchange, node: Node): Promise<Answer> {
  const { mount, path, origin } = exchange
  const { settings, prefix } = mount
  const { path: location } = node.resource
  const headers: Record<string, string> = {
    'Cache-Control': 'no-store',
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': LISTING_POLICY,
  }
  if (!path.endsWith('/')) headers['Content-Location'] = prefix + encodePath(location)
  const { leaves } = await listing(exchange, node)
  const [, query = ''] = (exchange.request.url ?? '').split('?', 2)
  const { scope } = exchange.author
  const body = listingPage({
    title: settings.title ?? settings.host,
    path: location,
    members: leaves.flat(),
    origin,
    prefix,
    system: systemOf(header(exchange, 'user-agent')),
    pages: exchange.pages,
    writable: scope.write && scope.covers(location),
    explain: scope.whole ? prefix + explainPath(mount) : undefined,
    order: listingOrder(query),
  })
  return { status: 200, headers, body }
}

const NO_BYTES = new Uint8Array()

/** Stored bytes; those of a draft are none. */
async function fileAnswer(exchange: Exchange, node: Node, range: Range | undefined): Promise<Answer> {
  const { view, prefix } = exchange.mount
  const { resource } = node
  await known(exchange, node)
  const tag = contentTag(resource.digest)
  const lastModified = shownSeconds(resource) * 1000
  const headers: Record<string, string> = {
    ETag: tag,
    'Last-Modified': formatHttpDate(lastModified),
    'Accept-Ranges': 'bytes',
    // A proxy that compresses would change the tag and break every conditional save.
    'Cache-Control': 'private, no-cache, no-transform',
    // A page opened in a browser here must not act with the author's password.
    'Content-Security-Policy': 'sandbox',
    // Pages of the site share the origin here: none of them may have a file answer for the mount (SEC-13).
    ...(prefix !== '' && { 'Service-Worker-Allowed': NO_SCOPE }),
  }
  const current = { tag, ...datesOf(resource) }
  const conditions = readConditions(exchange.request.headers)
  if (conditions) {
    const verdict = evaluateRead(conditions, current)
    if (verdict === 412) throw preconditionFailed(tag)
    if (verdict !== 'proceed') {
      const reuse: Reuse = { holds: () => view.isCurrent(node) }
      return { status: 304, headers: { ...headers, ETag: verdict.tag }, reuse }
    }
  }
  headers['Content-Type'] = resource.type
  const isRange = range?.unit === 'bytes' && rangeApplies(header(exchange, 'if-range'), current)
  if (node.place.isEmpty) {
    const none = isRange && rangeAnswer({ resource, tag, body: { bytes: NO_BYTES } }, range.ranges, headers)
    return none || { status: 200, headers, body: '' }
  }
  const file = await holding(exchange, node)
  // A commit may come in between: everything in an answer is of one version, and of its newest times.
  if (file.resource.version !== resource.version || !isDescribedAlike(file.resource, resource))
    return fileAnswer(exchange, { ...node, resource: file.resource }, range)
  if (isRange) {
    const part = rangeAnswer(file, range.ranges, headers)
    if (part) return part
  }
  const holds = view.showing(file)
  return { status: 200, headers, body: file.bytes ?? blobBody(file), ...(holds && { reuse: { holds } }) }
}

/** The bytes that belong to the node. */
async function holding({ mount }: Exchange, node: Node): Promise<StoredFile> {
  const file = await node.place.partOf(mount).find(node.resource.path)
  if (!file) throw absent()
  return file
}
