import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { instance, meta, primitive, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { NS, page } from '../../support/content.ts'

const THING = 'https://tides.example/Thing'
const NOTE = 'https://tides.example/Note'
const JAVASCRIPT = `${NS}/JavaScript/Module`

const code = (slot: string, type: string, source = 'x') => ({
  markup: `<div itemprop="${slot}" itemscope itemtype="${type}"><script itemprop="source">${source}</script></div>`,
})
const script = (slot: string) => ({ markup: `<script type="text/sessel" itemprop="${slot}">x</script>` })

onBothPlanes('Data model, computed and read properties', on => {
  beforeEach(() => on.shelf.clear())

  /** Declares slots of `p` and appends an item. */
  async function stored(slots: Record<string, string | { markup: string }>, item: string): Promise<string> {
    await on.shelf.declare(schema(THING, {}, property('p', slots), property('q')))
    await on.shelf.list('/log.html')
    return verdictOf(await on.shelf.append('/log.html', item))
  }

  describe('MOD-60 @computed', () => {
    const computed = { '@computed': code('@computed', JAVASCRIPT) }

    it('nothing is added to markup and JSON-LD', async () => {
      expect(await stored(computed, instance(THING, { q: 'x' }))).to.equal('206')
      expect(await on.shelf.text('/log.html')).to.equal(
        listPage().replace('</ul>', `${instance(THING, { q: 'x' })}</ul>`),
      )
      if (on.plane === 'mount') return
      const json = await on.shelf.http('GET', '/log.html', { Accept: 'application/ld+json' })
      expect([json.status, json.text.includes('"p"'), json.text.includes('"q"')]).to.deep.equal([200, false, true])
    })

    for (const [name, more, values, expected] of [
      ['its type', { type: primitive('Integer') }, { p: 'many' }, '422 type p'],
      ['a value of its type', { type: primitive('Integer') }, { p: '7' }, '206'],
      ['its cardinality', { cardinality: '0..1' }, { p: ['1', '2'] }, '422 cardinality p'],
      ['no value, where one must be', { cardinality: '1..1' }, {}, '422 cardinality p'],
    ] as const)
      it(`what is written for it is checked like any other value: ${name}: ${expected}`, async () => {
        expect(await stored({ ...computed, ...more }, instance(THING, values))).to.equal(expected)
        if (expected === '206') expect(await on.shelf.text('/log.html')).to.include(meta('p', '7'))
      })

    it('it may be unique', async () => {
      const unique = { ...computed, unique: 'true' }
      expect(await stored(unique, instance(THING, { p: '7' }))).to.equal('206')
      expect(verdictOf(await on.shelf.append('/log.html', instance(THING, { p: '7' })))).to.equal('422 unique(p)')
    })
  })

  describe('MOD-61 which slot it is', () => {
    const key = { unique: 'true', '@key': 'true' }
    const KEY = /<meta itemprop="p" content="[a-z][a-z0-9]{7}">/
    // A key that is absent gets a value (MOD-45); a computed property is never a key (MOD-44).
    for (const [name, slots, isComputed] of [
      ['none', {}, false],
      ['@computed', { '@computed': script('@computed') }, true],
      ['@read of a bare Sessel item', { '@read': code('@read', `${NS}/Sessel`) }, true],
      ['@read of a Sessel lambda', { '@read': code('@read', `${NS}/Sessel/Lambda`) }, false],
      ['@read of a script', { '@read': script('@read') }, false],
      ['@read in JavaScript', { '@read': code('@read', JAVASCRIPT) }, false],
      ['both', { '@computed': script('@computed'), '@read': script('@read') }, true],
    ] as const)
      it(`${name}: ${isComputed ? 'computed' : 'stored'}`, async () => {
        expect(await stored({ ...key, ...slots }, instance(THING, { q: 'x' }))).to.equal('206')
        expect(KEY.test(await on.shelf.text('/log.html'))).to.equal(!isComputed)
      })
  })

  describe('MOD-71 MOD-73 @read that does not compile', () => {
    const ITEM = instance(THING, { p: 'As Stored' })
    const ANSWERED = ITEM.replace('itemscope', 'itemscope=""')
    beforeEach(async () => {
      expect(await stored({ '@read': code('@read', JAVASCRIPT, 'export default (') }, ITEM)).to.equal('206')
    })

    it('is skipped: reads give what is stored', async () => {
      const whole = await on.shelf.http('GET', '/log.html')
      expect(whole.status).to.equal(200)
      expect(whole.text).to.include('As Stored')
      const element = await on.shelf.http('GET', '/log.html', { Range: `selector=[itemtype="${THING}"]` })
      expect([element.status, element.text]).to.deep.equal([206, ANSWERED])
    })

    it('answers of writes and events give what is stored', async () => {
      const added = await on.shelf.append('/log.html', ITEM)
      expect([added.status, added.text]).to.deep.equal([206, ANSWERED])
      const event = (await on.shelf.server.site.store.events('/log.html')).at(-1)
      expect(JSON.stringify(event)).to.include('As Stored')
    })
  })

  if (on.plane === 'mount')
    it('MOD-65, MOD-110 a copy needs the validators of its items, a move does not', async () => {
      const validated = { '@validate': script('@validate') }
      await on.shelf.list('/log.html', instance(THING, { p: 'x' }))
      await on.shelf.declare(schema(THING, {}, property('p', validated)))
      expect((await on.shelf.http('COPY', '/log.html', { Destination: '/copy.html' })).status).to.equal(422)
      expect((await on.shelf.http('MOVE', '/log.html', { Destination: '/moved.html' })).status).to.be.oneOf([201, 204])
    })

  it('MOD-7 JS-2 a slot of a language that nobody knows is stored, and fails where it is needed', async () => {
    expect(await stored({ '@validate': code('@validate', 'x:y') }, instance(THING, { q: '1' }))).to.equal('206')
    const refused = await on.shelf.append('/log.html', instance(THING, { p: '1' }))
    expect(refused.status).to.equal(422)
    expect(refused.text).to.include('x:y is not available here')
    expect(refused.text).to.include('unknown-language')
  })
})

onBothPlanes('Data model, properties and types', on => {
  beforeEach(() => on.shelf.clear())

  describe('MOD-14 subtypes: a type, those it descends from, and what asks for them', () => {
    const [STATION, BUOY, DRIFTER] = ['Station', 'Buoy', 'Drifter'].map(name => `https://tides.example/${name}`) as [
      string,
      string,
      string,
    ]
    const types = [
      schema(STATION, {}, property('code', { unique: 'true' })),
      schema(BUOY, { parent: STATION }),
      schema(DRIFTER, { parent: BUOY }),
    ]
    for (const [type, asked, isa] of [
      [STATION, STATION, true],
      [BUOY, STATION, true],
      [DRIFTER, STATION, true],
      [DRIFTER, BUOY, true],
      [STATION, BUOY, false],
      [NOTE, STATION, false],
      [BUOY.toUpperCase(), STATION, false],
    ] as const)
      it(`${type} ${isa ? 'isa' : 'is no'} ${asked}`, async () => {
        await on.shelf.declare(
          ...types,
          schema(NOTE, {}, property('code', { unique: 'true' })),
          schema(THING, {}, property('at', { type: asked }), property('to', { references: `${asked}#code` })),
        )
        await on.shelf.list('/log.html', instance(type, { code: 'X' }))
        const nested = `<li itemscope itemtype="${THING}"><b itemprop="at" itemscope itemtype="${type}"></b></li>`
        expect(verdictOf(await on.shelf.append('/log.html', nested))).to.equal(isa ? '206' : '422 type at')
        const referring = await on.shelf.append('/log.html', instance(THING, { to: 'X' }))
        expect(verdictOf(referring)).to.equal(isa ? '206' : '422 references(to)')
        const found = await on.shelf.http('GET', '/log.html', { Range: `selector=li:isa("${asked}")` })
        expect(found.status).to.equal(isa ? 206 : 416)
      })
  })

  describe('MOD-20 fields of a property', () => {
    for (const [name, fields, values, expected] of [
      ['a name alone asks for nothing', {}, { p: ['1', ''] }, '206'],
      ['fields that mean nothing', { description: 'x', colour: 'red', itemprop: 'p' }, { p: '1' }, '206'],
      ['`cascade` without `references`', { cascade: 'restrict' }, { p: '1' }, '206'],
      ['`unique` of another word than `true` is a group', { unique: 'yes' }, { p: '1', q: '1' }, '206'],
      ['a cardinality that is none', { cardinality: 'one' }, {}, '206'],
      ['of several types the first', { type: [primitive('Integer'), primitive('Date')] }, { p: '7' }, '206'],
      ['of several cardinalities the first', { cardinality: ['1..1', '0..n'] }, {}, '422 cardinality p'],
      ['several values of `unique` all count', { unique: ['g', 'true'] }, { p: ['1'] }, '206'],
      ['`@key` without `unique`', { '@key': 'true', cardinality: '1..1' }, {}, '422 cardinality p'],
      ['`@key` of another word', { '@key': 'yes', unique: 'true', cardinality: '1..1' }, {}, '422 cardinality p'],
    ] as const)
      it(`${name}: ${expected}`, async () => {
        await on.shelf.declare(schema(THING, {}, property('p', fields), property('q')))
        await on.shelf.list('/log.html')
        expect(verdictOf(await on.shelf.append('/log.html', instance(THING, values)))).to.equal(expected)
      })

    it('without a name it is none (MOD-8)', async () => {
      const nameless = `<div itemprop="property" itemscope itemtype="${NS}/Property">${meta('cardinality', '1..1')}</div>`
      expect(verdictOf(await on.shelf.replace('/model.html', page(schema(THING, {}, nameless))))).to.equal('201')
      await on.shelf.list('/log.html')
      expect(verdictOf(await on.shelf.append('/log.html', instance(THING)))).to.equal('206')
    })
  })
})
