import { expect } from 'chai'
import fc from 'fast-check'
import { afterEach, describe, it } from 'mocha'
import { SendBuffer } from '../../../pipeline/events/send-buffer.ts'
import { Waiting } from '../../../pipeline/events/waiting.ts'
import { type WatchedSite, watchedSite } from './watching.ts'

const LIMITS = { events: 1000, bytes: 1000 }
const STEPS = ['take', 'close', 'discard'] as const

/** A stream whose client takes what waits when a test says so. */
function slow(waiting: Waiting) {
  let taken: (() => void) | undefined
  const sink = { write: (_: Uint8Array, done: () => void) => void (taken = done), end() {}, destroy() {} }
  const stream = {
    isOpen: true,
    isWaiting: () => stream.isOpen && !buffer.isEmpty,
    offer: (text: string | Uint8Array) => buffer.offer(typeof text === 'string' ? Buffer.from(text) : text),
    take() {
      const done = taken
      taken = undefined
      done?.()
    },
    close() {
      stream.isOpen = false
      buffer.close()
    },
    discard: () => buffer.discard(),
  }
  const buffer = new SendBuffer(sink, LIMITS, { waiting, giveUp: () => stream.close() })
  return stream
}

describe('what waits for slow readers in a process', () => {
  const open = (streams: readonly { isOpen: boolean }[]) => streams.map(({ isOpen }) => (isOpen ? 1 : 0)).join('')

  it('EVT-37 SEC-12 is bounded: who has taken nothing for longest is given up', () => {
    const waiting = new Waiting({ most: 30 })
    const streams = [slow(waiting), slow(waiting), slow(waiting)] as const
    for (const stream of streams) stream.offer('0123456789')
    expect([open(streams), waiting.bytes]).to.deep.equal(['111', 30])
    streams[0].take()
    streams[0].offer('0123456789')
    streams[2].offer('a')
    expect([open(streams), waiting.bytes]).to.deep.equal(['101', 21])
  })

  it('SEC-12 counts what many wait for once', () => {
    const waiting = new Waiting({ most: 30 })
    const event = Buffer.from('0123456789'.repeat(2))
    const streams = Array.from({ length: 100 }, () => slow(waiting))
    for (const stream of streams) expect(stream.offer(event)).to.equal(true)
    expect([streams.filter(({ isOpen }) => isOpen).length, waiting.bytes]).to.deep.equal([100, 20])
    for (const stream of streams.slice(1)) stream.take()
    expect(waiting.bytes, 'one still waits for it').to.equal(20)
    for (const stream of streams) stream.take()
    expect(waiting.bytes).to.equal(0)
  })

  it('EVT-37 an event larger than the bound goes to whoever is the only one', () => {
    const waiting = new Waiting({ most: 5 })
    const stream = slow(waiting)
    stream.offer('0123456789')
    stream.offer('0123456789')
    expect([stream.isOpen, waiting.bytes]).to.deep.equal([true, 20])
  })

  it('tells when it has grown by a mebibyte, again after it had shrunk', () => {
    let told = 0
    const waiting = new Waiting({ grown: () => told++ })
    const stream = slow(waiting)
    for (const expected of [1, 2]) {
      stream.offer(Buffer.alloc(2 ** 20))
      expect(told).to.equal(expected)
      stream.take()
    }
  })

  it('EVT-37 whatever the order of things: no more than may, and nothing is left of those who have gone', () => {
    const step = fc.tuple(fc.nat({ max: 3 }), fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(...STEPS)))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const waiting = new Waiting({ most: 20 })
        const streams = Array.from({ length: 4 }, () => slow(waiting))
        for (const [index, what] of steps) {
          const stream = streams[index]
          if (!stream?.isOpen) continue
          if (typeof what === 'number') stream.offer('x'.repeat(what))
          else stream[what]()
          if (streams.filter(({ isWaiting }) => isWaiting()).length > 1) expect(waiting.bytes).to.be.at.most(20)
        }
        for (const stream of streams) if (stream.isOpen) for (let i = 0; i < 60; i++) stream.take()
        expect(waiting.bytes).to.equal(0)
      }),
    )
  })

  describe('of a site', () => {
    let site: WatchedSite
    afterEach(() => site.close())

    it('EVT-37 SEC-12 streams on many paths hold no more than one process may, and come back', async () => {
      site = await watchedSite({ waiting: { most: 10_000 } })
      await site.rules(['*', 'GET', 'Allow', '/*'])
      const watchers = []
      for (let i = 0; i < 4; i++) {
        await site.put(`/${i}.html`, '<!DOCTYPE html><title>t</title><ul id="l"></ul>')
        const watching = await site.watch(`/${i}.html`)
        watching.reader.stop()
        watchers.push(watching)
      }
      for (let i = 0; i < 4; i++) {
        await site.write(`/${i}.html`, ['POST', '#l', `<li>${'x'.repeat(4000)}</li>`])
        expect(site.streams.waiting).to.be.at.most(10_000)
      }
      const given = watchers.map(({ reader }) => (reader.ending === 'destroyed' ? 0 : 1)).join('')
      expect(given).to.match(/^0+1+$/)
      expect(site.streams.size).to.equal(given.replaceAll('0', '').length)
    })
  })
})
