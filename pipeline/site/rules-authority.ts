/** The rules of a site as the authority over one request on its public surface. */

import type { AccessRules } from '../access/access-rules.ts'
import { admit, admitDirectory, admittingElements } from '../access/admission.ts'
import { Access } from '../access/decision.ts'
import { type GroupOracle, Membership } from '../access/groups.ts'
import { type Requester, refusalStatus } from '../access/principal.ts'
import { KEY_METHODS, viewing } from '../access/readable-view.ts'
import type { Authority, Authorizing, Reach } from '../authority.ts'
import { Fault } from '../fault.ts'
import type { Site } from './site.ts'

/** An authority that also tells capabilities. */
export interface RulesAuthority extends Authority {
  readonly access: Access
}

/** Whether the session has ended in which a requester has signed in: then it is nobody's any more (DEC-6). */
export interface Standing {
  /** As far as this process knows. */
  isOver(): boolean
  /** Whatever process has ended it. @throws Fault 503 when nobody can be asked */
  isOverNow(): boolean | Promise<boolean>
}

const LASTING: Standing = { isOver: () => false, isOverNow: () => false }

/**
 * @param groups answers for groups that decide by themselves
 * @returns the authority by the site's rules as they stand at each call; the same object while they do not change. Groups are
 *   asked again when `settle` finds that something of the site has changed (GRP-5).
 */
export function rulesAuthority(
  site: Site,
  requester: Requester,
  groups?: GroupOracle,
  standing = LASTING,
): Authorizing<RulesAuthority> {
  const { facts, principal } = requester
  let held: Membership | undefined
  let current: RulesAuthority | undefined
  /** State of the site by which groups were asked. */
  let { changes } = site
  let asking = requester
  function beNobody(): void {
    asking = { facts }
    current = undefined
  }

  function confirm(): void | Promise<void> {
    if (!asking.principal) return
    const isOver = standing.isOverNow()
    if (isOver === true) beNobody()
    else if (isOver !== false)
      return isOver.then(isSure => {
        if (isSure) beNobody()
      })
  }

  const authority = () => {
    if (asking.principal && standing.isOver()) beNobody()
    if (current?.access.rules !== site.rules) {
      const membership = () => (held ??= new Membership(principal, groups))
      current = authorityBy(site, new Access(site.rules, asking, site.settings, asking.principal && membership))
    }
    return current
  }
  if (!principal) return authority
  return Object.assign(authority, { confirm }, groups && settling())

  function settling() {
    const asked = new Set<string>()
    const needsNone = () => !asking.principal || site.rules.subtypedGroups === 0
    return {
      async settle(paths: readonly string[]) {
        for (const path of paths) asked.add(path)
        if (needsNone()) return
        let rules: AccessRules
        do {
          // Leases tell of what was done at their own paths; a group may look at any.
          await site.inStep()
          if (changes !== site.changes) {
            held = undefined
            current = undefined
            changes = site.changes
          }
          const { access } = authority()
          rules = access.rules
          await access.resolveGroups([...asked])
          // Groups that have changed while they were asked have not answered.
        } while (rules !== site.rules)
      },
      isSettled: () => needsNone() || changes === site.changes,
    }
  }
}

function authorityBy(site: Site, access: Access): RulesAuthority {
  const { requester } = access
  const shareable = (path: string) => !access.dependsOnFacts('GET', path) && access.permitAnonymous('GET', path)
  return {
    access,
    accessVersion: site.accessVersion,
    admit: question => admit(access, question),
    admitting: question => admittingElements(access, question),
    reach: (method, path) => reach(access, method, path),
    viewing: (path, document) => viewing(access, path, document),
    admitDirectory: (path, index, head) => admitDirectory(access, path, index, head),
    shareable,
    *sharing(path, keys) {
      // What a selector finds tells of all that it was matched against, which is less for whoever may not read the whole.
      return shareable(path) && (yield* access.anonymous.permittingEvery('GET', path, keys))
    },
    takesFromAnybody: path => access.takesFromAnybody(path),
    repeatable(path, head) {
      if (requester.principal) return undefined
      // Whoever may not read the whole knows elements by name that they may write (SEC-6).
      const more = access.readable(path) ? (head ? ['HEAD'] : []) : KEY_METHODS
      return ['GET', ...more].some(method => access.dependsOnRequest(method, path)) ? undefined : access.rules
    },
    refusal: (method, path) => refusal(requester, method, path),
  }
}

function reach(access: Access, method: string, path: string): Reach {
  if (access.permit(method, path) || access.selectorDependence(method, path)) return 'elements'
  const isWrite = method !== 'GET' && method !== 'HEAD'
  if (!isWrite || access.decide(method, path) === 'deny') return 'nothing'
  return reach(access, 'GET', path) === 'nothing' ? 'nothing' : 'session'
}

function refusal({ principal }: Requester, method: string, path: string): Fault {
  const status = refusalStatus(principal)
  const message =
    status === 401 ? `Authentication required to ${method} this resource.` : `You may not ${method} this resource.`
  return new Fault(status, status === 401 ? 'Unauthorized' : 'Forbidden', message, {
    refused: { resource: path, method },
  })
}
