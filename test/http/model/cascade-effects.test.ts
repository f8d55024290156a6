import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { composed } from '../../pipeline/compose/composing.ts'
import { ELEMENT, schema as methods } from '../../pipeline/compose/site-of-one-case.ts'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import { instance, meta, property, schema, shape } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { page, put } from '../../support/content.ts'

const STATION = 'https://tides.example/Station'
const BUOY = 'https://tides.example/Buoy'
const READING = 'https://tides.example/Reading'
const NOTE = 'https://tides.example/Note'

onBothPlanes('Data model, effects of referential actions', on => {
  beforeEach(() => on.shelf.clear())

  const station = (code: string, more = '') =>
    `<li itemscope itemtype="${STATION}">${meta('code', code)}<b>${more}</b></li>`
  const reading = (...stations: string[]) => instance(READING, { station: stations })
  const declare = (cardinality: string | undefined, cascade: string | undefined, ...more: string[]) =>
    on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true', '@key': 'true' }), property('name')),
      schema(BUOY, { parent: STATION }),
      schema(READING, {}, property('station', { references: `${STATION}#code`, cascade, cardinality })),
      ...more,
    )
  const selecting = (selector: string) => ({ Range: `selector=${selector}` })
  const remove = async (path: string, selector?: string) =>
    verdictOf(await on.shelf.http('DELETE', path, selector === undefined ? {} : selecting(selector)))
  const exists = async (path: string) => (await on.shelf.server.site.store.find(path)) !== undefined

  it('MOD-56 what the write itself brings follows, too', async () => {
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true' })),
      schema(
        READING,
        {},
        property('id', { unique: 'true' }),
        property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' }),
      ),
      schema(NOTE, {}, property('about', { references: `${READING}#id`, cascade: 'true', cardinality: '0..1' })),
    )
    const other = instance(STATION, { code: 'OSL' })
    await on.shelf.list(
      '/all.html',
      instance(STATION, { code: 'KRS' }),
      instance(READING, { id: '1', station: 'KRS' }),
      other,
    )
    // The station goes, with it the reading, with that what the note says.
    const note = await on.shelf.http('PUT', '/all.html', selecting('li'), instance(NOTE, { about: '1' }))
    expect(verdictOf(note)).to.equal('206')
    expect((await on.shelf.text('/all.html')).replace(/\n+/g, '\n').replaceAll('=""', '')).to.equal(
      listPage(instance(NOTE), other),
    )
    expect(note.text).to.equal(instance(NOTE).replace('itemscope', 'itemscope=""'))
  })

  it('MOD-55 values in each other follow all, and an item in one of them keeps what others refer to', async () => {
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true', '@key': 'true' })),
      schema(
        READING,
        {},
        property('id', { unique: 'true' }),
        property('station', { references: `${STATION}#code`, cascade: 'true' }),
      ),
      schema(NOTE, {}, property('about', { references: `${READING}#id`, cascade: 'true' })),
    )
    const value = (code: string, content: string) => `<data itemprop="station" value="${code}">${content}</data>`
    const inner = (code: string) => instance(READING, { id: '1', station: code })
    const nested = (code: string) =>
      `<div itemscope="" itemtype="${READING}">${value(code, `a${value(code, 'b')}<ul>${inner(code)}</ul>`)}</div>`
    await on.shelf.list('/stations.html', station('KRS'))
    await put(on.shelf.server, '/readings.html', page(nested('KRS')))
    await on.shelf.list('/notes.html', instance(NOTE, { about: '1' }))
    const write = await on.shelf.http('PUT', '/stations.html', selecting('li'), station('OSL'))
    expect(verdictOf(write)).to.equal('206')
    const plain = (text: string) => text.replaceAll('=""', '')
    expect(plain(await on.shelf.text('/readings.html'))).to.equal(plain(page(nested('OSL'))))
    expect(await on.shelf.text('/notes.html')).to.equal(listPage(instance(NOTE, { about: '1' })))
  })

  it('MOD-55 COMP-6 what goes in an element of a schema goes with the paragraph or table in which it is written', async () => {
    const shown = { name: 'shown', returns: ELEMENT, sessel: `self.\${div}.first()` }
    await declare('1..1', 'restrict', methods('urn:t', [shown]))
    for (const name of ['div', 'p', 'table']) {
      const item = `<div itemscope itemtype="${STATION}">${meta('code', name)}</div>`
      const markup = `<${name} class="k" xmlns:t="urn:t"><t:shown>${item}</t:shown></${name}>`
      await put(on.shelf.server, `/${name}.html`, composed(`<section>${markup}</section>`))
      await on.shelf.list('/log.html', reading(name))
      const write = async (method: string, body?: string) =>
        (await on.shelf.http(method, `/${name}.html`, selecting('.k'), body)).status
      expect(await write('DELETE'), name).to.equal(409)
      expect(await write('PUT', '<i>x</i>'), name).to.equal(409)
      expect(await write('PUT', markup.replace('class="k"', 'class="k l"')), name).to.equal(206)
    }
  })

  it('MOD-30 what an item loses that was just written is replaced by its default, once', async () => {
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true' })),
      schema(
        READING,
        {},
        property('id', { unique: 'true' }),
        property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' }),
      ),
      schema(
        NOTE,
        {},
        property('about', { references: `${READING}#id`, cascade: 'true', cardinality: '0..1', default: '2' }),
      ),
    )
    const kept = [instance(STATION, { code: 'OSL' }), instance(READING, { id: '2', station: 'OSL' })]
    await on.shelf.list(
      '/all.html',
      instance(STATION, { code: 'KRS' }),
      instance(READING, { id: '1', station: 'KRS' }),
      ...kept,
    )
    const note = await on.shelf.http('PUT', '/all.html', selecting('li'), instance(NOTE, { about: '1' }))
    expect([note.status, note.text]).to.deep.equal([
      206,
      instance(NOTE, { about: '2' }).replace('itemscope', 'itemscope=""'),
    ])
  })

  it('MOD-52 the last item that holds a value may itself go by an effect', async () => {
    await on.shelf.declare(
      schema(STATION, {}, property('code', { unique: 'true' })),
      schema(
        BUOY,
        { parent: STATION },
        property('about', { references: `${NOTE}#id`, cascade: 'true', cardinality: '1..1' }),
      ),
      schema(NOTE, {}, property('id', { unique: 'true' })),
      schema(READING, {}, property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' })),
    )
    const bystander = '<li itemscope>bystander</li>'
    await on.shelf.list('/both.html', instance(STATION, { code: 'KRS' }), instance(NOTE, { id: 'N' }))
    await on.shelf.list('/buoys.html', instance(BUOY, { code: 'KRS', about: 'N' }), bystander)
    await on.shelf.list('/log.html', reading('KRS'), bystander)
    expect(await remove('/both.html')).to.equal('204')
    for (const path of ['/buoys.html', '/log.html'])
      expect((await on.shelf.text(path)).replace(/\n+/g, '\n')).to.equal(listPage(bystander))
  })

  describe('MOD-56 what an effect would break', () => {
    it('a reference of the write itself, which does not follow', async () => {
      await on.shelf.declare(
        schema(STATION, {}, property('code', { unique: 'true' })),
        schema(
          READING,
          {},
          property('id', { unique: 'true' }),
          property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' }),
        ),
        schema(NOTE, {}, property('about', { references: `${READING}#id` })),
      )
      await on.shelf.list('/stations.html', instance(STATION, { code: 'KRS' }))
      await on.shelf.list('/log.html', instance(READING, { id: '1', station: 'KRS' }))
      const note = (about: string) => on.shelf.http('PUT', '/stations.html', selecting('li'), instance(NOTE, { about }))
      expect(verdictOf(await note('1'))).to.equal('409 cascade')
      expect(verdictOf(await note('2'))).to.equal('422 references(about)')
    })

    it('a reference, by a default that brings the value back', async () => {
      await on.shelf.declare(
        schema(STATION, {}, property('code', { unique: 'true' })),
        schema(
          READING,
          {},
          property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '0..1', default: 'KRS' }),
        ),
      )
      await on.shelf.list('/stations.html', instance(STATION, { code: 'KRS' }))
      await on.shelf.list('/log.html', instance(READING))
      const before = await on.shelf.text('/log.html')
      expect(await remove('/stations.html')).to.equal('409 cascade')
      expect(await on.shelf.text('/log.html')).to.equal(before)
    })

    it('a shape', async () => {
      await declare('0..n', 'true', shape({ resource: '/log.html', selector: 'li', constraint: ':has(meta)' }))
      await on.shelf.list('/stations.html', station('KRS'))
      await on.shelf.list('/log.html', reading('KRS'))
      const answer = answerOf(await on.shelf.http('DELETE', '/stations.html'))
      expect([answer.status, answer.description]).to.deep.equal([409, 'Referential constraints violated'])
      expect(answer.violations[0]?.message).to.include('cannot follow: a shape does not permit it')
      expect(await exists('/stations.html')).to.equal(true)
    })

    it('uniqueness', async () => {
      await on.shelf.declare(
        schema(STATION, {}, property('code', { unique: 'true' })),
        schema(READING, {}, property('station', { references: `${STATION}#code`, cascade: 'true', unique: 'true' })),
      )
      await on.shelf.list('/stations.html', station('KRS'), station('OSL'))
      await on.shelf.list('/log.html', reading('KRS'), reading('OSL'))
      // Two items that swap their values would meet in passing, were it not for one commit.
      await on.shelf.list('/old.html', reading())
      expect(verdictOf(await on.shelf.http('PUT', '/stations.html', selecting('li'), station('TRD')))).to.equal('206')
      expect(await on.shelf.text('/log.html')).to.equal(listPage(reading('TRD'), reading('OSL')))
    })

    it('a restrict further on', async () => {
      await put(
        on.shelf.server,
        '/a.html',
        page(
          schema(
            READING,
            {},
            property('id', { unique: 'true' }),
            property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' }),
          ),
        ),
      )
      await declare(
        '1..1',
        'true',
        schema(NOTE, {}, property('about', { references: `${READING}#id`, cascade: 'restrict' })),
      )
      await on.shelf.list('/stations.html', station('KRS'))
      await on.shelf.list('/log.html', instance(READING, { id: 'r1', station: 'KRS' }))
      await on.shelf.list('/notes.html', instance(NOTE, { about: 'r1' }))
      expect(await remove('/stations.html')).to.equal('409 restrict(about)')
      expect([await exists('/stations.html'), await exists('/log.html')]).to.deep.equal([true, true])
    })
  })
})
