import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import {
  enumeration,
  groupConstraint,
  instance,
  meta,
  primitive,
  property,
  schema,
  shape,
} from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { page, put } from '../../support/content.ts'
import type { Client } from '../../support/http.ts'
import { startServer } from '../../support/server.ts'

const STATION = 'https://tides.example/Station'
const READING = 'https://tides.example/Reading'
const STATE = 'https://tides.example/State'
const CODED = 'https://tides.example/Coded'
/** Code of a language that nobody knows. */
const UNKNOWN = {
  markup: '<div itemprop="@validate" itemscope itemtype="x:y"><script itemprop="source">x</script></div>',
}

const station = (code: string) => instance(STATION, { code })
const reading = (more: Record<string, string | string[]> = {}) => instance(READING, { station: 'KRS', a: '1', ...more })
const selecting = (selector: string, placement = 'append') => ({
  Range: `selector=${selector}; placement=${placement}`,
})

onBothPlanes('Data model, refused writes', on => {
  beforeEach(async () => {
    await on.shelf.clear()
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true', cardinality: '1..1' })),
      schema(
        READING,
        {},
        property('station', { references: `${STATION}#code`, cascade: 'restrict', cardinality: '1..1' }),
        property('height', { type: primitive('Number') }),
        property('state', { type: STATE, default: 'raw' }),
        property('a', { group: 'g' }),
        property('b', { group: 'g' }),
        groupConstraint({ group: 'g', cardinality: '1..1' }),
      ),
      schema(CODED, {}, property('p', { '@validate': UNKNOWN })),
      enumeration(STATE, 'raw', 'checked'),
      shape({
        resource: ['/log.html', '/shut.html'],
        selector: 'ul',
        permit: ['li[itemscope][itemtype]', 'meta[itemprop][content]'],
      }),
      shape({ selector: 'ul', constraint: ':has(> li)' }),
    )
    await on.shelf.list('/stations.html', station('KRS'), station('OSL'))
    await put(on.shelf.server, '/log.html', page(`<ul>${reading()}</ul>`))
  })

  /** Everything that a write could change. */
  async function state(): Promise<unknown> {
    const { store } = on.shelf.server.site
    const resources: object[] = []
    for await (const resource of store.walk('/')) resources.push(resource)
    const events = await Promise.all(['/', '/log.html', '/stations.html', '/shut.html'].map(path => store.events(path)))
    return { resources, events, counters: await store.counters() }
  }

  const http: Client = (...request) => on.shelf.http(...request)
  const append = (item: string) => http('POST', '/log.html', selecting('ul'), item)

  describe('MOD-113, MOD-133 change nothing: no document, no tag, no cascade, no event', () => {
    for (const [name, write, expected] of [
      ['cardinality', () => append(instance(READING, { a: '1' })), '422 cardinality station'],
      ['type', () => append(reading({ height: 'high' })), '422 type height'],
      ['enum', () => append(reading({ state: 'gone' })), '422 enum state'],
      ['group', () => append(reading({ b: '1' })), '422 group'],
      ['reference', () => append(reading({ station: 'BGO' })), '422 references(station)'],
      ['uniqueness', () => http('POST', '/stations.html', selecting('ul'), station('KRS')), '422 unique(code)'],
      ['shape of a POST', () => append('<li onclick="x()">x</li>'), '422 permit'],
      [
        'shape of a PUT',
        () => http('PUT', '/log.html', { Range: 'selector=li' }, '<p>x</p>'),
        '422 permit | :has(> li)',
      ],
      ['shape of a whole PUT', () => on.shelf.replace('/log.html', page('<ul></ul>')), '422 :has(> li)'],
      [
        'shape of a new document',
        () => on.shelf.replace('/shut.html', page('<ul><b></b></ul>')),
        '422 permit | :has(> li)',
      ],
      [
        'shape of a MOVE of an element',
        () =>
          http('MOVE', '/log.html', {
            ...selecting('li'),
            Destination: '/log.html',
            'Destination-Range': 'selector=ul; placement=after',
          }),
        '422 :has(> li)',
      ],
      ['shape of a MOVE', () => http('MOVE', '/stations.html', { Destination: '/shut.html' }), '422 permit'],
      ['shape of a DELETE', () => http('DELETE', '/log.html', { Range: 'selector=li' }), '409 :has(> li)'],
      [
        'cardinality by a DELETE',
        () => http('DELETE', '/stations.html', { Range: 'selector=[itemprop=code]' }),
        '422 cardinality code',
      ],
      ['restrict', () => http('DELETE', '/stations.html', { Range: 'selector=li' }), '409 restrict(station)'],
      ['restrict of the whole', () => http('DELETE', '/stations.html'), '409 restrict(station)'],
    ] as const)
      it(`${name}: ${expected}`, async () => {
        const before = await state()
        expect(verdictOf(await write())).to.equal(expected)
        expect(await state()).to.deep.equal(before)
      })

    it('code that fails: 422', async () => {
      const before = await state()
      const received = await on.shelf.replace('/coded.html', listPage(instance(CODED, { p: '1' }), instance(READING)))
      // What needs no code comes first (MOD-112).
      expect(verdictOf(received)).to.equal('422 cardinality station')
      const coded = await on.shelf.replace('/coded.html', listPage(instance(CODED, { p: '1' })))
      expect([coded.status, coded.text.includes('/BindingFailure"')]).to.deep.equal([422, true])
      expect(await state()).to.deep.equal(before)
    })

    it('what is stored at last came from one write alone, with its default', async () => {
      await append(reading({ height: 'high' }))
      expect((await append(reading({ height: '7' }))).status).to.equal(206)
      const text = await on.shelf.text('/log.html')
      expect(text.match(/<li/g)).to.have.length(2)
      expect(text).to.include(`${meta('height', '7')}${meta('state', 'raw')}</li>`)
    })
  })
})

describe('Data model, after a restart', () => {
  it('MOD-113, MOD-42 what was refused is not there, what was stored still counts', async () => {
    const first = await startServer()
    await put(first, '/model.html', page(schema(STATION, {}, property('code', { unique: 'true' }))))
    await put(first, '/stations.html', listPage(station('KRS')))
    const refused = await put(first, '/other.html', listPage(station('KRS'))).then(
      () => 'stored',
      ({ status }) => status,
    )
    await first.stop()
    const second = await startServer({ data: first.data })
    try {
      expect(refused).to.equal(422)
      expect(await second.site.store.find('/other.html')).to.equal(undefined)
      const again = await put(second, '/other.html', listPage(station('KRS'))).then(
        () => 'stored',
        ({ status }) => status,
      )
      expect(again).to.equal(422)
      await put(second, '/other.html', listPage(station('OSL')))
    } finally {
      await second.close()
    }
  })
})
