import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import { instance, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage, openShelf } from '../../pipeline/model/shelf.ts'
import { page, put, rulesPage } from '../../support/content.ts'

const STATION = 'https://tides.example/Station'
const BUOY = 'https://tides.example/Buoy'
const SLOT = 'https://tides.example/Slot'

onBothPlanes('Data model, uniqueness', on => {
  const station = (...codes: string[]) => instance(STATION, { code: codes })
  const append = async (path: string, item: string) => verdictOf(await on.shelf.append(path, item))
  const replace = async (path: string, ...items: string[]) =>
    verdictOf(await on.shelf.replace(path, listPage(...items)))

  describe('of one property', () => {
    beforeEach(async () => {
      await on.shelf.clear()
      await on.shelf.declare(
        schema(STATION, {}, property('code', { unique: 'true' }), property('name')),
        schema(BUOY, { parent: STATION }),
      )
      await on.shelf.list('/a.html', station('KRS'))
      await on.shelf.list('/b.html')
    })

    it('MOD-40 a value is taken once on the site, within a document and across documents', async () => {
      expect(await append('/a.html', station('KRS'))).to.equal('422 unique(code)')
      expect(await append('/b.html', station('KRS'))).to.equal('422 unique(code)')
      expect(await append('/b.html', station('OSL'))).to.equal('206')
      expect(await append('/a.html', station('OSL'))).to.equal('422 unique(code)')
      expect(await replace('/c.html', station('BGO'), station('BGO'))).to.equal('422 unique(code)')
      expect(await replace('/c.html', station('KRS'))).to.equal('422 unique(code)')
      expect(await replace('/c.html', station('BGO'), station('TRD'))).to.equal('201')
    })

    it('MOD-43, MOD-131, MOD-135 the answer says so, and not where the other one is', async () => {
      const received = await on.shelf.append('/b.html', station('KRS'))
      expect(answerOf(received)).to.deep.equal({
        status: 422,
        type: 'ConstraintViolation',
        title: on.title('422 Unprocessable Entity', 'Uniqueness Constraint Violation'),
        description: 'Uniqueness constraints violated',
        violations: [
          {
            itemtype: STATION,
            property: 'code',
            constraintSelector: "[itemprop='code']",
            failedConstraint: 'unique(code)',
            message: `Uniqueness violated: another ${STATION} has the code 'KRS' already`,
          },
        ],
      })
      expect(received.text).not.to.include('a.html')
      expect(await on.shelf.text('/b.html')).to.equal(listPage())
    })

    for (const [name, item] of [
      ['an empty value', station('')],
      ['no value', station()],
      ['the same text in another case', station('krs')],
      ['another property', instance(STATION, { name: 'KRS' })],
      ['another type', instance(BUOY, { code: 'KRS' })],
      ['a type that no schema governs', instance('x:y', { code: 'KRS' })],
      ['equal values inside one item', station('TRD', 'TRD')],
    ] as const) {
      it(`MOD-40 does not conflict: ${name}`, async () => {
        expect(await append('/b.html', item)).to.equal('206')
        if (name.includes('empty')) expect(await append('/b.html', item)).to.equal('206')
      })
    }

    it('MOD-40 any of several values may conflict', async () => {
      expect(await append('/b.html', station('TRD', 'KRS'))).to.equal('422 unique(code)')
    })

    it('MOD-40 an item rewritten with its own value is no conflict', async () => {
      const put = await on.shelf.http('PUT', '/a.html', { Range: 'selector=li' }, station('KRS'))
      expect(verdictOf(put)).to.equal('206')
      expect(await replace('/a.html', station('KRS'))).to.equal('200')
    })

    it('MOD-40 removing or changing an item frees its value, in the same write too', async () => {
      expect(verdictOf(await on.shelf.http('PUT', '/a.html', { Range: 'selector=li' }, station('TOS')))).to.equal('206')
      expect(await append('/b.html', station('KRS'))).to.equal('206')
      expect(verdictOf(await on.shelf.http('DELETE', '/b.html', { Range: 'selector=li' }))).to.equal('204')
      expect(await replace('/c.html', station('KRS'))).to.equal('201')
      expect(verdictOf(await on.shelf.http('DELETE', '/c.html'))).to.equal('204')
      expect(await append('/b.html', station('KRS'))).to.equal('206')
    })

    it('MOD-40 a value goes along with its document', async () => {
      await put(on.shelf.server, '/deep/file.txt', '')
      const moved = await on.shelf.http('MOVE', '/a.html', { Destination: '/deep/moved.html' })
      expect(moved.status).to.equal(204)
      expect(await append('/b.html', station('KRS'))).to.equal('422 unique(code)')
    })

    it('MOD-40, MOD-13 an inherited `unique` holds for each type by itself', async () => {
      expect(await append('/b.html', instance(BUOY, { code: 'KRS' }))).to.equal('206')
      expect(await append('/b.html', instance(BUOY, { code: 'KRS' }))).to.equal('422 unique(code)')
    })

    it('MOD-42 of two concurrent duplicates exactly one succeeds', async () => {
      for (let i = 0; i < 5; i++) {
        const paths = Array.from({ length: 8 }, (_, n) => `/race-${i}-${n}.html`)
        const answers = await Promise.all(paths.map(path => replace(path, station(`race ${i}`))))
        expect(answers.filter(answer => answer === '201')).to.have.length(1)
        expect(answers.filter(answer => answer === '422 unique(code)')).to.have.length(7)
      }
    })

    it('MOD-5, MOD-40 what was stored before the declaration counts, and is not re-checked by itself', async () => {
      await on.shelf.clear()
      await on.shelf.list('/old.html', station('KRS'), station('KRS'))
      await on.shelf.list('/b.html')
      await on.shelf.declare(schema(STATION, {}, property('code', { unique: 'true' })))
      expect(await append('/b.html', station('KRS'))).to.equal('422 unique(code)')
      expect(await append('/old.html', station('OSL'))).to.equal('206')
      const rewritten = await on.shelf.http('PUT', '/old.html', { Range: 'selector=li' }, station('KRS'))
      expect(verdictOf(rewritten)).to.equal('422 unique(code)')
    })

    it('sites do not see each other', async () => {
      const other = await openShelf({ settings: { sites: [{ host: 'localhost' }, { host: 'other.example' }] } })
      try {
        const hosted = await other.server.running.hosting.open('other.example')
        if (!hosted) throw new Error('no other site')
        const elsewhere = { running: other.server.running, site: hosted.site }
        await put(elsewhere, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/*']))
        await put(elsewhere, '/model.html', page(schema(STATION, {}, property('code', { unique: 'true' }))))
        const write = (host: string) => other.http('PUT', '/x.html', { Host: host }, listPage(station('KRS')))
        expect([(await write('other.example')).status, (await write('localhost')).status]).to.deep.equal([201, 201])
      } finally {
        await other.close()
      }
    })

    it('values of any length and content are told apart', async () => {
      const long = 'ø'.repeat(5000)
      expect(await append('/b.html', station(`${long}a`))).to.equal('206')
      expect(await append('/b.html', station(`${long}b`))).to.equal('206')
      expect(await append('/b.html', station(`${long}a`))).to.equal('422 unique(code)')
      expect(await append('/b.html', station('=KRS'))).to.equal('206')
    })
  })

  describe('of groups', () => {
    const slot = (room: string | string[] | undefined, day: string | string[] | undefined, more: string[] = []) =>
      instance(SLOT, { room, day, note: more })

    beforeEach(async () => {
      await on.shelf.clear()
      await on.shelf.declare(
        schema(
          SLOT,
          {},
          property('room', { unique: 'booking' }),
          property('day', { unique: 'booking' }),
          property('note', { unique: ['true', 'other'] }),
          property('alone', { unique: 'other' }),
        ),
      )
      await on.shelf.list('/a.html', slot('red', 'monday'))
      await on.shelf.list('/b.html')
    })

    it('MOD-41 the combination must be unique', async () => {
      expect(await append('/b.html', slot('red', 'tuesday'))).to.equal('206')
      expect(await append('/b.html', slot('blue', 'monday'))).to.equal('206')
      expect(await append('/b.html', slot('red', 'monday'))).to.equal('422 unique-group(booking)')
    })

    it('MOD-41 values of different items make no combination', async () => {
      expect(await append('/b.html', slot('blue', 'tuesday') + slot('green', 'friday'))).to.equal('206')
      expect(await append('/b.html', slot('blue', 'friday'))).to.equal('206')
    })

    it('MOD-131 the answer names the members, sorted', async () => {
      const { violations } = answerOf(await on.shelf.append('/b.html', slot('red', 'monday')))
      expect(violations).to.deep.equal([
        {
          itemtype: SLOT,
          property: 'day, room',
          constraintSelector: "[itemprop='day'], [itemprop='room']",
          failedConstraint: 'unique-group(booking)',
          message: `Uniqueness violated: another ${SLOT} has the same day 'monday', room 'red' already`,
        },
      ])
    })

    it('MOD-41 an item that lacks a member takes no part', async () => {
      for (const item of [slot('red', undefined), slot(undefined, 'monday'), slot('', 'monday')])
        for (let i = 0; i < 2; i++) expect(await append('/b.html', item)).to.equal('206')
    })

    it('MOD-41 every combination of several values counts', async () => {
      expect(await append('/b.html', slot(['blue', 'red'], ['friday', 'monday']))).to.equal('422 unique-group(booking)')
      expect(await append('/b.html', slot(['blue', 'green'], ['friday', 'monday']))).to.equal('206')
      expect(await append('/b.html', slot('green', 'friday'))).to.equal('422 unique-group(booking)')
    })

    it('MOD-41 a property may be unique by itself and in groups', async () => {
      expect(await append('/b.html', instance(SLOT, { note: 'n', alone: 'a' }))).to.equal('206')
      expect(await append('/b.html', instance(SLOT, { note: 'n', alone: 'b' }))).to.equal('422 unique(note)')
      expect(await append('/b.html', instance(SLOT, { note: ['n2'], alone: 'a' }))).to.equal('206')
    })

    it('combinations beyond all measure are refused', async () => {
      const many = (name: string) => Array.from({ length: 100 }, (_, i) => `${name}${i}`)
      expect(await append('/b.html', slot(many('r'), many('d')))).to.equal('422 unique-group(booking)')
    })
  })

  it('MOD-13 `unique` is a union over the parents, whatever replaces the property', async () => {
    await on.shelf.clear()
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: ['true', 'pair'] }), property('zone', { unique: 'pair' })),
      schema(BUOY, { parent: STATION }, property('code', { cardinality: '1..1' })),
    )
    await on.shelf.list('/a.html', instance(BUOY, { code: 'KRS' }))
    expect(await append('/a.html', instance(BUOY, { code: 'KRS' }))).to.equal('422 unique(code)')
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'pair' })),
      schema(BUOY, { parent: STATION }, property('zone', { unique: 'pair' })),
    )
    expect(await append('/a.html', instance(BUOY, { code: 'A', zone: '1' }))).to.equal('206')
    expect(await append('/a.html', instance(BUOY, { code: 'A', zone: '2' }))).to.equal('206')
    expect(await append('/a.html', instance(BUOY, { code: 'A', zone: '2' }))).to.equal('422 unique-group(pair)')
  })
})
