/** Reads are decided by rules that are no older than what they show, and by the triggers of the elements that they show. */

import type { Answer } from '../answer.ts'
import type { Authority, Authorizing } from '../authority.ts'
import { busy } from '../failures.ts'
import type { Guard, SeenPage } from '../operation.ts'
import type { Site } from '../site/site.ts'
import type { ElementNode } from '../tree/nodes.ts'

/** Answers made while rules, or documents, change all the time, before the client is told to come again. */
const ATTEMPTS = 50

/**
 * Makes an answer, and makes it anew where the document has changed before triggers could be asked about the elements that are
 * in it (REA-23).
 *
 * @param make asks as soon as it has found them: others may change the document all the time that a long answer takes
 * @throws Fault of the guard, and 503 where the document changes all the time
 */
export async function byGuards(
  guard: Guard | undefined,
  make: (ask: (view: SeenPage | undefined, elements: readonly ElementNode[]) => void) => Promise<Answer | undefined>,
): Promise<Answer | undefined> {
  for (let attempt = 1; ; attempt++) {
    let asked: Promise<boolean> | undefined
    const [made] = await Promise.allSettled([
      make((view, elements) => {
        asked = guard && view && guard({ view, elements })
        // Waited for once the answer is made.
        asked?.catch(() => undefined)
      }),
    ])
    // A failure tells of the elements as well, such as by their tag.
    if ((await asked) ?? true) return resultOf(made)
    if (attempt === ATTEMPTS) throw busy()
  }
}

/**
 * Makes an answer, and makes it anew where rules have changed meanwhile: what was loaded may have been written after whoever
 * asks was shut out, by this process or another (RULE-11).
 *
 * @param paths that are decided
 * @throws Fault 503 where rules change all the time
 */
export async function byStandingRules<T>(
  site: Site,
  authority: Authorizing,
  paths: readonly string[],
  make: (decided: Authority) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const decided = authority()
    const [made] = await Promise.allSettled([make(decided)])
    const following = site.followLoaded()
    if (following !== undefined) await following
    // A failure tells of what was loaded as well, such as that there is no match.
    if (authority() === decided) return resultOf(made)
    if (attempt === ATTEMPTS) throw busy()
    await authority.settle?.(paths)
  }
}

/** @throws what went wrong */
function resultOf<T>(made: PromiseSettledResult<T>): T {
  if (made.status === 'rejected') throw made.reason
  return made.value
}
