import { expect } from 'chai'
import type { Database } from '../../../../pipeline/store/sqlite/database.ts'
import { prepareRetention } from '../../../../pipeline/store/sqlite/housekeeping/retention.ts'
import { prepareEvents } from '../../../../pipeline/store/sqlite/read/event-reader.ts'
import { connectReader, connectWriter } from '../../../../pipeline/store/sqlite/schema.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, type OpenedFolder, openTemporary, put, putBlob } from '../fixture.ts'

describe('SQLite store: removal of events', () => {
  let opened: OpenedFolder
  beforeEach(async () => {
    opened = await openTemporary()
  })
  afterEach(() => opened.close())

  const number = (sql: string) => {
    const database = connectReader(opened.folder)
    const row = database.prepare<{ count: number | null }>(`SELECT ${sql}`).get()
    database.close()
    return row?.count ?? 0
  }
  const count = (table: 'event' | 'dropped') => number(`count(*) AS count FROM ${table}`)
  const countBundled = () => number('sum(count) AS count FROM event_bundle')
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

  it('EVT-46 the text of a new document and its event is kept once, until both are gone', async () => {
    const site = opened.store.site('example.org')
    const events = [{ path: '/a', payload: '<text>', text: { start: 1, length: 4 } }]
    const change = { ...put('/a', 'text'), expect: 'absent' as const }
    await done(site, { changes: [change], events })
    const kept = () => [
      number('sum(octet_length(payload || tail)) AS count FROM event'),
      number("count(*) AS count FROM body WHERE bytes = CAST('text' AS BLOB)"),
    ]
    expect(kept()).to.deep.equal([2, 1])
    await done(site, [{ op: 'delete', path: '/a' }])
    expect(kept()).to.deep.equal([2, 1])
    opened.clock.now += 11 * 60_000
    for (let i = 0; i < 2; i++) await done(site, [put('/settle', String(i))])
    expect(kept()).to.deep.equal([0, 0])
    await opened.intact()
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
    expect([count('event'), countBundled()]).to.deep.equal([5 * 1200, 5 * 1200])
    opened.clock.now += 11 * 60_000
    await move(5)
    for (let i = 0; i < 25; i++) await done(site, [put('/settle', String(i))])
    expect([count('event'), countBundled()]).to.deep.equal([5 * 1200, 5 * 1200])
    await opened.intact()
  })

  it('EVT-46 files that only ever go and come with their tree lose the oldest events; EVT-49 which is told', async () => {
    await opened.close()
    opened = await openTemporary({ eventLimits: () => ({ events: 40, bytes: 1_000_000 }) })
    const site = opened.store.site('example.org')
    const around = { gone: { around: ['', ''] }, come: { around: ['', '', '', ''] }, largestBody: 100 } as const
    await done(
      site,
      Array.from({ length: 70 }, (_, i) => putBlob(`/a/${i}`, Buffer.from('x'))),
    )
    const first: (string | undefined)[] = []
    for (let i = 0; i < 30; i++) {
      const [from, to] = i % 2 === 0 ? ['/a/', '/b/'] : ['/b/', '/a/']
      await done(site, [{ op: 'move', from, to, tell: around }])
      if (i === 0) first.push(await site.newestEvent('/a/7'), await site.newestEvent('/a/69'))
    }
    for (let i = 0; i < 3; i++) await done(site, [put('/settle', String(i))])
    for (const [path, id = ''] of [
      ['/a/7', first[0]],
      ['/a/69', first[1]],
    ] as const) {
      const events = await site.events(path)
      expect(events.length, path).to.be.within(15, 20)
      expect(await site.continuous(path, id)).to.equal(false)
      expect(await site.keepsAfter(path, id)).to.equal(false)
      expect(await site.continuous(path, events[0]?.id ?? '')).to.equal(true)
      expect(events.at(-1)?.id).to.equal(await site.newestEvent(path))
    }
  })

  it('EVT-49 what goes out of a bundle with its age is remembered of each file', async () => {
    const site = opened.store.site('example.org')
    const around = { gone: { around: ['', ''] }, come: { around: ['', '', '', ''] }, largestBody: 100 } as const
    await done(
      site,
      Array.from({ length: 70 }, (_, i) => putBlob(`/a/${i}`, Buffer.from('x'))),
    )
    await done(site, [{ op: 'delete', path: '/a/', tell: around }])
    const ids = await Promise.all([0, 69].map(i => site.newestEvent(`/a/${i}`)))
    expect(new Set(ids).size).to.equal(2)
    opened.clock.now += 11 * 60_000
    for (let i = 0; i < 2; i++) await done(site, [put('/settle', String(i))])
    expect(countBundled()).to.equal(0)
    expect(await Promise.all([0, 69].map(i => site.newestEvent(`/a/${i}`)))).to.deep.equal(ids)
    expect(await site.newestEvent('/a/70')).to.equal(undefined)
  })

  it('EVT-28 where processes of an earlier release may read as well, each event has a row of its own', async () => {
    await opened.close()
    opened = await openTemporary({ shared: true })
    const site = opened.store.site('example.org')
    const around = {
      gone: { around: ['gone ', ''] },
      come: { around: ['come ', ' ', ' ', ''] },
      largestBody: 100,
    } as const
    await done(site, [putBlob('/a/1', Buffer.from('x')), put('/a/2', 'y'), putBlob('/c/1', Buffer.from('z'))])
    await done(site, [{ op: 'move', from: '/a/', to: '/b/', tell: around }])
    await done(site, [{ op: 'move', from: '/c/', to: '/b/', tell: around }])
    expect([count('event'), countBundled()]).to.deep.equal([4 + 3, 0])
    expect(
      (await site.allEvents(undefined, 10)).map(({ payload }) => payload.replace(/ [0-9a-f]+ /, ' ')),
    ).to.deep.equal(['gone /a/1', 'gone /a/2', 'come /b/1 ', 'come /b/2 y', 'gone /b/2', 'gone /c/1', 'come /b/1 '])
  })

  it('EVT-46 a text that is told is kept once, however often its tree moves', async () => {
    const site = opened.store.site('example.org')
    const around = { gone: { around: ['', ''] }, come: { around: ['', '', '', ''] }, largestBody: 100 } as const
    const texts = ['x'.repeat(33), 'x'.repeat(100), 'é'.repeat(50), `\uFEFF${'x'.repeat(100)}`, 'x'.repeat(101)]
    await done(
      site,
      texts.map((text, i) => put(`/a/${i}`, text)),
    )
    const [from, to] = ['/a/', '/b/']
    await done(site, [{ op: 'move', from, to, tell: around }])
    await done(site, [{ op: 'move', from: to, to: from, tell: around }])
    for (const [i, text] of texts.entries()) {
      const told = (await site.events(`/a/${i}`)).at(-1)?.payload ?? ''
      expect(told.endsWith(text.replace('\uFEFF', '')), text).to.equal(i < 4)
    }
    expect(number('max(octet_length(payload)) AS count FROM event')).to.be.below(100)
    expect(number('count(*) AS count FROM body')).to.equal(texts.length)
  })

  it('EVT-46 keeps as many events, and as many bytes of them, as a site is allowed', async () => {
    await opened.close()
    const limits: Record<string, { events: number; bytes: number }> = {
      few: { events: 10, bytes: 1_000_000 },
      small: { events: 1000, bytes: 1000 },
      judged: { events: 1000, bytes: 1000 },
    }
    opened = await openTemporary({ eventLimits: site => limits[site] })
    const kept = async (name: string, rest = {}) => {
      const site = opened.store.site(name)
      const event = { path: '/a', payload: 'p'.repeat(100), ...rest }
      for (let i = 0; i < 30; i++) await done(site, { changes: [], events: [event] })
      await done(site, { changes: [], events: [{ path: '/b', payload: '' }] })
      return (await site.events('/a')).length
    }
    expect(await kept('few')).to.be.within(8, 10)
    expect(await kept('small')).to.be.within(8, 10)
    expect(await kept('judged', { payload: '', facts: 'f'.repeat(100) }), 'with what is known of it').to.be.within(
      8,
      10,
    )
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

  it('EVT-46 EVT-47 what is asked of a path, or removed, goes by its place, not through all events of the site', () => {
    const database = connectReader(opened.folder)
    const plans: string[] = []
    const prepare: Database['prepare'] = sql => {
      if (/path = \?/.test(sql))
        plans.push(
          ...database
            .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
            .all()
            .map(({ detail }) => detail),
        )
      return database.prepare(sql)
    }
    prepareEvents({ database: { ...database, prepare }, clock: Date.now, eventRetention: 1 })
    prepareRetention({ ...database, prepare }, 1)
    const searches = plans.filter(plan => /^(?:SEARCH|SCAN) (?:b|event|event_bundle) /.test(plan))
    expect(searches).to.have.length(10)
    for (const search of searches)
      expect(search).to.match(/event_path \(site=\? AND path=|event_bundle_place \(site=\? AND folder=/)
    database.close()
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
