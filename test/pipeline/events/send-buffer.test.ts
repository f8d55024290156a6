import { expect } from 'chai'
import fc from 'fast-check'
import { beforeEach, describe, it } from 'mocha'
import type { Sink } from '../../../pipeline/answer.ts'
import { SendBuffer } from '../../../pipeline/events/send-buffer.ts'
import { Waiting } from '../../../pipeline/events/waiting.ts'
import { access, site } from '../access/site.ts'

/** A sink that sends when it is told to. */
class Slow implements Sink {
  sent = ''
  writes = 0
  #done: (() => void) | undefined

  write(bytes: Uint8Array, done: () => void): void {
    expect(this.#done, 'one write at a time').to.equal(undefined)
    this.writes++
    this.sent += Buffer.from(bytes).toString()
    this.#done = done
  }

  send(): void {
    const done = this.#done
    this.#done = undefined
    done?.()
  }

  end(): void {}
  destroy(): void {}
}

describe('sendBuffer of a stream', () => {
  let sink: Slow
  let sendBuffer: SendBuffer
  beforeEach(() => {
    sink = new Slow()
    sendBuffer = new SendBuffer(sink, { events: 3, bytes: 10 })
  })
  const offer = (text: string) => sendBuffer.offer(Buffer.from(text))

  it('writes at once, then all that came meanwhile together', () => {
    for (const text of ['a', 'b', 'c']) expect(offer(text)).to.equal(true)
    expect([sink.sent, sink.writes]).to.deep.equal(['a', 1])
    sink.send()
    expect([sink.sent, sink.writes]).to.deep.equal(['abc', 2])
    expect(sendBuffer.isEmpty).to.equal(false)
    sink.send()
    expect(sendBuffer.isEmpty).to.equal(true)
  })

  it('passes a single piece on as it is', () => {
    const bytes = Buffer.from('x')
    let written: Uint8Array | undefined
    new SendBuffer(
      { ...sink, write: piece => void (written = piece), end() {}, destroy() {} },
      { events: 1, bytes: 1 },
    ).offer(bytes)
    expect(written).to.equal(bytes)
  })

  it('SEC-12 passes large pieces on as they are, one after another, and has room for another after each', () => {
    const large = ['a', 'b', 'c', 'd'].map(text => Buffer.alloc(100_000, text))
    const written: Uint8Array[] = []
    const write = sink.write.bind(sink)
    sink.write = (bytes, done) => {
      written.push(bytes)
      write(bytes, done)
    }
    const bounded = new SendBuffer(sink, { events: 3, bytes: 1_000_000 })
    expect(large.map(bytes => bounded.offer(bytes))).to.deep.equal([true, true, true, false])
    sink.send()
    expect(bounded.offer(Buffer.from('e'))).to.equal(true)
    for (let i = 0; i < 3; i++) sink.send()
    expect(bounded.isEmpty).to.equal(true)
    expect(written.slice(0, 3).every((bytes, i) => bytes === large[i])).to.equal(true)
    expect(written.slice(3).map(String)).to.deep.equal(['e'])
  })

  it('EVT-37 counts what waits and what is on its way', () => {
    for (const text of ['a', 'b', 'c']) offer(text)
    expect(offer('d')).to.equal(false)
    sink.send()
    expect(offer('d')).to.equal(true)
    expect(offer('e')).to.equal(false)
    sink.send()
    sink.send()
    expect(sink.sent).to.equal('abcd')
  })

  it('EVT-37 bytes count, and one large event passes when no other waits', () => {
    expect(offer('x'.repeat(50))).to.equal(true)
    expect(offer('y')).to.equal(false)
    sink.send()
    expect(offer('12345')).to.equal(true)
    expect(offer('12345')).to.equal(true)
    expect(offer('1')).to.equal(false)
  })

  it('what does not count is taken whatever waits, and a repetition only once', () => {
    const ping = Buffer.from('!')
    offer('x'.repeat(50))
    for (let i = 0; i < 5; i++) sendBuffer.pushOnce(ping)
    sendBuffer.push(Buffer.from('z'))
    sink.send()
    expect(sink.sent).to.equal(`${'x'.repeat(50)}!z`)
    sendBuffer.pushOnce(ping)
    sink.send()
    expect(sink.sent.endsWith('!')).to.equal(true)
  })

  it('tells when nothing waits any more', () => {
    const told: string[] = []
    sendBuffer.whenEmpty(() => told.push('at once'))
    offer('a')
    offer('b')
    sendBuffer.whenEmpty(() => told.push('later'))
    sink.send()
    expect(told).to.deep.equal(['at once'])
    sink.send()
    sink.send()
    expect(told).to.deep.equal(['at once', 'later'])
  })

  it('discards what is not on its way', () => {
    offer('a')
    offer('b')
    sendBuffer.discard()
    let isEmpty = false
    sendBuffer.whenEmpty(() => {
      isEmpty = true
    })
    expect(isEmpty).to.equal(false)
    sink.send()
    expect([isEmpty, sink.sent]).to.deep.equal([true, 'a'])
  })

  it('EVT-37 SEC-12 what is taken back waits no more, and leaves its room', () => {
    const [then, now] = [access(site([])), access(site([]))]
    const waiting = new Waiting()
    const judged = new SendBuffer(sink, { events: 3, bytes: 10 }, { waiting })
    judged.offer(Buffer.from('a'), then)
    judged.push(Buffer.from('-'))
    for (const text of ['b', 'c']) expect(judged.offer(Buffer.from(text), then, { ms: 1, seq: 1 })).to.equal(true)
    expect([judged.offer(Buffer.from('d'), then), waiting.bytes]).to.deep.equal([false, 4])
    expect(judged.takeBack(then), 'judged as now').to.equal(undefined)
    expect(judged.takeBack(now)).to.deep.include({ after: { ms: 1, seq: 1 } })
    expect(waiting.bytes).to.equal(2)
    for (const text of ['e', 'f']) expect(judged.offer(Buffer.from(text), now)).to.equal(true)
    sink.send()
    sink.send()
    expect([sink.sent, waiting.bytes, judged.isEmpty]).to.deep.equal(['a-ef', 0, true])
  })

  it('EVT-67 all that waits is taken back where one was judged otherwise, whatever stands behind it', () => {
    const [then, now] = [access(site([])), access(site([]))]
    offer('a')
    for (const [text, by] of [
      ['b', then],
      ['c', now],
    ] as const)
      sendBuffer.offer(Buffer.from(text), by)
    expect(sendBuffer.takeBack(now)).not.to.equal(undefined)
    sink.send()
    expect([sink.sent, sendBuffer.isEmpty]).to.deep.equal(['a', true])
  })

  it('EVT-37 whatever the order of things: what was taken is sent, in order, and never more waits than may', () => {
    const step = fc.oneof(fc.nat({ max: 8 }), fc.constant('send' as const))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const sink = new Slow()
        const sendBuffer = new SendBuffer(sink, { events: 3, bytes: 10 })
        let taken = ''
        let number = 0
        for (const size of steps) {
          if (size === 'send') sink.send()
          else {
            const text = String.fromCharCode(97 + (number++ % 26)).repeat(size)
            if (sendBuffer.offer(Buffer.from(text))) taken += text
          }
        }
        for (let i = 0; i < 3; i++) sink.send()
        expect(sink.sent).to.equal(taken)
        expect(sendBuffer.isEmpty).to.equal(true)
      }),
      { seed: Number(process.env.FUZZ ?? 7) },
    )
  })
})
