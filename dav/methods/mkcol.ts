/** MKCOL: a new collection, in the extended form with properties (RFC 4918 §9.3, RFC 5689, DAV-47). */

import { header } from '../../edge/request.ts'
import type { Answer } from '../../pipeline/answer.ts'
import { Fault } from '../../pipeline/fault.ts'
import { essence } from '../../pipeline/http/media.ts'
import type { ElementNode } from '../../pipeline/tree/nodes.ts'
import { inTurns } from '../../pipeline/tree/steps.ts'
import { makeCollection } from '../../pipeline/write/collection.ts'
import { checkWritable } from '../access/scope-authority.ts'
import { visible } from '../access/visibility.ts'
import { checkConditions } from '../conditions/preconditions.ts'
import type { Exchange } from '../exchange.ts'
import { checkLocks, requireParent } from '../locks/guard.ts'
import { isCollection } from '../places/place.ts'
import { finishRemoval } from '../places/removals.ts'
import { type Judged, judging, propstats, readInstructions } from '../properties/property-update.ts'
import { XML_TYPE } from '../properties/response.ts'
import { childElements, DAV, isDav, LARGEST_XML, malformed, parseLongXmlBody } from '../requests/xml.ts'

export async function mkcol(exchange: Exchange): Promise<Answer> {
  const { mount, author } = exchange
  const file = exchange.path.endsWith('/') ? exchange.path.slice(0, -1) : exchange.path
  const path = `${file}/`
  checkWritable(author.scope, path)
  const node = (await mount.view.find(path)) ?? (await mount.view.find(file))
  // A condition would confirm guesses of a file that the scope does not open (DAV-3).
  await checkConditions(exchange, visible(exchange, node))
  if (!node) await checkLocks(exchange, path, 'membership')
  if (node) throw taken(isCollection(node))
  await requireParent(exchange, path)
  const mark = mount.unpublished.coverAt(file)
  const judged = await readExtended(exchange)
  if (judged?.refused) return refusal(judged)
  const set = judged?.patch.set ?? []
  const check = async () => {
    await exchange.lookAgain()
    await checkLocks(exchange, path, 'membership')
  }
  if (mount.names.of(path)?.inCollection) {
    const { leases, store } = mount.site
    await leases.hold(store.name, [path], async () => {
      await check()
      if (!(await mount.unpublished.makeCollection(path, set))) throw taken(true)
    })
  } else {
    if (mark) await finishRemoval(mount, mark)
    await makeCollection(mount.site, path, set, check)
  }
  return { status: 201, headers: { 'Cache-Control': 'no-store' }, body: '' }
}

function taken(collection: boolean): Fault {
  return collection
    ? new Fault(405, 'DirectoryAlreadyExists', 'There is a collection of this name already.')
    : new Fault(405, 'MethodNotAllowed', 'There is a file of this name already.')
}

/**
 * The properties of an extended MKCOL; undefined without a body.
 *
 * @throws Fault 415 for a body that is no XML, 400 for one that is malformed, 403 `valid-resourcetype`
 */
async function readExtended(exchange: Exchange): Promise<Judged | undefined> {
  const bytes = await exchange.body.bytes(LARGEST_XML)
  if (bytes.length === 0) return undefined
  const media = essence(header(exchange, 'content-type') ?? '')
  if (media !== 'application/xml' && media !== 'text/xml')
    throw new Fault(415, 'UnsupportedMediaType', 'The body of MKCOL must be XML, or absent.')
  const root = await parseLongXmlBody(bytes)
  if (!isDav(root, 'mkcol')) throw malformed('The root element must be mkcol in the namespace "DAV:".')
  const instructions = readInstructions(root).filter(({ op }) => op === 'set')
  const isType = ({ name }: { name: { namespace: string; name: string } }) =>
    name.namespace === DAV && name.name === 'resourcetype'
  for (const { element } of instructions.filter(isType)) checkType(element)
  const others = instructions.filter(instruction => !isType(instruction))
  const judged = await inTurns(judging(others, [], true), bytes.length)
  // It is set with the others, or not at all.
  const type = instructions.find(isType)
  if (judged.refused && type) judged.verdicts.push({ name: type.name, status: '424 Failed Dependency' })
  return judged
}

/** @throws Fault 403 for any other resource than a plain collection */
function checkType(element: ElementNode): void {
  const types = childElements(element)
  if (types.length === 1 && types.every(type => isDav(type, 'collection'))) return
  throw new Fault(403, 'Forbidden', 'MKCOL makes plain collections only.', {
    precondition: { code: 'valid-resourcetype' },
  })
}

/** RFC 5689 §3.5: what stood in the way, property by property; nothing was made. */
function refusal(judged: Judged): Answer {
  const body = `<?xml version="1.0" encoding="utf-8"?><D:mkcol-response xmlns:D="DAV:">${propstats(judged)}</D:mkcol-response>`
  return { status: 403, headers: { 'Content-Type': XML_TYPE, 'Cache-Control': 'no-store' }, body }
}
