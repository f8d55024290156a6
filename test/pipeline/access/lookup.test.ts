// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { lookUp, splitLookups } from '../../../pipeline/access/lookup.ts'
import { renderSelector, selectorTemplate } from '../../../pipeline/access/selector-template.ts'
import { escapeIdentifier } from '../../../pipeline/tree/address.ts'
import { attribute } from '../../../pipeline/tree/nodes.ts'
import { compileSelector } from '../../../pipeline/tree/selector/selector.ts'
import { takesLess } from '../../support/cost.ts'
import { access, html, key, keys, member, site, user } from './site.ts'

const seed = process.env.FUZZ ? {} : { seed: 21 }

describe('lookups in the text of a field', () => {
  const table: [text: string, parts: (string | { lookup: string })[]][] = [
    ['', []],
    ['plain', ['plain']],
    ['${a.b-c_1}', [{ lookup: 'a.b-c_1' }]],
    ['x${a}y${b}', ['x', { lookup: 'a' }, 'y', { lookup: 'b' }]],
    ['${prénom}', [{ lookup: 'prénom' }]],
    ['${a b}', ['${a b}']],
    ['${}', ['${}']],
    ['${a', ['${a']],
    ['${a${b}', ['${a', { lookup: 'b' }]],
    ['$a {b} $', ['$a {b} $']],
    [':username', [':username']],
    ['/u/:username/x', ['/u/', { lookup: 'request.auth.username' }, '/x']],
    ['/u/:usernames', ['/u/:usernames']],
  ]
  for (const [text, parts] of table) {
    it(`LOOK-1 ${text || 'nothing'}`, () => {
      expect(splitLookups(text, true)).to.deep.equal(parts)
    })
  }
  it('LOOK-1 :username is no lookup in an actor', () => {
    expect(splitLookups('x:username', false)).to.deep.equal(['x:username'])
  })
  it('LOOK-1 hostile text takes linear time', () =>
    takesLess(500, () => {
      splitLookups('${a'.repeat(100_000), true)
      splitLookups(`\${${'a'.repeat(300_000)}`, true)
    }))
})

describe('what can be looked up', () => {
  const principal = member('ann@x.test', {
    sub: 'ann',
    name: 'Ann',
    roles: ['editor'],
    claims: {
      sub: 'ann',
      age: 42,
      least: Number.MIN_SAFE_INTEGER,
      large: 2 ** 53,
      low: -(2 ** 53),
      endless: Number.POSITIVE_INFINITY,
      admin: false,
      tags: ['a'],
      address: { city: 'Bonn' },
      empty: '',
      none: null,
    },
  })
  const facts = {
    method: 'put',
    path: '/ä/b.html',
    queryString: 'a=1&b=x+y%20z&a=2&dotted.name=d',
    headers: (name: string) => (name === 'x-team' ? 'red, blue' : name === 'X-Up' ? 'no' : undefined),
  }
  const table: [path: string, value: string, anonymous?: string][] = [
    ['request.method', 'PUT'],
    ['request.path', '/ä/b.html'],
    ['request.query_string', facts.queryString],
    ['request.query.a', '1'],
    ['request.query.b', 'x y z'],
    ['request.query.dotted.name', 'd'],
    ['request.query.none', ''],
    ['request.query', ''],
    ['request.headers.x-team', 'red, blue'],
    ['request.headers.X-Up', ''],
    ['request.headers.none', ''],
    ['request.headers', ''],
    ['request.auth.sub', 'ann', ''],
    ['request.auth.username', 'ann', ''],
    ['request.auth.email', 'ann@x.test', ''],
    ['request.auth.name', 'Ann', ''],
    ['request.auth.roles', ''],
    ['request.auth', ''],
    ['request.auth.claims', ''],
    ['request.auth.claims.age', '42', ''],
    ['request.auth.other.age', ''],
    ['request.auth.claims.none', ''],
    ['request.auth.claims.none.age', ''],
    ['request.auth.claims.least', '-9007199254740991', ''],
    ['request.auth.claims.large', ''],
    ['request.auth.claims.low', ''],
    ['request.auth.claims.endless', ''],
    ['request.auth.claims.admin', 'false', ''],
    ['request.auth.claims.tags', ''],
    ['request.auth.claims.tags.0', ''],
    ['request.auth.claims.address', ''],
    ['request.auth.claims.address.city', 'Bonn', ''],
    ['request.auth.claims.constructor.name', ''],
    ['request.auth.claims.tags.length', ''],
    ['request.auth.claims.__proto__', ''],
    ['auth.claims.age', '42', ''],
    ['username', 'ann', ''],
    ['method', 'PUT'],
    ['path', '/ä/b.html'],
    ['query.a', '1'],
    ['request', ''],
    ['request.', ''],
    ['headers.x-team', ''],
    ['nothing', ''],
    ['username.x', ''],
  ]
  for (const [path, value, anonymous] of table) {
    it(`LOOK-2, LOOK-3 ${path}`, () => {
      expect(lookUp(path, { principal, facts })).to.equal(value)
      expect(lookUp(path, { facts })).to.equal(anonymous ?? value)
    })
  }
  it('LOOK-2 without a query there is nothing in it', () => {
    expect(lookUp('request.query.a', { facts: { ...facts, queryString: '' } })).to.equal('')
  })
  it('LOOK-2 an absent email or name is empty', () => {
    expect(lookUp('request.auth.email', { principal: user('u'), facts })).to.equal('')
    expect(lookUp('request.auth.name', { principal: user('u'), facts })).to.equal('')
  })
})

describe('lookups in an actor', () => {
  const decide = (actor: string, sub: string | undefined, header = '', roles: string[] = []) =>
    access(site([[actor, 'PUT', 'Allow', '/a']]), {
      ...(sub === undefined ? {} : { principal: user(sub, { roles }) }),
      headers: { x: header },
    }).decide('PUT', '/a')

  for (const form of ['*', 'users', 'authenticated', ':username', '${username}', 'role:x', 'role:users']) {
    it(`LOOK-6 a substituted ${form} is an ordinary name`, () => {
      expect(decide('${request.headers.x}', 'ann', form, ['x'])).to.equal('unmatched')
      expect(decide('${request.headers.x}', undefined, form)).to.equal('unmatched')
    })
  }
  it('LOOK-6 the value is one literal name', () => {
    expect(decide('${request.headers.x}', 'ann', 'ann')).to.equal('allow')
    expect(decide('team-${request.headers.x}', 'u', 'red', ['team-red'])).to.equal('allow')
    expect(decide('team-${request.headers.x}', 'u', 'blue', ['team-red'])).to.equal('unmatched')
    expect(decide('role:${request.headers.x}', 'u', 'red', ['red'])).to.equal('unmatched')
  })
  it('LOOK-6 an empty value is nobody', () => {
    expect(decide('${request.headers.x}', 'u')).to.equal('unmatched')
    expect(decide('${request.headers.x}', undefined)).to.equal('unmatched')
  })
  it('LOOK-6 the deprecated forms only as the whole value', () => {
    expect(decide('${request.auth.username}', 'ann')).to.equal('allow')
    expect(decide('x${request.auth.username}', 'ann')).to.equal('unmatched')
    expect(decide(' :username x', 'ann')).to.equal('unmatched')
  })
})

describe('lookups in a selector', () => {
  const render = (selector: string, value: string) =>
    renderSelector(selectorTemplate(splitLookups(selector, true)) ?? ['unusable'], () => value)

  const rendered: [selector: string, value: string, text: string][] = [
    ['[a="${x}"]', 'b"], body', '[a="b\\"], body"]'],
    ["[a='${x}']", "b'], body", "[a='b\\'], body']"],
    ['[a="${x}"]', 'a\\', '[a="a\\\\"]'],
    ['[a="${x}"]', 'a\nb', '[a="a\\a b"]'],
    ['[a="${x}"]', '', '[a=""]'],
    ['#${x}', 'a b', '#a\\ b'],
    ['#${x}', '1a', '#\\31 a'],
    ['#u-${x}', '1', '#u-\\31 '],
    ['#${x}', '-', '#\\-'],
    ['#${x}', '-1', '#-\\31 '],
    ['#${x}', 'é😀', '#é😀'],
    ['.${x}', 'a, body', '.a\\,\\ body'],
    ['#a${x}', '', '#a'],
    ['[a="\\"${x}"]', '"', '[a="\\"\\""]'],
    ['[a="\\41${x}"]', 'bc', '[a="\\41 bc"]'],
    ['[a="\\\r\n${x}"]', 'b c', '[a="\\\r\nb c"]'],
    ['[a="\\41\n${x}"]', 'b c', '[a="\\41\nb c"]'],
    ['#a /* ${x} */ b', '*/ c', '#a /*  */ b'],
    ['#a /* *${x}/ b', 'y', '#a /* */ b'],
    ['"/*"${x}', 'a b', '"/*"a\\ b'],
  ]
  for (const [selector, value, text] of rendered) {
    it(`LOOK-7 ${selector} with ${JSON.stringify(value)}`, () => {
      expect(render(selector, value)).to.equal(text)
    })
  }
  it('LOOK-7 no value directly behind a backslash, or where it could begin a comment', () => {
    for (const selector of ['#\\${x}', '[a="\\${x}"]', 'a /${x}* b */']) {
      expect(selectorTemplate(splitLookups(selector, true)), selector).to.equal(undefined)
    }
  })
  it('LOOK-7 such a selector is one that does not parse', () => {
    const document = html('<p id="a"></p>')
    const rules = (action: string) => access(site([['*', 'PUT', action, '/a', '#\\${request.headers.x}']]))
    expect(rules('Allow').decide('PUT', '/a', key(document, 'p'))).to.equal('unmatched')
    expect(rules('Deny').decide('PUT', '/a')).to.equal('deny')
  })

  it('LOOK-7 the example: exactly that email', () => {
    const document = html('<p data-owner="ann@x.test"></p><p data-owner="eve@x.test"></p><p data-owner=""></p>')
    const rules = site([['users', 'PUT', 'Allow', '/a', '[data-owner="${request.auth.email}"]']])
    const allowed = (email: string) =>
      keys(document, 'p')
        .filter(k => access(rules, { principal: member(email) }).permit('PUT', '/a', k))
        .map(k => attribute(k.element, 'data-owner'))
    expect(allowed('ann@x.test')).to.deep.equal(['ann@x.test'])
    expect(allowed('x"], p, [a="')).to.deep.equal([])
  })
  it('LOOK-7 :username in a selector', () => {
    const document = html('<p id="ann"></p>')
    const rules = site([['users', 'PUT', 'Allow', '/a', '#:username']])
    expect(access(rules, { principal: user('ann') }).permit('PUT', '/a', key(document, 'p'))).to.equal(true)
    expect(access(rules, { principal: user('eve') }).permit('PUT', '/a', key(document, 'p'))).to.equal(false)
  })

  it('LOOK-7 property: no value changes the structure of a selector', () => {
    const value = fc.string({
      unit: fc.constantFrom(...'ab1-_ "\'\\]),*/#.:>~+|=(\n\r\f\0\u0001é😀'),
      minLength: 1,
      maxLength: 8,
    })
    const frames = [
      '[a="${x}"]',
      "[a='${x}']",
      '#i${x}',
      'li.${x} > a',
      '[a=${x}]',
      '[a="\\41${x}"]',
      ':not([a="${x}" i])',
    ]
    fc.assert(
      fc.property(fc.constantFrom(...frames), value, (frame, text) => {
        expect(shape(render(frame, text))).to.deep.equal(shape(render(frame, 'v')))
      }),
      { numRuns: 3000, ...seed },
    )
  })
  it('LOOK-7 property: a value matches the attribute or id that holds it, and no other', () => {
    const value = fc.string({ unit: fc.constantFrom(...'ab1-"\'\\] \n'), minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(value, value, (text, other) => {
        const document = html('<p></p>')
        const target = key(document, 'p')
        target.element.attrs = [
          { name: 'a', value: other },
          { name: 'id', value: other },
        ]
        for (const selector of ['[a="${request.headers.x}"]', '#${request.headers.x}']) {
          const mine = access(site([['*', 'PUT', 'Allow', '/a', selector]]), { headers: { x: text } })
          expect(mine.permit('PUT', '/a', target), selector).to.equal(text === other)
        }
      }),
      { numRuns: 500, ...seed },
    )
  })
  it('LOOK-7 identifiers are escaped as CSS.escape does', () => {
    expect(escapeIdentifier('\0a\u007f')).to.equal('\ufffda\\7f ')
    expect(escapeIdentifier('--a')).to.equal('--a')
    expect(escapeIdentifier('a.b:c')).to.equal('a\\.b\\:c')
  })
})

/** The kinds of the simple selectors of a selector, without their names and values. */
function shape(selector: string): unknown {
  return JSON.parse(
    JSON.stringify(compileSelector(selector).list, (name, value) =>
      ['name', 'value'].includes(name) && typeof value === 'string' ? '' : value,
    ),
  )
}
