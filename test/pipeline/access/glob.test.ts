// biome-ignore-all lint/suspicious/noTemplateCurlyInString: patterns look things up this way
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { compilePattern, fillPattern, matchesPath, mayMatchNames } from '../../../pipeline/access/glob.ts'
import { splitLookups } from '../../../pipeline/access/lookup.ts'
import { takesLess } from '../../support/cost.ts'

const seed = process.env.FUZZ ? {} : { seed: 20 }

function matches(pattern: string, path: string): boolean {
  return matchesPath(compilePattern(pattern), path)
}

function matchesWith(pattern: string, value: string, path: string): boolean {
  return matchesPath(
    fillPattern(compilePattern(splitLookups(pattern, true)), () => value),
    path,
  )
}

describe('resource patterns', () => {
  const table: [rule: string, pattern: string, matching: string[], other: string[]][] = [
    ['PATH-1 anchored at both ends', '/data', ['/data'], ['/data/', '/data.html', '/x/data', '/dat', 'data']],
    ['PATH-1 case-sensitive', '/Data', ['/Data'], ['/data']],
    ['PATH-2 * crosses slashes', '/data/*', ['/data/', '/data/a.html', '/data/x/y/z.html'], ['/dat', '/database']],
    ['PATH-2 * inside', '/a/*/edit.html', ['/a/1/2/edit.html', '/a//edit.html'], ['/a/edit.html', '/a/1/edit.htm']],
    ['PATH-2 /* is every path', '/*', ['/', '/a', '/a/b', '/.hidden', '/a/.b', '/a\nb'], []],
    ['PATH-2 ** is *', '/a/**', ['/a/', '/a/b/c', '/a'], ['/ab']],
    ['PATH-2 *** is *', '/a***b', ['/ab', '/axb', '/a/b'], ['/a']],
    ['PATH-2 a lone *', '*', ['/', '/a/b'], []],
    ['PATH-2 ? is one character', '/a?c', ['/abc', '/a/c', '/aéc', '/a😀c'], ['/ac', '/abbc']],
    ['PATH-2 ?? after a run counts characters', '/*??', ['/ab', '/😀😀'], ['/a', '/😀']],
    ['PATH-2 set', '/[abc]', ['/a', '/c'], ['/d', '/', '/ab']],
    ['PATH-2 range', '/[a-cx]', ['/b', '/x'], ['/d', '/-']],
    ['PATH-2 several ranges', '/v[0-9a-f]', ['/v0', '/ve'], ['/vg']],
    ['PATH-2 negated by !', '/[!abc]', ['/d', '/!'], ['/a']],
    ['PATH-2 negated by ^', '/[^a-c]', ['/d', '/^'], ['/b']],
    ['PATH-2 ] first is a member', '/[]a]', ['/]', '/a'], ['/[', '/']],
    ['PATH-2 ] first after ! is a member', '/[!]a]', ['/b'], ['/]', '/a']],
    ['PATH-2 - at the ends is a member', '/[-a]', ['/-', '/a'], ['/b']],
    ['PATH-2 - last is a member', '/[a-]', ['/-', '/a'], ['/b']],
    ['PATH-2 pattern characters in a set', '/[*?{}]', ['/*', '/?', '/{', '/}'], ['/a']],
    ['PATH-2 escape in a set', '/[a\\]b]', ['/]', '/a', '/b'], ['/\\']],
    ['PATH-2 set of astral characters', '/[😀-😃]', ['/😁'], ['/😄', '/\ud83d']],
    ['PATH-2 alternatives', '/{a,b,c}', ['/a', '/b', '/c'], ['/d', '/', '/{a,b,c}']],
    ['PATH-2 empty alternative', '/a{,.html}', ['/a', '/a.html'], ['/a.htm', '/a,']],
    ['PATH-2 pattern in alternatives', '/{x*,[12]}/z', ['/x/z', '/xy/z', '/1/z'], ['/3/z']],
    ['PATH-2 nested alternatives', '/{a{1,2},b}', ['/a1', '/a2', '/b'], ['/a', '/a{1']],
    ['PATH-2 one alternative', '/{a}', ['/a'], ['/{a}']],
    ['PATH-2 comma in a set of an alternative', '/{[,],b}', ['/,', '/b'], ['/[']],
    ['PATH-2 escapes', '/\\*\\?\\[\\{\\\\', ['/*?[{\\'], ['/a?[{\\', '/\\*\\?']],
    ['PATH-2 escaped letter', '/\\a', ['/a'], ['/\\a']],
    ['PATH-2 commas and braces outside are themselves', '/a,b}', ['/a,b}'], ['/a']],
    ['PATH-2 no other syntax', '/!(a)|+@(b).', ['/!(a)|+@(b).'], ['/a', '/b']],
    ['PATH-2 a leading ! is itself', '!/a', ['!/a'], ['/a', '/b']],
    ['PATH-2 several runs', '/a*b*c', ['/abc', '/axbxc', '/abbc', '/abcbc'], ['/acb', '/ab', '/abcd']],
    ['PATH-2 chunks do not overlap', '*aba*aba', ['abaaba', '/aba/aba'], ['ababa', '/ababa']],
    ['PATH-2 sets between runs', '*[ab]?*c', ['axc', '/bbc', '/xaycc'], ['ac', 'bc', '/xyc']],
    [
      'PATH-2 many single characters between runs',
      `*${'a?'.repeat(40)}b*`,
      [`/${'a'.repeat(80)}bc`, `/x${'ay'.repeat(40)}b`],
      [`/${'a'.repeat(80)}c`, `/${'ay'.repeat(39)}b`],
    ],
    [
      'PATH-2 a long text that begins again within itself',
      `*${'ab'.repeat(40)}c*`,
      [`/${'ab'.repeat(41)}c`, `/a${'ab'.repeat(60)}c/`],
      [`/${'ab'.repeat(39)}c`, `/${'ab'.repeat(60)}a`],
    ],
    ['PATH-3 the bare name', '/x/*', ['/x', '/x/', '/x/y'], ['/xy.html', '/']],
    ['PATH-3 the bare name with **', '/x/**', ['/x', '/x/y'], ['/xy']],
    ['PATH-3 within an alternative', '/{x/*,y}', ['/x', '/x/1', '/y'], ['/y/1', '/']],
    ['PATH-3 not after an escaped *', '/x/\\*', ['/x/*'], ['/x', '/x/y']],
    ['PATH-3 wildcards before', '/*/x/*', ['/a/x', '/a/b/x', '/a/x/y'], ['/x/y', '/x']],
    ['PATH-1 in whatever form of Unicode it is written', '/cafe\u0301/*', ['/caf\u00e9/a', '/caf\u00e9'], ['/cafe/a']],
    ['PATH-1 also in a set', '/[e\u0301x]', ['/\u00e9', '/x'], ['/e']],
    ['PATH-1 also where it is no pattern', '/cafe\u0301[', ['/caf\u00e9['], ['/cafe[']],
    ['PATH-4 directory as its index', '/d/index.html', ['/d/', '/d/index.html'], ['/d', '/d/index.htm', '/d/e/']],
    ['PATH-4 index as its directory', '/d/', ['/d/', '/d/index.html'], ['/d', '/d/index.html/']],
    ['PATH-4 the root', '/index.html', ['/', '/index.html'], ['/index.htm']],
    ['PATH-4 the root by slash', '/', ['/', '/index.html'], ['/a']],
    ['PATH-4 through wildcards', '/d/i*', ['/d/', '/d/index.html', '/d/i'], ['/d', '/d/x']],
    ['PATH-6 unbalanced [', '/a[b', ['/a[b'], ['/ab', '/a']],
    ['PATH-6 unbalanced [ makes all literal', '/*[b', ['/*[b'], ['/a[b']],
    ['PATH-6 unbalanced {', '/a{b,c', ['/a{b,c'], ['/ab', '/ac']],
    ['PATH-6 [ inside {', '/{a,[b}', ['/{a,[b}'], ['/a']],
    ['PATH-6 {{', '/{{x}}/*', ['/{{x}}/*'], ['/x/a', '/{{x}}/a', '/a']],
    ['PATH-6 reversed range', '/[b-a]', ['/[b-a]'], ['/a', '/b']],
    ['PATH-6 backslash at the end', '/*\\', ['/*\\'], ['/a\\', '/a']],
    ['LOOK-1 an unclosed lookup is literal', '/${a/*', ['/${a/b', '/${a'], ['/a']],
    ['LOOK-1 what is no path is literal', '/${a b}/*', ['/${a b}/c'], ['/$a b/c', '/a b']],
  ]
  for (const [rule, pattern, matching, other] of table) {
    it(`${rule}: ${pattern}`, () => {
      for (const path of matching) expect(matches(pattern, path), path).to.equal(true)
      for (const path of other) expect(matches(pattern, path), path).to.equal(false)
    })
  }

  it('PATH-6 reports what does not compile', () => {
    expect(compilePattern('/a[b').compiled).to.equal(false)
    expect(compilePattern('/a[b]').compiled).to.equal(true)
  })

  it('PATH-6 too many alternatives are literal text, as many as the limit are not', () => {
    const many = `/${'{a,b}'.repeat(9)}`
    expect(compilePattern(many).compiled).to.equal(false)
    expect(matches(many, many)).to.equal(true)
    expect(matches(many, '/aaaaaaaaa')).to.equal(false)
    expect(matches(`/${'{a,b}'.repeat(8)}`, '/abababab')).to.equal(true)
  })

  it('PATH-6 alternatives that are too long together are literal text, few as they are', () => {
    const longer = (length: number) => `/${'{a,b}'.repeat(8)}${'x'.repeat(length)}`
    expect(compilePattern(longer(240)).compiled).to.equal(true)
    expect(compilePattern(longer(260)).compiled).to.equal(false)
  })

  describe('looked-up values', () => {
    const literal = ['*', '?', '[a]', '{a,b}', '\\', '\\*', 'a*', '**', '!x', '[', ']', '{', '}', ',', '{{x}}', '${x}']
    for (const value of literal) {
      it(`LOOK-5 ${value} is literal`, () => {
        expect(matchesWith('/u/${x}/*', value, `/u/${value}/f.html`)).to.equal(true)
        expect(matchesWith('/u/${x}/*', value, '/u/a/f.html')).to.equal(false)
        expect(matchesWith('/u/${x}/*', value, '/u/axx/f.html')).to.equal(false)
        expect(matchesWith('/u/*-${x}.html', value, `/u/9-${value}.html`)).to.equal(true)
        expect(matchesWith('/{${x},other}', value, `/${value}`)).to.equal(true)
        expect(matchesWith('/?${x}', value, `/q${value}`)).to.equal(true)
      })
    }

    it('LOOK-5 a slash in the value spans segments', () => {
      expect(matchesWith('/u/${x}/*', 'a/b', '/u/a/b/c')).to.equal(true)
    })
    it('LOOK-5 every character of a value in a set is a member', () => {
      expect(matchesWith('/[${x}]', 'a-c]', '/b')).to.equal(false)
      expect(matchesWith('/[${x}]', 'a-c]', '/]')).to.equal(true)
      expect(matchesWith('/[x-${x}]', '^!', '/!')).to.equal(true)
      expect(matchesWith('/[${x}]', '', '/')).to.equal(false)
      expect(matchesWith('/[!${x}]', 'ab', '/c')).to.equal(true)
    })
    it('LOOK-5 a value cannot begin or end an escape', () => {
      expect(matchesWith('/\\${x}', '*', '/\\*')).to.equal(true)
      expect(matchesWith('/\\${x}', '*', '/abc')).to.equal(false)
      expect(matchesWith('/${x}*', '\\', '/\\abc')).to.equal(true)
    })
    it('PATH-3 LOOK-3 a value that leaves no name before the slash opens nothing beside', () => {
      for (const value of ['', '/', 'ann/']) {
        expect(matchesWith('/u/${x}/*', value, `/u/${value}`), value).to.equal(false)
        expect(matchesWith('/u/${x}/*', value, `/u/${value}index.html`), value).to.equal(false)
      }
      expect(matchesWith('/u/${x}/*', 'ann', '/u/ann')).to.equal(true)
    })
    it('PATH-1 LOOK-5 a value in another form of Unicode is the same name', () => {
      expect(matchesWith('/u/${x}/*', 'Jose\u0301', '/u/Jos\u00e9/a')).to.equal(true)
      expect(matchesWith('/[${x}]', 'e\u0301', '/\u00e9')).to.equal(true)
    })
    it('LOOK-3 an empty value leaves the rest', () => {
      expect(matchesWith('/u/${x}/*', '', '/u//a')).to.equal(true)
      expect(matchesWith('*${x}*', '', '/a')).to.equal(true)
    })
    it('LOOK-1 :username in a longer value', () => {
      expect(matchesWith('/u/:username/*', 'ann', '/u/ann/x')).to.equal(true)
      expect(matchesWith('/u/:usernames', 'ann', '/u/:usernames')).to.equal(true)
    })
    it('LOOK-5 in a pattern that does not compile', () => {
      expect(matchesWith('/a[${x}', '*', '/a[*')).to.equal(true)
      expect(matchesWith('/a[${x}', '*', '/a[b')).to.equal(false)
    })

    it('LOOK-5 property: a value matches itself and nothing else', () => {
      const text = fc.string({ unit: fc.constantFrom(...'ab*?[]{},\\!^-/.|()+@'), maxLength: 8 })
      fc.assert(
        fc.property(text, text, (value, other) => {
          expect(matchesWith('/u/${x}/p', value, `/u/${value}/p`)).to.equal(true)
          expect(matchesWith('/u/${x}/p', value, `/u/${other}/p`)).to.equal(value === other)
          expect(matchesWith('/u/*${x}*/p', value, `/u/${other}/p`)).to.equal(other.includes(value))
        }),
        { numRuns: 2000, ...seed },
      )
    })
    it('property: the loose pattern matches whatever a filled one does', () => {
      const text = fc.string({ unit: fc.constantFrom(...'ab/*'), maxLength: 6 })
      fc.assert(
        fc.property(fc.constantFrom('/${x}', '/a${x}/*', '*${x}b', '/[a${x}]'), text, text, (pattern, value, path) => {
          const open = compilePattern(splitLookups(pattern, true))
          if (matchesWith(pattern, value, `/${path}`)) expect(mayMatchNames(open, [`/${path}`])).to.equal(true)
        }),
        { numRuns: 1000, ...seed },
      )
    })
  })

  describe('against a regular expression', () => {
    /** Pattern text, and the expressions that it may stand for. */
    const piece = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('a', 'b', '/', '-', '.', 'é', '😀').map(c => [c, quoted(c)]) },
      { weight: 3, arbitrary: fc.constant(['*', '[^]*']) },
      { weight: 2, arbitrary: fc.constant(['?', '[^]']) },
      { weight: 1, arbitrary: fc.constant(['[ab]', '[ab]']) },
      { weight: 1, arbitrary: fc.constant(['[!a-b]', '[^a-b]']) },
      { weight: 1, arbitrary: fc.constant(['{a,*b,,*}', 'a', '[^]*b', '', '[^]*']) },
      { weight: 1, arbitrary: fc.constant(['\\*', '\\*']) },
    )
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '-', '.', 'é', '😀', '*'), maxLength: 12 })

    it('PATH-2, PATH-3 property: agrees with a backtracking engine', () => {
      fc.assert(
        fc.property(fc.array(piece, { maxLength: 8 }), path, (pieces, rest) => {
          fc.pre(pieces.filter(p => p.length > 2).length <= 3)
          const pattern = pieces.map(p => p[0]).join('')
          const alternatives = pieces.reduce((all, [, ...choices]) => all.flatMap(l => choices.map(c => l + c)), [''])
          const tests = alternatives.map(expression => {
            const bare = expression.replace(/\\\/(\[\^\]\*)+$/, '(?:\\/[^]*)?')
            return new RegExp(`^(?:${bare})$`, 'u')
          })
          const text = `/${rest}`
          const names = text.endsWith('/') ? [text, `${text}index.html`] : [text]
          const expected = tests.some(test => names.some(name => test.test(name)))
          expect(matches(pattern, text), pattern).to.equal(expected)
        }),
        { numRuns: 4000, ...seed },
      )
    })

    function quoted(character: string): string {
      return character.replace(/[.*+?^${}()|[\]\\/-]/gu, '\\$&').replace('\\-', '-')
    }
  })

  describe('SEC-4 hostile patterns and paths', () => {
    const n = 10_000
    const a = 'a'.repeat(n)
    const cases: [name: string, pattern: string, path: string][] = [
      ['many runs', '*a'.repeat(n / 2), `${a}b`],
      ['a long text between runs', `*${'a'.repeat(n / 2)}b*`, a],
      ['a periodic text between runs', `*b${'a'.repeat(n / 2)}*`, a],
      ['a long text with wildcards', `*${'a?'.repeat(n / 4)}b*`, a],
      ['a long text with sets', `*${'[ab]'.repeat(200)}${'a'.repeat(n / 2)}c*`, a],
      ['runs and single characters', '*?a'.repeat(n / 3), `${a}b`],
      ['alternatives', `${'{a,b}*'.repeat(8)}${'a'.repeat(200)}c*d`, a],
      ['nested braces', '{a'.repeat(n / 2), a],
      ['open brackets', '['.repeat(n), a],
      ['empty choices', `${'{}'.repeat(n / 2)}`, a],
    ]
    for (const [name, pattern, path] of cases) {
      it(name, () => {
        const compiled = compilePattern(pattern)
        return takesLess(5, () => expect(matchesPath(compiled, path)).to.equal(false))
      })
    }
  })
})
