/**
 * Drafts and helper files go with what is moved, copied or removed on the site. No commit spans both: that of the site
 * keeps a note of what is to follow, which goes with the commit that brings it about. Where the process ends between them,
 * or the second fails, the note is found and carried out later.
 */

import { randomUUID } from 'node:crypto'
import type { Change } from '../../pipeline/store/commit.ts'
import { StoreError } from '../../pipeline/store/errors.ts'
import type { Note } from '../../pipeline/store/notes.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import type { Alongside } from '../../pipeline/write/commit.ts'
import type { Exchange } from '../exchange.ts'
import { afterCommit } from '../locks/after-commit.ts'
import type { Mount } from '../mount.ts'
import { endOutdated } from './drafts.ts'
import { parentOf } from './overlay.ts'
import { type Noted, retyped, type Unpublished } from './unpublished.ts'

/** What has happened on the site. */
export type Followed = { op: 'remove'; path: string } | { op: 'move' | 'copy'; from: string; to: string; deep: boolean }

export interface Following {
  /** Stored with the commit of the site. */
  alongside: Alongside
  /** To be called under the leases of the paths: what is to follow, if anything is. */
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
  const key = prefixOf(mount) + randomUUID()
  let newest = 0
  let committed = 0
  function note(): Note {
    const now = Date.now()
    return { key, value: JSON.stringify({ ...followed, newest, at: now }), expires: now + KEPT }
  }
  return {
    alongside: {
      notes: () => [...(alongside?.notes() ?? []), ...(newest > 0 ? [{ op: 'keep' as const, note: note() }] : [])],
      stored(notes, version) {
        committed = version
        alongside?.stored(notes, version)
      },
    },
    async look() {
      newest = await newestOf(unpublished, followed)
    },
    async carryOut() {
      // Others may have stored something between the look and the commit: they have found the site as it was.
      const work = async () => {
        if (newest > 0) await follow(mount, followed, key, committed)
        else if ((await newestOf(unpublished, followed)) > 0) await follow(mount, followed, undefined, committed)
        else return
        // What has come over files that somebody has written since is newer by its version alone.
        if (followed.op !== 'remove') await endOutdated(mount, followed.to, committed)
      }
      if (!(await afterCommit(mount, work))) mount.mayFollow = true
    },
  }
}

/** The paths in question, that of a destination with a slash: whatever has the name. */
function endsOf(followed: Followed): string[] {
  return followed.op === 'remove' ? [followed.path] : [followed.from, `${followed.to}/`.replace('//', '/')]
}

/** The newest version of what is kept at the paths in question; 0 where nothing is. */
async function newestOf(unpublished: Unpublished, followed: Followed): Promise<number> {
  const paths = endsOf(followed)
  return Math.max(...(await Promise.all(paths.map(path => unpublished.newestAt(path)))))
}

/** @param key of the note, where one was kept */
async function follow(mount: Mount, followed: Followed, key: string | undefined, newest: number): Promise<void> {
  const { unpublished, notes } = mount
  const isThere = async () => key === undefined || (await notes.note(key)) !== undefined
  const noted: Noted = { key, newest, isThere }
  for (let i = 0; i < ATTEMPTS; i++) if (await carryOut(unpublished, followed, noted)) return
  throw new Error(`what is kept for ${followed.op === 'remove' ? followed.path : followed.from} changes all the time`)
}

async function carryOut(unpublished: Unpublished, followed: Followed, noted: Noted): Promise<boolean> {
  if (followed.op !== 'remove') await unpublished.endHiddenAbove(followed.to)
  if ((await newestOf(unpublished, followed)) > noted.newest) return amongNewer(unpublished, followed, noted)
  if (followed.op === 'remove') return unpublished.remove(followed.path, noted)
  const { op, from, to, deep } = followed
  return unpublished.takeAlong(op, from, to, deep, noted)
}

/** The same file by file, where others have written since: what is newer stays. @returns as `Unpublished.remove` */
async function amongNewer(unpublished: Unpublished, followed: Followed, noted: Noted): Promise<boolean> {
  const { store } = unpublished.site
  const from = followed.op === 'remove' ? followed.path : followed.from
  const isDeep = followed.op === 'remove' || followed.deep
  const source = await olderAt(unpublished, from, noted)
  const changes: Change[] = []
  const remove = ({ path, version }: Resource) => changes.push({ op: 'delete', path, expect: version })
  if (followed.op === 'remove') source.forEach(remove)
  else {
    const { op, to } = followed
    const standing = await olderAt(unpublished, to, noted)
    standing.forEach(remove)
    const parents = new Set<string>()
    for (const file of source) {
      const { path, version: expect } = file
      const at = path.startsWith(from) && isDeep ? to + path.slice(from.length) : undefined
      const there = at === undefined ? undefined : await store.findNamed(at)
      if (at === undefined || (there && there.version > noted.newest)) {
        if (op === 'move') remove(file)
        continue
      }
      const common = { from: path, to: at, expect, ...(path === from && retyped(file, at)) }
      changes.push(op === 'move' ? { op, ...common } : { op, deep: false, ...common })
      for (let parent = parentOf(at); !(await store.find(parent)) && parent !== '/'; parent = parentOf(parent))
        parents.add(parent)
    }
    changes.unshift(...[...parents].sort().map(path => ({ op: 'collection' as const, path })))
  }
  if (!(await noted.isThere())) return true
  return (await unpublished.commit(changes, noted)) !== undefined
}

/** Files that were kept at a path, or below, when a note was made, with a draft that has the name of a collection. */
async function olderAt({ site: { store } }: Unpublished, path: string, { newest }: Noted): Promise<Resource[]> {
  const name = path.replace(/\/$/, '')
  const found: Resource[] = []
  const file = await store.find(name)
  if (file) found.push(file)
  for await (const member of store.walk(`${name}/`)) found.push(member)
  return found.filter(({ version }) => version <= newest)
}

/** What is left to follow, with the keys of its notes. */
async function leftOf(mount: Mount): Promise<{ key: string; followed: Followed; newest: number; at: number }[]> {
  return (await mount.notes.notes(prefixOf(mount))).map(({ key, value }) => {
    const { at, newest, ...followed }: Followed & { at: number; newest: number } = JSON.parse(value)
    return { key, followed, newest, at }
  })
}

/** What something kept unpublished is still to follow: until then nothing is published of it where it is. */
export async function stillToFollow(mount: Mount, { path, version }: Resource): Promise<Followed | undefined> {
  const isMeant = (end: string) => path === end || `${path}/`.startsWith(end.endsWith('/') ? end : `${end}/`)
  const found = (await leftOf(mount)).find(
    ({ followed, newest }) => version <= newest && endsOf(followed).some(isMeant),
  )
  // Of another process, perhaps.
  if (found) mount.mayFollow = true
  return found?.followed
}

/**
 * Carries out what a process that has ended, or a store that has failed, has left to do. What cannot be done now keeps
 * nothing else from it.
 *
 * @param now unix milliseconds
 * @throws StoreError
 */
export async function followLeft(mount: Mount, now: number): Promise<void> {
  if (!mount.mayFollow) return
  mount.mayFollow = false
  const isAlone = mount.locks.taken !== undefined
  const left = await leftOf(mount).catch(error => {
    mount.mayFollow = true
    throw error
  })
  let failure: { error: unknown } | undefined
  for (const { key, followed, newest, at } of left) {
    if (!isAlone && now <= at + OTHERS) mount.mayFollow = true
    else
      await follow(mount, followed, key, newest).catch(error => {
        mount.mayFollow = true
        // Where the store fails, all would.
        if (error instanceof StoreError) throw error
        failure ??= { error }
      })
  }
  if (failure) throw failure.error
}
