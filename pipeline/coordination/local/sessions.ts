/** Sessions of a single process: at rest as notes of the store, so that they survive its end. */

import type { NoteChange } from '../../store/notes.ts'
import type { Store } from '../../store/store.ts'
import { type Ending, SessionError, type Sessions, type SignedIn } from '../sessions.ts'

export interface LocalSessionsOptions {
  /** Where sessions are kept; stays open when they are closed. */
  store: Pick<Store, 'note' | 'notes' | 'changeNotes'>
  /** Unix milliseconds; the same as the store's. */
  clock?: () => number
}

/** What keys of all notes of sessions begin with. */
export const OF_SESSIONS = 'session'

/** What keys of notes begin with: the sign-in of a session, what it holds, and the mark of one that has ended. */
const SIGNED_IN = OF_SESSIONS
const HELD = `${OF_SESSIONS}-value`
const ENDED = `${OF_SESSIONS}-ended`

/** Marks of ended sessions are looked through whenever so many have been added. */
const SWEEP = 1000

/**
 * Opens the sessions, with those that an earlier process left.
 *
 * @throws SessionError when they cannot be read
 */
export async function openLocalSessions({ store, clock = Date.now }: LocalSessionsOptions): Promise<Sessions> {
  /** Ends of marks in unix milliseconds, by site and id. */
  const ended = new Map<string, number>()
  const listeners = new Set<(site: string, id: string) => void>()
  /** The last change of each session that is being changed; the next one waits for it. */
  const running = new Map<string, Promise<unknown>>()
  let added = 0
  let closed = false

  /** Runs work on the store. */
  async function reach<T>(work: () => Promise<T>): Promise<T> {
    if (closed) throw new SessionError('Sessions are closed')
    try {
      return await work()
    } catch (cause) {
      throw new SessionError('Sessions cannot be read or written', { cause })
    }
  }

  /** Runs changes of one session one after another. */
  function inTurn<T>(site: string, id: string, work: () => Promise<T>): Promise<T> {
    const key = `${site}/${id}`
    const before = running.get(key) ?? Promise.resolve()
    const turn = before.then(() => reach(work))
    const finished = turn.then(
      () => undefined,
      () => undefined,
    )
    running.set(key, finished)
    void finished.then(() => {
      if (running.get(key) === finished) running.delete(key)
    })
    return turn
  }

  function sweep(): void {
    added = 0
    const now = clock()
    for (const [key, until] of ended) if (until <= now) ended.delete(key)
  }

  function hasEnded(site: string, id: string): boolean {
    const until = ended.get(`${site}/${id}`)
    return until !== undefined && until > clock()
  }

  /** Notes what ends a session in the store, then in memory, then tells. */
  async function finish(site: string, { id, until }: Ending, before: readonly NoteChange[]): Promise<void> {
    await store.changeNotes([
      ...before,
      { op: 'drop', key: `${SIGNED_IN}/${site}/${id}` },
      { op: 'drop-all', prefix: `${HELD}/${site}/${id}/` },
      { op: 'keep', note: { key: `${ENDED}/${site}/${id}`, value: '', expires: until } },
    ])
    ended.set(`${site}/${id}`, until)
    if (++added >= SWEEP) sweep()
    for (const listener of listeners) listener(site, id)
  }

  async function find(site: string, id: string): Promise<SignedIn | undefined> {
    const note = await store.note(`${SIGNED_IN}/${site}/${id}`)
    return note && { signIn: JSON.parse(note.value) as SignedIn['signIn'], expires: note.expires }
  }

  for (const { key, expires } of await reach(() => store.notes(`${ENDED}/`))) {
    ended.set(key.slice(ENDED.length + 1), expires)
  }

  return {
    find: (site, id) => reach(() => find(site, id)),
    prolong: (site, id, expires) =>
      inTurn(site, id, async () => {
        const key = `${SIGNED_IN}/${site}/${id}`
        const note = await store.note(key)
        if (note) await store.changeNotes([{ op: 'keep', note: { ...note, expires } }])
      }),
    signIn: (site, id, { signIn, expires }, follows) =>
      inTurn(site, follows.id, async () => {
        if (hasEnded(site, follows.id)) return false
        await finish(site, follows, [
          { op: 'keep', note: { key: `${SIGNED_IN}/${site}/${id}`, value: JSON.stringify(signIn), expires } },
          // By the store, as it may be more than memory has room for: content for as many pages as a visitor wrote to.
          { op: 'move-all', prefix: `${HELD}/${site}/${follows.id}/`, to: `${HELD}/${site}/${id}/` },
        ])
        return true
      }),
    end: (site, ending) => inTurn(site, ending.id, () => finish(site, ending, [])),
    hasEnded,
    isSignedIn: (site, id) => !hasEnded(site, id),
    value: (site, id, name) => reach(async () => (await store.note(`${HELD}/${site}/${id}/${name}`))?.value),
    values: (site, id, prefix) =>
      reach(async () => {
        if (prefix === '') return []
        const start = `${HELD}/${site}/${id}/`
        const notes = await store.notes(start + prefix)
        return notes.map(({ key, value, expires }) => ({ name: key.slice(start.length), value, expires }))
      }),
    keep: (site, id, { name, value, expires }) =>
      inTurn(site, id, async () => {
        if (hasEnded(site, id)) return false
        const key = `${HELD}/${site}/${id}/${name}`
        await store.changeNotes([{ op: 'keep', note: { key, value, expires } }])
        return true
      }),
    take: (site, id, name) =>
      inTurn(site, id, async () => {
        const key = `${HELD}/${site}/${id}/${name}`
        const note = await store.note(key)
        if (note) await store.changeNotes([{ op: 'drop', key }])
        return note?.value
      }),
    onEnd(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      await Promise.all(running.values())
      closed = true
    },
  }
}
