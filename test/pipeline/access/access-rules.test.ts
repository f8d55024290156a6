import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { AccessRules } from '../../../pipeline/access/access-rules.ts'
import type { RawAccess } from '../../../pipeline/access/extract.ts'
import { PersistentMap } from '../../../pipeline/access/persistent-map.ts'
import { access, type Line, member, NS, rawGroup, rawRule } from './site.ts'

const seed = process.env.FUZZ ? {} : { seed: 23 }

function raw(lines: readonly Line[], groups: RawAccess['groups'] = []): RawAccess {
  return { ns: NS, rules: lines.map(rawRule), groups }
}

describe('the snapshot of rules', () => {
  it('DEC-1 what is the same for everybody is decided once, what depends on the request each time', () => {
    const rules = AccessRules.empty(NS).withDocument(
      '/r.html',
      raw([
        ['*', 'PUT', 'Allow', '/open'],
        ['ann@example.test', 'PUT', 'Allow', '/own'],
        ['*', 'PUT', 'Allow', '/parts', '.note'],
      ]),
    )
    const decisions = (principal?: ReturnType<typeof member>) =>
      ['/open', '/own', '/parts', '/none'].map(path =>
        access(rules, principal ? { principal } : {}).decide('PUT', path),
      )
    const remembered = () => ['/open', '/own', '/parts', '/none'].map(path => rules.sharedDecision('PUT', path))
    expect(remembered()).to.deep.equal([undefined, undefined, undefined, undefined])
    for (let i = 0; i < 2; i++) {
      expect(decisions()).to.deep.equal(['allow', 'unmatched', 'unmatched', 'unmatched'])
      expect(decisions(member('ann@example.test'))).to.deep.equal(['allow', 'allow', 'unmatched', 'unmatched'])
    }
    expect(remembered()).to.deep.equal(['allow', 'varies', 'unmatched', 'unmatched'])
  })

  it('RULE-11 a changed document counts at once, and the old snapshot stays as it was', () => {
    const before = AccessRules.empty(NS).withDocument('/r.html', raw([['*', 'PUT', 'Allow', '/a']]))
    const after = before.withDocument('/r.html', raw([['*', 'PUT', 'Deny', '/a']]))
    const gone = after.withDocument('/r.html', undefined)
    const decisions = [before, after, gone].map(rules => access(rules).decide('PUT', '/a'))
    expect(decisions).to.deep.equal(['allow', 'deny', 'unmatched'])
  })
  it('RULE-11 groups too', () => {
    const rules = AccessRules.empty(NS).withDocument('/r.html', raw([['staff', 'PUT', 'Allow', '/a']]))
    const principal = member('ann@x.test')
    const decide = (site: AccessRules) => access(site, { principal }).decide('PUT', '/a')
    const joined = rules.withDocument('/g.html', raw([], [rawGroup('staff', 'ann@x.test')]))
    const left = joined.withDocument('/g.html', raw([], [rawGroup('staff')]))
    expect([rules, joined, left].map(decide)).to.deep.equal(['unmatched', 'allow', 'unmatched'])
  })
  it('a document without rules changes nothing', () => {
    const rules = AccessRules.empty(NS)
    expect(rules.withDocument('/a.html', undefined)).to.equal(rules)
  })
  it('SEC-4 of 10,000 rules a request looks at those that may be for its path', () => {
    let rules = AccessRules.empty(NS)
    for (let document = 0; document < 100; document++) {
      const lines = Array.from({ length: 100 }, (_, i): Line => {
        const name = document * 100 + i
        return ['*', 'PUT', 'Allow', name % 2 === 0 ? `/p${name}.html` : `/d${name}/*`]
      })
      rules = rules.withDocument(`/${document}.html`, raw(lines))
    }
    for (const path of ['/p4000.html', '/d4001/x/y.html', '/nothing.html']) {
      const lists = [...rules.candidates('PUT', [path])]
      expect(lists.flat().length, path).to.be.at.most(20)
      expect(lists.length, path).to.be.at.most(20)
    }
    expect(access(rules).decide('PUT', '/d4001/x/y.html')).to.equal('allow')
  })
  it('knows its documents', () => {
    const one = raw([['*', 'PUT', 'Allow', '/a']])
    const rules = ['/a.html', '/d/b.html', '/d/e/c.html', '/dd.html'].reduce(
      (site, path) => site.withDocument(path, one),
      AccessRules.empty(NS),
    )
    expect(rules.document('/a.html')).to.equal(one)
    expect(rules.document('/x.html')).to.equal(undefined)
    expect(rules.documentsUnder('/d/').sort()).to.deep.equal(['/d/b.html', '/d/e/c.html'])
    expect(rules.documentsUnder('/a.html')).to.deep.equal(['/a.html'])
    expect(rules.documentsUnder('/d')).to.deep.equal([])
    expect(rules.findings('/a.html')).to.deep.equal([])
  })

  it('2,000 rules and groups come in many small steps, and whoever leaves midway has changed nothing', () => {
    const lines = Array.from({ length: 2_000 }, (_, i): Line => ['staff', 'PUT', 'Allow', `/{a,b}/${i}/*`, `#e${i}`])
    const groups = Array.from({ length: 2_000 }, (_, i) => rawGroup(`g${i}`, 'ann@x.test'))
    const before = AccessRules.empty(NS).withDocument('/other.html', raw([['*', 'PUT', 'Allow', '/a/1/x']]))
    const exchange = () => before.exchanging('/r.html', raw(lines, groups))
    let steps = 0
    for (const work = exchange(); ; steps++) if (work.next().done) break
    expect(steps).to.be.above(80)
    const left = exchange()
    for (let i = 0; i < 0.9 * steps; i++) left.next()
    left.return(before)
    expect(access(before).matching('PUT', '/a/1/x')).to.have.length(1)
    expect([...before.groups()]).to.deep.equal([])
  })
  it('finds rules for paths deeper and longer than the index', () => {
    const deep = `/${'directory/'.repeat(60)}`
    for (const pattern of [`${deep}a.html`, `${deep}*`, `${deep}?.html`]) {
      const rules = AccessRules.empty(NS).withDocument('/r.html', raw([['*', 'PUT', 'Deny', pattern]]))
      expect(access(rules).decide('PUT', `${deep}a.html`)).to.equal('deny')
    }
  })

  it('property: the index misses no rule', () => {
    const segment = fc.constantFrom('a', 'b', 'index.html', '*', '?', '[ab]', '{a,b}', 'a*', '{a/b,*}')
    const pattern = fc.array(segment, { maxLength: 12 }).map(list => `/${list.join('/')}`)
    const patterns = fc.oneof(
      pattern,
      pattern.map(p => p.slice(1)),
      pattern.map(p => `${p}/`),
      pattern.map(p => `${p}/*`),
    )
    const path = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'index.html'), { maxLength: 12 })
      .map(list => `/${list.join('/')}`)
    const paths = fc.oneof(
      path,
      path.map(p => `${p}/`.replace('//', '/')),
    )
    fc.assert(
      fc.property(fc.array(patterns, { minLength: 1, maxLength: 20 }), paths, (list, target) => {
        const rule = (resources: string[]): RawAccess => ({
          ns: NS,
          rules: [{ position: 0, actor: ['*'], resource: resources, method: ['PUT'], selector: [], action: ['Deny'] }],
          groups: [],
        })
        const [together, ...single] = [list, ...list.map(p => [p])].map(resources =>
          access(AccessRules.empty(NS).withDocument('/r.html', rule(resources))).decide('PUT', target),
        )
        // The catch-all keeps the rule in the bucket that every path looks into.
        const reference = list.map(p =>
          access(
            AccessRules.empty(NS).withDocument('/r.html', rule([p, ...Array.from({ length: 20 }, (_, i) => `/z${i}`)])),
          ),
        )
        const expected = reference.map(mine => mine.decide('PUT', target))
        expect(single).to.deep.equal(expected)
        expect(together).to.equal(expected.includes('deny') ? 'deny' : 'unmatched')
      }),
      { numRuns: 400, ...seed },
    )
  })

  it('property: any sequence of changes gives what the last state gives', () => {
    const change = fc.tuple(fc.nat(4), fc.option(fc.array(fc.constantFrom('/a', '/*', '/a/*', '/b'), { maxLength: 3 })))
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), changes => {
        const last = new Map<string, RawAccess | undefined>()
        let stepwise = AccessRules.empty(NS)
        for (const [at, resources] of changes) {
          const declared = resources ? raw(resources.map(r => ['*', 'PUT', at % 2 ? 'Deny' : 'Allow', r])) : undefined
          last.set(`/d${at}`, declared)
          stepwise = stepwise.withDocument(`/d${at}`, declared)
        }
        let fresh = AccessRules.empty(NS)
        for (const [path, declared] of last) fresh = fresh.withDocument(path, declared)
        for (const path of ['/a', '/a/x', '/b', '/c']) {
          const count = (rules: AccessRules) => access(rules).matching('PUT', path).length
          expect(access(stepwise).decide('PUT', path)).to.equal(access(fresh).decide('PUT', path))
          expect(count(stepwise)).to.equal(count(fresh))
        }
      }),
      { numRuns: 500, ...seed },
    )
  })
})

describe('the persistent map', () => {
  it('property: behaves like a map, and old versions stay', () => {
    const step = fc.tuple(
      fc.nat(300).map(n => `k${n}`),
      fc.option(fc.nat(), { nil: undefined }),
    )
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 100 }), { maxLength: 8 }), drafts => {
        const reference = new Map<string, number>()
        let map = PersistentMap.empty<number>()
        const versions: [PersistentMap<number>, Map<string, number>][] = []
        for (const steps of drafts) {
          const builder = map.builder()
          for (const [key, value] of steps) {
            builder.set(key, value)
            if (value === undefined) reference.delete(key)
            else reference.set(key, value)
          }
          map = builder.finished()
          versions.push([map, new Map(reference)])
        }
        for (const [version, expected] of versions) {
          expect(new Map(version.entries())).to.deep.equal(expected)
          for (const [key] of drafts.flat()) expect(version.get(key)).to.equal(expected.get(key))
        }
      }),
      { numRuns: 100, ...seed },
    )
  })
  it('holds many entries', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => `/documents/${i}.html`)
    let map = PersistentMap.empty<string>()
    for (const key of keys) map = map.with(key, key)
    for (const key of keys) expect(map.get(key)).to.equal(key)
    for (const key of keys.slice(10)) map = map.with(key, undefined)
    expect([...map.entries()].map(([key]) => key).sort()).to.deep.equal(keys.slice(0, 10))
  })
})
