/** Outbound requests while the store that keeps them is out of reach for a while (REA-86). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Attempted } from '../../../pipeline/react/outbound/attempt.ts'
import { FAILED_PREFIX, WAITING_PREFIX } from '../../../pipeline/react/outbound/entry.ts'
import { createOutbound } from '../../../pipeline/react/outbound/queue.ts'
import type { Note, NoteChange } from '../../../pipeline/store/notes.ts'
import { eventually } from '../../support/eventually.ts'

const CALL = { url: 'https://hooks.example/', method: 'POST', fields: [], body: '', retries: 1 }
const ABOUT = { site: 's', authority: 'localhost', brand: 'b', brandHeader: 'B', depth: 0 }
const DONE: Attempted = { ok: true, status: 204 }
const NO: Attempted = { ok: false, status: 500 }

/** @param outcomes of the attempts of each call */
function queue(outcomes: readonly Attempted[]) {
  const kept = new Map<string, Note>()
  const attempts = new Map<string, number>()
  const errors: string[] = []
  /** Calls of the store that fail from now on. */
  const away = { reads: 0, writes: 0 }
  const keys = (prefix: string) => [...kept.keys()].filter(key => key.startsWith(prefix))
  const fail = (kind: 'reads' | 'writes') => {
    if (away[kind] > 0) throw new Error(`the store is away: ${away[kind]--}`)
  }
  const outbound = createOutbound({
    notes: {
      async note(key) {
        fail('reads')
        return kept.get(key)
      },
      noteKeys: async (prefix, after) => keys(prefix).filter(key => key > after),
      async changeNotes(changes: readonly NoteChange[]) {
        fail('writes')
        for (const change of changes) {
          if (change.op === 'keep') kept.set(change.note.key, change.note)
          else if (change.op === 'drop') kept.delete(change.key)
        }
      },
    },
    leases: { hold: (_site, _paths, work) => work() },
    shared: false,
    firstWait: 1,
    log: (level, message) => void (level === 'error' && errors.push(message)),
    async send({ delivery }) {
      const made = attempts.get(delivery) ?? 0
      attempts.set(delivery, made + 1)
      return outcomes[made] ?? DONE
    },
  })
  return { outbound, attempts, errors, away, keys }
}

describe('Outbound requests while the store is away', () => {
  const cases: [what: string, outcomes: Attempted[], away: { reads: number; writes: number }, failed: number][] = [
    ['when they are to be sent', [DONE], { reads: 40, writes: 0 }, 0],
    ['when they have been sent', [DONE], { reads: 0, writes: 40 }, 0],
    ['when they are to be sent again', [NO, DONE], { reads: 0, writes: 40 }, 0],
    ['when they have failed', [NO, NO], { reads: 0, writes: 40 }, 12],
  ]
  for (const [what, outcomes, away, failed] of cases)
    it(`REA-84 REA-86 ${what}: each goes on when the store is back, and is sent no more often than otherwise`, async () => {
      const made = queue(outcomes)
      const entries = made.outbound.entries(Array(12).fill(CALL), ABOUT)
      await made.outbound.record(entries)
      Object.assign(made.away, away)
      made.outbound.dispatch(entries)
      await eventually(() => {
        expect(made.outbound.figures()).to.include({ waiting: 0, inFlight: 0 })
        expect(made.keys(WAITING_PREFIX)).to.deep.equal([])
      })
      expect([...made.attempts.values()]).to.deep.equal(Array(12).fill(outcomes.length))
      expect(made.keys(FAILED_PREFIX)).to.have.length(failed)
      expect(made.outbound.figures()).to.include({ delivered: 12 - failed, failed })
      expect(made.errors, 'told once for each call in flight at most').to.have.length.within(1, 12)
      await made.outbound.close()
    })
})
