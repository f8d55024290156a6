import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { page } from '../../support/content.ts'
import { bodyOf, property } from './event-source.ts'
import { bodiesOf, refusal, resetOf, settled, startLate, until, type WatchedSite, watchedSite } from './watching.ts'

const PATH = '/d.html'
const LIST = page('<ul id="l"><li id="a">a</li></ul>')

const MINUTE = 60_000

describe('event streams', () => {
  let site: WatchedSite

  beforeEach(async () => {
    site = await watchedSite()
    await site.rules(['*', 'GET', 'Allow', '/*'])
    await site.put(PATH, LIST)
  })
  afterEach(() => site.close())

  const append = (text: string) => site.write(PATH, ['POST', '#l', `<li>${text}</li>`])

  describe('beginning', () => {
    it('EVT-11 begins with the connection token, without id', async () => {
      const { stream, reader } = await site.watch(PATH)
      expect(reader.text).to.equal(`event: platform-connection\ndata: ${stream.token}\n\n`)
    })

    it('EVT-11 every stream has a token of its own, also that of a returning client', async () => {
      const tokens = new Set<string>()
      for (let i = 0; i < 20; i++) tokens.add((await site.watch(PATH, { session: 's' })).stream.token)
      expect(tokens.size).to.equal(20)
      for (const token of tokens) expect(token).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    })

    it('EVT-13 what commits between registration and the first event is delivered after it', async () => {
      const stream = await site.open(PATH)
      await append('1')
      const { reader } = await site.watch(PATH)
      await append('2')
      const late = await startLate(stream)
      await settled(late, 3)
      expect(late.events[0]?.event).to.equal('platform-connection')
      expect(bodiesOf(late.mutations)).to.deep.equal(['<li>1</li>', '<li>2</li>'])
      expect(bodiesOf(reader.mutations)).to.deep.equal(['<li>2</li>'])
    })

    it('a client that went away before the stream began leaves nothing behind', async () => {
      const stream = await site.open(PATH)
      stream.end('at once')
      const reader = await startLate(stream)
      expect([reader.text, reader.ending]).to.deep.equal(['', 'destroyed'])
      expect(site.streams.size).to.equal(0)
    })
  })

  describe('delivery', () => {
    it('EVT-35 passes events on in the order of commits, with rising ids', async () => {
      const { reader } = await site.watch(PATH)
      for (let i = 0; i < 10; i++) await append(String(i))
      expect(bodiesOf(reader.mutations)).to.deep.equal(Array.from({ length: 10 }, (_, i) => `<li>${i}</li>`))
      const ids = reader.mutations.map(({ id }) => id)
      expect(new Set(ids).size).to.equal(10)
      for (const id of ids) expect(id).to.match(/^[0-9]+-[0-9]+$/)
    })

    it('EVT-35 whoever hears of a change can read it', async () => {
      const { reader } = await site.watch(PATH)
      const write = reader.write.bind(reader)
      const seen: string[] = []
      reader.write = (bytes, done) => {
        seen.push(Buffer.from(site.site.inMemory(PATH)?.bytes ?? '').toString())
        write(bytes, done)
      }
      await append('first')
      await append('second')
      expect(seen[0]).to.include('<li>first</li>').and.not.include('second')
      expect(seen[1]).to.include('<li>second</li>')
    })

    it('EVT-36 all streams get the same bytes, and so does a replay', async () => {
      const watching = [await site.watch(PATH), await site.watch(PATH)]
      await append('1')
      const [first, second] = watching.map(({ reader }) => reader.pieces.at(-1))
      expect(first).to.equal(second)
      const again = await site.watch(PATH, { lastEventId: '0-0' })
      expect(again.reader.events[1]?.event, 'nothing that old is known').to.equal('reset')
      const created = (await site.store.site('a.example').events(PATH))[0]
      const replayed = await site.watch(PATH, { lastEventId: created?.id ?? '' })
      await settled(replayed.reader, 2)
      expect(replayed.reader.text.endsWith(Buffer.from(first ?? '').toString())).to.equal(true)
    })

    it('Contract 6.1: only the watched path counts', async () => {
      const { reader } = await site.watch(PATH)
      await site.put('/other.html', LIST)
      expect(reader.mutations).to.deep.equal([])
    })

    it('EVT-4 EVT-39 nothing stored: the creation comes on the stream, so does the removal, and the next creation', async () => {
      const { reader } = await site.watch('/new.html')
      await site.put('/new.html', LIST)
      await site.remove('/new.html')
      await site.put('/new.html', LIST)
      expect(reader.mutations.map(({ data }) => property(data, 'method'))).to.deep.equal(['PUT', 'DELETE', 'PUT'])
      expect(bodiesOf(reader.mutations)).to.deep.equal([LIST, '', LIST])
      expect(reader.ending).to.equal(undefined)
    })

    it('EVT-28 a whole MOVE is DELETE for the watchers of the old path and PUT for those of the new', async () => {
      const [from, to] = [await site.watch(PATH), await site.watch('/to.html')]
      await site.move(PATH, '/to.html')
      expect(from.reader.mutations.map(({ data }) => property(data, 'method'))).to.deep.equal(['DELETE'])
      expect(to.reader.mutations.map(({ data }) => property(data, 'method'))).to.deep.equal(['PUT'])
    })

    it('EVT-4 blobs can be watched', async () => {
      const { reader } = await site.watch('/b.txt')
      await site.put('/b.txt', 'x')
      expect(reader.mutations.map(({ data }) => [property(data, 'method'), bodyOf(data)])).to.deep.equal([['PUT', '']])
    })

    it('many streams are served in turns, each event to all of them, in order', async () => {
      const watching = []
      for (let i = 0; i < 1200; i++) watching.push(await site.watch(PATH, { address: String(i) }))
      for (let i = 0; i < 3; i++) await append(String(i))
      await site.write(PATH, ['DELETE', '#a'])
      for (const { reader } of watching)
        expect(bodiesOf(reader.mutations)).to.deep.equal(['<li>0</li>', '<li>1</li>', '<li>2</li>', ''])
    })
  })

  describe('keepalive', () => {
    it('EVT-12 a ping every 20 seconds, whether or not events were sent', async () => {
      const { reader } = await site.watch(PATH)
      const pings = () => reader.blocks.filter(block => 'comment' in block && block.comment === 'ping').length
      await site.advance(19_999)
      expect(pings()).to.equal(0)
      await site.advance(1)
      expect(pings()).to.equal(1)
      await site.advance(10_000)
      await append('x')
      await site.advance(10_000)
      expect(pings()).to.equal(2)
      await site.advance(60_000)
      expect(pings()).to.equal(5)
      expect(reader.text).to.include('\n\n: ping\n\n')
    })

    it('EVT-12 each stream has its own rhythm', async () => {
      const first = await site.watch(PATH)
      await site.advance(5_000)
      const second = await site.watch(PATH)
      const pings = () => [first, second].map(({ reader }) => reader.text.split(': ping\n').length - 1)
      await site.advance(15_000)
      expect(pings()).to.deep.equal([1, 0])
      await site.advance(5_000)
      expect(pings()).to.deep.equal([1, 1])
      await site.advance(15_000)
      expect(pings()).to.deep.equal([2, 1])
    })

    for (const hours of [-1, -24 * 365, 24 * 365])
      it(`EVT-12 every 20 seconds also where somebody sets the clock by ${hours} hours`, async () => {
        const { stream, reader } = await site.watch(PATH)
        const right = site.clock.now()
        site.clock.set(right + hours * 60 * MINUTE)
        await site.advance(MINUTE)
        expect(reader.text.split(': ping\n')).to.have.length(4)
        site.clock.set(right + MINUTE)
        stream.end('at once')
      })

    it('pings do not pile up for a client that does not read', async () => {
      const { reader } = await site.watch(PATH)
      reader.stop()
      await append('x')
      await site.advance(10 * MINUTE)
      reader.resume()
      expect(reader.text.split(': ping\n')).to.have.length(2)
    })

    it('nothing waits for its time when the last stream has ended', async () => {
      const { stream } = await site.watch(PATH)
      stream.end('at once')
      await site.advance(MINUTE)
      expect(site.clock.waiting).to.equal(0)
    })
  })

  describe('end', () => {
    for (const reason of ['session-expired', 'session-invalidated'] as const)
      it(`EVT-50 reset with ${reason}, then the end`, async () => {
        const { stream, reader } = await site.watch(PATH)
        stream.endSession(reason)
        await append('x')
        expect(reader.events.slice(1)).to.deep.equal([resetOf(reason)])
        await until(() => reader.ending === 'ended')
        expect(site.streams.size).to.equal(0)
      })

    it('EVT-50 a client that does not read gets no more than half a second', async () => {
      const { stream, reader } = await site.watch(PATH)
      reader.stop()
      await append('x')
      stream.endSession('session-expired')
      expect(reader.ending).to.equal(undefined)
      await site.advance(500)
      expect(reader.ending).to.equal('destroyed')
    })

    it('EVT-83 shutdown ends every stream, and tells clients to come back after 1 to 3 seconds', async () => {
      const watching = []
      for (let i = 0; i < 50; i++) watching.push(await site.watch(PATH, { address: String(i) }))
      site.streams.close()
      const waits = new Set<number>()
      for (const { reader } of watching) {
        await until(() => reader.ending === 'ended')
        const last = reader.blocks.at(-1)
        if (!last || !('retry' in last)) throw new Error('there is no word about coming back')
        expect(last.retry).to.be.within(1000, 3000)
        waits.add(last.retry)
      }
      expect(waits.size).to.be.above(10)
      expect(site.streams.size).to.equal(0)
    })

    it('no stream is opened while the server ends', async () => {
      site.streams.close()
      expect(await refusal(site.open(PATH))).to.include({ status: 503 })
    })

    it('the streams of a site that is let go of end', async () => {
      const { reader } = await site.watch(PATH)
      site.streams.closeSite('other.example')
      expect(reader.ending).to.equal(undefined)
      site.streams.closeSite('a.example')
      await until(() => reader.ending === 'ended')
    })
  })

  describe('limits', () => {
    const limited = async (settings: Record<string, number>) => {
      await site.close()
      site = await watchedSite({ settings })
      await site.rules(['*', 'GET', 'Allow', '/*'])
    }

    const cases = [
      ['streamsPerSession', { session: 's' }, { session: 'another' }],
      ['streamsPerAddress', { address: '192.0.2.9' }, { address: '192.0.2.10' }],
    ] as const
    for (const [setting, same, other] of cases)
      it(`EVT-38 ${setting}: 503 beyond, until one ends`, async () => {
        await limited({ [setting]: 3 })
        const open = []
        for (let i = 0; i < 3; i++) open.push(await site.watch(`/${i}.html`, same))
        const refused = await refusal(site.open('/x.html', same))
        expect(refused).to.include({ status: 503, retry: '5' })
        await site.watch('/x.html', other)
        open[0]?.stream.end('at once')
        await site.watch('/x.html', same)
        expect(await refusal(site.open('/y.html', same))).to.include({ status: 503 })
      })

    it('EVT-38 streamsPerSite', async () => {
      await limited({ streamsPerSite: 3 })
      for (let i = 0; i < 3; i++) await site.watch(`/${i}.html`, { address: String(i) })
      expect(await refusal(site.open('/x.html', { address: 'x' }))).to.include({ status: 503 })
    })
  })
})
