/** Groups whose type decides by itself who is in them: schemas below `{ns}/Group` with an `includes` of their own (GRP-4). */

import { findingPositions } from '../access/extract.ts'
import type { GroupOracle } from '../access/groups.ts'
import type { Group } from '../access/rules.ts'
import { Allowance, type AllowanceLimits } from '../language/allowance.ts'
import type { RawMethod } from '../model/declarations.ts'
import { cloning } from '../tree/clone.ts'
import type { ElementNode, TreeDocument } from '../tree/nodes.ts'
import { pinTree } from '../tree/pins.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import type { Site } from './site.ts'

/** The method that answers for a group, with the type it belongs to. */
interface Answering {
  method: RawMethod
  itemtype: string
}

function answering(site: Site, group: Group): Answering | undefined {
  for (const itemtype of group.subtypes) {
    // Methods of the most derived schema come first.
    const method = site.model.schema(itemtype)?.methods.find(({ name }) => name === 'includes')
    if (method) return { method, itemtype }
  }
  return undefined
}

/** What a group may spend on its answer, apart from everything else that the request does (GRP-5). */
const GROUP_LIMITS: Partial<AllowanceLimits> = { steps: 100_000, memory: 8 * 1024 * 1024, time: 500 }

interface Copied {
  document: TreeDocument
  element: ElementNode | undefined
}

/** A copy of a document, and the element at one place of it. */
async function copyOf(tree: TreeDocument, wanted: number): Promise<Copied> {
  const unpin = pinTree(tree)
  try {
    return await inTurns(copying(tree, wanted), tree.source.length)
  } finally {
    unpin()
  }
}

function* copying(tree: TreeDocument, wanted: number): Steps<Copied> {
  const document = yield* cloning(tree)
  for (const [element, position] of yield* findingPositions(document))
    if (position === wanted) return { document, element }
  return { document, element: undefined }
}

/** @param refused is told of groups that do not include an email, with the reason where code has failed */
export function schemaGroups(site: Site, refused?: (group: Group, failure: string | undefined) => void): GroupOracle {
  return {
    overrides: group => answering(site, group) !== undefined,
    async includes(group, email) {
      const found = answering(site, group)
      const file = await site.find(group.document)
      if (!found || !file?.isDocument) return false
      const { itemtype, method } = found
      const { document, element } = await copyOf(await site.parsed(file), group.position)
      if (!element) return false
      const host = site.code(new Allowance(GROUP_LIMITS, site))
      const outcome = await host.includes(method, { path: group.document, document, element, itemtype }, email)
      const included = 'value' in outcome && outcome.value
      if (!included) refused?.(group, 'failure' in outcome ? outcome.failure.message : undefined)
      return included
    },
  }
}
