/**
 * Drafts and helper files go with what is moved, copied or removed on the site. No commit spans both: that of the site
 * keeps a note of what is to follow, which goes with the commit that brings it about. Where the process ends between them,
 * or the second fails, the note is found and carried out later.
 */

import { randomUUID } from 'node:crypto'
import type { Note } from '../../pipeline/store/notes.ts'
import type { Alongside } from '../../pipeline/write/commit.ts'
import type { Exchange } from '../exchange.ts'
import { afterCommit } from '../locks/after-commit.ts'
import type { Mount } from '../mount.ts'
import type { Noted, Unpublished } from './unpublished.ts'

/** What has happened on the site. */
export type Followed = { op: 'remove'; path: string } | { op: 'move' | 'copy'; from: string; to: string; deep: boolean }

export interface Following {
  /** Stored with the commit of the site. */
  alongside: Alongside
  /** To be called under the leases of the paths: whether anything is to follow. */
  look(): Promise<void>
  /** Has it follow, once the site has changed. */
  carryOut(): Promise<void>
}

/** Milliseconds that a note is kept, and in which it may be the work of another process that is alive. */
const KEPT = 30 * 24 * 60 * 60_000
const OTHERS = 60_000

/** How often what others change meanwhile may be in the way. */
const ATTEMPTS = 5

const prefixOf = ({ site }: Pick<Mount, 'site'>) => `follow/${encodeURIComponent(site.store.name)}/`

export function following(exchange: Pick<Exchange, 'mount' | 'alongside'>, followed: Followed): Following {
  const { mount, alongside } = exchange
  const { unpublished } = mount
  const now = Date.now()
  const note: Note = {
    key: prefixOf(mount) + randomUUID(),
    value: JSON.stringify({ ...followed, at: now }),
    expires: now + KEPT,
  }
  let isNoted = false
  return {
    alongside: {
      notes: () => [...(alongside?.notes() ?? []), ...(isNoted ? [{ op: 'keep' as const, note }] : [])],
      stored: notes => alongside?.stored(notes),
    },
    async look() {
      const paths = followed.op === 'remove' ? [followed.path] : [followed.from, `${followed.to}/`.replace('//', '/')]
      isNoted = (await Promise.all(paths.map(path => unpublished.keepsAt(path)))).includes(true)
    },
    async carryOut() {
      const isDone = await afterCommit(mount, () => follow(mount, followed, isNoted ? note.key : undefined))
      if (!isDone && isNoted) mount.mayFollow = true
    },
  }
}

async function follow(mount: Mount, followed: Followed, key: string | undefined): Promise<void> {
  const { unpublished, notes } = mount
  if (key === undefined) {
    await carryOut(unpublished, followed)
    return
  }
  const noted: Noted = { key, isThere: async () => (await notes.note(key)) !== undefined }
  for (let i = 0; i < ATTEMPTS; i++) if (await carryOut(unpublished, followed, noted)) return
  throw new Error(`what is kept for ${followed.op === 'remove' ? followed.path : followed.from} changes all the time`)
}

function carryOut(unpublished: Unpublished, followed: Followed, noted?: Noted): Promise<boolean> {
  if (followed.op === 'remove') return unpublished.remove(followed.path, noted)
  const { op, from, to, deep } = followed
  return unpublished.takeAlong(op, from, to, deep, noted)
}

/**
 * Carries out what a process that has ended, or a store that has failed, has left to do.
 *
 * @param now unix milliseconds
 * @throws StoreError
 */
export async function followLeft(mount: Mount, now: number): Promise<void> {
  if (!mount.mayFollow) return
  mount.mayFollow = false
  try {
    const isAlone = mount.locks.taken !== undefined
    for (const { key, value } of await mount.notes.notes(prefixOf(mount))) {
      const { at, ...followed }: Followed & { at: number } = JSON.parse(value)
      if (isAlone || at + OTHERS < now) await follow(mount, followed, key)
      else mount.mayFollow = true
    }
  } catch (error) {
    mount.mayFollow = true
    throw error
  }
}
