/** The rules of a site as the authority over one request on its public surface. */

import { admit, admitDirectory, admittingElements } from '../access/admission.ts'
import { Access } from '../access/decision.ts'
import { type GroupOracle, Membership } from '../access/groups.ts'
import { type Requester, refusalStatus } from '../access/principal.ts'
import { viewing } from '../access/readable-view.ts'
import type { Authority, Reach } from '../authority.ts'
import { Fault } from '../fault.ts'
import type { Site } from './site.ts'

/** An authority that also tells capabilities. */
export interface RulesAuthority extends Authority {
  readonly access: Access
}

/**
 * @param groups answers for groups that decide membership by themselves
 * @returns the authority by the site's rules as they stand at each call; the same object while they do not change
 */
export function rulesAuthority(site: Site, requester: Requester, groups?: GroupOracle): () => RulesAuthority {
  let held: Membership | undefined
  const membership = () => (held ??= new Membership(requester.principal, groups))
  let current: RulesAuthority | undefined
  return () => {
    if (current?.access.rules === site.rules) return current
    const access = new Access(site.rules, requester, site.settings, membership)
    current = {
      access,
      accessVersion: site.accessVersion,
      admit: question => admit(access, question),
      admitting: question => admittingElements(access, question),
      reach: (method, path) => reach(access, method, path),
      viewing: (path, document) => viewing(access, path, document),
      admitDirectory: (path, index) => admitDirectory(access, path, index),
      shareable: path => !access.dependsOnFacts('GET', path) && access.permitAnonymous('GET', path),
      *sharing(path, keys) {
        return !access.dependsOnFacts('GET', path) && (yield* access.anonymous.permittingEvery('GET', path, keys))
      },
      repeatable: path => (requester.principal || access.dependsOnRequest('GET', path) ? undefined : access.rules),
      refusal: (method, path) => refusal(requester, method, path),
    }
    return current
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
