import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { redisFanOut } from '../../../pipeline/coordination/redis/fan-out.ts'
import { Coherence } from '../../../pipeline/site/coherence.ts'
import type { NewEvent } from '../../../pipeline/store/commit.ts'
import type { StoredEvent } from '../../../pipeline/store/events.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { startRedis, type TestRedis } from '../coordination/redis-server.ts'
import { type Opened, openTemporary } from '../store/fixture.ts'
import { fanOutContract } from './fan-out-contract.ts'

const SITE = 'a.example'
const PATH = '/d.html'

describe('fan-out between processes', () => {
  let server: TestRedis
  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  /** A process on a store. */
  async function joined(store: Store, { every, from = server }: { every?: number; from?: TestRedis } = {}) {
    if (!store.foreign) throw new Error('the store is not shared')
    const connection = await from.open()
    const errors: unknown[] = []
    const coherence = new Coherence({ foreign: store.foreign, ...(every !== undefined && { every }) })
    const fanOut = redisFanOut({ store, coherence, connection, failed: error => void errors.push(error) })
    return {
      fanOut,
      store,
      connection,
      coherence,
      async end() {
        await fanOut.close()
        await coherence.close()
        await connection.close()
      },
    }
  }

  fanOutContract(
    async () => {
      const opened = await openTemporary({ shared: true })
      const process = await joined(opened.store)
      return {
        ...process,
        // Everything is read within the turn in which it is settled.
        arrived: () => new Promise(resolve => setImmediate(resolve)),
        advance: ms => {
          opened.clock.now += ms
        },
        async disturb() {
          await server.admin.client('KILL', 'TYPE', 'PUBSUB')
          await server.admin.client('KILL', 'TYPE', 'NORMAL')
        },
        async end() {
          await process.end()
          await opened.close()
        },
      }
    },
    { connected: true },
  )

  it('EVT-45 SEC-12 what another process has changed is not looked through for each path that is watched', async () => {
    const connection = await server.open()
    let tell: Parameters<Coherence['onCommit']>[0] = () => undefined
    const coherence = {
      inStep: () => undefined,
      onCommit: (listener: typeof tell) => {
        tell = listener
        return () => undefined
      },
    }
    const site = { newestEvent: async () => undefined }
    const fanOut = redisFanOut({ store: { site: () => site } as unknown as Store, coherence, connection })
    const watched = Array.from({ length: 200 }, (_, i) => `/watched/${i}`)
    const watcher = { published: () => undefined, interrupted: () => undefined }
    for (const path of watched) fanOut.watch(SITE, path, watcher)
    let reads = 0
    const paths = new Proxy([...watched.map(path => `/changed${path}`), '/other/'], {
      get(list, name) {
        reads++
        return Reflect.get(list, name, list)
      },
    })
    tell({ version: 1, site: SITE, paths, raised: [] }, false)
    expect(reads).to.be.below(20 * watched.length)
    await fanOut.close()
    await connection.close()
  })

  type Joined = Awaited<ReturnType<typeof joined>>

  async function publish({ fanOut, store }: Joined, payload: string, path = PATH): Promise<readonly string[]> {
    const events: NewEvent[] = [{ path, payload }]
    const publication = fanOut.begin(SITE, events)
    const result = await store.site(SITE).commit({ changes: [], events })
    if (!result.ok) throw new Error('the commit was refused')
    await publication.finish(result)
    return result.events
  }

  /** Events of a path as a watcher hears them. */
  function watched({ fanOut }: Joined, path = PATH) {
    const events: StoredEvent[] = []
    let told = () => undefined as unknown
    fanOut.watch(SITE, path, {
      published(event) {
        events.push(event)
        told()
      },
      interrupted: () => undefined,
    })
    return {
      events,
      count: (wanted: number) =>
        new Promise<void>(resolve => {
          told = () => events.length >= wanted && resolve()
          told()
        }),
    }
  }

  async function withTwo(
    work: (one: Joined, two: Joined, opened: Opened) => Promise<void>,
    options: { every?: number; from?: TestRedis } = {},
  ): Promise<void> {
    const opened = await openTemporary({ shared: true })
    const one = await joined(opened.store, options)
    const two = await joined(await opened.another(), options)
    try {
      await work(one, two, opened)
    } finally {
      await one.end()
      await two.end()
      await opened.close()
    }
  }

  it('EVT-80 what one process commits, watchers of the other hear, with the same ids', () =>
    withTwo(
      async (one, two) => {
        const heard = watched(two)
        const own = watched(one)
        const ids = [...(await publish(one, '1')), ...(await publish(one, '2'))]
        await publish(one, 'elsewhere', '/other.html')
        await heard.count(2)
        expect(heard.events.map(({ id }) => id)).to.deep.equal(ids)
        expect(own.events).to.deep.equal(heard.events)
      },
      { every: 60_000 },
    ))

  it('EVT-35 EVT-80 what both commit at once, both hear in one order, each once', () =>
    withTwo(async (one, two) => {
      const [first, second] = [watched(one), watched(two)]
      const writing = [one, two].map(async (process, i) => {
        for (let k = 0; k < 40; k++) await publish(process, `${i} ${k}`)
      })
      await Promise.all(writing)
      await Promise.all([first.count(80), second.count(80)])
      expect(first.events).to.deep.equal(second.events)
      expect(new Set(first.events.map(({ payload }) => payload)).size).to.equal(80)
    }))

  it('EVT-80 an event whose process ended before it could tell is only late', () =>
    withTwo(
      async (one, two) => {
        const heard = watched(two)
        await one.store.site(SITE).commit({ changes: [], events: [{ path: PATH, payload: 'untold' }] })
        await heard.count(1)
        expect(heard.events.map(({ payload }) => payload)).to.deep.equal(['untold'])
      },
      { every: 20 },
    ))

  it('an event that cannot be read at once is only late, though nothing else happens', () =>
    withTwo(
      async one => {
        const heard = watched(one)
        await publish(one, '1')
        await heard.count(1)
        const { store } = one
        const site = store.site.bind(store)
        let failures = 2
        store.site = name => {
          const kept = site(name)
          const events: typeof kept.events = (...place) =>
            failures-- > 0 ? Promise.reject(new Error('on purpose')) : kept.events(...place)
          return { ...kept, events }
        }
        await publish(one, '2')
        await heard.count(2)
        expect(heard.events.map(({ payload }) => payload)).to.deep.equal(['1', '2'])
        expect(failures).to.be.below(0)
      },
      { every: 60_000 },
    ))

  it('EVT-81 nothing is lost or doubled while Redis is away, or when it is back', async () => {
    const own = await startRedis()
    await withTwo(
      async (one, two) => {
        const heard = watched(two)
        await publish(one, '1')
        await heard.count(1)
        await own.kill()
        await publish(one, '2')
        await heard.count(2)
        await own.start()
        await Promise.all([own.until(one.connection), own.until(two.connection)])
        await publish(one, '3')
        await heard.count(3)
        expect(heard.events.map(({ payload }) => payload)).to.deep.equal(['1', '2', '3'])
      },
      { every: 20, from: own },
    )
    await own.stop()
  })
})
