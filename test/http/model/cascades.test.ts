import { expect } from 'chai'
import { beforeEach, describe, it } from 'mocha'
import { answerOf, verdictOf } from '../../pipeline/model/answers.ts'
import { instance, meta, property, schema } from '../../pipeline/model/markup.ts'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { page, put } from '../../support/content.ts'

const STATION = 'https://tides.example/Station'
const BUOY = 'https://tides.example/Buoy'
const READING = 'https://tides.example/Reading'
const NOTE = 'https://tides.example/Note'

onBothPlanes('Data model, referential actions', on => {
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

  describe('MOD-52 restrict', () => {
    beforeEach(async () => {
      await declare('1..1', 'restrict')
      await on.shelf.list('/stations.html', station('KRS'), station('OSL'))
      await on.shelf.list('/log.html', reading('KRS'), reading('KRS'))
      await on.shelf.list('/other.html')
    })

    for (const [name, write, expected] of [
      ['DELETE of the document', () => on.shelf.http('DELETE', '/stations.html'), '409 restrict(station)'],
      ['DELETE of the item', () => on.shelf.http('DELETE', '/stations.html', selecting('li')), '409 restrict(station)'],
      [
        'DELETE of the value',
        () => on.shelf.http('DELETE', '/stations.html', selecting('meta[content=KRS]')),
        '409 restrict(station)',
      ],
      [
        'PUT of another value',
        () => on.shelf.http('PUT', '/stations.html', selecting('meta[content=KRS]'), meta('code', 'TRD')),
        '409 restrict(station)',
      ],
      [
        'PUT of another item',
        () => on.shelf.http('PUT', '/stations.html', selecting('li'), station('TRD')),
        '409 restrict(station)',
      ],
      [
        'whole PUT without it',
        () => on.shelf.replace('/stations.html', listPage(station('OSL'))),
        '409 restrict(station)',
      ],
      [
        'whole PUT of a blob',
        () => on.shelf.http('PUT', '/stations.html', { 'Content-Type': 'text/html' }, '<p>x'),
        '409 restrict(station)',
      ],
      [
        'DELETE of an item that nobody refers to',
        () => on.shelf.http('DELETE', '/stations.html', selecting('li + li')),
        '204',
      ],
      [
        'PUT that keeps the value',
        () => on.shelf.http('PUT', '/stations.html', selecting('li'), station('KRS', 'x')),
        '206',
      ],
      ['whole PUT that keeps it', () => on.shelf.replace('/stations.html', listPage(station('KRS'))), '200'],
      [
        'MOVE of another document to its place',
        () => on.shelf.http('MOVE', '/other.html', { Destination: '/stations.html' }),
        '409 restrict(station)',
      ],
      [
        'MOVE of what refers to it to its place',
        () => on.shelf.http('MOVE', '/log.html', { Destination: '/stations.html' }),
        '409 restrict(station)',
      ],
    ] as const) {
      it(`${name}: ${expected}`, async () => {
        const before = await on.shelf.text('/stations.html')
        expect(verdictOf(await write())).to.equal(expected)
        if (expected.startsWith('409')) expect(await on.shelf.text('/stations.html')).to.equal(before)
        expect(await on.shelf.text('/log.html')).to.equal(listPage(reading('KRS'), reading('KRS')))
      })
    }

    it('MOD-131 the answer tells how many refer, and not where', async () => {
      const received = await on.shelf.http('DELETE', '/stations.html')
      expect(answerOf(received)).to.deep.equal({
        status: 409,
        type: 'ConstraintViolation',
        title: on.title('409 Conflict', 'Referential Constraint Violation'),
        description: 'Referential constraints violated',
        violations: [
          {
            itemtype: READING,
            property: 'station',
            constraintSelector: "[itemprop='code']",
            failedConstraint: 'restrict(station)',
            message: '2 items refer to this code by station',
          },
        ],
      })
      expect(received.text).not.to.include('log.html')
    })

    it('the last item that holds the value counts, of any subtype', async () => {
      await on.shelf.list('/more.html', instance(BUOY, { code: 'KRS' }))
      expect(await remove('/stations.html', 'li')).to.equal('204')
      expect(await remove('/more.html')).to.equal('409 restrict(station)')
    })

    for (const [tag, expected] of [
      ['tr', /^409 restrict\(station\)$/],
      ['li', /^20[14]$/],
    ] as const)
      it(`MOD-53 HTTP-20 a name that makes HTML of XML with a ${tag}: ${expected.source}`, async () => {
        const item = `<${tag} itemscope="" itemtype="${STATION}"><b itemprop="code">X</b></${tag}>`
        await put(on.shelf.server, '/x', `<r>${item}</r>`, 'application/xml')
        await on.shelf.list('/n.html', reading('X'))
        expect(verdictOf(await on.shelf.http('MOVE', '/x', { Destination: '/x.html' }))).to.match(expected)
      })

    it('referrers that go with the write do not hold it up', async () => {
      await on.shelf.clear()
      await declare('1..1', 'restrict')
      await on.shelf.list('/both.html', station('KRS'), reading('KRS'))
      expect(await remove('/both.html', 'li')).to.equal('409 restrict(station)')
      expect(await remove('/both.html')).to.equal('204')
    })

    it('what the write breaks by itself comes first (MOD-53, MOD-112)', async () => {
      await on.shelf.list('/taken.html', station('TRD'))
      const taken = await on.shelf.http('PUT', '/stations.html', selecting('li'), station('TRD'))
      expect(verdictOf(taken)).to.equal('422 unique(code)')
    })

    it('one property that says so makes all behave so', async () => {
      await on.shelf.clear()
      await declare(
        '1..1',
        'true',
        schema(NOTE, {}, property('about', { references: `${STATION}#code`, cascade: 'restrict' })),
      )
      await on.shelf.list('/stations.html', station('KRS'))
      await on.shelf.list('/log.html', reading('KRS'))
      expect(await remove('/stations.html')).to.equal('409 restrict(station)')
    })
  })

  for (const cascade of [undefined, 'false', 'nonsense']) {
    it(`MOD-52 cascade ${cascade ?? 'absent'}: nothing happens`, async () => {
      await declare('1..1', cascade)
      await on.shelf.list('/stations.html', station('KRS'))
      await on.shelf.list('/log.html', reading('KRS'))
      expect(await remove('/stations.html')).to.equal('204')
      expect(await on.shelf.text('/log.html')).to.equal(listPage(reading('KRS')))
    })
  }

  describe('MOD-54 disappearance', () => {
    for (const [cardinality, items, expected] of [
      ['1..1', [reading('KRS'), reading('OSL')], [reading('OSL')]],
      ['0..1', [reading('KRS'), reading('OSL')], [instance(READING), reading('OSL')]],
      ['0..n', [reading('KRS', 'OSL')], [reading('OSL')]],
      [undefined, [reading('KRS')], [instance(READING)]],
      ['1..n', [reading('KRS', 'OSL'), reading('KRS')], [reading('OSL')]],
    ] as const) {
      it(`of a ${cardinality ?? 'plain'} property`, async () => {
        await declare(cardinality, 'true')
        await on.shelf.list('/stations.html', station('KRS'))
        await on.shelf.list('/other.html', station('OSL'))
        await on.shelf.list('/log.html', ...items, '<li itemscope>bystander</li>')
        expect(await remove('/stations.html')).to.equal('204')
        const kept = [...expected, '<li itemscope>bystander</li>']
        expect((await on.shelf.text('/log.html')).replace(/\n+/g, '\n')).to.equal(listPage(...kept))
      })
    }

    it('a document that holds no other item is deleted', async () => {
      await declare('1..1', 'true')
      await on.shelf.list('/stations.html', station('KRS'))
      await on.shelf.list('/readings/1.html', reading('KRS'))
      await on.shelf.list('/readings/2.html', reading('KRS'), '<li itemscope>x</li>')
      expect(await remove('/stations.html')).to.equal('204')
      expect([await exists('/readings/1.html'), await exists('/readings/2.html')]).to.deep.equal([false, true])
    })

    it('a document whose items all go is deleted', async () => {
      await declare('1..1', 'true')
      await on.shelf.list('/stations.html', station('KRS'), station('OSL'))
      await on.shelf.list('/log.html', reading('KRS'), reading('KRS'), reading('OSL'))
      expect(await remove('/stations.html')).to.equal('204')
      expect(await exists('/log.html')).to.equal(false)
    })

    it('1..n: an item goes that loses all values at once', async () => {
      await declare('1..n', 'true')
      await on.shelf.list('/stations.html', station('KRS'), station('OSL'))
      await on.shelf.list('/other.html', station('TRD'))
      await on.shelf.list('/log.html', reading('KRS', 'OSL'), reading('KRS', 'TRD'))
      expect(await remove('/stations.html')).to.equal('204')
      expect((await on.shelf.text('/log.html')).replace(/\n+/g, '\n')).to.equal(listPage(reading('TRD')))
    })

    for (const source of ['/other.html', '/log.htm'])
      it(`MOD-53 what a MOVE of ${source} replaces has disappeared`, async () => {
        await declare('1..1', 'true')
        await on.shelf.list('/stations.html', station('KRS'))
        await on.shelf.list(source, station('OSL'))
        await on.shelf.list('/log.html', reading('KRS'), reading('OSL'))
        const move = await on.shelf.http('MOVE', source, { Destination: '/stations.html' })
        expect(verdictOf(move)).to.equal('204')
        const text = await on.shelf.text('/log.html')
        expect([text.includes('KRS'), text.includes('OSL')]).to.deep.equal([false, true])
      })

    it('MOD-56 effects go on, and reach the document that was written itself', async () => {
      await declare(
        '1..1',
        'true',
        schema(
          READING,
          {},
          property('id', { unique: 'true' }),
          property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' }),
        ),
        schema(NOTE, {}, property('about', { references: `${READING}#id`, cascade: 'true', cardinality: '1..1' })),
      )
      // The first declaration of a type wins, so the readings get their id by a document that comes before.
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
      const note = instance(NOTE, { about: 'r1' })
      await on.shelf.list('/stations.html', station('KRS'), station('OSL'))
      await on.shelf.list('/log.html', instance(READING, { id: 'r1', station: 'KRS' }), '<li itemscope>x</li>')
      await on.shelf.replace('/stations.html', listPage(station('KRS'), station('OSL'), note))
      expect(await remove('/stations.html', 'li')).to.equal('204')
      expect((await on.shelf.text('/log.html')).includes('r1')).to.equal(false)
      const text = await on.shelf.text('/stations.html')
      expect([text.includes('KRS'), text.includes('r1'), text.includes('OSL')]).to.deep.equal([false, false, true])
    })

    it('circles come to an end', async () => {
      await on.shelf.declare(
        schema(
          NOTE,
          {},
          property('id', { unique: 'true' }),
          property('next', { references: `${NOTE}#id`, cascade: 'true', cardinality: '1..1' }),
        ),
      )
      await on.shelf.replace(
        '/n1.html',
        listPage(
          instance(NOTE, { id: '1', next: '2' }),
          instance(NOTE, { id: '2', next: '3' }),
          instance(NOTE, { id: '3', next: '1' }),
        ),
      )
      expect(await remove('/n1.html', 'li')).to.equal('204')
      expect(await on.shelf.text('/n1.html')).not.to.include('itemscope')
    })

    it('every byte beside what goes is kept', async () => {
      await declare('0..n', 'true')
      await on.shelf.list('/stations.html', station('KRS'))
      const odd = (value: string) =>
        `<!doctype HTML>\r\n<ul  ><LI itemscope itemtype='${READING}'>a &eacute; ${value}b<li>c\r\n</ul>`
      await put(on.shelf.server, '/log.html', odd('<META itemprop=station content=KRS >'))
      expect(await remove('/stations.html')).to.equal('204')
      expect(await on.shelf.text('/log.html')).to.equal(odd(''))
    })

    it('each changed document has its own event', async () => {
      await declare('1..1', 'true')
      await on.shelf.list('/stations.html', station('KRS'))
      await on.shelf.list('/gone.html', reading('KRS'))
      await on.shelf.list('/log.html', reading('KRS'), '<li itemscope>x</li>')
      expect(await remove('/stations.html')).to.equal('204')
      const last = async (path: string) => (await on.shelf.server.site.store.events(path)).at(-1)
      expect((await last('/gone.html'))?.payload).to.include('<span itemprop="method">DELETE</span>')
      expect((await last('/log.html'))?.payload).to.include('<span itemprop="method">PUT</span>')
      expect((await last('/log.html'))?.version).to.equal((await last('/stations.html'))?.version)
    })
  })

  describe('MOD-55 change', () => {
    beforeEach(async () => {
      await declare('1..1', 'true')
      await on.shelf.list('/stations.html', station('KRS'), station('OSL'))
      await on.shelf.list('/log.html', reading('KRS'), reading('OSL'))
    })
    const renamed = listPage(reading('TRD'), reading('OSL'))

    for (const [name, write] of [
      ['PUT of the item', () => on.shelf.http('PUT', '/stations.html', selecting('li'), station('TRD'))],
      [
        'PUT of the value',
        () => on.shelf.http('PUT', '/stations.html', selecting('meta[itemprop]'), meta('code', 'TRD')),
      ],
    ] as const) {
      it(`${name}: referrers are rewritten`, async () => {
        expect(verdictOf(await write())).to.equal('206')
        expect(await on.shelf.text('/log.html')).to.equal(renamed)
        expect(await on.shelf.text('/stations.html')).to.include('TRD')
      })
    }

    it('whole PUT: the lone item of its type on both sides is the same', async () => {
      await on.shelf.list('/lone.html', station('BGO'))
      await on.shelf.list('/bergen.html', reading('BGO'))
      expect(verdictOf(await on.shelf.replace('/lone.html', listPage(station('BER'))))).to.equal('200')
      expect(await on.shelf.text('/bergen.html')).to.equal(listPage(reading('BER')))
    })

    it('whole PUT with several: what is gone has disappeared', async () => {
      expect(verdictOf(await on.shelf.replace('/stations.html', listPage(station('TRD'), station('OSL'))))).to.equal(
        '200',
      )
      expect((await on.shelf.text('/log.html')).replace(/\n+/g, '\n')).to.equal(listPage(reading('OSL')))
    })

    it('whole PUT: an equal key tells the same item', async () => {
      await on.shelf.clear()
      await on.shelf.declare(
        schema(STATION, {}, property('id', { unique: 'true', '@key': 'true' }), property('code', { unique: 'true' })),
        schema(
          READING,
          {},
          property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' }),
        ),
      )
      const item = (id: string, code: string) => instance(STATION, { id, code })
      await on.shelf.list('/stations.html', item('1', 'KRS'), item('2', 'OSL'))
      await on.shelf.list('/log.html', reading('KRS'), reading('OSL'))
      expect(
        verdictOf(await on.shelf.replace('/stations.html', listPage(item('2', 'OSL'), item('1', 'TRD')))),
      ).to.equal('200')
      expect(await on.shelf.text('/log.html')).to.equal(renamed)
    })

    it('values are written back where they are read from', async () => {
      const forms = (value: string) => [
        `<li itemscope itemtype="${READING}"><data itemprop="station" value="${value}">x</data></li>`,
        `<li itemscope itemtype="${READING}"><b itemprop="station"> <i>${value}</i> </b></li>`,
      ]
      await on.shelf.list('/log.html', ...forms('KRS'))
      expect(verdictOf(await on.shelf.http('PUT', '/stations.html', selecting('li'), station('TRD')))).to.equal('206')
      const [first, second] = forms('TRD')
      expect(await on.shelf.text('/log.html')).to.equal(
        listPage(first ?? '', (second ?? '').replace(' <i>TRD</i> ', 'TRD')),
      )
    })
  })

  it('MOD-42 referrers that come at the same moment are followed or refused, never left behind', async () => {
    await declare('1..1', 'true')
    for (let i = 0; i < 8; i++) {
      await on.shelf.list('/stations.html', station(`S${i}`))
      await on.shelf.list('/log.html', '<li itemscope>x</li>')
      const [removed, ...added] = await Promise.all([
        on.shelf.http('DELETE', '/stations.html'),
        on.shelf.append('/log.html', reading(`S${i}`)),
        on.shelf.replace(`/log-${i}.html`, listPage(reading(`S${i}`))),
      ])
      expect(verdictOf(removed)).to.equal('204')
      for (const answer of added) expect(verdictOf(answer)).to.be.oneOf(['206', '201', '422 references(station)'])
      expect(await on.shelf.server.site.store.lookup([`value\0${READING}\0station\0=S${i}`])).to.deep.equal([])
    }
  })

  it('section 16: DELETE of a station while a reading refers to it', async () => {
    await declare('1..1', 'restrict')
    await on.shelf.list('/stations/krs.html', station('KRS'))
    await on.shelf.list('/log.html', reading('KRS'))
    expect(await remove('/stations/krs.html')).to.equal('409 restrict(station)')
  })
})
