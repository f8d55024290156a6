/** PROPPATCH: sets and removes properties, all or nothing (RFC 4918 §9.2, DAV-35). */

import type { Answer } from '../../pipeline/answer.ts'
import { absent } from '../../pipeline/refusals.ts'
import { inTurns } from '../../pipeline/tree/steps.ts'
import { checkWritable } from '../access/scope-authority.ts'
import { checkConditions } from '../conditions/preconditions.ts'
import type { Exchange } from '../exchange.ts'
import { checkLocks } from '../locks/guard.ts'
import { isCollection } from '../places/place.ts'
import { confirmDraft } from '../places/unpublished-changes.ts'
import { judging, onlyWindowsTimes, propstats, readInstructions } from '../properties/property-update.ts'
import { hrefOf, MULTISTATUS_END, MULTISTATUS_START, propstat, XML_TYPE } from '../properties/response.ts'
import { isDav, LARGEST_XML, malformed, parseLongXmlBody } from '../requests/xml.ts'

export async function proppatch(exchange: Exchange): Promise<Answer> {
  const { mount, path, author } = exchange
  checkWritable(author.scope, path)
  const found = await mount.view.find(path)
  if (!found) throw absent()
  await checkConditions(exchange, found)
  const bytes = await exchange.body.bytes(LARGEST_XML)
  const root = await parseLongXmlBody(bytes)
  if (!isDav(root, 'propertyupdate'))
    throw malformed('The root element must be propertyupdate in the namespace "DAV:".')
  const instructions = readInstructions(root)
  if (instructions.length === 0) throw malformed('The body neither sets nor removes a property.')
  const { leases, store } = mount.site
  const { path: stored } = found.resource
  const judged = await leases.hold(store.name, [stored], async () => {
    await exchange.lookAgain()
    // A draft may have come to its content meanwhile.
    const node = await mount.view.find(stored)
    if (node?.resource.path !== stored) throw absent()
    await checkConditions(exchange, node)
    await checkLocks(exchange, stored, 'properties', onlyWindowsTimes(instructions))
    const dead = await mount.view.properties(node)
    const judged = await inTurns(judging(instructions, dead, isCollection(node)), bytes.length)
    if (!judged.refused) {
      await mount.view.describe(node, judged.patch)
      await confirmDraft(mount, node.place, stored)
    }
    return judged
  })
  const told = propstats(judged) || propstat('', '200 OK')
  const href = hrefOf(mount.prefix, stored)
  return {
    status: 207,
    headers: { 'Content-Type': XML_TYPE, 'Cache-Control': 'no-store' },
    body: `${MULTISTATUS_START}<D:response>${href}${told}</D:response>${MULTISTATUS_END}`,
  }
}
