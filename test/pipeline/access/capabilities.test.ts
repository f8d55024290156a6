// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { AccessRules } from '../../../pipeline/access/access-rules.ts'
import { allMethods, capabilityParts, selectorMethods } from '../../../pipeline/access/capabilities.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { stepsOf } from '../../support/steps.ts'
import { access, type Line, NS, type RequestOptions, rawRule, site, user } from './site.ts'

function shown(lines: Line[], options: RequestOptions = {}) {
  const mine = access(site(lines), options)
  const all = allMethods(mine, '/p').join(', ')
  const parts = capabilityParts(mine, '/p')?.map(part => [part.selector, part.allow.join(', ')])
  return {
    document: parts?.[0]?.[1] ?? all,
    all,
    of: (selector: string) => atOnce(selectorMethods(mine, '/p', selector)).join(', '),
    parts,
  }
}

describe('the document', () => {
  const table: [rule: string, lines: Line[], allow: string, options?: RequestOptions][] = [
    ['CAP-1 the least answer', [['*', '*', 'Deny', '/*']], 'OPTIONS'],
    ['CAP-1 no rules, default-GET', [], 'GET, HEAD, OPTIONS'],
    ['CAP-1 no rules, no default', [], 'OPTIONS', { defaultGet: 'deny' }],
    ['CAP-2 a wildcard', [['*', '*', 'Allow', '/p']], 'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, OPTIONS'],
    [
      'CAP-2 order',
      [['*', 'PATCH|MOVE|POST|DELETE|PUT|GET', 'Allow', '/p']],
      'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, OPTIONS',
    ],
    [
      'CAP-2 methods named expressly',
      [['*', 'query|zap|ALPHA', 'Allow', '/p']],
      'GET, HEAD, QUERY, ALPHA, ZAP, OPTIONS',
    ],
    ['CAP-2 OPTIONS once', [['*', 'OPTIONS|PUT', 'Allow', '/p']], 'GET, HEAD, PUT, OPTIONS'],
    [
      'CAP-2 QUERY beside a wildcard',
      [['*', '*|QUERY', 'Allow', '/p']],
      'GET, HEAD, PUT, DELETE, POST, MOVE, PATCH, QUERY, OPTIONS',
    ],
    [
      'CAP-2 what is no method is not listed',
      [['*', 'GET, PUT|a b', 'Allow', '/p']],
      'OPTIONS',
      { defaultGet: 'deny' },
    ],
    ['CAP-2 a method named for others', [['users', 'QUERY', 'Allow', '/p']], 'GET, HEAD, OPTIONS'],
    ['CAP-3 HEAD with GET', [['*', 'GET', 'Allow', '/p']], 'GET, HEAD, OPTIONS', { defaultGet: 'deny' }],
    [
      'CAP-3 denied methods are left out',
      [
        ['*', '*', 'Allow', '/p'],
        ['*', 'PUT|MOVE', 'Deny', '/p'],
      ],
      'GET, HEAD, DELETE, POST, PATCH, OPTIONS',
    ],
    ['CAP-3 a denied GET', [['*', 'GET', 'Deny', '/p']], 'OPTIONS'],
    [
      'CAP-3 selector rules do not count',
      [
        ['*', 'PUT', 'Allow', '/p', 'li'],
        ['*', 'GET', 'Deny', '/p', 'li'],
      ],
      'GET, HEAD, OPTIONS',
    ],
    [
      'RULE-9 an Allow with MOVE and a selector is absent',
      [['*', 'MOVE|PUT', 'Allow', '/p', 'li']],
      'GET, HEAD, OPTIONS',
    ],
    [
      'RULE-9 a Deny with MOVE and a selector is for the document',
      [
        ['*', '*', 'Allow', '/p'],
        ['*', 'MOVE', 'Deny', '/p', 'li'],
      ],
      'GET, HEAD, PUT, DELETE, POST, PATCH, OPTIONS',
    ],
  ]
  for (const [rule, lines, allow, options] of table) {
    it(rule, () => {
      expect(shown(lines, options).document).to.equal(allow)
    })
  }
  it('CAP-3 for whom it is asked', () => {
    const lines: Line[] = [['users', 'PUT', 'Allow', '/p']]
    expect(shown(lines).document).to.equal('GET, HEAD, OPTIONS')
    expect(shown(lines, { principal: user('u') }).document).to.equal('GET, HEAD, PUT, OPTIONS')
  })
})

describe('a plain OPTIONS', () => {
  it('CAP-4 joins what is granted on some element', () => {
    const lines: Line[] = [
      ['*', 'POST', 'Allow', '/p', '#in'],
      ['*', '*', 'Allow', '/p', 'li'],
      ['*', 'DELETE', 'Deny', '/p'],
    ]
    expect(shown(lines).all).to.equal('GET, HEAD, PUT, POST, OPTIONS')
  })
  it('CAP-4 what is denied for that selector is not granted', () => {
    const lines: Line[] = [
      ['*', 'PUT|POST', 'Allow', '/p', 'li'],
      ['*', 'PUT', 'Deny', '/p', 'li'],
    ]
    expect(shown(lines).all).to.equal('GET, HEAD, POST, OPTIONS')
  })
})

describe('OPTIONS with a selector', () => {
  const lines: Line[] = [
    ['*', 'PUT', 'Allow', '/p', '#todo li'],
    ['*', 'POST', 'Allow', '/p', '#todo'],
    ['*', 'DELETE', 'Allow', '/p'],
  ]
  it('CAP-5 the rules of that text and the resource-level ones', () => {
    expect(shown(lines).of('#todo li')).to.equal('GET, HEAD, PUT, DELETE, OPTIONS')
    expect(shown(lines).of('  #todo \n li ')).to.equal('GET, HEAD, PUT, DELETE, OPTIONS')
    expect(shown(lines).of('#todo')).to.equal('GET, HEAD, DELETE, POST, OPTIONS')
    expect(shown(lines).of('#other')).to.equal('GET, HEAD, DELETE, OPTIONS')
  })
  it('CAP-5 GET only where it is permitted without a rule', () => {
    expect(shown([['*', 'POST', 'Allow', '/p', 'li']], { defaultGet: 'deny' }).of('li')).to.equal('POST, OPTIONS')
  })
  it('CAP-2 a wildcard is five methods on elements', () => {
    expect(shown([['*', '*', 'Allow', '/p', 'li']]).of('li')).to.equal('GET, HEAD, PUT, DELETE, POST, OPTIONS')
    expect(shown([['*', '*', 'Allow', '/p']]).of('li')).to.equal('GET, HEAD, PUT, DELETE, POST, OPTIONS')
    expect(shown([['*', 'MOVE|PATCH', 'Allow', '/p']]).of('li')).to.equal('GET, HEAD, OPTIONS')
  })
  it('CAP-3 Deny and tiers', () => {
    const denied: Line[] = [...lines, ['*', 'GET|PUT', 'Deny', '/p', '#todo li']]
    expect(shown(denied).of('#todo li')).to.equal('DELETE, OPTIONS')
    const signedIn: Line[] = [...denied, ['users', 'PUT', 'Allow', '/p']]
    expect(shown(signedIn, { principal: user('u') }).of('#todo li')).to.equal('PUT, DELETE, OPTIONS')
  })
  it('CAP-5 after lookups', () => {
    const own: Line[] = [['users', 'PUT', 'Allow', '/p', '[data-owner="${username}"]']]
    const ann = { principal: user('ann') }
    expect(shown(own, ann).of('[data-owner="ann"]')).to.equal('GET, HEAD, PUT, OPTIONS')
    expect(shown(own, ann).of('[data-owner="eve"]')).to.equal('GET, HEAD, OPTIONS')
  })
  it('HTTP-120 an unparsable selector implies nothing and is no error', () => {
    expect(shown(lines).of('li[')).to.equal('GET, HEAD, DELETE, OPTIONS')
    expect(shown(lines).of('')).to.equal('GET, HEAD, DELETE, OPTIONS')
  })

  const implied: [sent: string, rule: string, implied: boolean][] = [
    ['#todo > li:nth-child(2)', '#todo li', true],
    ['#todo > li', '#todo > li', true],
    ['#todo li', '#todo > li', false],
    ['#todo > li:nth-child(2)', 'li:nth-child(2)', true],
    ['#todo > li:nth-child(2)', 'li:nth-child(3)', false],
    ['li:first-child', 'li:nth-child(1)', true],
    ['li', 'li:first-child', false],
    ['li', 'li:last-child', false],
    ['li', 'li:only-child', false],
    ['li', 'li:empty', false],
    ['li', ':root', false],
    ['li', '*', true],
    ['LI', 'li', true],
    ['.a.b', '.b', true],
    ['.a', '[class="a"]', false],
    ['[a="x"]', '[a]', true],
    ['[a]', '[a=""]', false],
    ['[a="x" i]', '[a="x"]', false],
    ['[a^="x"]', '[a*="x"]', true],
    ['[a^="x"]', '[a$="x"]', false],
    ['[a$="x"]', '[a$="x"]', true],
    ['[a*="x"]', '[a="x"]', false],
    ['[a~="x"][a~="y"]', '[a~="y"]', true],
    ['[a|="en"]', '[a|="en"]', true],
    ['li[a|="en"]', '[a|="en"]', true],
    ['li[a|="en"]', '[a="en"]', false],
    ['li[a$="x"]', '[a$="x"]', true],
    ['#a', '#b', false],
    ['li, p', 'li', false],
    ['li.x, p.x', '.x', true],
    ['ul > li + li', 'ul > li', false],
    ['a + li.x', 'li.x', true],
    ['main section > p', 'main p', true],
    ['main section > p', 'section > p', true],
    ['main section > p', 'main > section', false],
    ['li:nth-child(5000000)', 'li', true],
    ['li:hover', 'li', true],
  ]
  for (const [sent, rule, expected] of implied) {
    it(`CAP-6 ${sent} ${expected ? 'implies' : 'does not imply'} ${rule}`, () => {
      const granted = shown([['*', 'PUT', 'Allow', '/p', rule]])
        .of(sent)
        .includes('PUT')
      expect(granted || sent === rule).to.equal(expected)
    })
  }
})

describe('OPTIONS for multipart/mixed', () => {
  it('CAP-7 without selector rules there are no parts', () => {
    expect(shown([['*', 'PUT', 'Allow', '/p']]).parts).to.equal(undefined)
    expect(shown([['*', 'PUT', 'Allow', '/q', 'li']]).parts).to.equal(undefined)
    expect(shown([['*', 'MOVE', 'Allow', '/p', 'li']]).parts).to.equal(undefined)
    expect(shown([['*', 'MOVE', 'Deny', '/p', 'li']]).parts).to.equal(undefined)
  })
  it('CAP-8 rules for others give the first part alone', () => {
    expect(shown([['users', 'PUT', 'Allow', '/p', 'li']]).parts).to.deep.equal([[undefined, 'GET, HEAD, OPTIONS']])
  })
  it('CAP-8 the example of section 20', () => {
    const mine = access(site([['*', 'PUT|DELETE', 'allow', '/index.html', '#todo li']]))
    expect(capabilityParts(mine, '/')).to.deep.equal([
      { allow: ['GET', 'HEAD', 'OPTIONS'] },
      { selector: '#todo li', allow: ['PUT', 'DELETE', 'OPTIONS'] },
    ])
  })
  it('CAP-8 the example of HTTP-123', () => {
    const lines: Line[] = [
      ['*', 'GET', 'Allow', '/p'],
      ['*', 'POST', 'Allow', '/p', 'ul#wishes'],
    ]
    expect(shown(lines).parts).to.deep.equal([
      [undefined, 'GET, HEAD, OPTIONS'],
      ['ul#wishes', 'POST, OPTIONS'],
    ])
  })
  it('CAP-8 grants of the document do not reappear, wildcards and GET do', () => {
    const lines: Line[] = [
      ['*', 'PUT|POST', 'Allow', '/p'],
      ['*', 'GET', 'Allow', '/p', 'li'],
      ['*', '*', 'Allow', '/p', 'ul'],
    ]
    expect(shown(lines).parts?.slice(1)).to.deep.equal([
      ['li', 'GET, HEAD, OPTIONS'],
      ['ul', 'GET, HEAD, PUT, DELETE, POST, OPTIONS'],
    ])
  })
  it('CAP-8 METH-3 a PATCH, which is asked for whole documents alone, is granted on no element', () => {
    expect(shown([['*', 'PATCH|PUT', 'Allow', '/p', 'li']]).parts?.slice(1)).to.deep.equal([['li', 'PUT, OPTIONS']])
    expect(shown([['*', 'PATCH|PUT', 'Allow', '/p', 'li']]).all).to.equal('GET, HEAD, PUT, OPTIONS')
  })
  it('CAP-8 a Deny is a part without methods', () => {
    const lines: Line[] = [
      ['*', '*', 'Deny', '/p', '.x'],
      ['*', 'PUT', 'Allow', '/p'],
    ]
    expect(shown(lines).parts?.[1]).to.deep.equal(['.x', 'OPTIONS'])
  })
  it('CAP-8 in order of document path and place, each selector once', () => {
    const rules = (...selectors: string[]) => ({
      ns: NS,
      rules: selectors.map((selector, i) => rawRule(['*', 'PUT', 'Allow', '/p', selector], i)),
      groups: [],
    })
    const made = AccessRules.empty(NS)
      .withDocument('/b.html', rules('b', 'li', 'a'))
      .withDocument('/a.html', rules('z', ' li ', 'a   > b'))
    const parts = capabilityParts(access(made), '/p')
    expect(parts?.map(part => part.selector)).to.deep.equal([undefined, 'z', 'li', 'a > b', 'b', 'a'])
  })
  it('CAP-8 the text after lookups, on one line', () => {
    const own: Line[] = [['*', 'PUT', 'Allow', '/p', '[a="${request.headers.x}"]']]
    expect(shown(own, { headers: { x: 'v\r\nAllow: DELETE' } }).parts?.[1]?.[0]).to.equal(
      '[a="v\\d \\a Allow: DELETE"]',
    )
  })
})

describe('what OPTIONS costs', () => {
  const numbers = Array.from({ length: 200 }, (_, i) => i)
  const all = numbers.map(i => `M${i}`).join('|')
  const own = (selector?: string) => numbers.map((i): Line => ['*', `N${i}`, 'Allow', '/p', selector])
  const table: [name: string, lines: Line[], more?: Line[]][] = [
    ['rules for every method', numbers.map(() => ['*', '*', 'Allow', '/p']), [['*', all, 'Allow', '/p']]],
    ['a method each', own(), [['*', all, 'Allow', '/p', 'li']]],
    ['a method each on elements', own('li')],
  ]
  for (const [name, lines, more = []] of table) {
    it(`SEC-12 CAP-4 CAP-5 methods are not held against all rules: ${name}`, () => {
      const mine = access(site([...lines, ...more]))
      let looked = 0
      for (const { rule } of mine.matching(undefined, '/p')) {
        for (const field of ['methods', 'allow'] as const) {
          const value = rule[field]
          Object.defineProperty(rule, field, {
            get() {
              looked++
              return value
            },
          })
        }
      }
      allMethods(mine, '/p')
      atOnce(selectorMethods(mine, '/p', 'li'))
      capabilityParts(mine, '/p')
      expect(looked).to.be.below(50 * (lines.length + more.length))
    })
  }
  it('SEC-12 CAP-6 nothing follows from more positions than can be laid out', () => {
    const { of } = shown([['*', 'PUT', 'Allow', '/p', 'li:not(b)']])
    expect(of('li:nth-child(999)')).to.equal('GET, HEAD, PUT, OPTIONS')
    expect(of(`${'li:nth-child(999) > '.repeat(3)}li`)).to.equal('GET, HEAD, PUT, OPTIONS')
    expect(of(Array(300).fill('li:nth-child(999)').join())).to.equal('GET, HEAD, OPTIONS')
    expect(of(`${'li:nth-child(999) > '.repeat(300)}li`)).to.equal('GET, HEAD, OPTIONS')
  })
  it('SEC-12 CAP-6 others have their turn between the selectors of rules', () => {
    const mine = access(site(numbers.map((i): Line => ['*', 'PUT', 'Allow', '/p', `.c${i}`])))
    expect(stepsOf(selectorMethods(mine, '/p', '.c7'))).to.be.at.least(numbers.length)
  })
})
