/** Rules that refuse the page of a folder alone (PATH-4), where all that stands in it may have been meant. */

import { asciiLower, asciiUpper } from '../tree/ascii.ts'
import { TurnsBetween } from '../tree/steps.ts'
import type { RawAccess, RawRule } from './extract.ts'
import { compilePattern, matchesPath, type Pattern } from './glob.ts'
import { splitLookups } from './lookup.ts'

/** Rules of one document that are looked at. */
const MOST = 1000

/** Folders of one document that are told. */
const MOST_FOLDERS = 50

/** Patterns that are read or tried in one step. */
const PER_STEP = 100

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
  let below: readonly Pattern[] | undefined
  const turns = new TurnsBetween()
  for (const [order, rule] of rules.slice(0, MOST).entries()) {
    // What stands in a folder are no elements of its page.
    if (!isDeny(rule) || rule.selector.length > 0) continue
    if (!rule.method.some(method => OF_MEMBERS.has(asciiUpper(method)))) continue
    for (const folder of rule.resource) {
      if (!isFolder(folder)) continue
      if (looked++ === MOST_FOLDERS) return told
      below ??= await patternsOf(rules.slice(0, MOST).filter(isDeny), turns)
      if ((await isDeniedBelow(folder, below, turns)) || (await hasPageAlone(folder))) continue
      told.push(
        `the Deny of rule ${order + 1} for ${folder} is for the page of that folder alone; with all below it: ${folder}*`,
      )
    }
  }
  return told
}

function isDeny({ action, actor, resource, method }: RawRule): boolean {
  const isWhole = actor.length > 0 && resource.length > 0 && method.length > 0
  return isWhole && action.some(each => asciiLower(each) === 'deny')
}

/** A path as it is, but the root: its page is what is meant. */
function isFolder(resource: string): boolean {
  return /^\/[^*?[\]{}\\$:]+\/$/.test(resource)
}

/** Stands for any member of a folder: no author writes it. */
const MEMBER = '\ue000'

/** What rules refuse beyond single paths. */
async function patternsOf(denies: readonly RawRule[], turns: TurnsBetween): Promise<Pattern[]> {
  const patterns: Pattern[] = []
  for (const { resource } of denies)
    for (const each of resource) {
      if (!each.includes('*')) continue
      if (patterns.length % PER_STEP === 0) await turns.next()
      patterns.push(compilePattern(splitLookups(each, true)))
    }
  return patterns
}

async function isDeniedBelow(folder: string, patterns: readonly Pattern[], turns: TurnsBetween): Promise<boolean> {
  for (const [i, pattern] of patterns.entries()) {
    if (i % PER_STEP === 0) await turns.next()
    if (matchesPath(pattern, folder + MEMBER)) return true
  }
  return false
}
