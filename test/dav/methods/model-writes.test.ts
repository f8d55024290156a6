import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { readAnswer } from '../../pipeline/model/answers.ts'
import { enumeration, instance, meta, primitive, property, schema, shape } from '../../pipeline/model/markup.ts'
import { listPage } from '../../pipeline/model/shelf.ts'
import { NS, page, put, remove } from '../../support/content.ts'
import type { Fields, Received } from '../../support/http.ts'
import { changesNothing, outcomeOf, startWire, type Wire } from '../wire.ts'

const STATION = 'https://tides.example/Station'
const READING = 'https://tides.example/Reading'
const STATE = 'https://tides.example/State'

describe('Data model on the mount', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
  })
  after(() => wire.server.close())

  const station = (code: string) => instance(STATION, { code })
  const reading = (code: string, more = {}) => instance(READING, { station: code, ...more })

  beforeEach(async () => {
    const paths: string[] = []
    for await (const { path } of wire.server.site.store.walk('/')) paths.push(path)
    paths.sort((a, b) => Number(b === '/model.html') - Number(a === '/model.html'))
    for (const path of paths) await remove(wire.server, path)
    await wire.dav('MKCOL', '/sub/')
    for (const [path, ...declarations] of [
      [
        '/model.html',
        schema(STATION, {}, property('code', { unique: 'true', type: primitive('Text') })),
        schema(
          READING,
          {},
          property('station', { references: `${STATION}#code`, cascade: 'restrict', cardinality: '1..1' }),
          property('state', { type: STATE, default: 'raw' }),
          property('height', { type: primitive('Number') }),
        ),
        enumeration(STATE, 'raw', 'checked'),
        shape({ resource: '/closed/*', selector: 'ul', permit: ['li', 'ul[id]'] }),
      ],
    ] as const)
      await put(wire.server, path, page(declarations.join('\n')))
    await put(wire.server, '/stations.html', listPage(station('KRS')))
  })

  /** The failure, and what the document under `detail` tells. */
  function told(received: Received): string {
    const { violations } = readAnswer(received.text, received.status)
    const names = violations.map(
      ({ check, property: name, failedConstraint }) => failedConstraint ?? `${check} ${name}`,
    )
    return `${outcomeOf(received)}: ${names.join(' | ')}`
  }
  const messageOf = ({ text }: Received) => /<p itemprop="message">(.*?)<\/p>/.exec(text)?.[1]
  const write = (path: string, ...items: string[]) => wire.dav('PUT', path, {}, listPage(...items))
  const to = (path: string, fields: Fields = {}) => ({ Destination: `${wire.server.mountUrl}${path}`, ...fields })

  describe('DAV-6, MOD-110 PUT', () => {
    for (const [name, items, expected] of [
      ['a reference and a value of the type', [reading('KRS', { height: '1.4' })], undefined],
      ['no value where one must be', [instance(READING)], '422 SchemaViolation: cardinality station'],
      ['a value of another type', [reading('KRS', { height: 'high' })], '422 SchemaViolation: type height'],
      ['a value that is not listed', [reading('KRS', { state: 'gone' })], '422 SchemaViolation: enum state'],
      ['a reference to nothing', [reading('OSL')], '422 ConstraintViolation: references(station)'],
      ['a value that is taken', [station('KRS')], '422 ConstraintViolation: unique(code)'],
      ['the same value twice', [station('OSL'), station('OSL')], '422 ConstraintViolation: unique(code)'],
    ] as const) {
      it(`${name}: ${expected ?? 'stored'}`, async () => {
        if (expected === undefined) {
          expect((await write('/log.html', ...items)).status).to.equal(201)
          return
        }
        const received = await changesNothing(wire.server, () => write('/log.html', ...items))
        expect(told(received)).to.equal(expected)
      })
    }

    it('MOD-91 a closed shape', async () => {
      await wire.dav('MKCOL', '/closed/')
      expect((await write('/closed/p.html', '<li>x')).status).to.equal(201)
      expect(told(await write('/closed/p.html', '<li onclick="x()">x'))).to.equal('422 ConstraintViolation: permit')
    })

    it('MOD-30 what was stored, defaults included, is what is read again', async () => {
      const answer = await write('/log.html', reading('KRS'))
      expect(answer.status).to.equal(201)
      const read = await wire.dav('GET', '/log.html')
      expect(read.text).to.equal(listPage(reading('KRS').replace('</li>', `${meta('state', 'raw')}</li>`)))
      expect(read.headers.etag).to.equal(answer.headers.etag)
    })
  })

  it('MOD-134 the document of validation stands under `detail` of the article, unchanged', async () => {
    const received = await write('/log.html', instance(READING))
    expect(received.headers['content-type']).to.equal('text/html; charset=utf-8')
    expect(received.text).to.match(/<article itemscope itemtype="https:\/\/platform\.example\/ns\/Error">/)
    expect(received.text).to.include(`<div itemprop="detail"><div itemscope="" itemtype="${NS}/SchemaViolation">`)
    expect(readAnswer(received.text, 422).violations).to.deep.equal([
      {
        check: 'cardinality',
        itemtype: READING,
        property: 'station',
        message: `[${READING}].station: cardinality 1..1 violated: expected exactly 1 value, found 0`,
      },
    ])
  })

  describe('MOD-52 what others refer to', () => {
    beforeEach(async () => {
      await write('/sub/log.html', reading('KRS'))
    })
    for (const [name, request] of [
      ['DELETE', () => wire.dav('DELETE', '/stations.html')],
      ['PUT', () => write('/stations.html', station('OSL'))],
      ['MOVE over it', () => wire.dav('MOVE', '/other.html', to('/stations.html'))],
      ['COPY over it', () => wire.dav('COPY', '/other.html', to('/stations.html'))],
    ] as const) {
      it(`${name}: 409`, async () => {
        await write('/other.html')
        const received = await changesNothing(wire.server, request)
        expect(told(received)).to.equal('409 Conflict: restrict(station)')
      })
    }

    it('DAV-8 the one among many that stands in the way is named, also where a collection is replaced', async () => {
      await wire.dav('MKCOL', '/places/')
      await wire.dav('MKCOL', '/places/deep/')
      await wire.dav('MOVE', '/stations.html', to('/places/deep/stations & more.html'))
      for (const [name, code] of [
        ['a', 'BGO'],
        ['z', 'TRD'],
      ])
        await write(`/places/${name}.html`, station(code ?? ''))
      await wire.dav('MKCOL', '/other/')
      for (const request of [
        () => wire.dav('DELETE', '/places/'),
        () => wire.dav('MOVE', '/other/', to('/places/')),
        () => wire.dav('COPY', '/other/', to('/places/')),
      ]) {
        const received = await changesNothing(wire.server, request)
        expect(told(received)).to.equal('409 Conflict: restrict(station)')
        expect(messageOf(received)).to.match(/^\/places\/deep\/stations &amp; more\.html: /)
      }
      await wire.dav('DELETE', '/sub/log.html')
      expect((await wire.dav('DELETE', '/places/')).status).to.equal(204)
    })

    it('DELETE of a collection: 409, unless the referrers go with it', async () => {
      await wire.dav('MKCOL', '/places/')
      expect((await wire.dav('MOVE', '/stations.html', to('/places/stations.html'))).status).to.equal(201)
      const received = await changesNothing(wire.server, () => wire.dav('DELETE', '/places/'))
      expect(told(received)).to.equal('409 Conflict: restrict(station)')
      expect(messageOf(received), 'DAV-8').to.match(/^\/places\/stations\.html: /)
      await wire.dav('MOVE', '/sub/log.html', to('/places/log.html'))
      expect((await wire.dav('DELETE', '/places/')).status).to.equal(204)
    })
  })

  describe('COPY and MOVE', () => {
    it('MOD-110 a copy of what must be unique is refused, a move is not', async () => {
      const received = await changesNothing(wire.server, () => wire.dav('COPY', '/stations.html', to('/more.html')))
      expect(told(received)).to.equal('422 ConstraintViolation: unique(code)')
      expect((await wire.dav('MOVE', '/stations.html', to('/more.html'))).status).to.equal(201)
      expect(told(await write('/third.html', station('KRS')))).to.equal('422 ConstraintViolation: unique(code)')
    })

    it('of collections, too', async () => {
      await wire.dav('MOVE', '/stations.html', to('/sub/stations.html'))
      const received = await changesNothing(wire.server, () => wire.dav('COPY', '/sub/', to('/copy/')))
      expect(told(received)).to.equal('422 ConstraintViolation: unique(code)')
      expect((await wire.dav('COPY', '/sub/', to('/empty/', { Depth: '0' }))).status).to.equal(201)
      expect((await wire.dav('MOVE', '/sub/', to('/moved/'))).status).to.equal(201)
    })

    it('MOD-98 shapes of the destination count for both', async () => {
      await wire.dav('MKCOL', '/closed/')
      await write('/open.html', '<li class="x">x')
      for (const method of ['MOVE', 'COPY']) {
        const received = await changesNothing(wire.server, () => wire.dav(method, '/open.html', to('/closed/p.html')))
        expect(told(received)).to.equal('422 ConstraintViolation: permit')
        await wire.dav('MKCOL', '/dir/')
        await wire.dav('COPY', '/open.html', to('/dir/p.html'))
        await wire.dav('DELETE', '/closed/')
        const tree = await changesNothing(wire.server, () => wire.dav(method, '/dir/', to('/closed/')))
        expect(told(tree)).to.equal('422 ConstraintViolation: permit')
        await wire.dav('MKCOL', '/closed/')
      }
    })

    it('a file that becomes a document by its new name is judged', async () => {
      await wire.dav('PUT', '/draft.txt', { 'Content-Type': 'text/plain' }, listPage(station('KRS')))
      for (const method of ['COPY', 'MOVE'])
        expect(told(await wire.dav(method, '/draft.txt', to('/draft.html')))).to.equal(
          '422 ConstraintViolation: unique(code)',
        )
    })
  })

  describe('element writes (DAV-7)', () => {
    it('POST, PUT and DELETE by selector are judged', async () => {
      await write('/log.html', reading('KRS'))
      const element = (method: string, selector: string, body?: string) =>
        wire.dav(method, '/log.html', { Range: `selector=${selector}` }, body)
      expect(told(await element('POST', '#list', reading('OSL')))).to.equal(
        '422 ConstraintViolation: references(station)',
      )
      const answer = await element('POST', '#list', reading('KRS'))
      expect(answer.status).to.equal(206)
      expect(answer.text).to.include(meta('state', 'raw'))
      expect(told(await element('DELETE', 'meta[itemprop=station]'))).to.equal(
        '422 SchemaViolation: cardinality station',
      )
    })
  })

  it('a declaration that an author saves binds from the next request', async () => {
    const declared = await wire.dav(
      'PUT',
      '/more.html',
      {},
      page(schema('x:new', {}, property('p', { cardinality: '1..1' }))),
    )
    expect(declared.status).to.equal(201)
    expect(told(await write('/new.html', instance('x:new')))).to.equal('422 SchemaViolation: cardinality p')
    expect((await wire.dav('DELETE', '/more.html')).status).to.equal(204)
    expect((await write('/new.html', instance('x:new'))).status).to.equal(201)
  })
})
