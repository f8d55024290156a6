/**
 * States of collections that clients synchronize from (RFC 6578 §3.2): what was in a collection when a token for it was
 * handed out. They are kept in memory; a client whose token is not known any more reads the whole collection again.
 */

import { hash } from 'node:crypto'
import type { KeptTogether } from '../../pipeline/kept-together.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { line, listTag } from '../../pipeline/store/tags.ts'
import type { Steps } from '../../pipeline/tree/steps.ts'

/** Members of a state that is kept. */
const LARGEST = 20_000

/** Bytes of a state, and of each of its members beside its path. */
const STATE = 500
const MEMBER = 150

/** Members after which others may have their turn. */
const MEMBERS_PER_STEP = 500

/** State of each member by path. */
type State = ReadonlyMap<string, string>

/** What became of members since a state. */
export interface Differences {
  /** New, or not as they were. */
  changed: Set<Resource>
  /** Paths of those that are gone, ascending. */
  gone: string[]
}

export interface SyncStates {
  /**
   * Keeps the members of a collection in the state that its token stands for.
   *
   * @param viewer who sees these members; the empty text for everybody who sees all
   */
  keep(viewer: string, collection: Resource, members: readonly Resource[]): Steps<void>
  /** @returns undefined when nothing is known of the state of the token */
  since(
    viewer: string,
    collection: Resource,
    token: string,
    members: readonly Resource[],
  ): Steps<Differences | undefined>
}

/** Stands for the state of a collection, whatever locks are on it. */
export function syncToken(collection: Resource): string {
  return `urn:sync:${listTag(collection).slice(3)}`
}

/** @param all counts what this and others keep */
export function syncStates(all: KeptTogether<object>): SyncStates {
  const kept = new Map<string, State>()

  const keyOf = (viewer: string, { path }: Resource, token: string) => `${token} ${viewer} ${path}`

  return {
    *keep(viewer, collection, members) {
      if (members.length > LARGEST) return
      const state = new Map<string, string>()
      let bytes = STATE + members.length * MEMBER
      for (const member of members) {
        state.set(member.path, stateOf(member))
        bytes += member.path.length
        if (state.size % MEMBERS_PER_STEP === 0) yield
      }
      const key = keyOf(viewer, collection, syncToken(collection))
      const before = kept.get(key)
      if (before) all.leave(before)
      kept.set(key, state)
      all.use(state, bytes, () => kept.delete(key))
    },
    *since(viewer, collection, token, members) {
      if (token === syncToken(collection)) return { changed: new Set(), gone: [] }
      const before = kept.get(keyOf(viewer, collection, token))
      if (!before) return undefined
      const now = new Set<string>()
      const changed = new Set<Resource>()
      for (const member of members) {
        now.add(member.path)
        if (before.get(member.path) !== stateOf(member)) changed.add(member)
        if (now.size % MEMBERS_PER_STEP === 0) yield
      }
      return { changed, gone: [...before.keys()].filter(path => !now.has(path)).sort() }
    },
  }
}

/** A member collection is not changed by what happens inside it (RFC 6578 §3.5). */
function stateOf(member: Resource): string {
  if (member.kind === 'collection') return `collection ${member.created} ${member.properties}`
  return hash('sha256', line(member), 'base64')
}
