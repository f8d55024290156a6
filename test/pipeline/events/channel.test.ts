/** Events on their way to many streams. */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Channel } from '../../../pipeline/events/channel.ts'
import type { Clock } from '../../../pipeline/events/clock.ts'
import type { Stream } from '../../../pipeline/events/stream.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import type { StoredEvent } from '../../../pipeline/store/events.ts'

describe('the streams of a path', () => {
  /** Streams that are served in each turn, with an event of so many characters. */
  function served(streams: number, length: number): number[] {
    const turns: number[] = []
    const soon: (() => void)[] = []
    const clock = { soon: (run: () => void) => void soon.push(run) } as unknown as Clock
    const channel = new Channel({} as Site, '/a.html', clock)
    let count = 0
    const take = () => {
      count++
    }
    for (let i = 0; i < streams; i++) channel.add({ take } as unknown as Stream)
    channel.published({ id: '1-0', payload: 'x'.repeat(length) } as StoredEvent)
    for (let run = soon.shift(); run; run = soon.shift()) {
      run()
      turns.push(count)
      count = 0
    }
    return turns
  }

  it('SEC-12 are let go when they end, and get nothing more', () => {
    const soon: (() => void)[] = []
    const channel = new Channel({} as Site, '/a.html', { soon: (run: () => void) => void soon.push(run) } as Clock)
    const taken: string[] = []
    const [stays, goes] = ['stays', 'goes'].map(name => ({ take: () => taken.push(name) }) as unknown as Stream)
    if (!stays || !goes) throw new Error('two streams')
    for (const stream of [stays, goes]) channel.add(stream)
    channel.delete(goes)
    channel.published({ id: '1-0', payload: 'x' } as StoredEvent)
    for (let run = soon.shift(); run; run = soon.shift()) run()
    expect([taken, channel.isEmpty]).to.deep.equal([['stays'], false])
    channel.delete(stays)
    expect(channel.isEmpty).to.equal(true)
  })

  it('EVT-35 SEC-12 get a short event many in one turn', () => {
    expect(
      served(1200, 100)
        .slice(0, 2)
        .every(count => count >= 400),
    ).to.equal(true)
  })

  it('EVT-35 SEC-12 get a long event few in one turn, and all of them get it', () => {
    const turns = served(50, 1024 * 1024)
    expect(Math.max(...turns)).to.be.at.most(8)
    expect(turns.reduce((sum, count) => sum + count, 0)).to.equal(50)
  })
})
