/** The outbound requests of one request: those that come before its commit are stored with it (REA-86). */

import type { NoteChange } from '../../store/notes.ts'
import type { Alongside } from '../../write/commit.ts'
import type { OutboundCall } from '../calls.ts'
import { type Entry, waitingKey } from './entry.ts'
import type { Outbound } from './queue.ts'

export interface RequestCalls extends Alongside {
  add(call: OutboundCall): void
  isEmpty(): boolean
  /** Stores what no commit has stored, before the answer is sent. @throws StoreError */
  record(): Promise<void>
  /** To be called once the answer is sent. */
  dispatch(): void
}

/** @param about the request that the calls come from */
export function requestCalls(outbound: Outbound, about: Parameters<Outbound['entries']>[1]): RequestCalls {
  const entries: Entry[] = []
  const stored = new Set<string>()
  const isOpen = ({ id }: Entry) => !stored.has(waitingKey(id))
  return {
    add: call => void entries.push(...outbound.entries([call], about)),
    isEmpty: () => entries.length === 0,
    notes: () => outbound.notes(entries.filter(isOpen)),
    stored(notes: readonly NoteChange[]) {
      for (const note of notes) if (note.op === 'keep') stored.add(note.note.key)
    },
    record: () => outbound.record(entries.filter(isOpen)),
    dispatch: () => outbound.dispatch(entries),
  }
}
