import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { instance, meta, schema, shape } from '../../pipeline/model/markup.ts'
import { listPage, type ModelShelf, openShelf } from '../../pipeline/model/shelf.ts'
import { put, remove, rulesPage } from '../../support/content.ts'
import type { Received } from '../../support/http.ts'

const THING = 'https://tides.example/Thing'
const STATION = 'https://tides.example/Station'
const BUOY = 'https://tides.example/Buoy'

const selecting = (selector: string) => ({ Range: `selector=${selector}` })

describe('Selectors of the server’s own (COMP-134 to COMP-138), wherever it evaluates selectors', () => {
  let shelf: ModelShelf
  before(async () => {
    shelf = await openShelf()
  })
  after(() => shelf.close())

  const station = (type: string, code: string, text = '') =>
    `<li itemscope itemtype="${type}">${meta('code', code)}${text}</li>`

  beforeEach(async () => {
    await shelf.clear()
    await put(shelf.server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
    await put(
      shelf.server,
      '/schemas.html',
      listPage(schema(THING), schema(STATION, { parent: THING }), schema(BUOY, { parent: STATION })),
    )
    await shelf.list('/p.html', station(STATION, 'KRS', 'Kristiansand'), station(BUOY, 'B1', ' 17 '), '<li>none</li>')
  })

  const BUOY_ELEMENT = `<li itemscope="" itemtype="${BUOY}"><meta itemprop="code" content="B1"> 17 </li>`

  for (const selector of [
    `:isa("${BUOY}")`,
    `:isa('${STATION}'):not([itemtype="${STATION}"])`,
    'li:has(:value-equals("B1"))',
    'li:has(> [itemprop=code]:value-contains("b1", i))',
    'li:equals("17")',
    'li:greater-than(16.5)',
    'li:only(meta):contains("7")',
  ]) {
    it(`a range of a read, a write and a query: ${selector}`, async () => {
      const read = await shelf.http('GET', '/p.html', selecting(selector))
      expect([read.status, read.text]).to.deep.equal([206, BUOY_ELEMENT])
      const queried = await shelf.http('QUERY', '/p.html', { 'Content-Type': 'text/css-selector' }, selector)
      expect([queried.status, queried.text.includes(BUOY_ELEMENT)]).to.deep.equal([200, true])
      const removed = await shelf.http('DELETE', '/p.html', selecting(selector))
      expect(removed.status).to.equal(204)
      expect(await shelf.text('/p.html')).not.to.include('B1')
    })
  }

  it('COMP-138 isa follows the schemas as they stand', async () => {
    const read = async () =>
      (await shelf.http('GET', '/p.html', selecting(`li:isa("${THING}") + :isa("${THING}")`))).status
    expect(await read()).to.equal(206)
    await put(shelf.server, '/schemas.html', listPage(schema(BUOY, { parent: STATION })))
    expect(await read()).to.equal(416)
    await put(
      shelf.server,
      '/schemas.html',
      listPage(schema(STATION, { parent: THING }), schema(BUOY, { parent: STATION })),
    )
    expect(await read()).to.equal(206)
    await remove(shelf.server, '/schemas.html')
    expect((await shelf.http('GET', '/p.html', selecting(`:isa("${BUOY}")`))).status).to.equal(416)
  })

  it('an argument that is none makes the selector invalid', async () => {
    expect((await shelf.http('GET', '/p.html', selecting(':less-than("many")'))).status).to.equal(422)
  })

  it('KEY-1 rules', async () => {
    await put(
      shelf.server,
      '/rules.html',
      rulesPage(
        ['*', 'GET', 'Allow', '/*'],
        ['*', 'DELETE', 'Allow', '/p.html', `:isa("${STATION}")`],
        ['*', 'DELETE', 'Deny', '/p.html', 'li:has(> :value-equals("KRS"))'],
      ),
    )
    const remove = async (selector: string) => (await shelf.http('DELETE', '/p.html', selecting(selector))).status
    expect(await remove('li:nth-child(1)')).to.equal(401)
    expect(await remove('li:nth-child(3)')).to.equal(401)
    expect(await remove('li:nth-child(2)')).to.equal(204)
  })

  describe('shapes (MOD-90 to MOD-96)', () => {
    const write = async (item: string): Promise<string> => {
      const received: Received = await shelf.append('/p.html', item)
      return verdictOf(received)
    }
    for (const [name, declared, item, expected] of [
      [
        'scopes: of a type and those below it',
        shape({ selector: `:isa("${STATION}")`, constraint: ':has([itemprop=code])' }),
        instance(BUOY),
        '422 :has([itemprop=code])',
      ],
      [
        'scopes: not of another type',
        shape({ selector: `:isa("${BUOY}")`, constraint: ':has([itemprop=code])' }),
        instance(STATION),
        '206',
      ],
      [
        'constraints: a value',
        shape({ selector: 'li', constraint: ':not(:has([itemprop=code]:value-equals("XXX")))' }),
        station(BUOY, 'XXX'),
        '422 :not(:has([itemprop=code]:value-equals("XXX")))',
      ],
      [
        'constraints: what is inside',
        shape({ selector: 'li', constraint: ':only(meta, b)' }),
        '<li><b>x</b><i>x</i></li>',
        '422 :only(meta, b)',
      ],
      [
        'permits: by text, and no cover for attributes',
        shape({
          selector: '#list',
          permit: ['li[itemscope][itemtype]', 'li:equals("none")', 'meta[itemprop][content]'],
        }),
        '<li>none</li>',
        '206',
      ],
      [
        'permits: another text',
        shape({
          selector: '#list',
          permit: ['li[itemscope][itemtype]', 'li:equals("none")', 'meta[itemprop][content]'],
        }),
        '<li>some</li>',
        '422 permit',
      ],
      [
        'permits: a number within bounds',
        shape({ selector: 'ol#n', permit: ['data[value]:value-less-than(10):value-greater-than(0)'] }),
        '<li><ol id="n"><data value="10"></data></ol></li>',
        '422 permit',
      ],
    ] as const) {
      it(`${name}: ${expected}`, async () => {
        await shelf.declare(declared)
        expect(await write(item)).to.equal(expected)
      })
    }

    it('COMP-138 a shape asks for the types as they stand, though it was read before them', async () => {
      await remove(shelf.server, '/schemas.html')
      await shelf.declare(shape({ selector: `:isa("${THING}")`, constraint: ':has([itemprop=code])' }))
      expect(await write(instance(BUOY))).to.equal('206')
      await put(
        shelf.server,
        '/schemas.html',
        listPage(schema(STATION, { parent: THING }), schema(BUOY, { parent: STATION })),
      )
      expect(await write(instance(BUOY))).to.equal('422 :has([itemprop=code])')
    })
  })
})
