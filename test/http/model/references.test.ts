import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import { instance, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'

const STATION = 'https://tides.example/Station'
const BUOY = 'https://tides.example/Buoy'
const READING = 'https://tides.example/Reading'
const REFERENCE = `${STATION}#code`

onBothPlanes('Data model, references', on => {
  const reading = (...stations: string[]) => instance(READING, { station: stations })
  const append = async (path: string, item: string) => verdictOf(await on.shelf.append(path, item))

  beforeEach(async () => {
    await on.shelf.clear()
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true' })),
      schema(BUOY, { parent: STATION }),
      schema(READING, {}, property('station', { references: REFERENCE })),
    )
    await on.shelf.list('/stations.html', instance(STATION, { code: 'KRS' }), instance(BUOY, { code: 'B1' }))
    await on.shelf.list('/log.html')
  })

  for (const [name, item, expected] of [
    ['an item of the type', reading('KRS'), '206'],
    ['an item of a subtype', reading('B1'), '206'],
    ['several items', reading('B1', 'KRS'), '206'],
    ['nothing, with an empty value', reading(''), '206'],
    ['nothing, without value', reading(), '206'],
    ['no item', reading('OSL'), '422 references(station)'],
    ['one item and no item', reading('KRS', 'OSL'), '422 references(station)'],
    ['another case', reading('krs'), '422 references(station)'],
    ['what the write brings along', reading('OSL') + instance(STATION, { code: 'OSL' }), '206'],
    ['an unrelated type with the value', reading('OSL') + instance('x:y', { code: 'OSL' }), '422 references(station)'],
    ['another property with the value', reading('OSL') + instance(STATION, { name: 'OSL' }), '422 references(station)'],
  ] as const) {
    it(`MOD-51 refers to ${name}: ${expected}`, async () => expect(await append('/log.html', item)).to.equal(expected))
  }

  it('MOD-51, MOD-131, MOD-135 the answer names the value', async () => {
    const received = await on.shelf.append('/log.html', reading('OSL'))
    expect(answerOf(received)).to.deep.equal({
      status: 422,
      type: 'ConstraintViolation',
      title: on.title('422 Unprocessable Entity', 'Reference Constraint Violation'),
      description: 'Reference constraints violated',
      violations: [
        {
          itemtype: READING,
          property: 'station',
          constraintSelector: "[itemprop='station']",
          failedConstraint: 'references(station)',
          message: `No ${STATION} has the code 'OSL' that station refers to`,
        },
      ],
    })
    expect(await on.shelf.text('/log.html')).to.equal(listPage())
  })

  it('MOD-52 without cascade nothing happens when the target goes; the item is checked when it is written again', async () => {
    expect(await append('/log.html', reading('KRS'))).to.equal('206')
    expect(verdictOf(await on.shelf.http('DELETE', '/stations.html'))).to.equal('204')
    expect(await append('/log.html', instance(READING))).to.equal('206')
    const again = await on.shelf.http('PUT', '/log.html', { Range: 'selector=li' }, reading('KRS'))
    expect(verdictOf(again)).to.equal('422 references(station)')
  })

  it('MOD-112 references come before uniqueness', async () => {
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true' })),
      schema(READING, {}, property('station', { references: REFERENCE }), property('id', { unique: 'true' })),
    )
    await on.shelf.list('/log.html', instance(READING, { id: '1' }))
    const both = instance(READING, { id: '1', station: 'none' })
    expect(await append('/log.html', both)).to.equal('422 references(station)')
  })

  describe('MOD-50 declarations that cannot be', () => {
    for (const [name, references, expected] of [
      ['without #', STATION, '422 schema station'],
      ['without type', '#code', '422 schema station'],
      ['without property', `${STATION}#`, '422 schema station'],
      ['to a property that is not unique', `${STATION}#name`, '422 schema station'],
      ['to a property that is not declared', `${STATION}#nothing`, '422 schema station'],
      ['to a type that is not declared: no error, resolves to nothing', 'x:y#code', '422 references(station)'],
      ['split at the last #', 'https://tides.example/#Station#code', '206'],
      ['blank: none', ' ', '206'],
    ] as const) {
      it(`${name}: ${expected}`, async () => {
        await on.shelf.declare(
          schema(STATION, {}, property('code', { unique: 'true' }), property('name', { unique: 'group' })),
          schema('https://tides.example/#Station', {}, property('code', { unique: 'true' })),
          schema(READING, {}, property('station', { references })),
        )
        await on.shelf.list('/other.html', instance('https://tides.example/#Station', { code: 'KRS' }))
        expect(await append('/log.html', reading('KRS'))).to.equal(expected)
        // Only items of the referring type are held up.
        expect(await append('/log.html', instance(STATION, { code: 'new' }))).to.equal('206')
      })
    }

    it('an inherited `unique` will do', async () => {
      await on.shelf.declare(
        schema(STATION, {}, property('code', { unique: 'true' })),
        schema(BUOY, { parent: STATION }),
        schema(READING, {}, property('station', { references: `${BUOY}#code` })),
      )
      expect(await append('/log.html', reading('B1'))).to.equal('206')
      expect(await append('/log.html', reading('KRS'))).to.equal('422 references(station)')
    })
  })

  it('MOD-42 a target that goes at the same moment: either the reference is refused, or it stood when it was made', async () => {
    for (let i = 0; i < 10; i++) {
      await on.shelf.list(`/target-${i}.html`, instance(STATION, { code: `T${i}` }))
      const [removed, added] = await Promise.all([
        on.shelf.http('DELETE', `/target-${i}.html`),
        on.shelf.append('/log.html', reading(`T${i}`)),
      ])
      expect(removed.status).to.equal(204)
      expect(verdictOf(added)).to.be.oneOf(['206', '422 references(station)'])
    }
  })
})
