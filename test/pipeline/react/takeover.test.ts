/** Of several processes that send from one store, the others take over the calls of one that is gone (REA-86). */

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import {
  type Entry,
  entryOf,
  keepWaiting,
  newEntry,
  ownerKey,
  WAITING_PREFIX,
} from '../../../pipeline/react/outbound/entry.ts'
import { createOutbound } from '../../../pipeline/react/outbound/queue.ts'
import type { Note, NoteChange } from '../../../pipeline/store/notes.ts'
import { startRedis } from '../../pipeline/coordination/redis-server.ts'
import { eventually } from '../../support/eventually.ts'
import { startServer } from '../../support/server.ts'
import { startCrashProcess } from './crash-process.ts'
import { receiver } from './receiver.ts'
import { ask } from './site.ts'

/** Processes that share what is kept; of those called dead no call comes to its end. */
function processes() {
  const kept = new Map<string, Note>()
  let now = 1_000_000
  const isThere = ({ expires }: Note) => expires > now
  const notes = {
    note: async (key: string) => [...kept.values()].find(note => note.key === key && isThere(note)),
    noteKeys: async (prefix: string, after: string) =>
      [...kept.values()]
        .filter(note => note.key.startsWith(prefix) && isThere(note))
        .flatMap(({ key }) => (key > after ? [key] : [])),
    async changeNotes(changes: readonly NoteChange[]) {
      for (const change of changes) {
        if (change.op === 'keep') kept.set(change.note.key, change.note)
        else if (change.op === 'drop') kept.delete(change.key)
      }
    },
  }
  const leases = { hold: <T>(_site: string, _paths: readonly string[], work: () => Promise<T>) => work() }
  const sent: string[] = []
  const process = (name: string) =>
    createOutbound({
      notes,
      leases,
      shared: true,
      log: () => undefined,
      clock: () => now,
      async send({ delivery, attempts }: Entry) {
        sent.push(`${name} ${delivery} ${attempts}`)
        return name === 'dead' ? new Promise(() => undefined) : { ok: true, status: 204 }
      },
    })
  return { kept, notes, sent, process, now: () => now, later: (by: number) => (now += by) }
}

describe('Calls of a process that was killed', () => {
  it('REA-86 the other process sends them, once each, those under way again, with the same delivery id', async () => {
    let isHeld = true
    const to = await receiver((_, response) => {
      if (!isHeld) response.writeHead(204).end()
    })
    const redis = await startRedis()
    const data = await mkdtemp(join(tmpdir(), 'scriptorium-takeover-'))
    const first = await startCrashProcess(data, `${to.url}/hook`, redis.url)
    const second = await startServer({ data, settings: { redis: redis.url }, site: { allowOutbound: true } })
    try {
      const paths = Array.from({ length: 8 }, (_, i) => `/d/${i}.html`)
      const replies = await Promise.all(paths.map(path => ask(first.origin, 'PUT', path, { body: '<p>x' })))
      expect(replies.map(({ status }) => status)).to.deep.equal(paths.map(() => 201))
      // Four to one host are under way; the others wait.
      await eventually(() => expect(to.got).to.have.length(4))
      const { outbound, store } = second.running
      await outbound.resume()
      expect(outbound.figures(), 'while the first is alive').to.include({ waiting: 0, inFlight: 0 })
      await first.kill()
      const [note] = await store.notes(WAITING_PREFIX)
      const owner = note ? entryOf(note).owner : ''
      expect(await store.note(ownerKey(owner))).not.to.equal(undefined)
      // What the first has said of itself runs out.
      await store.changeNotes([{ op: 'drop', key: ownerKey(owner) }])
      isHeld = false
      await outbound.resume()
      await eventually(() => expect(outbound.figures()).to.include({ waiting: 0, inFlight: 0, delivered: 8 }))
      const [early, late] = [to.got.slice(0, 4), to.got.slice(4)]
      const named = ({ url, headers }: (typeof late)[number]) => `${url} ${String(headers['platform-delivery'])}`
      expect(late.map(({ url }) => url).sort()).to.deep.equal(paths.map(path => `/hook${path}`))
      expect(late.map(named)).to.include.members(early.map(named))
      expect(new Set(late.map(({ headers }) => headers['platform-delivery'])).size).to.equal(8)
      expect(await store.notes(WAITING_PREFIX)).to.deep.equal([])
    } finally {
      await first.kill()
      await second.close()
      await redis.stop()
      await to.close()
    }
  })

  it('REA-86 a process counts as gone half a minute after it has last said that it is there', async () => {
    const { kept, sent, process, later } = processes()
    const [dead, alive] = [process('dead'), process('alive')]
    const call = { url: 'https://hooks.example/', method: 'POST', fields: [], body: '', retries: 0 }
    const about = { site: 's', authority: 'localhost', brand: 'b', brandHeader: 'B', depth: 0 }
    const [entry] = dead.entries([call], about)
    if (!entry) throw new Error('no entry')
    await dead.record([entry])
    dead.dispatch([entry])
    await eventually(() => expect(sent).to.deep.equal([`dead ${entry.delivery} 0`]))
    later(29_999)
    await alive.resume()
    expect(sent).to.have.length(1)
    later(1)
    await alive.resume()
    await eventually(() => expect(sent).to.deep.equal([`dead ${entry.delivery} 0`, `alive ${entry.delivery} 0`]))
    await eventually(() => expect([...kept.keys()].some(key => key.startsWith(WAITING_PREFIX))).to.equal(false))
    await Promise.all([alive.close(), dead.close()])
  })

  it('REA-86 those count as tried that stood first in the line: by when they were due, not by when they were queued', async () => {
    const { notes, sent, process, now } = processes()
    const call = { url: 'https://hooks.example/', method: 'POST', fields: [], body: '', retries: 9 }
    const about = { site: 's', authority: 'localhost', brand: 'b', brandHeader: 'B', depth: 0, owner: 'gone' }
    // Four to one host are under way at most; the one that was queued first is tried again behind them.
    const entries = Array.from({ length: 5 }, (_, i) => ({
      ...newEntry(call, about, now()),
      due: now() - i,
      delivery: `${i}`,
    }))
    await notes.changeNotes(entries.map(keepWaiting))
    const alive = process('alive')
    await alive.resume()
    await eventually(() => expect(sent).to.have.length(5))
    expect(sent.sort()).to.deep.equal(['alive 0 0', 'alive 1 1', 'alive 2 1', 'alive 3 1', 'alive 4 1'])
    await alive.close()
  })

  for (const owner of ['gone', 'there'])
    it(`SEC-12 others have their turns while it is read what waits, and whose it is: ${owner}`, async () => {
      const { notes, process, now } = processes()
      const call = { url: 'https://hooks.example/', method: 'POST', fields: [], body: '', retries: 9 }
      const about = { site: 's', authority: 'localhost', brand: 'b', brandHeader: 'B', depth: 0, owner }
      const note = { key: ownerKey('there'), value: '', expires: now() + 1 }
      const entries = Array.from({ length: 50 }, () => keepWaiting(newEntry(call, about, now())))
      await notes.changeNotes([...entries, { op: 'keep', note }])
      let turn = 0
      const next = () => {
        turn++
        turning = setImmediate(next)
      }
      let turning = setImmediate(next)
      const turns: number[] = []
      const read = notes.note
      notes.note = key => {
        turns.push(turn)
        return read(key)
      }
      const alive = process('alive')
      await alive.resume()
      clearImmediate(turning)
      expect(new Set(turns.slice(0, 50)).size).to.be.at.least(40)
      await alive.close()
    })
})
