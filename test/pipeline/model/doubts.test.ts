import { expect } from 'chai'
import type { RawProperty, RawSchema } from '../../../pipeline/model/declarations.ts'
import { doubtsAbout } from '../../../pipeline/model/doubts.ts'

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

  it('MOD-80 groups have cardinalities, too', () => {
    const constraints = [{ group: 'g', cardinality: '2', properties: [] }]
    expect(doubtsAbout(schema({}, { constraints }), VOCABULARY, () => false)).to.deep.equal([
      `the group g of ${TYPE}: the cardinality 2 is none of 0..1, 1..1, 0..n, 1..n; any number is taken`,
    ])
  })
})
