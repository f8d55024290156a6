// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
/**
 * A slow second opinion on access, written from the rules of the specification and nothing else: no code is shared with
 * what it judges. Elements are names, and a table says which selectors select them.
 */

export interface OracleRule {
  actors: string[]
  resources: string[]
  methods: string[]
  action: string
  selector?: string
}

export interface OracleSite {
  rules: OracleRule[]
  /** Members by group name. */
  groups: Record<string, string[]>
  /** Groups of a type of their own, which includes every address with an ending. */
  domains: Record<string, string>
  defaultGet: 'allow' | 'deny'
  /** Whether an element is among those that a selector selects; undefined when the selector does not parse. */
  selects: (selector: string, element: string) => boolean | undefined
  /** The parent element, if any. */
  parent: (element: string) => string | undefined
}

export interface OracleRequester {
  signedIn: boolean
  sub: string
  email: string
  verified: boolean
  roles: string[]
  headers: Record<string, string>
}

export type OracleDecision = 'allow' | 'deny' | 'unmatched'

interface Seen {
  tier: number
  deny: boolean
}

/** DEC-1, as the specification's pseudo-code has it. */
export function decide(
  site: OracleSite,
  who: OracleRequester,
  method: string,
  path: string,
  key?: string,
): OracleDecision {
  const matching: Seen[] = []
  for (const rule of site.rules) {
    const seen = consider(site, who, rule, method, path, key)
    if (seen) matching.push(seen)
  }
  if (matching.length === 0) return 'unmatched'
  const highest = Math.max(...matching.map(m => m.tier))
  return matching.some(m => m.tier === highest && m.deny) ? 'deny' : 'allow'
}

export function permit(
  site: OracleSite,
  who: OracleRequester,
  method: string,
  path: string,
  key?: string,
  more: { subscribe?: boolean; session?: boolean } = {},
): boolean {
  const decision = decide(site, who, method, path, key)
  if (decision === 'allow') return true
  if (decision === 'deny') return false
  if (more.session) {
    if (permit(site, who, 'GET', path)) return true
    return key !== undefined && permit(site, who, 'GET', path, key)
  }
  if (more.subscribe) return false
  return ['GET', 'HEAD'].includes(method) && site.defaultGet === 'allow'
}

function consider(
  site: OracleSite,
  who: OracleRequester,
  rule: OracleRule,
  method: string,
  path: string,
  key: string | undefined,
): Seen | undefined {
  const deny = rule.action.toLowerCase() === 'deny'
  let selector = rule.selector?.trim() || undefined
  const names = rule.methods.map(m => m.toUpperCase())
  // RULE-9
  if (selector !== undefined && names.includes('MOVE')) {
    if (!deny) return undefined
    selector = undefined
  }
  // LOOK-4
  if (selector?.includes('{{')) return undefined
  // RULE-10
  let parses = true
  if (selector !== undefined) {
    selector = quoteInto(selector, who)
    if (selector.trim() === '' || site.selects(selector, 'html') === undefined) parses = false
  }
  if (!parses) {
    if (!deny) return undefined
    selector = undefined
  }
  // METH-1, METH-2, KEY-7
  const wildcard = selector === undefined ? true : ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'].includes(method)
  const covered =
    (names.includes('*') && wildcard) || names.includes(method) || (method === 'HEAD' && names.includes('GET'))
  if (!covered) return undefined
  // PATH-4
  const known = [path]
  if (path.endsWith('/')) known.push(`${path}index.html`)
  if (path.endsWith('/index.html')) known.push(path.slice(0, path.length - 10))
  if (!rule.resources.some(r => known.some(name => glob(r, name, who)))) return undefined
  // KEY-1, KEY-3
  if (selector !== undefined) {
    if (key === undefined) return undefined
    if (site.selects(selector, key) !== true) return undefined
  }
  const tier = Math.max(...rule.actors.map(actor => tierOf(site, who, actor)))
  return tier < 0 ? undefined : { tier, deny }
}

/** ACT-2 to ACT-6, LOOK-6. */
function tierOf(site: OracleSite, who: OracleRequester, actor: string): number {
  if (actor === '*') return 0
  if (!who.signedIn) return -1
  if (actor.includes('{{')) return -1
  if ([':username', '${username}', '${request.auth.username}'].includes(actor)) return 2
  if (actor === 'users' || actor === 'authenticated') return 1
  const known = who.verified && who.email !== ''
  const groups = Object.keys(site.groups).filter(name => known && site.groups[name]?.includes(who.email))
  for (const [name, ending] of Object.entries(site.domains)) if (known && who.email.endsWith(ending)) groups.push(name)
  let literal = actor
  if (actor.includes('${')) {
    literal = substitute(actor, who, value => value)
    if (literal === '') return -1
  } else if (actor.startsWith('role:')) {
    const role = actor.slice(5)
    return who.roles.includes(role) || groups.includes(role) ? 1 : -1
  }
  if (literal === who.sub) return 3
  if (who.verified && who.email !== '' && literal === who.email) return 1
  return who.roles.includes(literal) || groups.includes(literal) ? 1 : -1
}

function substitute(text: string, who: OracleRequester, place: (value: string) => string): string {
  return text.replace(/\$\{([a-z.-]+)\}/g, (_, path: string) => place(find(path, who)))
}

function find(path: string, who: OracleRequester): string {
  if (path.startsWith('request.headers.')) return who.headers[path.slice('request.headers.'.length)] ?? ''
  if (!who.signedIn) return ''
  if (path === 'request.auth.sub' || path === 'request.auth.username' || path === 'username') return who.sub
  return path === 'request.auth.email' ? who.email : ''
}

/** LOOK-7 for values inside double quotes, the only place where the oracle's sites look things up. */
function quoteInto(selector: string, who: OracleRequester): string {
  return substitute(selector, who, value => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))
}

type GlobItem = { literal: string } | { any: true } | { run: true } | { set: string; not: boolean }

/** What was found for a requester, who stays as they are: matrices ask the same a hundred times. */
const globs = new WeakMap<OracleRequester, Map<string, boolean>>()

function glob(pattern: string, path: string, who: OracleRequester): boolean {
  const known = globs.get(who) ?? new Map<string, boolean>()
  globs.set(who, known)
  const asked = JSON.stringify([pattern, path])
  const fits = known.get(asked) ?? backtracking(pattern, path, who)
  known.set(asked, fits)
  return fits
}

/** PATH-2, PATH-3, PATH-6, LOOK-5 by plain backtracking. */
function backtracking(pattern: string, path: string, who: OracleRequester): boolean {
  if (pattern.includes('{{')) return pattern === path
  for (const alternative of braces(pattern)) {
    const items = globItems(alternative, who)
    if (globFrom(items, 0, [...path], 0)) return true
    if (/\/\*+$/.test(alternative)) {
      const text = alternative.replace(/\/\*+$/, '')
      const bare = globItems(text, who)
      const last = bare.at(-1)
      // A looked-up value that is empty or ends in a slash leaves no name.
      const isNameless = text.includes('${') && last !== undefined && 'literal' in last && last.literal === '/'
      if (bare.length > 0 && !isNameless && globFrom(bare, 0, [...path], 0)) return true
    }
  }
  return false
}

/** Expands the first choice that is no lookup; choices are not nested in the oracle's sites. */
function braces(pattern: string): string[] {
  const found = /(?<!\$)\{([^{}]*)\}/.exec(pattern)
  if (!found) return [pattern]
  const before = pattern.slice(0, found.index)
  const after = pattern.slice(found.index + found[0].length)
  return (found[1] ?? '').split(',').flatMap(choice => braces(before + choice + after))
}

function globItems(pattern: string, who: OracleRequester): GlobItem[] {
  const items: GlobItem[] = []
  let rest = pattern
  while (rest !== '') {
    const lookup = /^\$\{([a-z.-]+)\}/.exec(rest)
    const set = /^\[(!?)([^\]]+)\]/.exec(rest)
    if (lookup) for (const character of find(lookup[1] ?? '', who)) items.push({ literal: character })
    else if (set) items.push({ set: spelledOut(set[2] ?? ''), not: set[1] === '!' })
    else if (rest.startsWith('*')) items.push({ run: true })
    else if (rest.startsWith('?')) items.push({ any: true })
    else items.push({ literal: rest.charAt(0) })
    rest = rest.slice(lookup?.[0].length ?? set?.[0].length ?? 1)
  }
  return items
}

function spelledOut(set: string): string {
  return set.replace(/([a-z])-([a-z])/g, (_, from: string, to: string) => {
    let all = ''
    for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) all += String.fromCharCode(code)
    return all
  })
}

function globFrom(items: GlobItem[], i: number, path: string[], at: number): boolean {
  const item = items[i]
  if (!item) return at === path.length
  if ('run' in item) return globFrom(items, i + 1, path, at) || (at < path.length && globFrom(items, i, path, at + 1))
  const character = path[at]
  if (character === undefined) return false
  if ('literal' in item && item.literal !== character) return false
  if ('set' in item && item.set.includes(character) === item.not) return false
  return globFrom(items, i + 1, path, at + 1)
}

export type OracleAnswer = 'allow' | 'refuse' | 404 | 416

/** A request as METH-3 lists them; elements by name, undefined when the selector matches nothing. */
export interface OracleRequest {
  kind:
    | 'get'
    | 'head'
    | 'get-all'
    | 'subscribe'
    | 'sessel'
    | 'put'
    | 'post'
    | 'delete'
    | 'patch'
    | 'put-element'
    | 'post-element'
    | 'delete-element'
    | 'move-element'
    | 'move'
  path: string
  exists: boolean
  /** Elements found: for reads by selector, every one that the answer is about. */
  found?: string[]
  bySelector?: boolean
  target?: string
  anchor?: string
  placement?: 'append' | 'prepend' | 'before' | 'after'
  destination?: string
  session?: boolean
  transient?: boolean
}

/** Sections 4, 8, 9 and 10. */
export function answer(site: OracleSite, who: OracleRequester, request: OracleRequest): OracleAnswer {
  const { kind, path, exists } = request
  const may = (method: string, key?: string, more = {}) => permit(site, who, method, path, key, more)
  const readable = may('GET')
  const missing: OracleAnswer = readable ? 404 : 'refuse'

  if (kind === 'get' || kind === 'head' || kind === 'get-all') {
    const method = kind === 'head' ? 'HEAD' : 'GET'
    if (request.bySelector) {
      if (!exists) return missing
      const found = request.found ?? []
      if (found.length === 0) return readable ? 416 : 'refuse'
      return found.every(element => may(method, element)) ? 'allow' : 'refuse'
    }
    if (!may(method)) return 'refuse'
    return exists ? 'allow' : missing
  }
  if (kind === 'subscribe') return !may('GET', undefined, { subscribe: true }) ? 'refuse' : exists ? 'allow' : missing
  if (kind === 'sessel') return !may('QUERY') ? 'refuse' : exists ? 'allow' : missing
  if (kind === 'put') return may('PUT') ? 'allow' : 'refuse'
  if (kind === 'patch') return may('PATCH') ? 'allow' : 'refuse'
  if (kind === 'post') {
    if (!may('POST')) return 'refuse'
    return exists || path.endsWith('/') ? 'allow' : missing
  }
  if (kind === 'delete') return !may('DELETE') ? 'refuse' : exists ? 'allow' : missing
  if (kind === 'move') {
    if (!may('MOVE') || !permit(site, who, 'MOVE', request.destination ?? '')) return 'refuse'
    return exists ? 'allow' : missing
  }

  // ABS-3 (b) and (c)
  const couldGrant = (method: string, transient = false) => {
    if (decide(site, who, method, path) === 'deny') return false
    if (transient) return true
    return site.rules.some(rule => {
      if (rule.action.toLowerCase() === 'deny') return false
      const selected = rule.selector?.trim() ? [undefined, ...ELEMENTS] : [undefined]
      const one = { ...site, rules: [rule] }
      // An Allow for elements that match nothing on this page is an Allow all the same.
      const anything = {
        ...one,
        selects: (s: string, e: string) => (site.selects(s, e) === undefined ? undefined : true),
      }
      return selected.some(element => decide(anything, who, method, path, element) === 'allow')
    })
  }
  if (kind === 'move-element') {
    if (!may('MOVE')) return 'refuse'
    if (!exists) return missing
    if (request.target === undefined) return readable && couldGrant('DELETE') ? 416 : 'refuse'
    if (request.anchor === undefined) return readable && couldGrant('POST') ? 416 : 'refuse'
    if (!may('DELETE', request.target)) return 'refuse'
    const beside = request.placement === 'before' || request.placement === 'after'
    return may('POST', beside ? site.parent(request.anchor) : request.anchor) ? 'allow' : 'refuse'
  }
  const method = kind === 'put-element' ? 'PUT' : kind === 'post-element' ? 'POST' : 'DELETE'
  if (!exists) return readable && couldGrant(method) ? 404 : 'refuse'
  const beside = method === 'POST' && (request.placement === 'before' || request.placement === 'after')
  if (request.target === undefined) {
    if (beside) return 'refuse'
    return readable && couldGrant(method, request.transient) ? 416 : 'refuse'
  }
  const key = beside ? site.parent(request.target) : request.target
  return may(method, key, { session: request.session }) ? 'allow' : 'refuse'
}

/** The elements of the page that the matrix uses, by id. */
export const ELEMENTS = ['html', 'list', 'one', 'two', 'mine', 'odd', 'text']
