/** Groups whose type decides by itself who is in them: schemas below `{ns}/Group` with an `includes` of their own (GRP-4). */

import { elementPositions } from '../access/extract.ts'
import type { GroupOracle } from '../access/groups.ts'
import type { Group } from '../access/rules.ts'
import { Allowance, type AllowanceLimits } from '../language/allowance.ts'
import type { RawMethod } from '../model/declarations.ts'
import { cloneTree } from '../tree/clone.ts'
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

/** @param refused is told of groups that do not include an email, with the reason where code has failed */
export function schemaGroups(site: Site, refused?: (group: Group, failure: string | undefined) => void): GroupOracle {
  return {
    overrides: group => answering(site, group) !== undefined,
    async includes(group, email) {
      const found = answering(site, group)
      const file = await site.find(group.document)
      if (!found || !file?.isDocument) return false
      const { itemtype, method } = found
      const document = cloneTree(await site.parsed(file))
      for (const [element, position] of elementPositions(document)) {
        if (position !== group.position) continue
        const host = site.code(new Allowance(GROUP_LIMITS, site))
        const outcome = await host.includes(method, { path: group.document, document, element, itemtype }, email)
        const included = 'value' in outcome && outcome.value
        if (!included) refused?.(group, 'failure' in outcome ? outcome.failure.message : undefined)
        return included
      }
      return false
    },
  }
}
