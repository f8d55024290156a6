/**
 * What a request finds may be kept elsewhere before it has its leases: a draft is published, by the upkeep or with what a visitor
 * writes. Each place removes and moves what it keeps and nothing else, so that the request begins again, with the triggers that
 * run for what it then finds.
 */

import { absent } from '../../pipeline/refusals.ts'
import type { Node } from './place.ts'

class KeptElsewhere extends Error {}

/**
 * Made under the lease of the path.
 *
 * @param now what is there by then
 * @throws Fault 404 for nothing: the site itself may still have a document that has just been renamed to a helper name (DAV-72),
 *   and what became of it here would go with it
 */
export function requireSamePlace({ place }: Node, now: Node | undefined): void {
  if (!now) throw absent()
  if (now.place !== place) throw new KeptElsewhere()
}

/** @param work finds something and changes it, having asked before that where it is kept */
export async function whereItIs<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof KeptElsewhere)) throw error
    }
  }
}
