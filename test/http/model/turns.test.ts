import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { verdictOf } from '../../pipeline/model/answers.ts'
import { enumeration, instance, primitive, property, schema, shape } from '../../pipeline/model/markup.ts'
import { listPage, type ModelShelf, openShelf } from '../../pipeline/model/shelf.ts'
import { leavesTheLoop, runsInTime } from '../../support/loop-hold.ts'

const STATION = 'https://tides.example/Station'
const READING = 'https://tides.example/Reading'
const STATE = 'https://tides.example/State'

/** Items of which one document was once judged without a pause for most of a second. */
const MANY = 10_000

/** What a document has to hold is judged by schemas and shapes in turns with other requests (design, invariant 7). */
describe('Data model, large documents', () => {
  let shelf: ModelShelf
  before(async () => {
    shelf = await openShelf()
  })
  after(() => shelf.close())
  beforeEach(() => shelf.clear())

  const numbers = Array.from({ length: MANY }, (_, i) => i)
  const station = (i: number, state = 'raw') =>
    `<li class="e" itemscope itemtype="${STATION}"><b itemprop="code">c${i}</b><i itemprop="state">${state}</i></li>`
  const selecting = (selector: string) => ({ Range: `selector=${selector}` })
  const typed = [
    schema(
      STATION,
      {},
      property('code', { cardinality: '1..1', unique: 'true', '@key': 'true', type: primitive('Text') }),
      property('state', { cardinality: '1..1', type: STATE }),
    ),
    enumeration(STATE, 'raw', 'checked'),
    schema(READING, {}, property('station', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' })),
  ]
  const closed = shape({
    selector: 'ul#list',
    permit: ['li[class][itemscope][itemtype]', 'b[itemprop]', 'i[itemprop]'],
  })

  it('MOD-30 SEC-12 a fragment of many siblings, one of which is completed', async () => {
    await shelf.declare(schema(STATION, {}, property('state', { default: 'raw' })))
    await shelf.replace('/s.html', listPage('<li>x</li>'))
    const body = `${'<li></li>'.repeat(6000)}<li itemscope itemtype="${STATION}"></li>`
    await leavesTheLoop(async () =>
      expect(verdictOf(await shelf.http('POST', '/s.html', selecting('#list'), body))).to.equal('206'),
    )
  })

  it('MOD-110 all of a whole document: schemas, uniqueness, references, closed shapes', async () => {
    await shelf.declare(...typed, closed)
    const pages = [listPage(...numbers.map(i => station(i))), listPage(...numbers.map(i => station(i + 1)))]
    const [first = '', ...others] = pages
    let next = first
    await leavesTheLoop(async () => {
      expect((await shelf.replace('/s.html', next)).status).to.be.oneOf([200, 201])
      next = next === first ? (others[0] ?? '') : first
    })
    const worst = first.replace('</ul>', '<script></script></ul>')
    await leavesTheLoop(async () => expect(verdictOf(await shelf.replace('/s.html', worst))).to.equal('422 permit'))
  })

  it('MOD-111 an element inside one', async () => {
    await shelf.declare(...typed, closed)
    expect((await shelf.replace('/s.html', listPage(...numbers.map(i => station(i))))).status).to.equal(201)
    let next = MANY
    await leavesTheLoop(async () =>
      expect(verdictOf(await shelf.http('POST', '/s.html', selecting('#list'), station(next++)))).to.equal('206'),
    )
    const wrong = station(next, 'other')
    await leavesTheLoop(async () =>
      expect(verdictOf(await shelf.http('POST', '/s.html', selecting('#list'), wrong))).to.equal('422 enum state'),
    )
    await leavesTheLoop(async () =>
      expect(verdictOf(await shelf.http('DELETE', '/s.html', selecting('#list > li')))).to.equal('204'),
    )
  })

  it('MOD-30 defaults of all items', async () => {
    await shelf.declare(schema(STATION, {}, property('state', { default: 'raw' })))
    const page = listPage(...numbers.slice(0, MANY / 2).map(() => instance(STATION)))
    await leavesTheLoop(async () => expect((await shelf.replace('/s.html', page)).status).to.be.oneOf([200, 201]))
  })

  it('MOD-54 every referrer of what goes', async () => {
    await shelf.declare(...typed)
    const few = numbers.slice(0, 1_000)
    await shelf.list('/s.html', ...few.map(i => station(i)))
    await shelf.list('/log.html', ...few.map(i => instance(READING, { station: `c${i}` })), '<p itemscope></p>')
    await runsInTime(async () => expect((await shelf.http('DELETE', '/s.html')).status).to.equal(204))
    expect((await shelf.text('/log.html')).replace(/\n+/g, '\n')).to.equal(listPage('<p itemscope></p>'))
  })

  it('MOD-56 the new versions of many documents that follow are made in turns', async () => {
    await shelf.declare(...typed)
    await shelf.list('/s.html', station(0))
    const paths = numbers.slice(0, 50).map(i => `/log${i}.html`)
    await Promise.all(paths.map(path => shelf.list(path, instance(READING, { station: 'c0' }))))
    const { site } = shelf.server
    const { derivation } = site
    let [made, most] = [0, 0]
    let turn = setImmediate(function next() {
      made = 0
      turn = setImmediate(next)
    })
    // Each new version asks once by what it is to be read.
    Object.defineProperty(site, 'derivation', {
      configurable: true,
      get() {
        most = Math.max(most, ++made)
        return derivation
      },
    })
    try {
      expect((await shelf.replace('/s.html', listPage(station(1)))).status).to.equal(200)
    } finally {
      clearImmediate(turn)
      Reflect.deleteProperty(site, 'derivation')
    }
    expect(await shelf.text('/log49.html')).to.include('c1')
    expect(most).to.be.within(1, 20)
  })

  it('MOD-54 effects that come back to a document again and again are refused in time', async () => {
    const next = property('next', { references: `${STATION}#code`, cascade: 'true', cardinality: '1..1' })
    await shelf.declare(schema(STATION, {}, property('code', { unique: 'true' }), next))
    const chain = numbers.slice(0, 800).map(i => instance(STATION, { code: `c${i}`, next: `c${Math.max(i - 1, 0)}` }))
    // Long, so that they come back a few times only until it is too much.
    const text = `<p>${'word '.repeat(60_000)}</p>`
    await shelf.list('/s.html', ...chain, text)
    await leavesTheLoop(async () =>
      expect(verdictOf(await shelf.http('DELETE', '/s.html', selecting('li')))).to.equal('409 cascade'),
    )
    expect(await shelf.text('/s.html')).to.equal(listPage(...chain, text))
  })
})
