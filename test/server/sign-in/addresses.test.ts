import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { callbackPath, endpointAt, returnTarget } from '../../../server/sign-in/addresses.ts'
import { rolesOf } from '../../../server/sign-in/endpoints.ts'
import { RUNS } from '../../pipeline/http/seed.ts'

const settings = { brand: 'acme', authAliases: true, oidc: undefined }

describe('addresses of signing in', () => {
  it('OIDC-1 endpoints and aliases', () => {
    for (const name of ['login', 'callback', 'logout'] as const) {
      expect(endpointAt(settings, `/-acme/oidc/${name}`)).to.deep.equal({ name, alias: false })
      expect(endpointAt(settings, `/auth/${name}`)).to.deep.equal({ name, alias: true })
      expect(endpointAt({ ...settings, authAliases: false }, `/auth/${name}`)).to.equal(undefined)
    }
    for (const path of [
      '/-acme/oidc/',
      '/-acme/oidc/login/',
      '/-platform/oidc/login',
      '/auth',
      '/auth/',
      '/Auth/login',
      '/-acme/oidc/LOGIN',
    ])
      expect(endpointAt(settings, path), path).to.equal(undefined)
    expect(callbackPath(settings)).to.equal('/-acme/oidc/callback')
  })

  it('OIDC-3 whatever is asked for leads to this site, as a browser reads it, and never to signing in', () => {
    const pieces = fc.constantFrom(
      ...[
        '/',
        '\\',
        '.',
        '..',
        '%2e',
        '%2f',
        '%5c',
        '//',
        ':',
        '@',
        '?',
        '#',
        'evil.example',
        '\t',
        '\n',
        '\r',
        ' ',
        'ä',
      ],
      ...['https:', 'javascript:', '-acme', 'oidc', 'login', 'auth', '%2D', 'a', '\u0000', '\ud800', '[', ']', ';'],
    )
    const wanted = fc.array(pieces, { maxLength: 8 }).map(all => `/${all.join('')}`)
    fc.assert(
      fc.property(fc.oneof(wanted, fc.string()), text => {
        const target = returnTarget(text, settings)
        expect(target).to.match(/^\/(?![/\\])[\x21-\x7e]*$/)
        const url = new URL(target, 'https://site.example/-acme/oidc/callback')
        expect(url.origin).to.equal('https://site.example')
        let path = url.pathname
        try {
          path = decodeURIComponent(path)
        } catch {
          // A path that is no UTF-8 is no address of this server.
        }
        expect(endpointAt(settings, path)).to.equal(undefined)
        expect(returnTarget(target, settings), 'a target stays what it is').to.equal(target)
      }),
      RUNS,
    )
  })

  it('OIDC-3 without a target, or with an endless one, the start page', () => {
    expect(returnTarget(null, settings)).to.equal('/')
    expect(returnTarget(`/${'a'.repeat(100_000)}`, settings)).to.equal('/')
  })
})

describe('roles', () => {
  const cases: [claims: Record<string, unknown>, path: string, roles: string[]][] = [
    [{ roles: ['a', 'b'] }, 'roles', ['a', 'b']],
    [{ roles: ['a', 'a', ''] }, 'roles', ['a']],
    [{ roles: 'a' }, 'roles', ['a']],
    [{ roles: ' a \t b\nc ' }, 'roles', ['a', 'b', 'c']],
    [{ roles: ['two words'] }, 'roles', ['two words']],
    [{ roles: '' }, 'roles', []],
    [{ roles: [] }, 'roles', []],
    [{ roles: ['a', 1] }, 'roles', []],
    [{ roles: { a: true } }, 'roles', []],
    [{ roles: null }, 'roles', []],
    [{ roles: 7 }, 'roles', []],
    [{}, 'roles', []],
    [{ a: { b: { c: ['x'] } } }, 'a.b.c', ['x']],
    [{ 'a.b': ['literal'], a: { b: ['nested'] } }, 'a.b', ['literal']],
    [{ a: ['x'] }, 'a.0', []],
    [{ a: null }, 'a.b', []],
    [{}, '__proto__', []],
    [{}, 'constructor.name', []],
    [JSON.parse('{"__proto__":{"roles":["x"]}}'), 'roles', []],
  ]
  for (const [claims, path, roles] of cases) {
    it(`OIDC-5 ${path} of ${JSON.stringify(claims)}`, () => {
      expect(rolesOf(claims, path)).to.deep.equal(roles)
    })
  }
})
