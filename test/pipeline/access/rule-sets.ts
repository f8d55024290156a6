// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
/** Requesters, groups and random rule sets in which every form of every field comes up, for the matrix. */

import type { OracleRequester, OracleRule } from './oracle.ts'

const nobody: OracleRequester = { signedIn: false, sub: '', email: '', verified: false, roles: [], headers: {} }
const ann = { ...nobody, signedIn: true, sub: 'ann', email: 'ann@x.test', verified: true }
export const REQUESTERS: OracleRequester[] = [
  nobody,
  { ...nobody, headers: { 'x-team': 'red' } },
  ann,
  { ...ann, verified: false, headers: { 'x-team': 'ann' } },
  { ...ann, sub: 'u-7', roles: ['editor'], headers: { 'x-team': '*' } },
  { ...ann, sub: 'bob', email: 'bob@x.test', roles: ['staff', 'red'] },
  { ...ann, sub: 'a*', email: 'a"\\*]' },
  { ...ann, sub: 'users', email: '' },
]
export const GROUPS = { staff: ['ann@x.test'], editor: ['a"\\*]'], board: ['nobody@x.test'] }
/** Groups that decide by themselves; the members that they list count for nothing. */
export const DOMAINS = { insiders: '.test', ghosts: '.invalid' }
const ACTORS = [
  '*',
  '*',
  'users',
  'authenticated',
  'ann',
  'u-7',
  'a*',
  ':username',
  '${username}',
  'ann@x.test',
  'staff',
  'editor',
  'role:staff',
  'role:ann',
  'board',
  'insiders',
  'role:insiders',
  'ghosts',
  '${request.auth.sub}',
  '${request.headers.x-team}',
  '{{user}}',
]
/** What matches much comes often, so that most questions have several answers to choose from. */
const RESOURCES = [
  '/*',
  '/*',
  '/*',
  '/**',
  '/{d,e,red,users}/*',
  '/d/*',
  '/d/',
  '/d/index.html',
  '/d/page.html',
  '*',
  '/d/p*.html',
  '/d/{page,other}.html',
  '/[!c-e]/*',
  '/?/*',
  '/e/**',
  '/e',
  '/users/${request.auth.username}/*',
  '/${request.headers.x-team}/*',
  '/{{x}}',
  '/d/*/',
]
const METHODS = [
  '*',
  '*',
  '*',
  'GET',
  'PUT',
  'DELETE',
  'GET',
  'HEAD',
  'PUT',
  'POST',
  'DELETE',
  'MOVE',
  'PATCH',
  'QUERY',
  '*',
  'put',
  'GET, PUT',
]
const SELECTORS = [
  undefined,
  undefined,
  undefined,
  'li',
  '#list',
  '#list > *',
  '.a, span',
  'html',
  '#zzz',
  ' ',
  'li[',
  '*',
  '[data-owner="${request.auth.email}"]',
  '#{{x}}',
  'p:not([data-owner="${request.headers.x-team}"])',
]
/** Where documents are moved to. */
export const DESTINATIONS = ['/e', '/d/page.html']
export const PATHS = ['/d/', '/d/index.html', '/d/page.html', '/d', '/e', '/users/a*/x', '/users/ann/x', '/red/a', '/']

/** Deterministic generator (mulberry32), so that every run judges the same sites; neighbouring seeds have nothing in common. */
function generator(seed: number): <T>(list: readonly T[]) => T {
  let state = Math.imul(seed, 0x9e3779b9)
  return list => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return list[Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * list.length)] as never
  }
}

/** The same rules for the same seed. */
export function ruleSet(seed: number): OracleRule[] {
  const pick = generator(seed)
  const several = <T>(list: readonly T[]) => Array.from({ length: pick([1, 1, 2, 3]) }, () => pick(list))
  return Array.from({ length: pick([0, 1, 2, 3, 5, 8, 12]) }, () => {
    const selector = pick(SELECTORS)
    return {
      actors: several(ACTORS),
      resources: several(RESOURCES),
      methods: several(METHODS),
      action: pick(['Allow', 'Deny', 'allow']),
      ...(selector === undefined ? {} : { selector }),
    }
  })
}
