/** What every fan-out must do, run against each of them. */

import { expect } from 'chai'
import { afterEach, it } from 'mocha'
import type { FanOut, Publication, Watcher } from '../../../pipeline/coordination/fan-out.ts'
import type { NewEvent } from '../../../pipeline/store/commit.ts'
import { compareEventIds, parseEventId } from '../../../pipeline/store/event-id.ts'
import type { StoredEvent } from '../../../pipeline/store/events.ts'
import type { Store } from '../../../pipeline/store/store.ts'

/** One fan-out to be tested, with the store whose commits it publishes. */
export interface OpenedFanOut {
  fanOut: FanOut
  store: Store
  /** Settles when everything that was published so far has reached the watchers. */
  arrived(): Promise<void>
  /** Lets time pass, in milliseconds. */
  advance(ms: number): void
  /** Cuts and mends whatever connection it has. */
  disturb(): Promise<void>
  end(): Promise<void>
}

const SITE = 'a.example'
const PATH = '/d.html'
const MINUTE = 60_000

interface Recorder extends Watcher {
  events: StoredEvent[]
  interruptions: number
}

function recorder(): Recorder {
  const found: Recorder = {
    events: [],
    interruptions: 0,
    published: event => void found.events.push(event),
    interrupted: () => void found.interruptions++,
  }
  return found
}

const payloads = (events: readonly StoredEvent[] | undefined) => events?.map(({ payload }) => payload)

/**
 * @param open makes a fan-out on an empty store
 * @param connected it depends on a connection, which can break
 */
export function fanOutContract(open: () => Promise<OpenedFanOut>, { connected }: { connected: boolean }): void {
  const ended: (() => Promise<void>)[] = []
  const opened = async () => {
    const made = await open()
    ended.push(made.end)
    return made
  }
  afterEach(async () => {
    for (const end of ended.splice(0)) await end()
  })

  const drafts = (payload: string, ...paths: string[]): NewEvent[] =>
    (paths.length > 0 ? paths : [PATH]).map(path => ({ path, payload }))

  /** Commits as a site does, with its events; they are settled by the test. */
  async function commit({ fanOut, store }: OpenedFanOut, events: NewEvent[], site = SITE) {
    const publication = fanOut.begin(site, events)
    const result = await store.site(site).commit({ changes: [], events })
    if (!result.ok) throw new Error('the commit was refused')
    return { publication, result }
  }

  async function publish(made: OpenedFanOut, events: NewEvent[], site = SITE): Promise<readonly string[]> {
    const { publication, result } = await commit(made, events, site)
    await publication.finish(result)
    return result.events
  }

  it('EVT-35 tells a watcher of the events of its path and site, in order, with everything that was drafted', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, watcher)
    await publish(made, [{ path: PATH, payload: 'one\ntwo', session: 's', token: 't', facts: '{"keys":[]}' }])
    await publish(made, drafts('other', '/other.html'))
    await publish(made, drafts('elsewhere'), 'b.example')
    await publish(made, drafts('both', '/other.html', PATH))
    await made.arrived()
    expect(payloads(watcher.events)).to.deep.equal(['one\ntwo', 'both'])
    expect(watcher.events[0]).to.include({ path: PATH, session: 's', token: 't', facts: '{"keys":[]}' })
    expect(watcher.events[0]?.id).to.match(/^[0-9]+-[0-9]+$/)
  })

  /** Moves a tree with one file in it, about which the store tells by itself; it is settled by the test. */
  async function moveTree({ fanOut, store }: OpenedFanOut, from: string, to: string) {
    const publication = fanOut.begin(SITE, [], [from, to])
    const tell = { gone: { around: ['gone ', ''] }, come: { around: ['', ' come ', '', ''] }, largestBody: 0 } as const
    const result = await store.site(SITE).commit({ changes: [{ op: 'move', from, to, tell }] })
    if (!result.ok) throw new Error('the commit was refused')
    return { publication, result }
  }

  it('EVT-28 EVT-35 who watches a file of a moved tree hears of it, or reads on from the last event', async () => {
    const made = await opened()
    const bytes = Buffer.from('x')
    const file = { op: 'put', path: '/t/d.html', kind: 'document', type: 'text/html', content: { bytes } } as const
    await made.store.site(SITE).commit({ changes: [file] })
    const watchers = { before: recorder(), meanwhile: recorder(), outside: recorder() }
    made.fanOut.watch(SITE, '/t/d.html', watchers.before)
    made.fanOut.watch(SITE, '/td.html', watchers.outside)
    await made.arrived()
    const { publication, result } = await moveTree(made, '/t/', '/u/')
    made.fanOut.watch(SITE, '/u/d.html', watchers.meanwhile)
    const { after } = await made.fanOut.resume(SITE, '/u/d.html', undefined)
    // What comes later must not overtake it.
    const later = await commit(made, drafts('later', '/t/d.html'))
    await later.publication.finish(later.result)
    expect(watchers.before.events.length).to.equal(0)
    await publication.finish(result)
    await made.arrived()
    const heard = async (watcher: Recorder, path: string, place?: string) =>
      watcher.interruptions > 0
        ? (await made.fanOut.read(SITE, path, place, 10))?.map(({ payload }) => payload)
        : payloads(watcher.events)
    expect(await heard(watchers.before, '/t/d.html')).to.deep.equal(['gone /t/d.html', 'later'])
    expect(await made.fanOut.read(SITE, '/u/d.html', after, 10)).to.deep.equal([])
    expect([watchers.outside.events.length, watchers.outside.interruptions]).to.deep.equal([0, 0])
  })

  it('EVT-28 of a tree whose commit is refused nobody hears', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, '/t/d.html', watcher)
    await made.arrived()
    await made.fanOut.begin(SITE, [], ['/t/']).finish('refused')
    await publish(made, drafts('next', '/t/d.html'))
    await made.arrived()
    expect(payloads(watcher.events)).to.deep.equal(['next'])
    expect(watcher.interruptions).to.equal(0)
  })

  it('several watchers of one path get the very same event, and none after they stopped', async () => {
    const made = await opened()
    const [first, second] = [recorder(), recorder()]
    const stop = made.fanOut.watch(SITE, PATH, first)
    made.fanOut.watch(SITE, PATH, second)
    await publish(made, drafts('1'))
    await made.arrived()
    expect(first.events[0]).to.equal(second.events[0])
    stop()
    stop()
    await publish(made, drafts('2'))
    await made.arrived()
    expect(payloads(first.events)).to.deep.equal(['1'])
    expect(payloads(second.events)).to.deep.equal(['1', '2'])
  })

  it('a watcher that throws keeps nothing from the others', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, {
      published: () => {
        throw new Error('on purpose')
      },
      interrupted: () => undefined,
    })
    made.fanOut.watch(SITE, PATH, watcher)
    await publish(made, drafts('1'))
    await made.arrived()
    expect(payloads(watcher.events)).to.deep.equal(['1'])
  })

  it('EVT-35 publishes nothing before the commit is settled, and nothing of one that was refused', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, watcher)
    const { publication, result } = await commit(made, drafts('1'))
    await made.arrived()
    expect(watcher.events).to.deep.equal([])
    await publication.finish(result)
    await made.fanOut.begin(SITE, drafts('never')).finish('refused')
    await made.arrived()
    expect(payloads(watcher.events)).to.deep.equal(['1'])
  })

  it('EVT-35 commits of a path that are settled in another order are published in that of their ids', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, watcher)
    const open: { publication: Publication; result: { version: number; events: string[] } }[] = []
    for (const payload of ['1', '2', '3']) open.push(await commit(made, drafts(payload)))
    for (const { publication, result } of [open[2], open[0], open[1]].filter(each => each !== undefined))
      await publication.finish(result)
    await made.arrived()
    expect(payloads(watcher.events)).to.deep.equal(['1', '2', '3'])
    const ids = watcher.events.map(({ id }) => parseEventId(id) ?? { ms: 0, seq: 0 })
    for (const [i, id] of ids.entries()) {
      const before = ids[i - 1]
      if (before) expect(compareEventIds(before, id)).to.be.below(0)
    }
  })

  it('a commit that is refused, or of which nothing is known, holds nobody back for ever', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, watcher)
    const refused = made.fanOut.begin(SITE, drafts('refused'))
    const unknown = made.fanOut.begin(SITE, drafts('unknown'))
    const { publication, result } = await commit(made, drafts('1'))
    await publication.finish(result)
    await refused.finish('refused')
    await unknown.finish('unknown')
    await made.arrived()
    expect(payloads(watcher.events)).to.deep.equal(['1'])
    expect(watcher.interruptions).to.equal(1)
  })

  it('EVT-47 reads the kept events behind a place, oldest first, at most so many', async () => {
    const made = await opened()
    const ids: string[] = []
    for (const payload of ['1', '2', '3']) ids.push(...(await publish(made, drafts(payload))))
    const read = async (after: string | undefined, limit = 10) =>
      payloads(await made.fanOut.read(SITE, PATH, after, limit))
    expect(await read(undefined)).to.deep.equal(['1', '2', '3'])
    expect(await read(ids[0])).to.deep.equal(['2', '3'])
    expect(await read(ids[0], 1)).to.deep.equal(['2'])
    expect(await read(ids[2])).to.deep.equal([])
    expect(await made.fanOut.read(SITE, '/none.html', undefined, 10)).to.deep.equal([])
  })

  it('EVT-36 what is read is what was published', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, watcher)
    await publish(made, [{ path: PATH, payload: 'a\n\n<p>\u00e9 \u{1f600}</p>', session: 's', facts: '{}' }])
    await made.arrived()
    expect(await made.fanOut.read(SITE, PATH, undefined, 10)).to.deep.equal(watcher.events)
  })

  it('EVT-47 EVT-49 resumes behind the last event, and for one who brings none at the newest', async () => {
    const made = await opened()
    const [first] = await publish(made, drafts('1'))
    const [second] = await publish(made, drafts('2'))
    const resume = (last: string | undefined) => made.fanOut.resume(SITE, PATH, last)
    expect(await resume(undefined)).to.deep.equal({ after: second, gap: false })
    expect(await resume(first)).to.deep.equal({ after: first, gap: false })
    expect(await resume(second)).to.deep.equal({ after: second, gap: false })
    expect(await made.fanOut.resume(SITE, '/none.html', undefined)).to.deep.equal({ after: undefined, gap: false })
  })

  it('EVT-49 an id later than every known one stands for the newest', async () => {
    const made = await opened()
    const [newest] = await publish(made, drafts('1'))
    for (const later of ['9999999999999-0', `${'9'.repeat(40)}-0`, `${'9'.repeat(4000)}-0`]) {
      expect(await made.fanOut.resume(SITE, PATH, later), later).to.deep.equal({ after: newest, gap: false })
      expect(await made.fanOut.resume(SITE, '/none.html', later)).to.deep.equal({ after: undefined, gap: false })
    }
  })

  it('EVT-49 an id that is none, or older than what is kept, leaves a gap', async () => {
    const made = await opened()
    const [first] = await publish(made, drafts('1'))
    const [newest] = await publish(made, drafts('2'))
    for (const id of ['x', '1', '1000-0', '-1-0', `${first} `, `${first}-0`])
      expect(await made.fanOut.resume(SITE, PATH, id), id).to.deep.equal({ after: newest, gap: true })
    made.advance(11 * MINUTE)
    expect(await made.fanOut.resume(SITE, PATH, first)).to.deep.equal({ after: newest, gap: true })
    expect(await made.fanOut.resume(SITE, PATH, newest)).to.deep.equal({ after: newest, gap: false })
  })

  it('EVT-49 reading on from an old place works as long as nothing behind it has gone', async () => {
    const made = await opened()
    const [place] = await publish(made, drafts('1'))
    made.advance(60 * MINUTE)
    await publish(made, drafts('2'))
    expect(payloads(await made.fanOut.read(SITE, PATH, place, 10))).to.deep.equal(['2'])
    made.advance(11 * MINUTE)
    await publish(made, drafts('3'))
    expect(await made.fanOut.read(SITE, PATH, place, 10)).to.equal(undefined)
  })

  it('EVT-47 between reading and watching nothing is lost or doubled', async () => {
    const made = await opened()
    const first = await publish(made, drafts('0'))
    const writing = (async () => {
      for (let i = 1; i <= 40; i++) await publish(made, drafts(String(i)))
    })()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, watcher)
    const read = (await made.fanOut.read(SITE, PATH, first[0], 100)) ?? []
    await writing
    await made.arrived()
    const seen = new Map([...read, ...watcher.events].map(({ id, payload }) => [id, payload]))
    expect([...seen.values()]).to.have.length(40)
    expect(watcher.events.at(-1)?.payload).to.equal('40')
  })

  if (!connected) return

  it('EVT-81 after a disturbance every event is delivered, or the watcher knows that it has to read', async () => {
    const made = await opened()
    const watcher = recorder()
    made.fanOut.watch(SITE, PATH, watcher)
    await publish(made, drafts('1'))
    await made.disturb()
    await publish(made, drafts('2'))
    await made.arrived()
    const read = payloads(await made.fanOut.read(SITE, PATH, undefined, 10)) ?? []
    expect(read).to.deep.equal(['1', '2'])
    if (watcher.interruptions === 0) expect(payloads(watcher.events)).to.deep.equal(['1', '2'])
  })
}
