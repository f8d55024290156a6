/**
 * The kinds of declarations. A new one is a file beside this one and a line in the list; its name there is that of the
 * stored data, and of the store's counter that rises with every change.
 */

import type { Registry } from '../model/registry.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import { access } from './access.ts'
import type { DeclarationKind, Derivation, Snapshot, Subtypes } from './kind.ts'
import { type Counts, EVERYWHERE, LimitedSnapshot } from './limited.ts'
import { model } from './model.ts'
import { reactions } from './reactions.ts'

/** The data model comes first: its schemas say which types declare something of the other kinds (RULE-12, GRP-4). */
const LIST = { model, access, reactions }

export type KindName = keyof typeof LIST

type SnapshotOf<Kind> = Kind extends { empty(...of: never[]): infer S } ? S : never
type RawOf<Kind> = Kind extends { extracting(...of: never[]): Generator<void, infer Raw, void> } ? Raw : never

/** What one version of a document declares, by kind; kinds of which it declares nothing are missing. */
export type Declares = { readonly [Name in KindName]?: RawOf<(typeof LIST)[Name]> }

/** The declarations of a site, by kind. */
export type Snapshots = { [Name in KindName]: SnapshotOf<(typeof LIST)[Name]> }

/** A kind for those who treat all alike. */
export type AnyKind = DeclarationKind<unknown, Snapshot<unknown>>

export const KINDS: Readonly<Record<KindName, AnyKind>> = LIST

export const KIND_NAMES = Object.keys(LIST) as KindName[]

/**
 * A site without declarations.
 *
 * @param counts in which documents declarations count
 */
export function emptySnapshots(
  counts: Counts,
  ...site: Parameters<AnyKind['empty']>
): Record<KindName, Snapshot<unknown>> {
  const snapshots: Partial<Record<KindName, Snapshot<unknown>>> = {}
  for (const name of KIND_NAMES) {
    const empty = KINDS[name].empty(...site)
    snapshots[name] = counts === EVERYWHERE ? empty : LimitedSnapshot.of(empty, counts)
  }
  return snapshots as Record<KindName, Snapshot<unknown>>
}

/** Whether a document with items of some types can declare something of a kind. */
export function mayDeclare(name: KindName, types: ReadonlySet<string>, derivation: Derivation): boolean {
  if (types.size === 0) return false
  const { subtypes } = derivation
  for (const type of KINDS[name].types(derivation)) {
    if (types.has(type)) return true
    for (const below of subtypes?.get(type) ?? []) if (types.has(below)) return true
  }
  return false
}

const known = new WeakMap<Registry, Subtypes>()
const NONE: Subtypes = new Map()

/**
 * Types that declare something because schemas make them descend from those that do.
 *
 * @returns the same object for the same registry; undefined when there are none
 */
export function subtypesBy(registry: Registry): Subtypes | undefined {
  if (!registry.hasSchemas) return undefined
  let subtypes = known.get(registry)
  if (!subtypes) known.set(registry, (subtypes = collectSubtypes(registry)))
  return subtypes.size > 0 ? subtypes : undefined
}

function collectSubtypes(registry: Registry): Subtypes {
  const found = new Map<string, ReadonlySet<string>>()
  for (const name of KIND_NAMES) {
    if (!KINDS[name].withSubtypes) continue
    for (const type of KINDS[name].types(registry.vocabulary)) {
      const below = [...registry.subtypes(type)].filter(each => each !== type)
      if (below.length > 0) found.set(type, new Set(below))
    }
  }
  return found
}

/** All types below those that declare something of a kind. */
export function subtypesOfKind(name: KindName, vocabulary: Vocabulary, subtypes: Subtypes = NONE): string[] {
  return KINDS[name].types(vocabulary).flatMap(type => [...(subtypes.get(type) ?? [])])
}
