import { expect } from 'chai'
import type { Change, Expectation } from '../../../../pipeline/store/commit.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { done, type Open, type Opened, put, putBlob, START } from '../fixture.ts'

const MINUTE = 60_000

/** Events and their retention (EVT-45 to 49), whatever the store. */
export function describeEvents(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  /** Commits one event on a path and returns its id. */
  async function emit(path: string, payload = 'p'): Promise<string> {
    const [id = ''] = (await done(site, { changes: [put(path, payload)], events: [{ path, payload }] })).events
    return id
  }
  const ids = async (path: string, after?: string) => (await site.events(path, after)).map(({ id }) => id)
  /** Lets the store clean up behind what it answered. */
  const settle = async () => {
    await done(site, [put('/settle', '')])
    await done(site, [put('/settle', '')])
  }

  it('EVT-45 ids are commit time and a counter, rising within the site', async () => {
    expect(await emit('/a')).to.equal(`${START}-0`)
    expect(await emit('/b')).to.equal(`${START}-1`)
    opened.clock.now += 1
    expect(await emit('/a')).to.equal(`${START + 1}-0`)
  })

  it('EVT-45 ids of what follows from a write rise above its own, and the next ones above them', async () => {
    const follows = { payload: '', follows: true as const }
    const commit = () =>
      done(site, {
        changes: [],
        events: [{ path: '/a', payload: '' }, ...['/b', '/c', '/d'].map(path => ({ path, ...follows }))],
      })
    const counters = [...(await commit()).events, ...(await commit()).events].map(id => Number(id.split('-')[1]))
    expect(counters[0]).to.equal(0)
    for (const [at, counter] of counters.entries()) {
      const before = at < 4 ? counters.slice(0, at > 0 ? 1 : 0) : counters.slice(0, at > 4 ? 5 : 4)
      expect(counter, `${counters}`).to.be.above(Math.max(-1, ...before))
    }
    expect(new Set(counters).size).to.equal(8)
    expect(counters[1]).to.not.equal(1)
    for (const path of ['/a', '/b', '/c', '/d']) expect(await ids(path)).to.have.length(2)
    const several = Array.from({ length: 20 }, (_, i) => ({ path: `/e${i % 2}`, ...follows }))
    const made = (await done(site, { changes: [], events: several })).events
    for (const first of [0, 1]) expect(await ids(`/e${first}`)).to.deep.equal(made.filter((_, i) => i % 2 === first))
  })

  it('EVT-45 when the clock steps back the timestamp is held, after a restart too', async () => {
    await emit('/a')
    opened.clock.now -= 5000
    expect(await emit('/a')).to.equal(`${START}-1`)
    site = (await opened.reopen()).site('example.org')
    expect(await emit('/a')).to.equal(`${START}-2`)
    opened.clock.now = START + 1
    expect(await emit('/a')).to.equal(`${START + 1}-0`)
  })

  it('the events of a commit come back with its version, in the order of the drafts', async () => {
    const drafts = [
      { path: '/a', payload: 'one\ntwo', session: 's', token: 't', facts: '{"x":1}' },
      { path: '/b', payload: '' },
    ]
    const { version, events } = await done(site, { changes: [put('/a', '1')], events: drafts })
    expect(events).to.deep.equal([`${START}-0`, `${START}-1`])
    const stored = drafts.map((draft, i) => ({ ...draft, id: events[i], version }))
    expect(await site.allEvents(undefined, 10)).to.deep.equal(stored)
    expect(await site.events('/a')).to.deep.equal([stored[0]])
  })

  describe('EVT-46 the event of a new document tells its text, whatever becomes of the document', () => {
    const path = '/d/a.html'
    /** Saves a document with an event about its bytes as text. */
    const save = (bytes: Uint8Array, expect?: Expectation) => {
      const text = new TextDecoder().decode(bytes)
      const event = { path, payload: `<é ${text}>`, text: { start: 3, length: text.length } }
      const content = { bytes }
      const change = { op: 'put' as const, path, expect, kind: 'document' as const, content, type: 'text/html' }
      return done(site, { changes: [change], events: [event] })
    }
    const told = async () => (await site.events(path)).map(({ payload }) => payload)

    for (const [what, changes] of [
      ['stays', []],
      ['is saved again', [put(path, 'two')]],
      ['becomes a blob', [putBlob(path, Buffer.alloc(300_000))]],
      ['is deleted', [{ op: 'delete', path }]],
      ['is deleted and saved', [{ op: 'delete', path }, put(path, 'two')]],
      ['goes with its collection', [{ op: 'delete', path: '/d/' }]],
      ['moves', [{ op: 'move', from: path, to: '/b.html' }]],
      ['gives way to another', [put('/b.html', 'b'), { op: 'move', from: '/b.html', to: path }]],
      ['is copied, and its copy saved', [{ op: 'copy', from: path, to: '/b.html', deep: false }, put('/b.html', 'b')]],
    ] as const satisfies [string, Change[]][])
      it(`which ${what}`, async () => {
        await save(Buffer.from('eins ä'), 'absent')
        for (const change of changes) await done(site, [change])
        await settle()
        expect(await told()).to.deep.equal(['<é eins ä>'])
      })

    for (const [what, bytes] of [
      ['begins with a byte order mark', Buffer.from('\ufeffx')],
      ['is not UTF-8', Buffer.from('a\x80b', 'latin1')],
      ['is empty', Buffer.alloc(0)],
    ] as const)
      it(`which ${what}`, async () => {
        await save(bytes, 'absent')
        expect(await told()).to.deep.equal([`<é ${new TextDecoder().decode(bytes)}>`])
      })

    it('each event of one that is saved again and again tells its own', async () => {
      let { version } = await save(Buffer.from('0'), 'absent')
      for (let i = 1; i < 5; i++) ({ version } = await save(Buffer.from(`${i}`), i % 2 ? version : undefined))
      await done(site, [{ op: 'delete', path }])
      await save(Buffer.from('5'), 'absent')
      await settle()
      expect(await told()).to.deep.equal(Array.from({ length: 6 }, (_, i) => `<é ${i}>`))
    })

    it('when something else is done with the same commit', async () => {
      const event = { path, payload: '<one>', text: { start: 1, length: 3 } }
      const first = { ...put(path, 'one'), expect: 'absent' as const }
      const property = { namespace: 'u:x', name: 'a', value: 'b' }
      const changes: Change[] = [first, { op: 'describe', path, set: [property], remove: [] }, put('/c.html', 'c')]
      await done(site, { changes, events: [event] })
      await done(site, [{ op: 'delete', path }])
      await done(site, { changes: [first, { op: 'move', from: path, to: '/e.html' }], events: [event] })
      await settle()
      expect(await told()).to.deep.equal(['<one>', '<one>'])
    })
  })

  it('EVT-47 events after an id, compared as two numbers', async () => {
    opened.clock.now = START
    const given: string[] = []
    for (let i = 0; i < 12; i++) given.push(await emit('/a'))
    await emit('/b')
    expect(await ids('/a')).to.deep.equal(given)
    expect(await ids('/a', given[1])).to.deep.equal(given.slice(2))
    expect(await ids('/a', given[9])).to.deep.equal(given.slice(10))
    expect(await ids('/a', given[11])).to.deep.equal([])
    expect(await ids('/a', '1000-0')).to.deep.equal(given)
    expect(await ids('/a', '99999999999999999999999-0')).to.deep.equal([])
    expect(await ids('/a', 'nonsense')).to.deep.equal([])
  })

  it('events of the site come in pages', async () => {
    const given: string[] = []
    for (const path of ['/a', '/b', '/a', '/c']) given.push(await emit(path))
    const page = async (after: string | undefined) => (await site.allEvents(after, 2)).map(({ id }) => id)
    expect(await page(undefined)).to.deep.equal(given.slice(0, 2))
    expect(await page(given[1])).to.deep.equal(given.slice(2))
    expect(await page(given[3])).to.deep.equal([])
  })

  it('EVT-46 events are kept for ten minutes', async () => {
    const first = await emit('/a')
    opened.clock.now += 10 * MINUTE
    const second = await emit('/a')
    expect(await ids('/a')).to.deep.equal([first, second])
    opened.clock.now += 1
    expect(await ids('/a')).to.deep.equal([second])
    expect((await site.allEvents(undefined, 10)).map(({ id }) => id)).to.deep.equal([second])
  })

  it('EVT-49 the newest id of a path is known for a day', async () => {
    const id = await emit('/a')
    opened.clock.now += 23 * 60 * MINUTE
    await settle()
    expect(await site.newestEvent('/a')).to.equal(id)
    expect(await site.newestEvent('/b')).to.equal(undefined)
    opened.clock.now += 2 * 60 * MINUTE
    await settle()
    expect(await site.newestEvent('/a')).to.equal(undefined)
  })

  it('EVT-49 an old newest id and recent ids are continuous, others are not', async () => {
    const first = await emit('/a')
    const second = await emit('/a')
    const quiet = await emit('/quiet')
    expect(await site.continuous('/a', first)).to.equal(true)
    expect(await site.continuous('/a', second)).to.equal(true)
    expect(await site.continuous('/a', '99999999999999-0')).to.equal(true)
    expect(await site.continuous('/a', '1000-0')).to.equal(false)
    expect(await site.continuous('/none', '1000-0')).to.equal(false)
    for (const none of ['', 'x', '1', '1-', '-1', '1-2-3', ' 1-2', '1e3-0']) {
      expect(await site.continuous('/a', none), none).to.equal(false)
    }
    opened.clock.now += 11 * MINUTE
    for (const cleaned of [false, true]) {
      if (cleaned) await settle()
      expect(await site.continuous('/quiet', quiet)).to.equal(true)
      expect(await site.continuous('/a', second)).to.equal(true)
      expect(await site.continuous('/a', first)).to.equal(false)
    }
  })

  it('EVT-46 at most 10,000 events and 16 MiB are kept per path; who missed some is told', async () => {
    const many = Array.from({ length: 2000 }, () => ({ path: '/many', payload: 'x' }))
    const first = await emit('/many')
    for (let i = 0; i < 6; i++) await done(site, { changes: [], events: many })
    const large = 'y'.repeat(3 * 1024 * 1024)
    const old = await emit('/large', large)
    let last = ''
    for (let i = 0; i < 7; i++) last = await emit('/large', large)
    await settle()
    const kept = await site.events('/many')
    expect(kept.length).to.be.within(8000, 10_000)
    expect(await site.continuous('/many', first)).to.equal(false)
    expect(await site.continuous('/many', kept[0]?.id ?? '')).to.equal(true)
    expect((await site.events('/large')).length).to.be.within(3, 5)
    expect(await site.continuous('/large', old)).to.equal(false)
    expect(await site.newestEvent('/large')).to.equal(last)
  })
}
