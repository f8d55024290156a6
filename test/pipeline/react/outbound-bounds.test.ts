/** What visitors can make wait, or fail, is bounded, and looking after it keeps nobody from their turns (REA-95). */

import { getHeapStatistics } from 'node:v8'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { entryOf, FAILED_PREFIX, WAITING_PREFIX } from '../../../pipeline/react/outbound/entry.ts'
import { LARGEST_FAILED, MOST_FAILED } from '../../../pipeline/react/outbound/failed.ts'
import { createOutbound } from '../../../pipeline/react/outbound/queue.ts'
import { PART_OF_HEAP } from '../../../pipeline/react/outbound/waiting.ts'
import type { Note, NoteChange } from '../../../pipeline/store/notes.ts'
import { eventually } from '../../support/eventually.ts'

const ABOUT = { site: 's/é', authority: 'localhost', brand: 'b', brandHeader: 'B', depth: 0 }
const callOf = (body: string) => ({ url: 'https://hooks.example/', method: 'POST', fields: [], body, retries: 0 })

function queue(kept = new Map<string, Note>()) {
  const told: unknown[] = []
  const state = { isAway: false, read: 0, dropped: new Set<string>() }
  const keys = (prefix: string) => [...kept.keys()].filter(key => key.startsWith(prefix)).sort()
  const outbound = createOutbound({
    notes: {
      async note(key) {
        state.read++
        return kept.get(key)
      },
      noteKeys: async (prefix, after, most) =>
        keys(prefix)
          .filter(key => key > after)
          .slice(0, most),
      async changeNotes(changes: readonly NoteChange[]) {
        for (const change of changes) {
          if (change.op === 'keep') kept.set(change.note.key, change.note)
          else if (change.op === 'drop') kept.delete(change.key)
        }
      },
    },
    leases: { hold: (_site, _paths, work) => work() },
    shared: false,
    log: (level, message, details) => {
      if (level === 'warn' && /forgotten/.test(message)) told.push(details)
      if (/dropped/.test(message)) state.dropped.add((details as { site: string }).site)
    },
    send: async () => (state.isAway ? new Promise(() => undefined) : { ok: false, status: 500 }),
  })
  const call = async (bodies: readonly string[], site = ABOUT.site, retries = 0) => {
    const calls = bodies.map(body => ({ ...callOf(body), retries }))
    const entries = outbound.entries(calls, { ...ABOUT, site })
    await outbound.record(entries)
    outbound.dispatch(entries)
    return entries
  }
  const deliver = (bodies: readonly string[], site: string) =>
    outbound.deliver(outbound.entries(bodies.map(callOf), { ...ABOUT, site }))
  return { outbound, kept, keys, told, state, call, deliver }
}

const settled = ({ outbound }: ReturnType<typeof queue>) =>
  eventually(() => expect(outbound.figures()).to.include({ waiting: 0, inFlight: 0 }))

describe('Bounds of outbound requests', () => {
  it('REA-95 of a site so many failed ones are kept, the newest; another site keeps its own', async () => {
    const one = queue()
    await one.call(['other'], 'other')
    const entries = await one.call(Array.from({ length: MOST_FAILED + 50 }, (_, i) => `${i}`))
    await settled(one)
    const bodies = () => one.keys(FAILED_PREFIX).map(key => entryOf(one.kept.get(key) as Note).body)
    expect(bodies()).to.include.members(['other', entries.at(-1)?.body])
    expect(bodies()).not.to.include('0')
    expect(bodies().length - 1).to.be.within(MOST_FAILED * 0.9, MOST_FAILED)
    expect(one.told).to.deep.equal([{ site: ABOUT.site, count: 101 }])
    // The next process counts those that it finds.
    const next = queue(one.kept)
    await next.call(Array.from({ length: 60 }, (_, i) => `next ${i}`))
    await settled(next)
    expect(bodies().length - 1).to.be.within(MOST_FAILED * 0.9, MOST_FAILED)
    expect(bodies()).to.include.members(['other', 'next 59'])
    await Promise.all([one.outbound.close(), next.outbound.close()])
  })

  it('REA-86 attempts that were under way when the process ended count as made, those that waited in line do not', async () => {
    const one = queue()
    one.state.isAway = true
    await one.call(
      Array.from({ length: 10 }, (_, i) => `${i}`),
      ABOUT.site,
      4,
    )
    const attempts = () =>
      one.keys(WAITING_PREFIX).map(key => {
        const { body, attempts } = entryOf(one.kept.get(key) as Note)
        return `${body}: ${attempts}`
      })
    for (const made of [1, 2, 3]) {
      const next = queue(one.kept)
      next.state.isAway = true
      await next.outbound.resume()
      const waited = ['4', '5', '6', '7', '8', '9'].map(body => `${body}: 0`)
      expect(attempts()).to.deep.equal([...['0', '1', '2', '3'].map(body => `${body}: ${made}`), ...waited])
    }
  })

  it('REA-95 of a site failed ones of so many bytes are kept', async () => {
    const one = queue()
    const body = 'x'.repeat(LARGEST_FAILED / 16)
    for (let i = 0; i < 20; i++) await one.call([body])
    await settled(one)
    const count = one.keys(FAILED_PREFIX).length
    expect(count * body.length).to.be.within(LARGEST_FAILED * 0.8, LARGEST_FAILED)
    await one.outbound.close()
  })

  it('REA-95 SEC-12 what stands in no store takes an eighth of the heap for all sites, and leaves room for the next one', async () => {
    const most = getHeapStatistics().heap_size_limit * PART_OF_HEAP
    const size = 1024 * 1024
    const bodies = Array.from({ length: 60 }, () => 'x'.repeat(size))
    const sites = Array.from({ length: Math.ceil(most / (2 * size * 60)) + 2 }, (_, i) => `site-${i}`)
    const one = queue()
    // What is done is held no longer.
    for (let round = 0; round < sites.length; round++) {
      one.deliver(bodies, 'done')
      await settled(one)
    }
    expect(one.state.dropped).to.deep.equal(new Set())
    one.state.isAway = true
    for (const site of sites) one.deliver(bodies, site)
    const { waiting, inFlight } = one.outbound.figures()
    expect((waiting + inFlight) * 2 * size).to.be.within(most / 2, most)
    expect(one.state.dropped.has('site-0')).to.equal(60 * 2 * size > most / 2)
    one.state.dropped.clear()
    one.deliver(['small'], 'another')
    expect(one.state.dropped).to.deep.equal(new Set())
  })

  it('REA-86 what this process sends itself is not read again', async () => {
    const one = queue()
    one.state.isAway = true
    await one.call(Array.from({ length: 2_500 }, () => 'x'))
    await eventually(() => expect(one.outbound.figures()).to.include({ waiting: 2_496, inFlight: 4 }))
    const before = one.state.read
    await one.outbound.resume()
    expect(one.state.read).to.equal(before)
    expect(one.keys(WAITING_PREFIX)).to.have.length(2_500)
    const next = queue(one.kept)
    next.state.isAway = true
    await next.outbound.resume()
    expect(next.outbound.figures()).to.include({ waiting: 2_496, inFlight: 4 })
    await Promise.all([one.outbound.close(), next.outbound.close()])
  })
})
