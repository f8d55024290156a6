import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { Fault } from '../../../pipeline/fault.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { page } from '../../support/content.ts'
import { openTemporary } from '../store/fixture.ts'
import { readAnswer } from './answers.ts'
import { openHosted } from './hosted.ts'
import { enumeration, groupConstraint, meta, property, schema } from './markup.ts'
import { completed, type ItemModel, judge, type Model, type Refusal, TYPES, VALUES } from './oracle.ts'

const ITEM_TYPES = ['x:a', 'x:b', 'x:c', 'x:d']
const NAMES = ['p', 'q', 'r']
const ENUM = 'x:enum'

const cardinality = fc.constantFrom('0..1', '1..1', '0..n', '1..n', 'odd', undefined, undefined, undefined)
/** @param percent how often there is one */
const some = <T>(arbitrary: fc.Arbitrary<T>, percent: number) =>
  fc.oneof({ weight: percent, arbitrary }, { weight: 100 - percent, arbitrary: fc.constant(undefined) })

const propertyModel = fc.record({
  name: fc.constantFrom(...NAMES),
  cardinality,
  type: some(fc.constantFrom(...Object.keys(TYPES), ENUM, 'x:unknown', ...ITEM_TYPES), 25),
  unique: fc.constantFrom<string[]>([], ['true'], ['g'], ['true', 'g'], ['h', 'g']),
  references: some(
    fc.constantFrom(
      ...ITEM_TYPES.slice(0, 2).flatMap(type => NAMES.map(name => `${type}#${name}`)),
      'x:unknown#p',
      'odd',
    ),
    20,
  ),
  group: fc.subarray(['one', 'two']),
  default: some(fc.constantFrom(...VALUES.slice(1)), 15),
})

const schemaModel = (type: string) =>
  fc.record({
    type: fc.constant(type),
    parent: some(fc.constantFrom(...ITEM_TYPES, 'x:unknown'), 40),
    properties: fc.array(propertyModel, { maxLength: 3 }),
    constraints: fc.array(
      fc.record({
        group: fc.constantFrom('one', 'two'),
        cardinality,
        properties: fc.subarray(NAMES, { maxLength: 1 }),
      }),
      { maxLength: 1 },
    ),
  })

const model: fc.Arbitrary<Model> = fc.record({
  schemas: fc
    .tuple(...ITEM_TYPES.map(type => some(schemaModel(type), 75)))
    .chain(list => fc.shuffledSubarray(list.filter(each => each !== undefined))),
  enums: fc.subarray(VALUES.slice(0, 4)).map(values => ({ [ENUM]: values })),
})

const { item } = fc.letrec<{ item: ItemModel; value: string | ItemModel }>(tie => ({
  item: fc.record({
    types: fc.subarray([...ITEM_TYPES, 'x:free'], { minLength: 1, maxLength: 2 }),
    values: fc.array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { minLength: 1, maxLength: 5 }),
  }),
  value: fc.oneof(
    { maxDepth: 2 },
    { weight: 12, arbitrary: fc.constantFrom(...VALUES) },
    { weight: 1, arbitrary: tie('item') },
  ),
}))

function toMarkup(model: Model): string {
  const schemas = model.schemas.map(({ type, parent, properties, constraints }) =>
    schema(
      type,
      { parent },
      ...properties.map(({ name, unique, group, ...more }) => property(name, { ...more, unique, group })),
      ...constraints.map(({ group, properties: members, cardinality: count }) =>
        groupConstraint({ group, cardinality: count, property: members }),
      ),
    ),
  )
  const enums = Object.entries(model.enums).map(([url, values]) => enumeration(url, ...values))
  return page([...schemas, ...enums].join('\n'))
}

function itemMarkup({ types, values }: ItemModel, name?: string): string {
  const inside = values.map(([each, value]) =>
    typeof value === 'string' ? meta(each, value) : itemMarkup(value, each),
  )
  return `<div${name ? ` itemprop="${name}"` : ''} itemscope itemtype="${types.join(' ')}">${inside.join('')}</div>`
}

/** What the server says, in the oracle's words. */
function toldBy(error: unknown): Refusal {
  if (!(error instanceof Fault)) throw error
  const { violations, description } = readAnswer(error.details.document ?? '', error.status)
  if (description === 'Reference constraints violated') return { step: 'references', failures: [] }
  if (description === 'Uniqueness constraints violated') return { step: 'unique', failures: [] }
  const failures = violations.map(({ check, itemtype, property: name }) =>
    [check, itemtype, name].filter(Boolean).join(' '),
  )
  return { step: violations[0]?.check === 'group' ? 'groups' : 'values', failures: failures.sort() }
}

describe('Data models against an oracle', () => {
  it('MOD-10 to MOD-80: generated models accept and refuse what the specification says', async function () {
    this.timeout(300_000)
    const opened = await openTemporary()
    let sites = 0
    const seen = { accepted: 0, values: 0, groups: 0, references: 0, unique: 0 }
    const write = fc.record({
      path: fc.constantFrom('/1.html', '/2.html', '/3.html'),
      items: fc.array(item, { minLength: 1, maxLength: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(model, fc.array(write, { minLength: 3, maxLength: 10 }), async (declared, writes) => {
        const hosted = await openHosted(noCode, { store: opened.store, name: `s${++sites}.example` })
        await hosted.put('/model.html', toMarkup(declared))
        const state = new Map<string, readonly ItemModel[]>()
        for (const { path, items } of writes) {
          const full = items.map(each => completed(declared, each))
          const expected = judge(declared, state, path, full)
          const told = await hosted
            .put(path, page(items.map(each => itemMarkup(each)).join('\n')))
            .then(() => undefined, toldBy)
          expect(told, JSON.stringify(items)).to.deep.equal(expected)
          seen[told?.step ?? 'accepted']++
          if (told) continue
          state.set(path, full)
          expect(await hosted.text(path)).to.equal(page(full.map(each => itemMarkup(each)).join('\n')))
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 100), seed: Number(process.env.SEED ?? 20311104) },
    )
    await opened.close()
    // The generator must reach every answer, or the test says little.
    if (process.env.FUZZ) console.log(seen)
    for (const [step, count] of Object.entries(seen)) expect(count, step).to.be.greaterThan(1)
  })
})
