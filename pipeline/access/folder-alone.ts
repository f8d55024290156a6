/** Rules that refuse the page of a folder alone (PATH-4), where all that stands in it may have been meant. */

import type { RawAccess, RawRule } from './extract.ts'
import { compilePattern, matchesPath } from './glob.ts'
import { splitLookups } from './lookup.ts'

/** Rules of one document that are looked at. */
const MOST = 1000

/** Folders of one document that are told. */
const MOST_FOLDERS = 50

/** What is asked about members of a folder as well; a POST asks about the folder itself (METH-3). */
const OF_MEMBERS = new Set('GET HEAD PUT DELETE PATCH *'.split(' '))

/**
 * @param hasPageAlone whether nothing but its page stands in a folder
 * @returns one sentence for each `Deny` of a folder below which the document denies nothing
 */
export async function foldersAlone(
  { rules }: RawAccess,
  hasPageAlone: (folder: string) => Promise<boolean>,
): Promise<string[]> {
  const told: string[] = []
  let looked = 0
  const denies = rules.slice(0, MOST).filter(isDeny)
  for (const [order, rule] of rules.slice(0, MOST).entries()) {
    // What stands in a folder are no elements of its page.
    if (!isDeny(rule) || rule.selector.length > 0) continue
    if (!rule.method.some(method => OF_MEMBERS.has(method.toUpperCase()))) continue
    for (const folder of rule.resource) {
      if (!isFolder(folder)) continue
      if (looked++ === MOST_FOLDERS) return told
      if (isDeniedBelow(folder, denies) || (await hasPageAlone(folder))) continue
      told.push(
        `the Deny of rule ${order + 1} for ${folder} is for the page of that folder alone; with all below it: ${folder}*`,
      )
    }
  }
  return told
}

function isDeny({ action, actor, resource, method }: RawRule): boolean {
  const isWhole = actor.length > 0 && resource.length > 0 && method.length > 0
  return isWhole && action.some(each => each.toLowerCase() === 'deny')
}

/** A path as it is, but the root: its page is what is meant. */
function isFolder(resource: string): boolean {
  return /^\/[^*?[\]{}\\$:]+\/$/.test(resource)
}

/** Stands for any member of a folder: no author writes it. */
const MEMBER = '\ue000'

function isDeniedBelow(folder: string, denies: readonly RawRule[]): boolean {
  return denies.some(({ resource }) =>
    resource.some(each => each.includes('*') && matchesPath(compilePattern(splitLookups(each, true)), folder + MEMBER)),
  )
}
