/** Which reactions are looked at for a request: those whose patterns begin as its path does. */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { compilePattern, matchesNames, pathNames } from '../../../pipeline/access/glob.ts'
import type { RawReaction, RawReactions } from '../../../pipeline/react/declared/extract.ts'
import { SiteReactions } from '../../../pipeline/react/declared/reactions.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { stepsOf } from '../../support/steps.ts'

const code = { type: '', source: '1' }
const raw = (kind: RawReaction['kind'], resource: string[], method: string[] = []): RawReaction => ({
  kind,
  resource,
  method,
  selector: [],
  status: [],
  when: [],
  action: [code],
  otherwise: [],
})

function declared(documents: Readonly<Record<string, RawReaction[]>>): SiteReactions {
  let reactions = SiteReactions.empty(new Map())
  for (const [path, all] of Object.entries(documents))
    reactions = atOnce(reactions.exchanging(path, { reactions: all, constraints: [], handlers: [], ignored: [] }))
  return reactions
}

describe('Matching of reactions', () => {
  it('REA-20 REA-21 of 100 triggers, those of other places are not looked at, for 5,000 paths', () => {
    const triggers = Array.from({ length: 100 }, (_, i) => raw('trigger', [`/place-${i}/*`]))
    const reactions = declared({ '/t.html': triggers })
    let looked = 0
    for (let i = 0; i < 5_000; i++) {
      const path = `/place-${i % 100}/page-${i}.html`
      looked += reactions.mayMatch(pathNames(path)).length
      expect(reactions.candidates('GET', path)?.triggers.map(({ place }) => place)).to.deep.equal([i % 100])
      expect(reactions.candidates('GET', `/other/${i}.html`)).to.equal(undefined)
      expect(reactions.mayMatch([`/other/${i}.html`])).to.deep.equal([])
    }
    // `/place-1/*` is also the name `/place-1`, with which `/place-12/` begins.
    expect(looked).to.equal(9_500)
  })

  it('REA-11 REA-21 REA-22 finds what looking at every one finds, in the same order', () => {
    const part = fc.constantFrom('a', 'b', 'ab', '*', '?', '{a,b}', '{,c}', 'index.html', '[ab]', '{{', 'é', 'e\u0301')
    const glob = fc.oneof(
      fc.array(part, { maxLength: 3 }).map(parts => `/${parts.join('/')}`),
      fc.constantFrom('/', '/*', '*', '/a/*', '', `/${'a'.repeat(70)}/*`),
    )
    const reaction = fc
      .tuple(
        fc.constantFrom('trigger' as const, 'processor' as const),
        fc.array(glob, { maxLength: 3 }),
        fc.array(fc.constantFrom('GET', 'put', '*'), { maxLength: 2 }),
      )
      .map(([kind, resource, method]) => raw(kind, resource, method))
    const path = fc.oneof(
      fc.array(fc.constantFrom('a', 'b', 'ab', 'c', 'é'), { maxLength: 3 }).map(parts => `/${parts.join('/')}`),
      fc.constantFrom('/', '/index.html', '/a/', '/a/index.html', `/${'a'.repeat(70)}/b`),
    )
    fc.assert(
      fc.property(fc.array(reaction, { maxLength: 8 }), fc.array(path, { minLength: 1 }), (all, paths) => {
        const reactions = declared({ '/b.html': all.slice(2), '/a.html': all.slice(0, 2) })
        for (const each of paths)
          for (const method of ['GET', 'HEAD', 'PUT']) {
            const fits = ({ resource, method: methods }: RawReaction) => {
              const upper = methods.map(name => name.toUpperCase())
              const isAsked =
                upper.length === 0 || upper.some(m => m === '*' || m === method || (m === 'GET' && method === 'HEAD'))
              const names = pathNames(each)
              const isThere =
                resource.length === 0 || resource.some(g => g === '*' || matchesNames(compilePattern(g), names))
              return isAsked && isThere
            }
            const found = reactions.candidates(method, each)
            const got = [...(found?.triggers ?? []), ...(found?.processors ?? [])].map(({ raw: given }) => given)
            const wanted = all.filter(fits)
            const expected = ['trigger', 'processor'].flatMap(kind => wanted.filter(one => one.kind === kind))
            expect(got).to.deep.equal(expected)
            expect(found === undefined).to.equal(expected.length === 0)
          }
      }),
      { numRuns: 300 },
    )
  })

  const numbers = Array.from({ length: 3_000 }, (_, i) => i)
  const one = raw('trigger', ['/a/*'])
  const constraint = { property: 'p', from: ['a'], to: ['b'] }
  const none = { reactions: [], constraints: [], handlers: [] }
  const table: [name: string, given: RawReactions][] = [
    ['resources', { ...none, reactions: [{ ...one, resource: numbers.map(i => `/a${i}/*`) }] }],
    ['selectors', { ...none, reactions: [{ ...one, selector: numbers.map(i => `.c${i}`) }] }],
    ['triggers', { ...none, reactions: numbers.map(() => one) }],
    ['constraints', { ...none, constraints: numbers.map(i => ({ ...constraint, selector: `.c${i}` })) }],
  ]
  for (const [name, given] of table)
    it(`SEC-12 REA-4 others have their turn while many ${name} are read, which is done when they are stored`, () => {
      expect(stepsOf(SiteReactions.empty(new Map()).exchanging('/t.html', given))).to.be.at.least(5)
    })
  it('SEC-12 REA-4 of the texts of one trigger as many are doubted as of a document', () => {
    const reactions = declared({ '/t.html': [{ ...one, selector: numbers.slice(0, 1_200).map(() => '(') }] })
    expect(reactions.findings('/t.html')).to.have.length(1000 - 2)
  })
})
