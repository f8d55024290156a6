/** Sites for tests of access: rules written as objects or as markup, and requesters. */

import { AccessRules } from '../../../pipeline/access/access-rules.ts'
import { Access } from '../../../pipeline/access/decision.ts'
import { extractAccess, type RawGroup, type RawRule } from '../../../pipeline/access/extract.ts'
import { type GroupOracle, Membership } from '../../../pipeline/access/groups.ts'
import type { Key } from '../../../pipeline/access/matching.ts'
import type { Principal, RequestFacts } from '../../../pipeline/access/principal.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import type { TreeDocument } from '../../../pipeline/tree/nodes.ts'
import { compileSelector, selectAll, selectFirst } from '../../../pipeline/tree/selector/selector.ts'

export const NS = 'https://vocabulary.test'

/** `actors methods Allow|Deny resources [selector]`: values of one field are joined by `|`. */
export type Line = readonly [actors: string, methods: string, action: string, resources: string, selector?: string]

export function rawRule([actors, methods, action, resources, selector]: Line, position = 0): RawRule {
  return {
    position,
    actor: actors.split('|'),
    resource: resources.split('|'),
    method: methods.split('|'),
    selector: selector === undefined ? [] : [selector],
    action: [action],
  }
}

export function rawGroup(name: string, ...members: string[]): RawGroup {
  return { position: 0, subtypes: [], name, members }
}

/** A site whose rules stand in one document. */
export function site(lines: readonly Line[], groups: readonly RawGroup[] = []): AccessRules {
  const raw = { ns: NS, rules: lines.map(rawRule), groups: [...groups] }
  return AccessRules.empty(NS).withDocument('/rules.html', raw)
}

/** A site whose rules are read from markup. */
export function siteOf(...bodies: string[]): AccessRules {
  let rules = AccessRules.empty(NS)
  for (const [i, body] of bodies.entries()) {
    rules = rules.withDocument(`/rules-${i}.html`, extractAccess(html(body), NS))
  }
  return rules
}

export function html(body: string): TreeDocument {
  return parseDocument('html', `<!DOCTYPE html><html><head><title>t</title></head><body>${body}</body></html>`)
}

/** The first match in a document. */
export function key(document: TreeDocument, selector: string): Key {
  const element = selectFirst(compileSelector(selector), document)
  if (!element) throw new Error(`nothing matches ${selector}`)
  return { element, document }
}

export function keys(document: TreeDocument, selector: string): Key[] {
  return selectAll(compileSelector(selector), document).map(element => ({ element, document }))
}

export function user(sub: string, more: Partial<Principal> = {}): Principal {
  return { sub, emailVerified: false, roles: [], claims: {}, ...more }
}

/** A signed-in principal with a verified email. */
export function member(email: string, more: Partial<Principal> = {}): Principal {
  return user(`u:${email}`, { email, emailVerified: true, ...more })
}

export interface RequestOptions extends Partial<Omit<RequestFacts, 'headers'>> {
  principal?: Principal
  headers?: Record<string, string>
  defaultGet?: 'allow' | 'deny'
  oracle?: GroupOracle
}

/** One requester's access; anonymous unless a principal is given. */
export function access(rules: AccessRules, options: RequestOptions = {}): Access {
  const { principal, headers = {}, defaultGet = 'allow', oracle, ...facts } = options
  return new Access(
    rules,
    {
      ...(principal ? { principal } : {}),
      facts: { method: 'GET', path: '/', queryString: '', ...facts, headers: name => headers[name] },
    },
    { defaultGet },
    () => new Membership(principal, oracle),
  )
}
