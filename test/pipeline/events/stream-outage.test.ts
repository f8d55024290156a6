import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import type { FanOut } from '../../../pipeline/coordination/fan-out.ts'
import type { RedisConnection } from '../../../pipeline/coordination/redis/connection.ts'
import { redisFanOut } from '../../../pipeline/coordination/redis/fan-out.ts'
import { Coherence } from '../../../pipeline/site/coherence.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { page } from '../../support/content.ts'
import { startRedis, type TestRedis } from '../coordination/redis-server.ts'
import { HOST, type Reader, resetOf, type WatchedSite, watchedSite } from './watching.ts'

const PATH = '/d.html'
const MINUTE = 60_000

/** Waits for what a real connection or timer brings. */
async function comes(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(resolve => setTimeout(resolve, 5))
}

const told = ({ mutations }: Reader) => mutations.map(({ data }) => data)

describe('event streams while Redis is away', () => {
  let redis: TestRedis
  let site: WatchedSite
  let connection: RedisConnection
  let coherence: Coherence
  /** The store as another process has it. */
  let other: Store
  /** Runs statements in its tables. */
  let raw: (sql: string) => Promise<void>
  /** The store tells that commits are gone. */
  let isSetBack = false
  let fanOut: FanOut
  /** Times that kept events are asked for in vain. */
  let refusals = 0
  beforeEach(async () => {
    redis = await startRedis()
  })
  afterEach(async () => {
    await coherence.close()
    await site.close()
    await connection.close()
    await redis.stop()
    expect(site.failures).to.deep.equal([])
  })

  /** @param every milliseconds between looks at what others committed, without word of them */
  async function start(every: number): Promise<void> {
    site = await watchedSite({
      async fanOut(opened, failed) {
        const { store, another } = opened
        other = await another()
        raw = sql => opened.raw(sql)
        const { foreign } = store
        if (!foreign) throw new Error('the store is not shared')
        connection = await redis.open()
        coherence = new Coherence({
          foreign: {
            ...foreign,
            waiting: () => isSetBack || foreign.waiting(),
            async read() {
              const { version, commits } = await foreign.read()
              if (!isSetBack) return { version, commits }
              isSetBack = false
              return { version, commits: undefined, isSetBack: true }
            },
          },
          every,
        })
        coherence.onCommit((_, wasSetBack) => wasSetBack && site.streams.setBack())
        fanOut = redisFanOut({ store, coherence, connection, failed })
        const unless = <T>(work: () => Promise<T>) =>
          refusals-- > 0 ? Promise.reject(new StoreError('busy', 'away')) : work()
        return {
          ...fanOut,
          read: (...asked) => unless(() => fanOut.read(...asked)),
          resume: (...asked) => unless(() => fanOut.resume(...asked)),
        }
      },
    })
    await site.rules(['*', 'GET', 'Allow', '/*'])
  }

  const elsewhere = (payload: string) => other.site(HOST).commit({ changes: [], events: [{ path: PATH, payload }] })

  const back = async () => {
    await redis.start()
    await redis.until(connection)
  }

  it('EVT-81 EVT-12 streams stay open with keepalives, and go on from the last event; none is lost or doubled', async () => {
    await start(10)
    const { stream, reader } = await site.watch(PATH)
    await elsewhere('before')
    await comes(() => told(reader).length === 1)
    await redis.kill()
    await elsewhere('away')
    await comes(() => told(reader).length === 2)
    for (let i = 0; i < 3; i++) await site.advance(20_000)
    expect(reader.text.split(': ping\n')).to.have.length(4)
    expect(stream.isOpen).to.equal(true)
    await back()
    await elsewhere('back')
    await comes(() => told(reader).length === 3)
    expect(told(reader)).to.deep.equal(['before', 'away', 'back'])
    expect(reader.text).to.not.include('event: reset')
  })

  it('EVT-81 new subscriptions meanwhile are accepted, and those who return get what they missed', async () => {
    await start(10)
    const first = await site.watch(PATH)
    await elsewhere('1')
    await comes(() => told(first.reader).length === 1)
    const [{ id: lastEventId = '' } = {}] = first.reader.mutations
    await redis.kill()
    first.stream.end('now')
    await elsewhere('2')
    const returned = await site.watch(PATH, { lastEventId })
    const fresh = await site.watch(PATH)
    await comes(() => told(returned.reader).length === 1)
    await elsewhere('3')
    await comes(() => told(returned.reader).length === 2 && told(fresh.reader).length === 1)
    await back()
    await elsewhere('4')
    await comes(() => told(returned.reader).length === 3 && told(fresh.reader).length === 2)
    expect(told(returned.reader)).to.deep.equal(['2', '3', '4'])
    expect(told(fresh.reader)).to.deep.equal(['3', '4'])
  })

  it('EVT-49 a store that lacks what streams have told: a reset for all, also for those who come back, then what it has', async () => {
    await start(60 * MINUTE)
    await elsewhere('kept')
    const [open, left] = [await site.watch(PATH), await site.watch(PATH)]
    await site.advance(MINUTE)
    await elsewhere('lost')
    await coherence.inStep()
    await comes(() => told(open.reader).length + told(left.reader).length === 2)
    const [{ id: lastEventId = '' } = {}] = left.reader.mutations
    left.stream.end('now')
    await raw(`DELETE FROM event WHERE payload = 'lost'; UPDATE site SET ms = ms - ${MINUTE}`)
    // As after the fail-over to a machine whose clock is behind.
    await site.advance(-MINUTE / 2)
    isSetBack = true
    await coherence.inStep()
    await comes(() => open.reader.text.includes('event: reset'))
    const back = await site.watch(PATH, { lastEventId })
    for (const payload of ['1', '2']) await elsewhere(payload)
    await coherence.inStep()
    for (const [{ reader }, before] of [
      [open, ['lost']],
      [back, []],
    ] as const) {
      await comes(() => told(reader).length === before.length + 2)
      expect(told(reader)).to.deep.equal([...before, '1', '2'])
      expect(reader.events.at(-3)).to.deep.equal(resetOf('events-expired'))
    }
    await site.advance(11 * MINUTE)
    const [, { id: newest = '' } = {}] = back.reader.mutations
    const { reader } = await site.watch(PATH, { lastEventId: newest })
    expect(reader.events, 'the newest id of a quiet page').to.have.length(1)
  })

  for (const [what, disturb] of Object.entries({
    'after a write of which nobody knows': () => fanOut.begin(HOST, [{ path: PATH, payload: '' }]).finish('unknown'),
    'after the store was set back': () => site.streams.setBack(),
  }))
    it(`EVT-13 EVT-81 a stream that the store gives nothing to read ${what} stays open, and reads on: its client may know no event yet`, async () => {
      await start(60 * MINUTE)
      refusals = 0
      const { stream, reader } = await site.watch(PATH)
      refusals = 3
      await disturb()
      for (let left = 3; left > 0; left--) {
        await comes(() => refusals < left || !stream.isOpen)
        await site.advance(1000)
      }
      await elsewhere('meanwhile')
      await coherence.inStep()
      await comes(() => told(reader).length === 1 || !stream.isOpen)
      expect([stream.isOpen, told(reader)]).to.deep.equal([true, ['meanwhile']])
      expect(reader.text.includes('event: reset')).to.equal(what.includes('set back'))
    })

  it('EVT-81 EVT-49 where a path cannot be continued streams get a reset, stay open and go on', async () => {
    await start(60 * MINUTE)
    const { stream, reader } = await site.watch(PATH)
    await site.put(PATH, page('first'))
    await comes(() => told(reader).length === 1)
    await redis.kill()
    await elsewhere('missed')
    await site.advance(11 * MINUTE)
    await elsewhere('kept')
    await back()
    await comes(() => reader.text.includes('event: reset'))
    expect(reader.events.at(-1)).to.deep.equal(resetOf('events-expired'))
    await site.put(PATH, page('after'))
    await comes(() => told(reader).length === 2)
    expect(told(reader)[1]).to.include('after')
    expect(stream.isOpen).to.equal(true)
    expect(reader.text.split('event: reset')).to.have.length(2)
  })
})
