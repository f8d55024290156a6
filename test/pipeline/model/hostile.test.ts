import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Fault } from '../../../pipeline/fault.ts'
import { extractingDeclarations } from '../../../pipeline/model/declarations.ts'
import { findingMissing, MOST_DEFAULTS } from '../../../pipeline/model/defaults.ts'
import { checkingGroups, checkingValues, findingInstances } from '../../../pipeline/model/instance-check.ts'
import { findingRequirements } from '../../../pipeline/model/integrity.ts'
import { itemElements, valueReader } from '../../../pipeline/model/items.ts'
import { judging } from '../../../pipeline/model/judge.ts'
import { comparingDocuments, findingHeld } from '../../../pipeline/model/losses.ts'
import { findingChains } from '../../../pipeline/model/read-chains.ts'
import { Registry } from '../../../pipeline/model/registry.ts'
import { checkingShapes } from '../../../pipeline/model/shape-check.ts'
import { PRIMITIVES } from '../../../pipeline/model/types.ts'
import { packEntries, packingEntries } from '../../../pipeline/store/packed-entries.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { atOnce, type Steps } from '../../../pipeline/tree/steps.ts'
import { NS, page } from '../../support/content.ts'
import { takesLess } from '../../support/cost.ts'
import { stepsOf } from '../../support/steps.ts'
import {
  enumeration,
  groupConstraint,
  instance,
  meta,
  primitive,
  property,
  SCHEMA_HOST,
  schema,
  shape,
} from './markup.ts'

const VOCABULARY = { ns: NS, schemaHost: SCHEMA_HOST }
const range = (count: number) => Array.from({ length: count }, (_, i) => i)

/** The registry of a site that one document declares. */
function registryOf(...declarations: string[]): Registry {
  const { root } = parseDocument('html', page(declarations.join('')))
  const raw = atOnce(extractingDeclarations(itemElements(root), VOCABULARY))
  return Registry.empty(VOCABULARY).withDocument('/model.html', raw)
}

/** How many times bytes are compared while something runs. */
function comparisons(run: () => void): number {
  const { compare } = Buffer
  let count = 0
  Buffer.compare = (one, other) => {
    count++
    return compare(one, other)
  }
  try {
    run()
  } finally {
    Buffer.compare = compare
  }
  return count
}

/** Declarations and items that take far longer than their length where each part is compared with each other. */
describe('Data model, hostile input', () => {
  describe('declarations', () => {
    const members = (count: number, more = {}) => range(count).map(i => property(`p${i}`, { group: `g${i}`, ...more }))
    it('MOD-6 SEC-12 one of many documents that declare the same comes to its place with few looks, and the first counts', () => {
      const raw = [1, 2].map(i => registryOf(schema('x:0', {}, property(`p${i}`))).document('/model.html'))
      let registry = Registry.empty(VOCABULARY)
      const paths = range(1_000).map(i => `/${(i * 379) % 1_000}.html`)
      const compared = comparisons(() => {
        for (const path of paths) registry = registry.withDocument(path, raw[path === '/0.html' ? 1 : 0])
      })
      expect(compared).to.be.below(12 * paths.length)
      const declared = () => [...(registry.schema('x:0')?.properties.keys() ?? [])]
      expect(declared()).to.deep.equal(['p2'])
      registry = registry.withDocument('/0.html', undefined)
      expect(declared()).to.deep.equal(['p1'])
    })

    const chain = range(4_000).map(i => schema(`x:${i}`, { parent: `x:${i + 1}` }, property('p', { unique: 'true' })))
    for (const [name, declared] of [
      ['white space inside a field', schema(`x:0${' '.repeat(400_000)}y`)],
      [
        'properties and groups',
        schema('x:0', {}, ...members(4_000), ...range(4_000).map(i => groupConstraint({ group: `g${i}` }))),
      ],
      ['parents above each other', chain.join('')],
      [
        'types below one that all refer to',
        range(3_000)
          .map(i => schema(`x:${i + 1}`, { parent: 'x:0' }, property('p', { references: 'x:0#id', cascade: 'true' })))
          .join(''),
      ],
      ['values of an enumeration', enumeration('x:e', ...range(20_000).map(String))],
    ] as const)
      it(`MOD-1 to MOD-14 are read in linear time: ${name}`, async () => {
        await takesLess(1_000, () => {
          const registry = registryOf(declared)
          return [registry.guardedTypes.size, registry.schema('x:0'), registry.subtypes('x:0').size]
        })
      })

    it('MOD-12 a chain of parents without end in sight is taken for a circle', () => {
      const registry = registryOf(...chain)
      expect([registry.schema('x:0')?.cyclic, registry.schema('x:3980')?.cyclic]).to.deep.equal([true, false])
    })
  })

  describe('what many schemas inherit from one', () => {
    const all = range(500)
    const named = (count: number) => range(count).map(i => property(`p${i}`, { references: 'x:b#p0', cascade: 'true' }))
    const below = all.map(i => schema(`x:${i}`, { parent: 'x:b' })).join('')

    it('MOD-14 MOD-52 SEC-12 is not put together to tell what descends from what, and what refers to it', () => {
      const raw = registryOf(schema('x:b', {}, ...named(500)), below).document('/model.html')
      if (!raw) throw new Error('nothing declared')
      let reads = 0
      for (const each of raw.schemas.flatMap(({ properties }) => properties)) {
        const { name } = each
        const get = () => {
          reads++
          return name
        }
        Object.defineProperty(each, 'name', { get })
      }
      const registry = Registry.empty(VOCABULARY).withDocument('/model.html', raw)
      expect(registry.subtypes('x:b').size).to.equal(501)
      expect(registry.guardedTypes.size).to.equal(501)
      expect(registry.guardedOf('x:7').flatMap(names => [...names])).to.deep.equal(['p0'])
      const [first] = registry.inheritance.declaring('x:b', 'p0')
      expect(first && [...registry.inheritance.inheriting(first)]).to.have.length(501)
      expect(reads).to.be.below(20 * all.length)
    })

    it('MOD-12 SEC-12 is 256 parts at most: where there are more, nothing of these types is let in', () => {
      const circles = [256, 257].map(count => registryOf(schema('x:b', {}, ...named(count)), below).schema('x:7'))
      expect(circles.map(found => found?.cyclic)).to.deep.equal([false, true])
      expect(circles.map(found => found?.properties.size)).to.deep.equal([256, 0])
      expect(circles.map(found => found?.chain)).to.deep.equal([
        ['x:7', 'x:b'],
        ['x:7', 'x:b'],
      ])
    })

    it('MOD-50 SEC-12 of references to a type with many below it so many are looked for as one write may, and few in one step', () => {
      const referring = schema('x:r', {}, property('r', { references: 'x:b#p0' }))
      const registry = registryOf(schema('x:b', {}, property('p0', { unique: 'true' })), below, referring)
      const asked = (count: number) => {
        const body = range(count).map(i => instance('x:r', { r: `v${i}` }))
        const instances = atOnce(findingInstances(registry, { document: parseDocument('html', page(body.join(''))) }))
        const work = findingRequirements(registry, instances, valueReader(NS))
        let steps = 1
        let step = work.next()
        for (; !step.done; step = work.next()) steps++
        return { steps, refused: step.value.filter(({ guard }) => guard.any.length === 0).length }
      }
      const few = asked(100)
      expect(few.steps).to.be.above(100)
      expect([few.refused, asked(450).refused]).to.deep.equal([0, 1])
    })

    it('MOD-52 SEC-12 what an item of many types with many names holds is found by what is declared', async () => {
      const referring = schema('x:r', {}, property('r', { references: 'x:k#p', cascade: 'true' }))
      const registry = registryOf(schema('x:k', {}, property('p', { unique: 'true' })), referring)
      const many = (count: number, prefix = '') =>
        range(count)
          .map(i => `${prefix}${(i + 1000).toString(36)}`)
          .join(' ')
      const markup = `<i itemscope itemtype="x:k ${many(10_800, 'x:')}"><b itemprop="p ${many(16_000)}">v</b></i>`
      const [item] = itemElements(parseDocument('html', markup).root)
      const held = await takesLess(100, () => item && atOnce(findingHeld(registry, item)))
      expect([...(held?.values() ?? [])]).to.deep.equal([{ type: 'x:k', property: 'p', values: ['v'] }])
    })

    it('MOD-22 MOD-112 SEC-12 of values in each other, which hold the same nodes, one is read in a step', () => {
      const registry = registryOf(schema('x:v', {}, property('v', { unique: 'true', type: primitive('Text') })))
      const body = `<div itemscope itemtype="x:v">${'<div itemprop="v">'.repeat(50)}<b>x</b>`
      const instances = atOnce(findingInstances(registry, { document: parseDocument('html', page(body)) }))
      for (const asking of [findingRequirements, checkingValues]) {
        const work: Steps<unknown> = asking(registry, instances, valueReader(NS))
        let steps = 1
        while (!work.next().done) steps++
        expect(steps).to.be.at.least(50)
      }
    })

    it('MOD-52 MOD-55 SEC-12 of what is guarded an item has what it holds, however much its types have, and each value is compared once', () => {
      const registry = registryOf(
        schema('x:b', {}, ...range(256).map(i => property(`p${i}`, { unique: 'true', key: 'true' }))),
        schema('x:r', {}, ...range(256).map(i => property(`r${i}`, { references: `x:b#p${i}`, cascade: 'true' }))),
        below,
      )
      const types = range(100).map(i => `x:${i}`)
      const of = (value: string) => parseDocument('html', page(instance(types.join(' '), { p3: value, other: 'x' })))
      const [before, after] = [of('old'), of('new')]
      const [item] = itemElements(before.root)
      expect(item && [...atOnce(findingHeld(registry, item)).values()]).to.deep.equal(
        types.map(type => ({ type, property: 'p3', values: ['old'] })),
      )
      let steps = 1
      const work = comparingDocuments(registry, before, after)
      let step = work.next()
      for (; !step.done; step = work.next()) steps++
      expect(step.value).to.deep.equal(types.map(type => ({ type, property: 'p3', value: 'old', to: 'new' })))
      expect(steps).to.be.within(100, 400)
    })

    it('MOD-41 SEC-12 of combinations so many are looked for as name 20,000 values in one write, and long ones in steps of their own', () => {
      const asked = (members: number, items: number, twice: number) => {
        const registry = registryOf(schema('x:b', {}, ...range(members).map(i => property(`p${i}`, { unique: 'g' }))))
        const values = (k: number) =>
          Object.fromEntries(range(members).map(i => [`p${i}`, i < twice ? [`${k}`, `${k}b`] : `${k}`]))
        const body = range(items).map(k => instance('x:b', values(k)))
        const instances = atOnce(findingInstances(registry, { document: parseDocument('html', page(body.join(''))) }))
        const work = findingRequirements(registry, instances, valueReader(NS))
        let steps = 1
        let step = work.next()
        for (; !step.done; step = work.next()) steps++
        const refused = step.value.filter(({ guard }) => guard.any.length === 0).length
        return { steps, refused, found: step.value.length }
      }
      expect(asked(3, 10, 3)).to.deep.include({ refused: 0, found: 80 })
      expect(asked(8, 11, 8)).to.deep.include({ refused: 1, found: 9 * 256 + 1 })
      expect(asked(200, 1, 6).steps).to.be.above(6)
      expect(asked(400, 1, 6)).to.deep.include({ refused: 1, found: 1 })
    })

    const many = range(300).map(i => `b.q${i}`)
    // Any element may be asked about these.
    const asked = range(300).map(() => ':empty:root')
    for (const [what, fields, others, least] of [
      ['constraints', { constraint: many }, [], 800],
      ['alternatives of one', { constraint: many.join() }, [], 250],
      ['scopes of another', { permit: 'b' }, [shape({ selector: asked.join(), permit: 'i' })], 130],
    ] as const)
      it(`MOD-93 MOD-97 SEC-12 questions of shapes are counted, however little each element holds: ${what}`, () => {
        const list = range(300).map(() => '<li><b></b></li>')
        const { shapes } = atOnce(
          registryOf(shape({ selector: 'li', ...fields }), ...others).exchanging('/none.html', undefined),
        )
        const document = parseDocument('html', page(list.join('')))
        const work = checkingShapes(shapes, { document })
        let steps = 1
        let step = work.next()
        for (; !step.done; step = work.next()) steps++
        expect(steps).to.be.above(least)
      })

    for (const [what, fields] of [
      ['open', { constraint: 'b' }],
      ['closed', { permit: 'b' }],
    ] as const)
      it(`MOD-92 SEC-12 of many elements each of many shapes is asked of those alone that it may select: ${what}`, () => {
        const shapes = range(400).map(i => shape({ selector: `.c${i}`, ...fields }))
        const registry = registryOf(shape({ selector: 'main', permit: ['b', '[class]'] }), ...shapes)
        const document = parseDocument('html', page(`<main>${'<b class=c></b>'.repeat(2_000)}</main>`))
        expect(stepsOf(checkingShapes(registry.shapesAt('/x'), { document }))).to.be.below(1_000)
      })

    it('MOD-50 SEC-12 whether what is referred to is unique is told without putting together what each schema inherits', () => {
      const target = (i: number) => property(`r${i}`, { references: `x:${i}#p${i % 2}` })
      const registry = registryOf(
        schema('x:b', {}, property('p0', { unique: 'true' }), property('p1')),
        below,
        schema('x:again', { parent: 'x:b' }, property('p0'), property('p1', { unique: 'g' })),
        schema('x:r', {}, ...all.map(target)),
      )
      const asked = ['x:7', 'x:again'].flatMap(type => ['p0', 'p1', 'p2'].map(name => registry.isUnique(type, name)))
      expect(asked).to.deep.equal([true, false, false, true, false, false])
      expect(registry.isUnique('x:none', 'p0')).to.equal(undefined)
      expect(registry.findings('/model.html')).to.have.length(250)
    })

    it('MOD-40 SEC-12 values of an item of many types are looked for as 20,000 more than those of eight types', () => {
      const registry = registryOf(schema('x:b', {}, property('p', { unique: 'true' })), below)
      const markup = instance(
        range(30)
          .map(i => `x:${i}`)
          .join(' '),
        { p: range(1_000).map(String) },
      )
      const instances = atOnce(findingInstances(registry, { document: parseDocument('html', page(markup)) }))
      const found = atOnce(findingRequirements(registry, instances, valueReader(NS)))
      expect(found.filter(({ guard }) => guard.any.length > 0)).to.have.length(28_000)
      expect(found.filter(({ guard }) => guard.any.length === 0)).to.have.length(1)
    })

    it('MOD-1 SEC-12 what an item of very many keys says is packed in steps, as it is at once', () => {
      const of = () => [
        { item: 'a', keys: range(23_000).map(i => `k"${i}`) },
        { item: 'b', keys: ['x'] },
      ]
      const entries = of()
      expect([...packingEntries(entries)].length).to.be.above(4)
      expect(packEntries(entries)).to.equal(packEntries(of()))
    })

    it('MOD-25 MOD-80 SEC-12 what a refusal tells of permitted values and of groups does not grow with both', () => {
      const many = range(5_000).map(String)
      const registry = registryOf(
        enumeration('x:e', ...many),
        schema('x:v', {}, property('p', { type: 'x:e' })),
        schema('x:g', {}, groupConstraint({ group: 'g', cardinality: '1..1', property: many })),
      )
      const checked = (markup: string) => {
        const instances = atOnce(findingInstances(registry, { document: parseDocument('html', page(markup)) }))
        return [atOnce(checkingValues(registry, instances, valueReader(NS))), atOnce(checkingGroups(instances))].flat()
      }
      const wrong = [
        ...checked(instance('x:v', { p: range(150).map(i => `wrong${i}`) })),
        ...checked(instance('x:g').repeat(150)),
      ]
      expect(wrong).to.have.length(200)
      for (const { reason } of wrong) {
        expect(reason).to.match(/, '?199'? and 4800 more/)
        expect(reason.length).to.be.below(2_500)
      }
      const named = registryOf(
        schema('x:l', {}, groupConstraint({ group: 'g', cardinality: '1..1', property: 'n'.repeat(8_000) })),
      )
      const document = parseDocument('html', page(instance('x:l')))
      const [told] = atOnce(checkingGroups(atOnce(findingInstances(named, { document }))))
      expect(told?.reason.length).to.be.within(200, 500)
    })

    it('MOD-30 SEC-12 of defaults that items lack so many are worked out as one write may have, and few in one step', () => {
      const given = range(500).map(i => property(`p${i}`, { default: 'x' }))
      const registry = registryOf(schema('x:b', {}, ...given))
      const lacking = (count: number) => {
        const body = range(count).map(() => instance('x:b', { p0: 'own' }))
        const instances = atOnce(findingInstances(registry, { document: parseDocument('html', page(body.join(''))) }))
        const work = findingMissing(NS, instances, new Map())
        let steps = 1
        let step = work.next()
        for (; !step.done; step = work.next()) steps++
        return { steps, names: step.value.map(({ property: { name } }) => name) }
      }
      const { steps, names } = lacking(20)
      expect([names.length, names.includes('p0'), names.includes('p499')]).to.deep.equal([20 * 499, false, true])
      expect(steps).to.be.within(5, 20)
      expect(() => lacking(1 + MOST_DEFAULTS / 499))
        .to.throw(Fault)
        .with.property('status', 422)
    })

    it('MOD-71 SEC-12 of properties with resolvers those go through them that an item holds', () => {
      const resolved = range(300).map(i =>
        property(`p${i}`, { read: { markup: `<script itemprop="@read" type="text/sessel">(v) => v</script>` } }),
      )
      const registry = registryOf(schema('x:b', {}, ...resolved))
      const { root } = parseDocument('html', page(instance('x:b', { p7: 'a', other: 'x', p3: 'b' }).repeat(300)))
      const work = findingChains(registry, root)
      let steps = 1
      let step = work.next()
      for (; !step.done; step = work.next()) steps++
      expect(step.value.slice(0, 3).map(({ property: { name } }) => name)).to.deep.equal(['p3', 'p7', 'p3'])
      expect(step.value).to.have.length(600)
      expect(steps).to.be.above(300)
    })

    it('MOD-14 of a schema that declares a property again, those below it do not refer as the first one does', () => {
      const again = schema('x:again', { parent: 'x:b' }, property('p0'))
      const registry = registryOf(schema('x:b', {}, ...named(1)), again, schema('x:deep', { parent: 'x:again' }), below)
      const types = registry.inheritance
        .declaring('x:b', 'p0')
        .flatMap(each => [...registry.inheritance.inheriting(each)].map(({ type }) => type))
      expect(types).to.have.length(501)
      expect(types).to.not.include.members(['x:again'])
      expect(types).to.not.include.members(['x:deep'])
    })
  })

  describe('values', () => {
    const long = 100_000
    const texts = ['1', '.', '+', '0', '-', 'e', 'a', 'a:', ':', '/', '%', ' ', '\t', '2031-05-04T06:07:08.', 'true']
    it('MOD-25 texts of any length are told to be of a type or not in linear time', async () => {
      await takesLess(500, () => {
        for (const test of PRIMITIVES.values())
          for (const text of texts) for (const end of ['', 'x', ' ']) test(text.repeat(long / text.length) + end)
      })
    })
  })

  describe('documents', () => {
    const judged = (registry: Registry, body: string) => {
      const document = parseDocument('html', page(body))
      return atOnce(judging(registry, '/p.html', { document }))
    }

    for (const [name, declared] of [
      ['a closed shape', shape({ selector: 'div', permit: ['div', 'p'] })],
      ['a closed shape that speaks of the scope', shape({ selector: 'div', permit: ['div', 'p', ':scope > i'] })],
      ['constraints', shape({ selector: 'div', constraint: [':has(p)', 'b, p:last-child', 'i, p:nth-child(4999)'] })],
    ] as const)
      it(`MOD-93, MOD-94 scopes inside each other are judged in time: ${name}`, async () => {
        const body = `${'<div>'.repeat(450)}${'<p></p>'.repeat(5_000)}`
        const registry = registryOf(declared)
        const judgement = await takesLess(2_500, () => judged(registry, body))
        expect(judgement?.failures).to.deep.equal([])
      })

    it('MOD-93, MOD-94 what is wrong inside scopes inside each other is told of each', () => {
      const registry = registryOf(shape({ selector: 'div', permit: ['div', 'p'], constraint: '[itemprop=x]' }))
      const failures = judged(registry, `${'<div>'.repeat(3)}<p></p><b></b>`)?.failures ?? []
      expect(failures.map(({ constraint }) => constraint)).to.deep.equal(
        Array(3).fill(['[itemprop=x]', 'permit']).flat(),
      )
    })

    const nested = (levels: number, inside: string) =>
      parseDocument('html', page('<div>'.repeat(levels) + inside.repeat(200)))
    const shapesOf = (declared: string) => atOnce(registryOf(declared).exchanging('/none.html', undefined)).shapes

    it('MOD-94 SEC-12 what is wrong in many scopes inside each other is gathered in a step for each, and put into words where it is told', () => {
      const work = checkingShapes(shapesOf(shape({ selector: 'div', permit: ['div', 'p'] })), {
        document: nested(300, '<b></b>'),
      })
      let steps = 1
      let step = work.next()
      for (; !step.done; step = work.next()) steps++
      expect(steps).to.be.above(300)
      expect(step.value.length).to.be.within(10_000, 10_400)
    })

    for (const [what, declared] of [
      ['properties', [schema('x:t', {}, ...range(1500).map(i => property(`p${i}`, { cardinality: 'odd' })))]],
      ['schemas', range(1500).map(i => schema(`x:${i}`, { parent: 'x:none' }))],
    ] as const)
      it(`MOD-8 SEC-12 of many ${what} as many are looked at for their author as in one turn may be`, () => {
        expect(registryOf(...declared).findings('/model.html')).to.have.length(1000)
      })

    it('MOD-94 SEC-12 what many shapes do not permit is put into words for the first of them, and the others are not met', () => {
      const shapes = shapesOf(
        range(20)
          .map(i => shape({ selector: 'div', permit: ['div', `p${i}`] }))
          .join(''),
      )
      const document = parseDocument('html', page(`<div>${'<b></b>'.repeat(40)}`.repeat(100)))
      const failures = atOnce(checkingShapes(shapes, { document }))
      expect(failures.length).to.be.within(50_000, 55_000)
      expect(failures.at(-1)?.message).to.include("The shape of 'div' cannot be checked")
    })

    for (const [what, fields] of [
      ['permits', { permit: ['div', 'p', ':scope > i'] }],
      ['constraints', { constraint: [':scope > p > b', ':scope p'] }],
    ] as const)
      it(`MOD-93 MOD-94 SEC-12 what stands in many scopes is asked about so often and no more, and is not let in: ${what}`, () => {
        const asked = (levels: number) =>
          atOnce(
            checkingShapes(
              shapesOf(shape({ selector: 'div', ...fields })),
              { document: nested(levels, '<p></p>') },
              undefined,
              25_000,
            ),
          ).map(({ message }) => message)
        expect(asked(30).filter(message => message.includes('cannot be checked'))).to.deep.equal([])
        expect(asked(150)).to.deep.equal([
          "The shape of 'div' cannot be checked on this document: elements that it selects hold too much in each other",
        ])
      })

    it('MOD-40, MOD-41, MOD-80 an item with many values, and many items', async () => {
      const registry = registryOf(
        schema(
          'x:a',
          {},
          property('p', { unique: ['true', 'g'] }),
          property('q', { unique: 'g', group: 'h' }),
          groupConstraint({ group: 'h' }),
        ),
      )
      const one = instance('x:a', { p: range(10_000).map(String), q: ['1'] })
      const many = range(5_000)
        .map(i => instance('x:a', { p: `m${i}`, q: `${i % 7}` }))
        .join('')
      const judgement = await takesLess(1_500, () => judged(registry, `<ul>${one}${many}</ul>`))
      expect(judgement?.requirements).to.have.length(10_000 + 1 + 5_000 + 5_000)
    })

    it('MOD-21 items inside items, and values inside values', async () => {
      const registry = registryOf(schema('x:a', {}, property('p', { type: 'x:a' })))
      const nested = `${'<div itemprop="p" itemscope itemtype="x:a">'.repeat(450)}${meta('q', '1').repeat(5_000)}`
      await takesLess(1_000, () => judged(registry, nested))
    })
  })
})
