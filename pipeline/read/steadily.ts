/** Reads of large documents, made in turns with other work. */

import type { Held } from '../site/held.ts'
import type { Site } from '../site/site.ts'
import { atOnce, ifShort, inTurns, type Steps } from '../tree/steps.ts'

/** Readings that are begun anew before one is made without a pause, because the document keeps changing. */
const ATTEMPTS = 3

/**
 * Reads the newest version of a file. What takes long is left for a while again and again; a document that changes
 * meanwhile is read anew.
 *
 * @param read reads one version, and nothing else that changes; a document has its tree
 * @returns undefined when nothing is stored there
 * @throws what reading throws
 */
export async function steadily<T>(site: Site, path: string, read: (held: Held) => Steps<T>): Promise<T | undefined> {
  for (let tries = 0; tries < ATTEMPTS; tries++) {
    const held = await site.findParsed(path)
    const soon = held && ifShort(read(held))
    if (!held || soon) return soon?.value
    const tree = held.hasTree ? held.tree : undefined
    const stands = () => held.hasTree && held.tree === tree
    const done = await inTurns(whileTrue(stands, read(held)), held.resource.size)
    if (done) return done.value
  }
  const held = await site.findParsed(path)
  return held && atOnce(read(held))
}

/** @returns what came of the work; undefined when the condition failed before it was done */
function* whileTrue<T>(condition: () => boolean, work: Steps<T>): Steps<{ value: T } | undefined> {
  while (condition()) {
    const step = work.next()
    if (step.done) return { value: step.value }
    yield
  }
  work.return(undefined as never)
  return undefined
}
