import { expect } from 'chai'
import type { RawProperty, RawSchema } from '../../../pipeline/model/declarations.ts'
import { doubtsAbout, doubtsAboutShapes } from '../../../pipeline/model/doubts.ts'
import { Registry } from '../../../pipeline/model/registry.ts'

const VOCABULARY = { ns: 'https://platform.example/ns', schemaHost: 'https://schema.org' }
const TYPE = 'https://a.example/T'

describe('what a schema says and cannot mean', () => {
  const schema = (property: Partial<RawProperty>, more: Partial<RawSchema> = {}): RawSchema => ({
    type: TYPE,
    properties: [{ name: 'p', unique: [], group: [], key: false, ...property }],
    methods: [],
    constraints: [],
    ...more,
  })
  const CASES: [property: Partial<RawProperty>, doubt: string | undefined][] = [
    [{}, undefined],
    [{ cardinality: '1..n', type: 'https://schema.org/Text' }, undefined],
    [{ type: 'https://a.example/Color' }, undefined],
    [{ type: 'https://schema.org/Person' }, undefined],
    [{ type: 'https://b.example/Thing' }, undefined],
    [{ cardinality: '1..2' }, 'the cardinality 1..2 is none of 0..1, 1..1, 0..n, 1..n; any number is taken'],
    [
      { type: 'https://schema.org/Strng' },
      'the type https://schema.org/Strng is not known, so that values are not checked; did you mean https://schema.org/String?',
    ],
    [
      { type: 'Strng' },
      'the type Strng is not known, so that values are not checked; did you mean https://schema.org/String?',
    ],
    [
      { type: 'Integer' },
      'the type Integer is not known, so that values are not checked; did you mean https://schema.org/Integer?',
    ],
    [{ type: 'whatever it is' }, 'the type whatever it is is not known, so that values are not checked'],
  ]
  for (const [property, doubt] of CASES)
    it(`MOD-20 MOD-25 ${JSON.stringify(property)}`, () => {
      const doubts = doubtsAbout(schema(property), VOCABULARY, url => url === 'https://a.example/Color')
      expect(doubts).to.deep.equal(doubt === undefined ? [] : [`the property p of ${TYPE}: ${doubt}`])
    })

  const NAMED: [rule: string, property: Partial<RawProperty>, doubts: string[]][] = [
    ['MOD-44', { key: true }, ['it is no key, since it is not unique by itself']],
    ...['True', 'ture', 'false', '1'].map((value): (typeof NAMED)[number] => [
      'MOD-41',
      { unique: [value] },
      [`its unique ${value} names a group of properties, and counts only as true by itself`],
    ]),
    ['MOD-41', { unique: ['true', 'title', 'slug'] }, []],
    ['MOD-52', { cascade: 'true' }, ['its cascade means nothing without references']],
    [
      'MOD-52',
      { references: 'urn:u#id', cascade: 'yes' },
      ['the cascade yes is none of true, restrict, false: nothing follows'],
    ],
    ['MOD-50', { references: 'urn:u#id', cascade: 'restrict' }, []],
    [
      'MOD-50',
      { references: 'urn:u' },
      ['its reference urn:u names no item type and property, so that its items are refused'],
    ],
    ['MOD-50', { references: 'urn:u#p' }, ['it refers to urn:u#p, which is not unique, so that its items are refused']],
    [
      'MOD-50',
      { references: 'urn:v#id' },
      ['it refers to urn:v#id, and no schema declares that type, so that it finds nothing'],
    ],
  ]
  for (const [rule, property, doubts] of NAMED)
    it(`${rule} ${JSON.stringify(property)}`, () => {
      const isUnique = (type: string, name: string) => (type === 'urn:v' ? undefined : name === 'id')
      expect(doubtsAbout(schema(property), VOCABULARY, () => false, isUnique)).to.deep.equal(
        doubts.map(doubt => `the property p of ${TYPE}: ${doubt}`),
      )
    })

  for (const [parent, isKnown] of [
    [`${VOCABULARY.ns}/Group`, true],
    [`${VOCABULARY.ns}/Instance`, true],
    ['urn:known', true],
    [`${VOCABULARY.ns}/group`, false],
    ['urn:other', false],
  ] as const)
    it(`MOD-12 the parent ${parent}`, () => {
      const doubts = doubtsAbout(schema({}, { parent }), VOCABULARY, url => url === 'urn:known')
      const doubt = `the schema of ${TYPE}: its parent ${parent} is declared nowhere, so that it inherits nothing`
      expect(doubts).to.deep.equal(isKnown ? [] : [doubt])
    })

  it('MOD-90 shapes that let everything pass', () => {
    const shape = { resources: ['/x', 'x.html'], selectors: ['a >> b', 'li'], constraints: [':has('], permits: ['b['] }
    expect(doubtsAboutShapes([shape], undefined)).to.deep.equal([
      'the resource x.html of a shape does not begin with a slash, as every path does',
      'the selector a >> b of a shape does not parse: it selects nothing',
      'the constraint :has( of a shape does not parse: it asks for nothing',
      'the permit b[ of a shape does not parse: it permits nothing',
    ])
  })

  it('MOD-90 of very many selectors of one shape only the first are looked at', () => {
    const permits = Array<string>(100_000).fill('[')
    const shapes = [['b['], permits].map(each => ({ resources: [], selectors: [], constraints: [], permits: each }))
    expect(doubtsAboutShapes(shapes, undefined)).to.have.lengthOf(1000)
  })

  it('MOD-90 SEC-12 one shape of thousands of selectors is compiled in steps, and what is told of it is found once', () => {
    const texts = Array.from({ length: 500 }, (_, i) => `p${i}[`)
    let looks = 0
    const shape = {
      ...{ resources: [], selectors: [], constraints: [] },
      get permits() {
        looks++
        return texts
      },
    }
    const steps = Registry.empty(VOCABULARY).exchanging('/m.html', { schemas: [], enums: [], shapes: [shape] })
    let count = 1
    let step = steps.next()
    for (; !step.done; step = steps.next()) count++
    expect(count).to.be.at.least(texts.length / 50)
    const first = step.value.findings('/m.html')
    expect(first).to.have.lengthOf(texts.length)
    const before = looks
    expect(step.value.findings('/m.html')).to.deep.equal(first)
    expect(looks).to.equal(before)
  })

  it('MOD-80 groups have cardinalities, too', () => {
    const constraints = [{ group: 'g', cardinality: '2', properties: [] }]
    expect(doubtsAbout(schema({}, { constraints }), VOCABULARY, () => false)).to.deep.equal([
      `the group g of ${TYPE}: the cardinality 2 is none of 0..1, 1..1, 0..n, 1..n; any number is taken`,
    ])
  })
})
