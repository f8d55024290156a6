import { expect } from 'chai'
import { describe, it } from 'mocha'
import { isDictionary, type Value } from '../../pipeline/language/values.ts'
import { type RequestParts, RequestValue } from '../../pipeline/request-value.ts'

const PARTS: RequestParts = {
  method: 'POST',
  path: '/a b.html',
  host: 'example.org',
  query: 'x=1&y=a%20b&x=2&z',
  repeated: 'list',
  headers: { accept: 'text/html', cookie: 'a=1; platform_session=secret; b=2', 'x-note': 'caf\u00c3\u00a9' },
  sessionCookie: 'platform_session',
  params: new Map([['slug', 'hello']]),
  body: 'text',
  identity: undefined,
}
const ANN = {
  username: 'ann-1',
  claims: { sub: 'ann-1', age: 41, height: 1.7, tags: ['a', { deep: true }], nothing: null },
  roles: ['ann@example.org', 'editors', 'users'],
}

/** The value at a path of names; dictionaries as objects. */
function at(parts: Partial<RequestParts>, ...names: string[]): unknown {
  let value: Value | undefined = new RequestValue({ ...PARTS, ...parts })
  for (const name of names) value = value !== undefined && isDictionary(value) ? value.get(name) : undefined
  return plain(value)
}

function plain(value: Value | undefined): unknown {
  if (value === undefined || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(plain)
  if (!isDictionary(value)) return value
  return Object.fromEntries(Array.from(value.keys(), name => [name, plain(value.get(name))]))
}

const CASES: [rule: string, parts: Partial<RequestParts>, names: string[], value: unknown][] = [
  ['COMP-22 the method', {}, ['method'], 'POST'],
  ['COMP-22 the decoded path', {}, ['path'], '/a b.html'],
  ['REA-40 the host', {}, ['host'], 'example.org'],
  ['COMP-22 a repeated parameter is a list', {}, ['query'], { x: ['1', '2'], y: 'a b', z: '' }],
  ['REA-40 for reactions its first value', { repeated: 'first' }, ['query'], { x: '1', y: 'a b', z: '' }],
  ['COMP-22 without a query there are no parameters', { query: '' }, ['query'], {}],
  ['COMP-22 a parameter of a prototype is none', {}, ['query', 'constructor'], undefined],
  ['COMP-99 captures of a route', {}, ['params'], { slug: 'hello' }],
  ['COMP-22 the body', {}, ['body'], 'text'],
  ['REA-41 fields by name in any case', {}, ['headers', 'ACCEPT'], 'text/html'],
  ['REA-41 a missing field', {}, ['headers', 'referer'], undefined],
  ['REA-41 repeated fields are joined', { headers: { via: ['a', 'b'] } }, ['headers'], { via: 'a, b' }],
  ['COMP-22 fields are read as UTF-8', {}, ['headers', 'x-note'], 'café'],
  ['COMP-148 the session cookie is left out', {}, ['headers', 'cookie'], 'a=1; b=2'],
  [
    'COMP-148 a request with no other cookie has none',
    { headers: { cookie: ' platform_session = x' } },
    ['headers'],
    {},
  ],
  [
    'COMP-148 cookies whose names only begin alike stay',
    { headers: { cookie: 'platform_session2=x' } },
    ['headers', 'cookie'],
    'platform_session2=x',
  ],
  ['REA-40 nobody has no identity', {}, ['auth'], { claims: {}, roles: [] }],
  ['IDC-1 nobody has no roles by either name', {}, ['auth', 'role'], []],
  ['IDC-1 the user name', { identity: ANN }, ['auth', 'username'], 'ann-1'],
  ['IDC-1 roles by either name', { identity: ANN }, ['auth', 'role'], ANN.roles],
  [
    'COMP-22 claims of every kind',
    { identity: ANN },
    ['auth', 'claims'],
    { sub: 'ann-1', age: 41n, height: 1.7, tags: ['a', { deep: true }], nothing: null },
  ],
  ['COMP-22 no other member', {}, ['__proto__'], undefined],
]

const PRIVACY: [rule: string, isPrivate: boolean, read: (request: RequestValue) => unknown][] = [
  ['COMP-22 naming the request is not private', false, request => request],
  [
    'COMP-22 path, method, query, params and body are not',
    false,
    r => ['path', 'method', 'query', 'params', 'body'].map(m => r.get(m)),
  ],
  ['COMP-22 a name that is none is not', false, request => request.get('session')],
  ['COMP-22 headers are private', true, request => request.get('headers')],
  ['COMP-22 identity is private, of nobody as well', true, request => request.get('auth')],
  ['JS-28 asking whether there is an identity is private', true, request => request.has('auth')],
  ['COMP-22 enumerating it all is private', true, request => [...request.keys()]],
]

describe('the request as code sees it', () => {
  for (const [rule, parts, names, value] of CASES)
    it(rule, () => {
      expect(at(parts, ...names)).to.deep.equal(value)
    })

  for (const [rule, isPrivate, read] of PRIVACY)
    it(rule, () => {
      const request = new RequestValue(PARTS)
      read(request)
      expect(request.isPrivate).to.equal(isPrivate)
    })

  it('COMP-22 a member is the same whenever it is read', () => {
    const request = new RequestValue(PARTS)
    expect(request.get('query')).to.equal(request.get('query'))
  })

  it('COMP-22 claims that are nested without end are cut', () => {
    let deep: unknown = 'end'
    for (let i = 0; i < 20_000; i++) deep = [deep]
    const request = new RequestValue({ ...PARTS, identity: { ...ANN, claims: { deep } } })
    expect(() => request.get('auth')).not.to.throw()
  })
})
