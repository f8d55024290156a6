/** Refusals and reads that were true at one moment, although they look at several places. */

import { Fault } from '../fault.ts'
import { canonicalPath } from '../http/path.ts'
import type { Site } from '../site/site.ts'
import { bothForms } from '../store/paths.ts'

/** Looks before a refusal is told that may never have been true: others write all the time. */
const ATTEMPTS = 8

/** Reads of many documents, which take longer; the last counts. */
const READS = 3

/** Refusals by what stands somewhere, or is locked there. */
const LOOKED_UP: readonly number[] = [409, 412, 423]

/**
 * Waits until memory knows what the store may have shown at an address of the public face: a refusal by it would be ahead of
 * what others read.
 */
export async function knownAt(site: Site | undefined, target: { readonly path: string } | undefined): Promise<void> {
  if (site && target) await untilKnown(site, [canonicalPath(target.path)])
}

/**
 * The same for several paths of files or collections: what is checked must not be older than what a commit expects.
 *
 * @param isShown whether a path counts, of these and of those that are changed
 */
export async function untilKnown(
  { underWay }: Site,
  paths: readonly string[],
  isShown: (path: string) => boolean = () => true,
): Promise<void> {
  const shown = paths.flatMap(bothForms).filter(isShown)
  await Promise.all(shown.flatMap(path => underWay.at(path, isShown)))
}

/**
 * Looks at several places, and once more where the look ends in a refusal while others were changing one of them: a file that
 * moves from one place to the other would be seen at both.
 *
 * @throws Fault of the last look
 */
export async function atOneMoment<T>(site: Site, places: readonly string[], look: () => Promise<T>): Promise<T> {
  const { underWay } = site
  const paths = places.flatMap(bothForms)
  for (let attempt = 1; ; attempt++) {
    const moment = underWay.moment(paths)
    try {
      return await look()
    } catch (error) {
      if (!(error instanceof Fault) || !LOOKED_UP.includes(error.status)) throw error
      await site.inStep()
      await untilKnown(site, places)
      if (!moment.isOver || attempt === ATTEMPTS) throw error
    } finally {
      moment.end()
    }
  }
}

/**
 * Reads what is below a collection over several turns, and once more where others were changing some of it: what moves from
 * one place to the other would be seen at both, or nowhere (DAV-8). So where it fails: the last read counts.
 *
 * @param isShown whether a change of a path counts
 */
export async function readAtOneMoment<T>(
  site: Site,
  path: string,
  isShown: (path: string) => boolean,
  read: () => Promise<T>,
): Promise<T> {
  // One document is of one state in any case.
  if (!path.endsWith('/')) return read()
  for (let attempt = 1; ; attempt++) {
    const moment = site.underWay.moment(bothForms(path), isShown)
    try {
      // What fails may have seen some of a change alone, too.
      const seen = await Promise.allSettled([read()])
      await site.inStep()
      await untilKnown(site, [path], isShown)
      if (moment.isOver && attempt < READS) continue
      const [result] = seen
      if (result.status === 'rejected') throw result.reason
      return result.value
    } finally {
      moment.end()
    }
  }
}
