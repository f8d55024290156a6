import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  changedElements,
  type ElementFacts,
  looksUpElements,
  mayReadElements,
  renderedScopes,
  tellingFacts,
} from '../../../pipeline/events/facts.ts'
import { isElement } from '../../../pipeline/tree/nodes.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { access, html, keys, type Line, site, user } from '../access/site.ts'

const PATH = '/d.html'
const document = html('<ul><li id="a" class="x">a</li><li id="b">b</li></ul><p data-owner="ann">p</p>')

const factsOf = (lines: readonly Line[], selector: string, onlookers: Parameters<typeof tellingFacts>[3] = []) =>
  JSON.parse(atOnce(tellingFacts(site(lines), PATH, keys(document, selector), onlookers))) as ElementFacts

describe('facts about changed elements', () => {
  it('EVT-67 selectors of every rule that could be about reading the path, and which elements they match', () => {
    const lines: Line[] = [
      ['*', 'GET', 'Allow', '/*'],
      ['*', 'GET', 'Deny', PATH, '.x'],
      ['ann', '*', 'Allow', '/*', 'ul >  li'],
      ['ann', 'GET|PUT', 'Deny', `/\${request.path}`, '#b'],
      ['*', 'GET', 'Deny', '/other.html', '#a'],
      ['*', 'PUT', 'Deny', PATH, 'li'],
    ]
    const facts = factsOf(lines, 'li')
    expect(facts.tried).to.have.members(['.x', 'ul > li', '#b'])
    const matched = facts.keys.map(places => places.map(place => facts.tried[place]))
    expect(matched[0]).to.have.members(['.x', 'ul > li'])
    expect(matched[1]).to.have.members(['ul > li', '#b'])
    expect(facts).not.to.have.property('costly')
  })

  it('SEC-12 EVT-67 many new elements share what is found out about them and what is kept of it, and the loop with others', () => {
    const list = html(`<ul>${'<li>x</li>'.repeat(20_000)}<li>y</li></ul>`)
    const work = tellingFacts(site([['*', 'GET', 'Deny', PATH, 'li:nth-last-child(2)']]), PATH, keys(list, 'li'))
    for (let steps = 0; ; steps++) {
      const { done, value } = work.next()
      if (!done) continue
      expect(steps).to.be.at.least(4)
      const facts = JSON.parse(value) as ElementFacts
      // Asked one by one, they would cost more than all may.
      expect(facts.costly).to.equal(undefined)
      expect(facts.keys).to.have.deep.members([[], [0]])
      break
    }
  })

  it('SEC-12 EVT-67 many selectors on some elements leave others their turns', () => {
    const list = html(`<ul>${'<li>x</li>'.repeat(400)}</ul>`)
    const lines: Line[] = [['users', 'GET', 'Deny', PATH, `:not([data-owner="\${request.auth.sub}"])`]]
    const rules = site(lines)
    function* onlookers() {
      for (let i = 0; i < 300; i++) yield* renderedScopes(access(rules, { principal: user(`u${i}`) }), PATH)
    }
    const work = tellingFacts(rules, PATH, keys(list, 'li'), onlookers())
    let steps = 0
    for (; !work.next().done; steps++);
    expect(steps).to.be.at.least(100)
  })

  it('EVT-67 a rule that is for other paths as well is about this one', () => {
    for (const paths of [`/other.html|${PATH}`, `${PATH}|/other.html`])
      expect(factsOf([['*', 'GET', 'Deny', paths, '.x']], '#a'), paths).to.deep.equal({ tried: ['.x'], keys: [[0]] })
  })

  it('EVT-67 no rules about elements: nothing is tried', () => {
    expect(factsOf([['*', 'GET', 'Allow', '/*']], '#a')).to.deep.equal({ tried: [], keys: [[]] })
  })

  it('EVT-67 lookups are tried as they read for onlookers, each text once', () => {
    const lines: Line[] = [['users', 'GET', 'Deny', PATH, `[data-owner="\${request.auth.sub}"]`]]
    const onlookers = ['ann', 'bob', 'ann'].flatMap(name =>
      renderedScopes(access(site(lines), { principal: user(name) }), PATH),
    )
    expect(factsOf(lines, 'p', onlookers)).to.deep.equal({
      tried: ['[data-owner="ann"]', '[data-owner="bob"]'],
      keys: [[0]],
    })
    expect(looksUpElements(site(lines), PATH)).to.equal(true)
    expect(looksUpElements(site(lines), '/other.html')).to.equal(false)
    expect(looksUpElements(site([['*', 'GET', 'Deny', PATH, '.x']]), PATH)).to.equal(false)
    expect(renderedScopes(access(site([['*', 'GET', 'Deny', PATH, '.x']])), PATH)).to.deep.equal([])
  })

  it('a thousand selectors are tried, and no more', () => {
    const lines: Line[] = [['users', 'GET', 'Deny', PATH, `[data-owner="\${request.auth.sub}"]`]]
    function* onlookers() {
      for (let i = 0; i < 5000; i++) yield* renderedScopes(access(site(lines), { principal: user(`u${i}`) }), PATH)
    }
    expect(factsOf(lines, 'p', onlookers()).tried).to.have.length(1000)
  })

  it('the elements of a change: new ones at the top, or else those whose content it is', () => {
    const [list] = keys(document, 'ul').map(({ element }) => element)
    const nodes = list?.childNodes ?? []
    const [item] = nodes.filter(isElement)
    const text = item?.childNodes ?? []
    const tags = (found: ReturnType<typeof changedElements>) => found.map(({ element }) => element.tagName)
    expect(tags(changedElements({ document, nodes, parents: list ? [list] : [] }))).to.deep.equal(['li', 'li'])
    expect(tags(changedElements({ document, nodes: text, parents: item ? [item] : [] }))).to.deep.equal(['li'])
    expect(changedElements({ document, nodes: text, parents: [document.root] })).to.deep.equal([])
  })

  it('SEC-12 EVT-66 what was tried is gone through once for all subscribers of an event', () => {
    let read = 0
    const tried = new Proxy([...Array(1000).keys()].map(String), {
      get: (texts, name) => {
        read++
        return Reflect.get(texts, name)
      },
    })
    const asked = access(site([['*', 'GET', 'Deny', PATH, '.x']]))
    const facts: ElementFacts = { tried, keys: [[]] }
    for (let i = 0; i < 20; i++) expect(mayReadElements(asked, PATH, facts)).to.equal(undefined)
    expect(read).to.be.below(5_000)
  })

  describe('decide', () => {
    const hidden: Line[] = [
      ['*', 'GET', 'Allow', '/*'],
      ['*', 'GET', 'Deny', PATH, '.x'],
    ]
    const cases: [title: string, lines: Line[], facts: ElementFacts, readable: boolean | undefined, sub?: string][] = [
      ['matched by a Deny', hidden, { tried: ['.x'], keys: [[0]] }, false],
      ['matched by nothing', hidden, { tried: ['.x'], keys: [[]] }, true],
      ['one of several matched', hidden, { tried: ['.x'], keys: [[], [0]] }, false],
      ['no element', hidden, { tried: ['.x'], keys: [] }, true],
      ['a Deny that was not tried', hidden, { tried: [], keys: [[]] }, undefined],
      ['a Deny that took too long', hidden, { tried: ['.x'], keys: [[]], costly: [0] }, false],
      [
        'an Allow that took too long',
        [['*', 'GET', 'Deny', '/x'], ...hidden, ['ann', 'GET', 'Allow', PATH, '#a']],
        { tried: ['.x', '#a'], keys: [[0]], costly: [1] },
        false,
        'ann',
      ],
      [
        'an Allow that was not tried, over a Deny',
        [...hidden, ['ann', 'GET', 'Allow', PATH, '#a']],
        { tried: ['.x'], keys: [[0]] },
        undefined,
        'ann',
      ],
      [
        'an Allow that was not tried where all is allowed',
        [
          ['*', 'GET', 'Allow', '/*'],
          ['*', 'GET', 'Allow', PATH, '#a'],
        ],
        { tried: [], keys: [[]] },
        true,
      ],
      [
        'denied by what was tried, whatever was not',
        [...hidden, ['*', 'GET', 'Deny', PATH, '#new']],
        { tried: ['.x'], keys: [[0]] },
        false,
      ],
      ['no rule but the default', [['*', 'GET', 'Deny', PATH, '.x']], { tried: ['.x'], keys: [[]] }, true],
    ]
    for (const [title, lines, facts, readable, sub] of cases)
      it(`EVT-66 EVT-67 ${title}: ${readable ?? 'unknown'}`, () => {
        const asked = access(site(lines), sub === undefined ? {} : { principal: user(sub) })
        expect(mayReadElements(asked, PATH, facts)).to.equal(readable)
      })

    it('EVT-66 without default-GET what no rule speaks of is not told', () => {
      const asked = access(site([['*', 'GET', 'Deny', PATH, '.x']]), { defaultGet: 'deny' })
      expect(mayReadElements(asked, PATH, { tried: ['.x'], keys: [[]] })).to.equal(false)
    })
  })
})
