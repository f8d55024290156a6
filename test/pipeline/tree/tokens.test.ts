import { expect } from 'chai'
import fc from 'fast-check'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { isElement, type ParentNode } from '../../../pipeline/tree/nodes.ts'
import { neededTokens, subjectToken } from '../../../pipeline/tree/selector/needs.ts'
import { compileSelector, matcherIn, selectAll } from '../../../pipeline/tree/selector/selector.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { TagTokens } from '../../../pipeline/tree/tag-tokens.ts'
import { ANY_TOKEN, TokenCollector, tokensIn } from '../../../pipeline/tree/tokens.ts'
import { provingText, runs } from './samples.ts'
import { randomMarkup, randomSelector, randomXml, seeded, WHOLE } from './selector/random.ts'

function tokensOf(html: string): Set<string> {
  const collector = new TokenCollector()
  const visit = (node: ParentNode) => {
    for (const child of node.childNodes) {
      if (!isElement(child)) continue
      collector.add(child)
      visit(child)
    }
  }
  visit(parseDocument('html', html).root)
  return new Set(collector.tokens())
}

const mayMatch = (needs: readonly (readonly string[])[], tokens: ReadonlySet<string>) =>
  tokens.has(ANY_TOKEN) || needs.some(each => each.every(token => tokens.has(token)))

describe('Tokens of documents', () => {
  for (const [selector, needs] of [
    ['p', [['p']]],
    ['DIV.Note#A', [['div', '.note', '#a']]],
    ['ul > li.x, ol', [['ul', 'li', '.x'], ['ol']]],
    ['[data-x]', [['[data-x]']]],
    ['[itemtype="u:a u:b"]', [['[itemtype]', 'type:u:a', 'type:u:b']]],
    ['[itemtype~="u:a"]', [['[itemtype]', 'type:u:a']]],
    ['[itemtype^="u"]', [['[itemtype]']]],
    ['p:not(.x)', [['p']]],
    ['p:has(> b.y)', [['p', 'b', '.y']]],
    ['p:is(.a, .b)', [['p']]],
    ['*', [[]]],
    [':isa("u")', [['[itemtype]', 'isa u']]],
    ['p::before', []],
  ] as const)
    it(`SES-120 ${selector} needs ${JSON.stringify(needs)}`, () => {
      expect(neededTokens(compileSelector(selector))).to.deep.equal(needs)
    })

  it('SES-120 tags as they are written give every token that the elements have', () => {
    const piece = fc.constantFrom(
      'a',
      'class',
      'ID',
      '=',
      '"',
      "'",
      ' ',
      '/',
      '\n',
      '<',
      'x:Y',
      '&amp;',
      '\0',
      '\r\n',
      'é',
    )
    const tag = fc.array(piece, { maxLength: 14 }).map(parts => `<p ${parts.join('')}>x</p>`)
    let sure = 0
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1, maxLength: 3 }), tags => {
        const html = tags.join('')
        const collector = new TagTokens()
        if (!atOnce(provingText(html, collector))) return
        sure++
        const found = new Set(collector.tokens())
        if (found.has(ANY_TOKEN)) return
        expect(
          [...tokensOf(html)].filter(token => !found.has(token)),
          html,
        ).to.deep.equal([])
      }),
      { ...runs(2_000) },
    )
    expect(sure).to.be.greaterThan(500)
  })

  it('MOD-92 every element that a selector matches has the token of its subject', () => {
    let matched = 0
    for (let seed = 1; seed <= Number(process.env.FUZZ ?? 60); seed++) {
      const random = seeded(seed)
      const document =
        seed % 3 === 0 ? parseDocument('xml', randomXml(random)) : parseDocument('html', randomMarkup(random, true))
      const elements = selectAll(compileSelector('*'), document)
      for (let i = 0; i < 20; i++) {
        const whole = compileSelector(randomSelector(random, WHOLE))
        for (const branch of whole.list) {
          const token = subjectToken(branch)
          if (token === undefined) continue
          const matches = matcherIn({ ...whole, list: [branch], tests: new Map() }, document)
          for (const element of elements)
            if (matches(element) && ++matched) expect([...tokensIn(element)], whole.text).to.include(token)
        }
      }
    }
    expect(matched).to.be.greaterThan(1_000)
  })

  for (const [selector, xml] of [
    ['[ITEMTYPE="u:a"]', '<a ITEMTYPE="u:a"/>'],
    ['[ITEMTYPE~="u:a"]', '<a ITEMTYPE="u:b u:a"/>'],
    ['Σ', '<p:Σ xmlns:p="u:p"/>'],
  ] as const)
    it(`MOD-92 ${xml}, which ${selector} matches, has the tokens of that`, () => {
      const compiled = compileSelector(selector)
      const [element] = selectAll(compiled, parseDocument('xml', xml))
      expect(element && [...tokensIn(element)]).to.include.members([
        ...compiled.list.map(subjectToken),
        ...(neededTokens(compiled)[0] ?? []),
      ])
    })

  it('SES-120 a document that is left out holds no match, whatever it is', () => {
    const name = fc.constantFrom('p', 'DIV', 'x-a', 'svg:b', 'table', 'td', 'li')
    const word = fc.constantFrom('a', 'B', 'c-d', 'é', 'a b', 'A&amp;b')
    const attribute = fc.record({ name: fc.constantFrom('class', 'id', 'data-x', 'ITEMTYPE', 'x:y'), value: word })
    const element = fc.record({ name, attributes: fc.array(attribute, { maxLength: 3 }) })
    const document = fc
      .array(element, { maxLength: 8 })
      .map(list =>
        list
          .map(
            ({ name, attributes }) => `<${name}${attributes.map(a => ` ${a.name}="${a.value}"`).join('')}>t</${name}>`,
          )
          .join(''),
      )
    const simple = fc.constantFrom(
      'p',
      'div',
      'x-a',
      'td',
      'tr',
      '.a',
      '.b',
      '.B',
      '.a\\20 b',
      '#a',
      '[data-x]',
      '[class=a]',
      ':not(p)',
      '[itemtype~=a]',
      ':is(p, .a)',
    )
    const selector = fc.array(simple, { minLength: 1, maxLength: 3 }).map(parts => parts.join(' '))
    fc.assert(
      fc.property(document, selector, fc.boolean(), (body, text, quirks) => {
        const html = quirks ? body : `<!doctype html>${body}`
        const compiled = compileSelector(text)
        if (selectAll(compiled, parseDocument('html', html)).length === 0) return
        expect(mayMatch(neededTokens(compiled), tokensOf(html))).to.equal(true)
        const collector = new TagTokens()
        if (atOnce(provingText(html, collector)))
          expect(mayMatch(neededTokens(compiled), new Set(collector.tokens()))).to.equal(true)
      }),
      { numRuns: 2_000 },
    )
  })

  it('SES-213 a document with too many names may hold anything', () => {
    expect(tokensOf(Array.from({ length: 3_000 }, (_, i) => `<p id="i${i}">`).join(''))).to.deep.equal(
      new Set([ANY_TOKEN]),
    )
  })
})
