// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { JSDOM } from 'jsdom'
import { describe, it } from 'mocha'
import { AccessRules } from '../../../pipeline/access/access-rules.ts'
import { type Admission, admit, type Question } from '../../../pipeline/access/admission.ts'
import { allMethods, capabilityParts } from '../../../pipeline/access/capabilities.ts'
import { Access } from '../../../pipeline/access/decision.ts'
import { type GroupOracle, Membership } from '../../../pipeline/access/groups.ts'
import { type Key, type MatchingRule, resolve } from '../../../pipeline/access/matching.ts'
import {
  answer,
  decide,
  ELEMENTS,
  type OracleRequest,
  type OracleRequester,
  type OracleRule,
  type OracleSite,
} from './oracle.ts'
import { FORMS, type WrittenGroup, written } from './rule-forms.ts'
import { DESTINATIONS, DOMAINS, GROUPS, PATHS, REQUESTERS, ruleSet } from './rule-sets.ts'
import { html, key, NS } from './site.ts'

const PAGE =
  '<ul id="list"><li id="one" class="a">1</li><li id="two" class="b"><span id="text">2</span></li></ul>' +
  '<p id="mine" data-owner="ann@x.test">m</p><p id="odd" data-owner="a&quot;\\*]">o</p>'

const document = html(PAGE)
const window = new JSDOM(`<!DOCTYPE html><body>${PAGE}`).window
const known = new Map<string, Map<string, boolean> | undefined>()

/** jsdom's opinion of a selector on the page. */
function selects(selector: string, element: string): boolean | undefined {
  if (!known.has(selector)) {
    let table: Map<string, boolean> | undefined
    try {
      table = new Map(ELEMENTS.map(id => [id, find(id)?.matches(selector) === true]))
    } catch {
      table = undefined
    }
    known.set(selector, table)
  }
  return known.get(selector)?.get(element)
}

function find(id: string) {
  return id === 'html' ? window.document.documentElement : window.document.getElementById(id)
}

function parent(id: string): string | undefined {
  const above = find(id)?.parentElement
  return above ? above.id || above.tagName.toLowerCase() : undefined
}

const found = new Map<string, Key>(ELEMENTS.map(id => [id, key(document, id === 'html' ? 'html' : `#${id}`)]))

const ORACLE: GroupOracle = {
  overrides: group => group.subtypes.includes('https://t.example/Domain'),
  includes: async ({ name }, email) => email.endsWith(DOMAINS[name as keyof typeof DOMAINS]),
}

/** A site of two documents, each in a form of its own: where a rule stands and how it is written must not matter. */
function compiled(rules: OracleRule[], seed: number): AccessRules {
  const forms = Object.keys(FORMS)
  const groups: WrittenGroup[] = [
    ...Object.entries(GROUPS).map(([name, members]) => ({ type: 'Group' as const, name, members })),
    ...Object.keys(DOMAINS).map(name => ({ type: 'Domain' as const, name, members: ['bob@x.test', 'a"\\*]'] })),
  ]
  const odd = (_: unknown, i: number) => i % 2 === 1
  const even = (_: unknown, i: number) => i % 2 === 0
  const [first = '', second = ''] = [forms[seed % forms.length], forms[Math.floor(seed / forms.length) % forms.length]]
  return AccessRules.empty(NS)
    .withDocument('/one.html', written(first, rules.filter(even), groups.filter(odd)))
    .withDocument('/two.html', written(second, rules.filter(odd), groups.filter(even)))
}

function accessOf(rules: AccessRules, who: OracleRequester, path: string, defaultGet: 'allow' | 'deny'): Access {
  const principal = { sub: who.sub, email: who.email, emailVerified: who.verified, roles: who.roles, claims: {} }
  const facts = { method: 'GET', path, queryString: '', headers: (name: string) => who.headers[name] }
  const requester = { ...(who.signedIn ? { principal } : {}), facts }
  return new Access(rules, requester, { defaultGet }, () => new Membership(requester.principal, ORACLE))
}

const SITES = process.env.FUZZ ? 1_000 : 60
const FIRST = process.env.FUZZ ? Date.now() : 1

type Visit = (site: OracleSite, who: OracleRequester, path: string, mine: Access) => void

async function eachCase(visit: Visit): Promise<void> {
  for (let i = 0; i < SITES; i++) {
    const rules = ruleSet(FIRST + i)
    const snapshot = compiled(rules, FIRST + i)
    const defaultGet = i % 2 === 0 ? 'allow' : 'deny'
    const site: OracleSite = { rules, groups: GROUPS, domains: DOMAINS, defaultGet, selects, parent }
    for (const who of REQUESTERS) {
      for (const path of PATHS) {
        const mine = accessOf(snapshot, who, path, defaultGet)
        await mine.resolveGroups([path, ...DESTINATIONS])
        visit(site, who, path, mine)
      }
    }
  }
}

describe('the decision against an independent oracle', () => {
  it('DEC-1 actors x methods x paths x elements x rule sets', async () => {
    let cases = 0
    const seen = new Map<string, number>()
    const tiers = new Map<number, number>()
    await eachCase((site, who, path, mine) => {
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'MOVE', 'QUERY']) {
        const tier = Math.max(-1, ...mine.matching(method, path).map(match => match.tier))
        tiers.set(tier, (tiers.get(tier) ?? 0) + 1)
        for (const element of [undefined, ...ELEMENTS]) {
          const target = element === undefined ? undefined : found.get(element)
          const expected = decide(site, who, method, path, element)
          const actual = mine.decide(method, path, target)
          cases++
          seen.set(expected, (seen.get(expected) ?? 0) + 1)
          if (actual !== expected) {
            expect.fail(JSON.stringify({ actual, expected, method, path, element, who, rules: site.rules }, null, 1))
          }
        }
      }
    })
    expect(cases).to.be.at.least(50_000)
    for (const decision of ['allow', 'deny', 'unmatched']) expect(seen.get(decision), decision).to.be.above(1_000)
    for (const tier of [0, 1, 2, 3]) expect(tiers.get(tier), `${[...tiers]}`).to.be.above(1_000)
  })
  it('RULE-1 to RULE-6, RULE-12, GRP-4 the sites are written in every form, which declare the same', () => {
    for (const form of Object.keys(FORMS)) {
      for (let seed = 1; seed < 20; seed++) {
        const rules = ruleSet(seed)
        const access = written(form, rules, [{ type: 'Domain', name: 'd', members: ['a@b'] }])
        const read = access?.rules.map(({ actor, resource, method, action }) => ({ actor, resource, method, action }))
        const meant = rules.map(rule => ({
          actor: rule.actors,
          resource: rule.resources,
          method: rule.methods,
          action: [rule.action],
        }))
        expect(read, form).to.deep.equal(meant)
        expect(access?.groups, form).to.have.length(1)
        expect(access?.groups[0], form)
          .to.include({ name: 'd' })
          .and.deep.include({ subtypes: ['https://t.example/Domain'] })
      }
    }
  })
})

describe('short cuts give the answers that asking gives', () => {
  const all = [...found.values()]
  const many = [...all, ...all, ...all]
  const METHODS_ASKED = ['GET', 'HEAD', 'PUT', 'MOVE']

  it('selectorDependence: without it every element is answered like the whole', async () => {
    await eachCase((_, __, path, mine) => {
      for (const method of METHODS_ASKED) {
        if (mine.selectorDependence(method, path)) continue
        const whole = mine.permit(method, path)
        for (const target of all) expect(mine.permit(method, path, target)).to.equal(whole)
      }
    })
  })
  it('ALL-1 permitEvery: as asking about each, few or many', async () => {
    await eachCase((_, __, path, mine) => {
      for (const method of METHODS_ASKED) {
        const each = all.filter(target => mine.permit(method, path, target))
        for (const keys of [many, [...each, ...each, ...each], all.slice(0, 2), each.slice(0, 2)]) {
          expect(mine.permitEvery(method, path, keys)).to.equal(keys.every(target => each.includes(target)))
        }
      }
    })
  })
  it('dependsOnRequest: without it all requesters get the same answer', async () => {
    const answers = new Map<string, string>()
    let independent = 0
    await eachCase((site, _, path, mine) => {
      for (const method of METHODS_ASKED) {
        if (mine.dependsOnRequest(method, path)) continue
        const given = [undefined, ...all].map(target => mine.decide(method, path, target)).join()
        const question = `${JSON.stringify(site.rules)} ${method} ${path}`
        independent++
        expect(given).to.equal(answers.get(question) ?? given)
        answers.set(question, given)
      }
    })
    expect(independent).to.be.above(1_000)
  })
  it('CAP-3 the methods of a document are those that are permitted', async () => {
    await eachCase((_, __, path, mine) => {
      const listed = capabilityParts(mine, path)?.[0]?.allow ?? allMethods(mine, path)
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'MOVE', 'PATCH']) {
        expect(listed.includes(method), method).to.equal(mine.permit(method, path))
      }
    })
  })
})

describe('capabilities', () => {
  it('CAP-3 CAP-8 the methods of a selector are what all rules together permit where it and nothing else is known', async () => {
    let parts = 0
    await eachCase((_, __, path, mine) => {
      for (const { selector, allow } of capabilityParts(mine, path)?.slice(1) ?? []) {
        parts++
        const counts = ({ scope }: MatchingRule) => scope === undefined || scope.text === selector
        const named = (method: string) =>
          mine.matching(undefined, path).some(({ rule, scope }) => {
            return scope?.text === selector && rule.allow && rule.methods.has(method)
          })
        const expected = ['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'QUERY'].filter(method => {
          if (!named(method) && !(method === 'HEAD' && named('GET'))) return false
          return resolve(mine.matching(method, path), counts) === 'allow'
        })
        const known = allow.filter(method => method !== 'OPTIONS' && /^[A-Z]+$/.test(method))
        expect(known, `${selector} on ${path}`).to.deep.equal(expected)
      }
    })
    expect(parts).to.be.above(1_000)
  })
})

describe('admission against an independent oracle', () => {
  const requests: Omit<OracleRequest, 'path'>[] = [
    { kind: 'get', exists: true },
    { kind: 'get', exists: false },
    { kind: 'head', exists: true },
    { kind: 'head', exists: true, bySelector: true, found: ['one'] },
    { kind: 'get', exists: true, bySelector: true, found: ['mine'] },
    { kind: 'get', exists: true, bySelector: true, found: [] },
    { kind: 'get', exists: false, bySelector: true, found: [] },
    { kind: 'get-all', exists: true, bySelector: true, found: ['one', 'two'] },
    { kind: 'get-all', exists: true, bySelector: true, found: ['mine', 'odd'] },
    { kind: 'subscribe', exists: true },
    { kind: 'sessel', exists: true },
    { kind: 'put', exists: false },
    { kind: 'post', exists: true },
    { kind: 'post', exists: false },
    { kind: 'delete', exists: true },
    { kind: 'delete', exists: false },
    { kind: 'patch', exists: true },
    { kind: 'put-element', exists: true, target: 'mine' },
    { kind: 'put-element', exists: true },
    { kind: 'put-element', exists: true, transient: true },
    { kind: 'put-element', exists: true, target: 'text', session: true, transient: true },
    { kind: 'put-element', exists: false },
    { kind: 'post-element', exists: true, target: 'list' },
    { kind: 'post-element', exists: true, target: 'one', placement: 'before' },
    { kind: 'post-element', exists: true, target: 'html', placement: 'after' },
    { kind: 'post-element', exists: true, placement: 'after' },
    { kind: 'post-element', exists: true, placement: 'prepend' },
    { kind: 'delete-element', exists: true, target: 'two' },
    { kind: 'delete-element', exists: true },
    { kind: 'move-element', exists: true, target: 'one', anchor: 'list', placement: 'append' },
    { kind: 'move-element', exists: true, target: 'one', anchor: 'two', placement: 'before' },
    { kind: 'move-element', exists: true, anchor: 'list', placement: 'append' },
    { kind: 'move-element', exists: true, target: 'one', placement: 'before' },
    { kind: 'move-element', exists: false, placement: 'after' },
    { kind: 'move', exists: true, destination: DESTINATIONS[0] },
    { kind: 'move', exists: false, destination: DESTINATIONS[1] },
  ]

  it('METH-3, ALL, ABS, AMV, DEC-8 requests x requesters x paths x rule sets', async () => {
    let cases = 0
    const seen = new Map<unknown, number>()
    await eachCase((site, who, path, mine) => {
      for (const request of requests) {
        const expected = answer(site, who, { ...request, path })
        const actual = inNumbers(admit(mine, questionOf({ ...request, path })))
        cases++
        seen.set(expected, (seen.get(expected) ?? 0) + 1)
        if (actual !== expected) {
          expect.fail(JSON.stringify({ actual, expected, path, request, who, ...site }, null, 1))
        }
      }
    })
    expect(cases).to.be.at.least(50_000)
    for (const outcome of ['allow', 'refuse', 404, 416]) expect(seen.get(outcome), `${outcome}`).to.be.above(500)
  })
})

function inNumbers(outcome: Admission): string | number {
  return outcome === 'not-found' ? 404 : outcome === 'no-match' ? 416 : outcome
}

function questionOf(request: OracleRequest): Question {
  const { kind, path, exists, placement = 'append', destination = '' } = request
  const element = (id: string | undefined) => (id === undefined ? undefined : found.get(id))
  switch (kind) {
    case 'get':
    case 'head':
    case 'get-all': {
      const head = kind === 'head'
      if (!request.bySelector) return { ask: 'read', path, exists, head }
      const keys = (request.found ?? []).flatMap(id => element(id) ?? [])
      return { ask: 'read-elements', path, exists, head, keys }
    }
    case 'sessel':
      return { ask: 'evaluate', path, exists }
    case 'put-element':
    case 'post-element':
    case 'delete-element': {
      const { session, transient } = request
      return {
        ask: kind,
        path,
        exists,
        target: element(request.target),
        placement: request.placement,
        session,
        transient,
      }
    }
    case 'move-element':
      return { ask: kind, path, exists, source: element(request.target), anchor: element(request.anchor), placement }
    case 'move':
      return { ask: kind, path, destination, exists }
    default:
      return { ask: kind, path, exists }
  }
}
