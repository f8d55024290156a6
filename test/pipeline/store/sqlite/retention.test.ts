import { expect } from 'chai'
import type { Database } from '../../../../pipeline/store/sqlite/database.ts'
import { prepareRetention } from '../../../../pipeline/store/sqlite/housekeeping/retention.ts'
import { prepareEvents } from '../../../../pipeline/store/sqlite/read/event-reader.ts'
import { connectReader, connectWriter } from '../../../../pipeline/store/sqlite/schema.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, type OpenedFolder, openTemporary, put } from '../fixture.ts'

describe('SQLite store: removal of events', () => {
  let opened: OpenedFolder
  beforeEach(async () => {
    opened = await openTemporary()
  })
  afterEach(() => opened.close())

  const count = (table: 'event' | 'dropped') => {
    const database = connectReader(opened.folder)
    const row = database.prepare<{ count: number }>(`SELECT count(*) AS count FROM ${table}`).get()
    database.close()
    return row?.count
  }
  const emit = (site: SiteStore, count: number, prefix: string) => {
    const events = Array.from({ length: count }, (_, i) => ({ path: `/${prefix}/${i % 500}`, payload: 'p' }))
    return done(site, { changes: [], events })
  }

  it('EVT-46 keeps up with any number of new events, in every site', async () => {
    const sites = Array.from({ length: 20 }, (_, i) => opened.store.site(`site-${i}`))
    for (const site of sites) await emit(site, 300, 'old')
    expect(count('event')).to.equal(6000)
    opened.clock.now += 11 * 60_000
    for (const site of sites) await emit(site, 600, 'new')
    await emit(opened.store.site('other'), 1, 'new')
    expect(count('event')).to.equal(20 * 600 + 1)
    expect(count('dropped')).to.equal(20 * 300)
  })

  it('EVT-46 keeps up with events of whole trees', async () => {
    const site = opened.store.site('example.org')
    const around = { gone: { around: ['', ''] }, come: { around: ['', '', '', ''] }, largestBody: 100 } as const
    await done(
      site,
      Array.from({ length: 600 }, (_, i) => put(`/a/${i}`, 'x')),
    )
    const move = async (times: number) => {
      for (let i = 0; i < times; i++)
        for (const [from, to] of [
          ['/a/', '/b/'],
          ['/b/', '/a/'],
        ] as const)
          await done(site, [{ op: 'move', from, to, tell: around }])
    }
    await move(5)
    expect(count('event')).to.equal(5 * 2400)
    opened.clock.now += 11 * 60_000
    await move(5)
    for (let i = 0; i < 25; i++) await done(site, [put('/settle', String(i))])
    expect(count('event')).to.equal(5 * 2400)
    await opened.intact()
  })

  it('EVT-46 keeps as many events, and as many bytes of them, as a site is allowed', async () => {
    await opened.close()
    const limits: Record<string, { events: number; bytes: number }> = {
      few: { events: 10, bytes: 1_000_000 },
      small: { events: 1000, bytes: 1000 },
    }
    opened = await openTemporary({ eventLimits: site => limits[site] })
    const kept = async (name: string) => {
      const site = opened.store.site(name)
      for (let i = 0; i < 30; i++) await done(site, { changes: [], events: [{ path: '/a', payload: 'p'.repeat(100) }] })
      await done(site, { changes: [], events: [{ path: '/b', payload: '' }] })
      return (await site.events('/a')).length
    }
    expect(await kept('few')).to.be.within(8, 10)
    expect(await kept('small')).to.be.within(8, 10)
    expect(await kept('other')).to.equal(30)
  })

  it('EVT-49 tells of what is missing at every moment of its removal', async () => {
    const site = opened.store.site('example.org')
    const { events } = await emit(site, 1, 'a')
    await emit(site, 1, 'a')
    const [writing, reading] = [connectWriter(opened.folder), connectReader(opened.folder)]
    const [clock, eventRetention] = [() => opened.clock.now, 10 * 60_000]
    const retention = prepareRetention(writing, eventRetention)
    // Whoever asks twice asks before and after.
    const prepare: Database['prepare'] = sql => {
      const statement = reading.prepare<never>(sql)
      return {
        ...statement,
        get(...values) {
          const row = statement.get(...values)
          retention.trim(clock())
          return row
        },
      }
    }
    const reader = prepareEvents({ database: { ...reading, prepare }, clock, eventRetention })
    const { number } = reading.prepare<{ number: number }>('SELECT min(site) AS number FROM event').get() ?? {
      number: 0,
    }
    opened.clock.now += 11 * 60_000
    for (const time of ['before', 'after'])
      expect(reader.keepsAfter(number, '/a/0', events[0] ?? ''), time).to.equal(false)
    expect(count('event')).to.equal(0)
    for (const database of [writing, reading]) database.close()
  })

  it('EVT-49 forgets the last ids of paths after a day', async () => {
    const site = opened.store.site('example.org')
    await emit(site, 500, 'old')
    for (const hours of [1, 25]) {
      opened.clock.now += hours * 3_600_000
      await emit(site, 1, 'new')
      await emit(site, 1, 'new')
    }
    expect(count('dropped')).to.equal(0)
    expect(await site.newestEvent('/old/0')).to.equal(undefined)
  })
})
