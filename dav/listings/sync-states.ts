/**
 * States of collections that clients synchronize from (RFC 6578 §3.2): what was in a collection when a token for it was
 * handed out. They are kept in memory; a client whose token is not known any more reads the whole collection again.
 */

import { hash } from 'node:crypto'
import { OrderedMap } from '../../pipeline/ordered-map.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { line, listTag } from '../../pipeline/store/tags.ts'

/** Members of all states that are kept, and of a single one. */
const MOST_MEMBERS = 200_000
const LARGEST = 20_000
/** States of empty collections count as well. */
const MOST_STATES = 10_000

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
  keep(viewer: string, collection: Resource, members: readonly Resource[]): void
  /** @returns undefined when nothing is known of the state of the token */
  since(viewer: string, collection: Resource, token: string, members: readonly Resource[]): Differences | undefined
}

/** Stands for the state of a collection, whatever locks are on it. */
export function syncToken(collection: Resource): string {
  return `urn:sync:${listTag(collection).slice(3)}`
}

export function syncStates(): SyncStates {
  /** The oldest stands first. */
  const kept = new OrderedMap<string, State>()
  let held = 0

  function drop(key: string): void {
    held -= kept.delete(key)?.size ?? 0
  }

  const keyOf = (viewer: string, { path }: Resource, token: string) => `${token} ${viewer} ${path}`

  return {
    keep(viewer, collection, members) {
      if (members.length > LARGEST) return
      const key = keyOf(viewer, collection, syncToken(collection))
      drop(key)
      kept.set(key, new Map(members.map(member => [member.path, stateOf(member)])))
      held += members.length
      for (const [oldest] of kept) {
        if (held <= MOST_MEMBERS && kept.size <= MOST_STATES) break
        drop(oldest)
      }
    },
    since(viewer, collection, token, members) {
      if (token === syncToken(collection)) return { changed: new Set(), gone: [] }
      const before = kept.get(keyOf(viewer, collection, token))
      if (!before) return undefined
      const now = new Set(members.map(({ path }) => path))
      return {
        changed: new Set(members.filter(member => before.get(member.path) !== stateOf(member))),
        gone: [...before.keys()].filter(path => !now.has(path)).sort(),
      }
    },
  }
}

/** A member collection is not changed by what happens inside it (RFC 6578 §3.5). */
function stateOf(member: Resource): string {
  if (member.kind === 'collection') return `collection ${member.created} ${member.properties}`
  return hash('sha256', line(member), 'base64')
}
