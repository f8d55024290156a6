import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { page } from '../../support/content.ts'
import { bodyOf } from './event-source.ts'
import { bodiesOf, type Reader, resetOf, settled, startLate, until, type WatchedSite, watchedSite } from './watching.ts'

const PATH = '/d.html'
const LIST = page('<ul id="l"><li id="a">a</li></ul>')

const MINUTE = 60_000

describe('event streams of returning clients', () => {
  let site: WatchedSite

  beforeEach(async () => {
    site = await watchedSite()
    await site.rules(['*', 'GET', 'Allow', '/*'])
    await site.put(PATH, LIST)
  })
  afterEach(() => site.close())

  const append = (text: string) => site.write(PATH, ['POST', '#l', `<li>${text}</li>`])

  describe('replay', () => {
    it('EVT-47 everything after the last event, in order, then what comes', async () => {
      const first = await site.watch(PATH)
      for (let i = 0; i < 40; i++) await append(String(i))
      const [, second] = first.reader.mutations
      const { reader } = await site.watch(PATH, { lastEventId: second?.id ?? '' })
      await settled(reader, 39)
      await append('live')
      expect(reader.events[0]?.event).to.equal('platform-connection')
      const expected = [...first.reader.mutations.slice(2, 40)]
      expect(reader.mutations.slice(0, -1)).to.deep.equal(expected)
      expect(bodyOf(reader.mutations.at(-1)?.data ?? '')).to.equal('<li>live</li>')
      expect(reader.events.some(({ event }) => event === 'reset')).to.equal(false)
    })

    it('EVT-47 the newest id replays nothing, nor does none', async () => {
      const first = await site.watch(PATH)
      await append('1')
      const newest = first.reader.mutations[0]?.id ?? ''
      for (const options of [{ lastEventId: newest }, {}]) {
        const { reader } = await site.watch(PATH, options)
        await append('x')
        await settled(reader, 2)
        expect(bodiesOf(reader.mutations)).to.deep.equal(['<li>x</li>'])
        expect(reader.events).to.have.length(2)
        await site.write(PATH, ['DELETE', '#l > li:last-child'])
        if ('lastEventId' in options) options.lastEventId = ''
      }
    })

    it('EVT-47 no gap and no duplicate at the seam, while others write all the time', async () => {
      const first = await site.watch(PATH)
      for (let i = 0; i < 30; i++) await append(`old ${i}`)
      const from = first.reader.mutations[0]?.id ?? ''
      const writing = (async () => {
        for (let i = 0; i < 60; i++) await append(`new ${i}`)
      })()
      const later = []
      for (let i = 0; i < 10; i++) later.push(await site.watch(PATH, { lastEventId: from }))
      await writing
      for (const { reader } of later) {
        await settled(reader, 90)
        expect(reader.mutations).to.deep.equal(first.reader.mutations.slice(1))
      }
    })

    it('EVT-47 a slow client is replayed as fast as it reads, whatever the bounds of live events', async () => {
      await site.close()
      site = await watchedSite({ settings: { bufferEvents: 4, bufferBytes: 1000 } })
      await site.rules(['*', 'GET', 'Allow', '/*'])
      await site.put(PATH, LIST)
      const created = (await site.store.site('a.example').events(PATH))[0]?.id ?? ''
      for (let i = 0; i < 50; i++) await append(`${i} ${'x'.repeat(100)}`)
      const { reader } = await site.watch(PATH, { lastEventId: created })
      await settled(reader, 51)
      expect(reader.mutations).to.have.length(50)
      expect(reader.ending).to.equal(undefined)
    })

    it('EVT-49 EVT-48 an id from before the retention: reset at once, without id, then live events', async () => {
      const first = await site.watch(PATH)
      await append('1')
      await append('2')
      const old = first.reader.mutations[0]?.id ?? ''
      await site.advance(11 * MINUTE)
      const { reader } = await site.watch(PATH, { lastEventId: old })
      await append('3')
      expect(reader.events.slice(1, 2)).to.deep.equal([resetOf('events-expired')])
      expect(bodiesOf(reader.mutations)).to.deep.equal(['<li>3</li>'])
      expect(reader.ending).to.equal(undefined)
    })

    it('EVT-46 EVT-49 a site that keeps events for a shorter time has its own end of time', async () => {
      await site.close()
      site = await watchedSite({ settings: { retention: MINUTE } })
      await site.rules(['*', 'GET', 'Allow', '/*'])
      await site.put(PATH, LIST)
      const first = await site.watch(PATH)
      await append('1')
      await append('2')
      const [old, newest] = first.reader.mutations.map(({ id = '' }) => id)
      await site.advance(MINUTE)
      const within = await site.watch(PATH, { lastEventId: old ?? '' })
      await settled(within.reader, 2)
      expect(bodiesOf(within.reader.mutations)).to.deep.equal(['<li>2</li>'])
      await site.advance(1)
      const beyond = await site.watch(PATH, { lastEventId: old ?? '' })
      const quiet = await site.watch(PATH, { lastEventId: newest ?? '' })
      await append('3')
      await settled(quiet.reader, 2)
      expect(beyond.reader.events[1]).to.deep.equal(resetOf('events-expired'))
      for (const { reader } of [beyond, quiet]) expect(bodiesOf(reader.mutations)).to.deep.equal(['<li>3</li>'])
    })

    it('EVT-49 the newest id of a quiet page needs no reset, however old it is', async () => {
      const first = await site.watch(PATH)
      await append('1')
      const newest = first.reader.mutations[0]?.id ?? ''
      await site.advance(60 * MINUTE)
      const { reader } = await site.watch(PATH, { lastEventId: newest })
      await append('2')
      await settled(reader, 2)
      expect(reader.events.map(({ event }) => event)).to.deep.equal(['platform-connection', 'mutation'])
    })

    for (const id of ['x', '1000-0', '1', '1-2-3', '-1-0', '1e3-0', '12345678901234567890', 'null'])
      it(`EVT-49 ${id} is no id that can be continued: reset`, async () => {
        const { reader } = await site.watch(PATH, { lastEventId: id })
        await append('1')
        expect(reader.events[1]).to.deep.equal(resetOf('events-expired'))
        expect(bodiesOf(reader.mutations)).to.deep.equal(['<li>1</li>'])
      })

    it('EVT-49 an id later than every known one replays nothing, and keeps nothing back', async () => {
      const { reader } = await site.watch(PATH, { lastEventId: '99999999999999-7' })
      await append('1')
      await settled(reader, 2)
      expect(reader.events.map(({ event }) => event)).to.deep.equal(['platform-connection', 'mutation'])
    })

    it('EVT-49 a path without events: any usual id is a reset', async () => {
      const { reader } = await site.watch('/none.html', { lastEventId: '1000-0' })
      expect(reader.events[1]).to.deep.equal(resetOf('events-expired'))
    })

    it('SEC-12 however large kept events are, a stream that replays holds few of them in memory', async () => {
      const created = (await site.store.site('a.example').events(PATH))[0]?.id ?? ''
      for (let i = 0; i < 12; i++) await append(String(i).padEnd(60_000, 'x'))
      const streams = await Promise.all(Array.from({ length: 20 }, () => site.open(PATH, { lastEventId: created })))
      const stopped = await Promise.all(streams.map(stream => startLate(stream, { stopped: true })))
      for (let turns = 0; turns < 100; turns++) await new Promise(resolve => setImmediate(resolve))
      for (const reader of stopped) reader.resume()
      await until(() => stopped.every(({ mutations }) => mutations.length === 12))
      for (const { pieces } of stopped)
        expect(Math.max(...pieces.map(({ length }) => length))).to.be.below(3 * 64 * 1024)
    })

    it('EVT-48 events that go away while a slow client is replayed are a reset, not a gap', async () => {
      const created = (await site.store.site('a.example').events(PATH))[0]?.id ?? ''
      for (let i = 0; i < 40; i++) await append(String(i))
      const stream = await site.open(PATH, { lastEventId: created })
      const reader = await startLate(stream, { stopped: true })
      // Streams read in turns.
      for (let turns = 0; turns < 10; turns++) await new Promise(resolve => setImmediate(resolve))
      await site.advance(11 * MINUTE)
      await append('late')
      reader.resume()
      await until(() => reader.events.some(({ event }) => event === 'reset'))
      await append('live')
      await until(() => bodiesOf(reader.mutations).includes('<li>live</li>'))
      const replayed = reader.mutations.length - 1
      expect(replayed).to.be.within(1, 39)
      const expected = [...Array.from({ length: replayed }, (_, i) => `<li>${i}</li>`), '<li>live</li>']
      expect(bodiesOf(reader.mutations)).to.deep.equal(expected)
    })
  })

  describe('bounded buffer', () => {
    const bounded = async (bufferEvents: number, bufferBytes: number) => {
      await site.close()
      site = await watchedSite({ settings: { bufferEvents, bufferBytes } })
      await site.rules(['*', 'GET', 'Allow', '/*'])
      await site.put(PATH, LIST)
      const watching = await site.watch(PATH)
      watching.reader.stop()
      return watching
    }

    it('EVT-37 as many events as may wait are kept for a client that reads late', async () => {
      const { reader } = await bounded(5, 1_000_000)
      for (let i = 0; i < 5; i++) await append(String(i))
      expect(reader.mutations).to.have.length(1)
      reader.resume()
      await until(() => reader.mutations.length === 5)
      expect(reader.ending).to.equal(undefined)
    })

    it('EVT-37 one event more, and the connection is closed without farewell', async () => {
      const { reader } = await bounded(5, 1_000_000)
      const other = await site.watch(PATH)
      for (let i = 0; i < 6; i++) await append(String(i))
      expect(reader.ending).to.equal('destroyed')
      expect(reader.events.map(({ event }) => event)).to.deep.equal(['platform-connection', 'mutation'])
      expect(other.reader.mutations, 'others are not concerned').to.have.length(6)
      expect(site.streams.size).to.equal(1)
    })

    it('EVT-37 bytes count as well', async () => {
      const { reader } = await bounded(1000, 10_000)
      for (let i = 0; i < 4; i++) await append('x'.repeat(3000))
      expect(reader.ending).to.equal('destroyed')
    })

    it('EVT-37 one event larger than the limit is sent to an empty buffer', async () => {
      const { reader } = await bounded(1000, 10_000)
      await append('x'.repeat(50_000))
      expect(reader.ending).to.equal(undefined)
      reader.resume()
      await append('small')
      expect(bodiesOf(reader.mutations)).to.deep.equal([`<li>${'x'.repeat(50_000)}</li>`, '<li>small</li>'])
    })

    it('EVT-37 a client that is cut off comes back and gets the rest', async () => {
      const { reader } = await bounded(3, 1_000_000)
      for (let i = 0; i < 10; i++) await append(String(i))
      expect(reader.ending).to.equal('destroyed')
      const again = await site.watch(PATH, { lastEventId: reader.mutations.at(-1)?.id ?? '' })
      await settled(again.reader, 10)
      const all = [...reader.mutations, ...again.reader.mutations]
      expect(bodiesOf(all)).to.deep.equal(Array.from({ length: 10 }, (_, i) => `<li>${i}</li>`))
    })

    it('EVT-36 SEC-12 however many return and do not read, large events are in memory once', async () => {
      const { id: created = '' } = (await site.store.site('a.example').events(PATH))[0] ?? {}
      const watching = await site.watch(PATH)
      const marks = ['w', 'x', 'y']
      for (const mark of marks) await append(mark.repeat(200_000))
      const readers = [watching.reader]
      for (let i = 0; i < 3; i++) readers.push((await site.watch(PATH, { lastEventId: created })).reader)
      const pieces = (reader: Reader) => reader.pieces.filter(({ length }) => length > 100_000)
      await until(() => readers.every(reader => pieces(reader).length === marks.length))
      const shared = pieces(watching.reader)
      for (const reader of readers) expect(pieces(reader).every((piece, i) => piece === shared[i])).to.equal(true)
    })

    it('EVT-37 a client that stops reading during its replay is cut off, too', async () => {
      await bounded(3, 1_000_000)
      const created = (await site.store.site('a.example').events(PATH))[0]?.id ?? ''
      await append('0')
      const stream = await site.open(PATH, { lastEventId: created })
      const reader = await startLate(stream, { stopped: true })
      await until(() => site.streams.size === 2)
      for (let i = 0; i < 10; i++) await append(String(i))
      await until(() => reader.ending === 'destroyed')
    })
  })
})
