import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { splitLookups } from '../../../pipeline/access/lookup.ts'
import { canBeMet, namesAround, needsOf } from '../../../pipeline/access/needs.ts'
import { renderSelector, selectorTemplate } from '../../../pipeline/access/selector-template.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { compileSelector, matches, parseSelector, selectAll } from '../../../pipeline/tree/selector/selector.ts'
import { access, html, key, type Line, site, user } from './site.ts'

const PAGE =
  '<main id="M" class="a B"><ul id="l" data-of="ann X"><li class="a">1</li><li class="b" lang="EN">2<b>x</b></li></ul>' +
  '<svg viewBox="0 0 1 1"><foreignObject><p class="c">3</p></foreignObject><a xlink:href="#l"></a></svg><template><i></i></template></main>'
const DOCUMENTS = [
  html(PAGE),
  parseDocument('html', `<html><body>${PAGE}`),
  parseDocument('xml', '<x:r xmlns:x="u:x" id="M"><li class="a" x:href="q"><x:b>1</x:b></li></x:r>'),
]

const compound = fc
  .tuple(
    fc.constantFrom('', '*', 'li', 'LI', 'ul', 'b', 'p', 'foreignObject', 'x', '*|b'),
    fc.array(
      fc.constantFrom(
        '#M',
        '#m',
        '#l',
        '.a',
        '.A',
        '.b',
        '.c',
        '[data-of]',
        '[DATA-OF="ann X"]',
        '[data-of="ann x"]',
        '[lang="en"]',
        '[class~=a]',
        '[class^=a]',
        '[*|href]',
        '[*|href="#l"]',
        ':not(.a)',
        ':is(li, .c)',
        ':has(b)',
        ':first-child',
        ':nth-child(2 of .b)',
        ':root',
        ':scope',
        '::before',
      ),
      { maxLength: 3 },
    ),
  )
  .map(([type, more]) => type + more.join('') || '*')
const complex = fc
  .tuple(compound, fc.array(fc.tuple(fc.constantFrom(' ', ' > ', ' + ', ' ~ '), compound), { maxLength: 3 }))
  .map(([first, rest]) => first + rest.map(([combinator, next]) => combinator + next).join(''))
const list = fc.array(complex, { minLength: 1, maxLength: 3 }).map(all => all.join(', '))

describe('what selectors need around an element', () => {
  it('KEY-1 an element that matches has all of it', () => {
    fc.assert(
      fc.property(list, text => {
        const selector = parseSelector(text, undefined)
        if (!selector) return
        const needs = needsOf(selector)
        for (const document of DOCUMENTS) {
          for (const element of selectAll(compileSelector('*'), document)) {
            if (matches(selector, element, document))
              expect(canBeMet(needs, namesAround([element])), text).to.equal(true)
          }
        }
      }),
      { numRuns: 300 },
    )
  })
  it('of several elements together', () => {
    const document = html('<div class="a"><p id="p"></p></div><div class="b"><p id="q"></p></div>')
    const names = namesAround([key(document, '#p').element, key(document, '#q').element])
    expect([...names]).to.include.members(['.a', '.b', '#p', '#q', 'body'])
    expect([...namesAround([])]).to.deep.equal([])
  })
  it('tells most that do not match', () => {
    const cases: [selector: string, around: string, can: boolean][] = [
      ['#l > li', '#l li', true],
      ['#other > li', '#l li', false],
      ['.z ~ li', '#l li', true],
      ['.z ~ li b', '#l li b', true],
      ['.z li + li', '#l li', false],
      ['.z, li', '#l li', true],
      ['[data-of="ann X"] li', '#l li', true],
      ['[data-of="bob"] li', '#l li', false],
      ['[title] li', '#l li', false],
    ]
    for (const [text, around, can] of cases) {
      const { element } = key(html(PAGE), around)
      expect(canBeMet(needsOf(compileSelector(text)), namesAround([element])), text).to.equal(can)
    }
  })
  it('RULE-10 LOOK-7 a template that is a selector with some name is one with any value, unless it is empty', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'li',
        '.',
        '#',
        ' ',
        ' > ',
        ',',
        '[',
        ']',
        '=',
        '"',
        "'",
        ':is(',
        ':not(',
        ':nth-child(',
        ')',
        '2n',
        '-',
        '1',
      ),
      fc.constantFrom(
        ':',
        '::',
        '|',
        '*',
        '+',
        '~',
        ':lang(',
        ':dir(',
        'of',
        'i',
        '\\31',
        '/*',
        '*/',
        'data-x',
        '@',
        '!',
      ),
      fc.constant(`\${username}`),
    )
    const text = fc.array(piece, { minLength: 1, maxLength: 8 }).map(pieces => pieces.join(''))
    const value = fc.oneof(
      fc.constantFrom('\x01', '1', '"', 'é', '\0').map(character => character.repeat(400)),
      fc.string({ minLength: 1, maxLength: 6, unit: 'binary' }),
      fc.constantFrom('-', '--', '1', '-1', 'odd', 'i', '"', '\\', '\n', ')', ' ', '*', '\ud800', '\0', 'url('),
    )
    let judged = 0
    fc.assert(
      fc.property(text, value, (selector, sub) => {
        const rules = site([['*', 'PUT', 'Deny', '/a', selector]])
        const [rule] = [...rules.candidates('PUT', ['/a'])].flat()
        const template = selectorTemplate(splitLookups(selector, true))
        if (!rule?.selector?.needs || rule.selector.text !== undefined || !template) return
        judged++
        expect(
          parseSelector(
            renderSelector(template, () => sub),
            undefined,
          ),
          selector,
        ).not.to.equal(undefined)
      }),
      {
        numRuns: 5_000,
        examples: [
          [`li[data-x="\${username}"]`, '"'],
          [`#\${username}`, '1'],
          [`.-\${username}`, '-'],
        ],
      },
    )
    expect(judged).to.be.above(100)
  })
  it('RULE-10 a Deny whose values leave no selector counts for the whole, one whose needs are not met does not', () => {
    const lines: Line[] = [
      ['*', 'PUT', 'Allow', '/a'],
      ['*', 'PUT', 'Deny', '/a', `#other > \${request.headers.x}`],
    ]
    const target = key(html(PAGE), '#l > li')
    const decide = (x: string) =>
      access(site(lines), { headers: { x }, principal: user('u') }).decide('PUT', '/a', target)
    expect(decide('li')).to.equal('allow')
    expect(decide('')).to.equal('deny')
    expect(decide('x'.repeat(1_000))).to.equal('allow')
    expect(decide('x'.repeat(1_001)), 'too large to be a selector').to.equal('deny')
    expect(decide('\x01'.repeat(400))).to.equal('allow')
  })
})
