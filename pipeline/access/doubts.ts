/** What rules and groups say that means nobody, or another place, than it seems to: it is taken as it is written (RULE-13). */

import { isMeant, isNear } from '../near.ts'
import type { RawAccess, RawRule } from './extract.ts'
import { isLookup, splitLookups } from './lookup.ts'
import { cut, type RuleFinding } from './rules.ts'

/** Rules and groups of one document that are looked at. */
const MOST = 1000

/** Names of one document that are looked for among the groups of the site, and groups that are looked at for each. */
const MOST_NAMES = 50
const MOST_GROUPS = 500

/** Words that people write for everybody. */
const EVERYBODY = new Set('all any anonymous anybody anyone everybody everyone guest public world'.split(' '))

/** Forms that actors do not have; `role:` is one. */
const PREFIX = /^(?:groups?|roles|e?mail|mailto):/i

const EMAIL = /^[^\s@,;:<>]+@[^\s@,;<>]+$/

/** The groups of a site, by name. */
export interface KnownGroups {
  has(name: string): boolean
  names(): Iterable<string>
}

/** @param groups of the site as it stands */
export function doubtsAbout(document: string, { rules, groups: own }: RawAccess, groups: KnownGroups): RuleFinding[] {
  const findings: RuleFinding[] = []
  const actors = new Map<string, string | undefined>()
  for (const [order, rule] of rules.slice(0, MOST).entries()) {
    const { position, row } = rule
    const place = { document, order, position, ...(row !== undefined && { row }) }
    for (const actor of rule.actor) {
      if (!actors.has(actor) && actors.size < MOST_NAMES) actors.set(actor, doubtAboutActor(actor, groups))
      const reason = actors.get(actor)
      if (reason !== undefined) findings.push({ ...place, reason })
    }
    for (const reason of doubtsAboutLookups(rule)) findings.push({ ...place, reason })
  }
  for (const { position, name, subtypes, members } of own.slice(0, MOST)) {
    // Groups that decide by themselves may keep other things there (GRP-4).
    const wrong = subtypes.length > 0 ? [] : members.filter(member => !EMAIL.test(member))
    const [first] = wrong
    if (first === undefined) continue
    const reason =
      wrong.length === 1
        ? `The member ${cut(first)} of the group ${cut(name)} is no email address: it is nobody.`
        : `${wrong.length} members of the group ${cut(name)}, such as ${cut(first)}, are no email addresses: they are nobody.`
    findings.push({ document, position, reason })
  }
  return findings
}

/** A name may be that of a user or role as well: only what is nearly something else is told. */
function doubtAboutActor(actor: string, groups: KnownGroups): string | undefined {
  const name = actor.startsWith('role:') ? actor.slice('role:'.length) : actor
  if (groups.has(name) || name.includes('${') || name.includes('{{')) return undefined
  const parts = name.split(/[,;\s]+/).filter(part => part !== '')
  if (parts.length > 1 && parts.some(part => part === '*' || EMAIL.test(part) || groups.has(part)))
    return `The actor ${cut(actor)} is one name: each stands in an element of its own.`
  if (PREFIX.test(name))
    return `The actor ${cut(actor)} is compared as it is written: only role: may stand before a name.`
  if (EVERYBODY.has(name.toLowerCase()))
    return `The actor ${cut(actor)} is the user, group or role of that name; everybody is *.`
  const meant = name.includes('@') || name === '*' ? undefined : meantBy(name, groups)
  return meant && `No document declares a group ${cut(name)}, for the actor ${cut(actor)}; did you mean ${cut(meant)}?`
}

function meantBy(name: string, groups: KnownGroups): string | undefined {
  // `user` may be a role.
  const lower = name.toLowerCase()
  if (name !== 'users' && lower === 'users') return 'users'
  if (name !== 'authenticated' && isNear(name, 'authenticated')) return 'authenticated'
  let looked = 0
  for (const known of groups.names()) {
    // Names that are counted are near to each other.
    if (Math.abs(name.length - known.length) < 2 && (isMeant(name, known) || isMeant(known, name)))
      if (withoutDigits(name) !== withoutDigits(known)) return known
    if (++looked === MOST_GROUPS) break
  }
  return undefined
}

function withoutDigits(name: string): string {
  return name.replace(/\d/g, '')
}

function* doubtsAboutLookups({ actor, resource, selector }: RawRule): Generator<string> {
  for (const text of [...actor, ...resource, ...selector]) {
    if (!text.includes('{')) continue
    if (/(?<!\$)\{request\./.test(text))
      yield `${cut(text)} has a lookup without its dollar sign: it is taken as it is written.`
    for (const part of splitLookups(text, false))
      if (typeof part !== 'string' && !isLookup(part.lookup))
        yield `The lookup ${cut(part.lookup)} finds nothing in any request: it is empty.`
  }
}
