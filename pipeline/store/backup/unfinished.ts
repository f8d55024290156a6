/** What is being put into a store: until all of it is there, nobody takes the half for the whole. */

import { Unusable } from '../errors.ts'
import type { Store } from '../store.ts'

/** Name of the installation's value that says what is being put into the store; empty when that is done. */
export const RESTORING = 'restoring'

/** What the mark of a move that was begun starts with. */
export const MOVING = 'migrate '

/** The parts of a store that this is about. */
type Marked = Pick<Store, 'setting' | 'setSetting' | 'sites'>

/**
 * What was begun to be put into a store and is not finished, in a sentence; undefined for nothing.
 *
 * @param place of the store, as people know it
 */
export async function halfOf(store: Pick<Marked, 'setting'>, place: string): Promise<string | undefined> {
  const begun = await store.setting(RESTORING)
  if (!begun) return undefined
  const [half, command] = begun.startsWith(MOVING) ? ['another store', 'migrate'] : ['a backup', 'restore']
  return `${place} holds half of ${half}; run scriptorium ${command} again to finish`
}

/** Whether this was begun, and not finished. */
export async function hasBegun(store: Pick<Marked, 'setting'>, mark: string): Promise<boolean> {
  return (await store.setting(RESTORING)) === mark
}

/**
 * Notes what is going to be put into a store, or goes on with it.
 *
 * @throws Unusable where something else was begun and has left a part of it: nobody would know any more that it is one
 */
export async function begin(store: Marked, mark: string): Promise<void> {
  const half = (await hasBegun(store, mark)) ? undefined : await halfOf(store, 'the store')
  if (half !== undefined && (await store.sites()).length > 0) throw new Unusable(`${half}, or choose an empty store`)
  await store.setSetting(RESTORING, mark)
}

/** Notes that all of it is there. */
export async function end(store: Pick<Marked, 'setSetting'>): Promise<void> {
  await store.setSetting(RESTORING, '')
}
