/** Locks of a single process: in memory, and in a journal beside the store so that they survive the end of the process. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  LONGEST_LOCK,
  type Lock,
  LockError,
  type LockRequest,
  type Locks,
  MOST_LOCKS,
  MOST_SHARED,
  type Taken,
} from '../locks.ts'
import { encodeEntry, type JournalEntry, readEntry } from './locks-entries.ts'
import { type Journal, openJournal } from './locks-journal.ts'
import { type HeldLock, LockMemory } from './locks-memory.ts'

/** Locks whose time has come that are dropped without a pause. */
const DROPPED_PER_TURN = 4_096

/** How many times what one site may hold all may hold together, about: each may hold a first one. */
const ROOM = 2

/** Sites of which it is known when a lock was taken on them last: clients can invent hosts that are sites. */
export const MOST_SITES = 10_000

/** Name of the journal inside the store's folder. */
const JOURNAL = 'locks.journal'

export interface LocalLocksOptions {
  /** Folder of the embedded store, which must exist; without it locks end with the process. */
  folder?: string
  /** Unix milliseconds. */
  clock?: () => number
  /** Locks of one site at most. */
  most?: number
}

/**
 * Opens the locks, with those that an earlier process left in the folder.
 *
 * @throws LockError when the journal cannot be read or written
 */
export async function openLocalLocks(options: LocalLocksOptions = {}): Promise<Locks> {
  const { folder, clock = Date.now, most = MOST_LOCKS } = options
  const memory = new LockMemory()
  const journal = folder === undefined ? undefined : await open(join(folder, JOURNAL), memory)
  /** By site the last lock that was taken on it, by its number among those of all sites. */
  const taken = new Map<string, number>()
  let numbered = 0
  /** The last one that was taken when all sites were forgotten. */
  let forgotten = 0
  let closed = false
  let dropping: Promise<void> | undefined
  /** When somebody looked last. */
  let looked = Number.POSITIVE_INFINITY

  function checkOpen(): void {
    if (closed) throw new LockError('Locks are closed')
  }

  /** The locks in effect now; undefined where so many have expired that they are dropped in turns. */
  function present(): LockMemory | undefined {
    checkOpen()
    const now = clock()
    // Locks that were taken while the clock was ahead would last as much longer when it is set right.
    if (now < looked) memory.shorten(now + LONGEST_LOCK * 1000)
    looked = now
    if (!dropping && memory.dropExpired(now, DROPPED_PER_TURN)) return memory
    dropping ??= dropInTurns().finally(() => {
      dropping = undefined
    })
    return undefined
  }

  async function dropInTurns(): Promise<void> {
    do await setImmediate()
    while (!memory.dropExpired(clock(), DROPPED_PER_TURN))
  }

  /** The same, to be awaited where they are not known at once. */
  async function presentLater(): Promise<LockMemory> {
    await dropping
    return present() ?? presentLater()
  }

  const heldIn = (locks: LockMemory, site: string, token: string): HeldLock | undefined => {
    const found = locks.find(token)
    return found?.site === site ? found : undefined
  }

  async function record(entry: JournalEntry): Promise<void> {
    try {
      await journal?.append(encodeEntry(entry))
    } catch (cause) {
      throw new LockError('Locks cannot be written to disk', { cause })
    }
  }

  async function take(site: string, request: LockRequest): Promise<Taken> {
    const locks = present() ?? (await presentLater())
    const tree = locks.of(site)
    const conflict = tree?.conflict(request)
    if (conflict) return { ok: false, reason: 'conflict', holder: conflict.holder.lock, below: conflict.below }
    // No site may have more than what is left for all others: the memory is that of all.
    const room = Math.min(most, most * ROOM - locks.weight)
    const isFull =
      tree && (tree.weight >= room || (request.scope === 'shared' && tree.on(request.path).length >= MOST_SHARED))
    if (isFull) return { ok: false, reason: 'full' }
    const { path, scope, depth, owner, user, seconds } = request
    const token = `opaquelocktoken:${randomUUID()}`
    const lock: Lock = { token, path, scope, depth, owner, user, expires: clock() + seconds * 1000 }
    const held = memory.add(site, lock)
    if (taken.size >= MOST_SITES) {
      taken.clear()
      forgotten = numbered
    }
    taken.set(site, ++numbered)
    try {
      await record({ site, take: lock })
    } catch (error) {
      memory.drop(held)
      throw error
    }
    return { ok: true, lock }
  }

  async function end(ended: readonly HeldLock[]): Promise<void> {
    if (ended.length === 0) return
    for (const each of ended) memory.drop(each)
    await record({ end: ended.map(({ lock }) => lock.token) })
  }

  return {
    take,
    taken: site => taken.get(site) ?? forgotten,
    async find(site, token) {
      return heldIn(present() ?? (await presentLater()), site, token)?.lock
    },
    async on(site, path) {
      return locksOf((present() ?? (await presentLater())).of(site)?.on(path))
    },
    async onMembers(site, collection) {
      return locksOf((present() ?? (await presentLater())).of(site)?.onMembers(collection))
    },
    async below(site, path, limit) {
      return locksOf((present() ?? (await presentLater())).of(site)?.below(path, limit))
    },
    async refresh(site, token, seconds) {
      const found = heldIn(present() ?? (await presentLater()), site, token)
      if (!found) return undefined
      memory.prolong(found, clock() + seconds * 1000)
      const { lock } = found
      await record({ refresh: token, expires: lock.expires })
      return lock
    },
    async end(site, token) {
      const found = heldIn(present() ?? (await presentLater()), site, token)
      if (found) await end([found])
      return found !== undefined
    },
    async endAll(site, tokens) {
      checkOpen()
      // At once: who does not find any more what they were on must not find them either.
      await end(tokens.flatMap(token => heldIn(memory, site, token) ?? []))
    },
    async keepAlive(site, user, tokens) {
      const kept: HeldLock[] = []
      const locks = present() ?? (await presentLater())
      for (const token of tokens) {
        const found = heldIn(locks, site, token)
        if (found?.lock.user === user) kept.push(found)
      }
      for (const each of kept) each.holds++
      return {
        async release() {
          for (const each of kept.splice(0)) {
            each.holds--
            memory.reconsider(each)
          }
        },
      }
    },
    async close() {
      closed = true
      await journal?.close()
    },
  }
}

function locksOf(entries: readonly HeldLock[] | undefined): Lock[] {
  return entries ? entries.map(({ lock }) => lock) : []
}

async function open(file: string, memory: LockMemory): Promise<Journal> {
  try {
    return await openJournal({ file, replay: line => replay(line, memory), state: () => entries(memory) })
  } catch (cause) {
    throw new LockError('The journal of locks cannot be opened', { cause })
  }
}

function replay(line: string, memory: LockMemory): void {
  const entry = readEntry(line)
  if (!entry) return
  if ('take' in entry) {
    dropToken(memory, entry.take.token)
    dropEnded(memory, entry.site, entry.take)
    memory.add(entry.site, entry.take)
  } else if ('refresh' in entry) {
    const held = memory.find(entry.refresh)
    if (held) memory.prolong(held, entry.expires)
  } else for (const token of entry.end) dropToken(memory, token)
}

function dropToken(memory: LockMemory, token: string): void {
  const held = memory.find(token)
  if (held) memory.drop(held)
}

/** A lock that was granted proves that those in its way had ended, whatever the clock says now. */
function dropEnded(memory: LockMemory, site: string, granted: Lock): void {
  for (;;) {
    const ended = memory.of(site)?.conflict(granted)
    if (ended === undefined) return
    memory.drop(ended.holder)
  }
}

/** The present locks as lines. Locks come and go while the lines are fetched, so each is looked up when its turn comes. */
function* entries(memory: LockMemory): Iterable<string> {
  for (const token of memory.tokens()) {
    const held = memory.find(token)
    if (held) yield encodeEntry({ site: held.site, take: held.lock })
  }
}
