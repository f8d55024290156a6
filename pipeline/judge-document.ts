/** Whole documents judged by the site's data model, on their way in or to another place (MOD-110). */

import { Fault } from './fault.ts'
import { needsCopy } from './model/complete.ts'
import { type Judgement, judge, judgeCopy, judgeShapes, refuseFailures } from './model/judge.ts'
import { type Prepared, prepareDocument } from './prepared.ts'
import type { Site } from './site.ts'
import { cloneTree } from './tree/clone.ts'
import { decode, encode } from './tree/document.ts'
import type { TreeDocument } from './tree/nodes.ts'
import type { ModelState } from './write-check.ts'

const NOTHING: Judgement = { requirements: [], failures: [] }

/**
 * Judges a whole document by the site's data model.
 *
 * @returns the document as it will be stored, and what its commit has to require; nothing for blobs
 * @throws Fault 422
 */
export async function judgeDocument(
  site: Site,
  { registry, host }: ModelState,
  path: string,
  prepared: Prepared,
): Promise<{ prepared: Prepared; judged: Judgement }> {
  const { tree, derived } = prepared
  if (!tree || !derived) return { prepared, judged: NOTHING }
  let result: { prepared: Prepared; judged: Judgement }
  if (needsCopy(registry, { document: tree })) {
    const { place, judgement } = await judgeCopy({ registry, host, path }, { document: cloneTree(tree) })
    result = { prepared: completed(site, prepared, place.document), judged: judgement }
  } else result = { prepared, judged: judge(registry, path, { document: tree }) }
  const entries = result.prepared.derived?.entries ?? []
  await refuseFailures(registry, site.store, result.judged, { path, entries, status: 422 })
  return result
}

/** What is stored in place of a document that the data model has added to. */
function completed(site: Site, prepared: Prepared, { kind, source }: TreeDocument): Prepared {
  if (source === prepared.text || !prepared.bytes) return prepared
  if (prepared.derived?.profile.utf8 === false)
    throw new Fault(422, 'InvalidFragment', 'The document is not valid UTF-8, so its missing values cannot be added.')
  const { bom } = decode(prepared.bytes)
  return prepareDocument(site, kind, prepared.type, encode(source, bom))
}

/**
 * Judges a document that comes to another place as it is: by the shapes there; one that has not been a document before by
 * its schemas as well, without adding to it.
 *
 * @param moved `derived` tells that it is a document for the first time; without a tree it is none
 * @throws Fault 422
 */
export async function judgeMoved(
  site: Site,
  { registry }: ModelState,
  path: string,
  { tree, derived }: Pick<Prepared, 'tree' | 'derived'>,
): Promise<Judgement> {
  if (!tree) return NOTHING
  const place = { document: tree }
  const judged = derived ? judge(registry, path, place) : { ...NOTHING, failures: judgeShapes(registry, path, place) }
  await refuseFailures(registry, site.store, judged, { path, entries: derived?.entries ?? [], status: 422 })
  return judged
}
