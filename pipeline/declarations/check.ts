/** Whether what a store keeps of the documents of a site beside their bytes is what they say. */

import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import { packEntries } from '../store/packed-entries.ts'
import type { Resource } from '../store/resource.ts'
import type { SiteStore } from '../store/store.ts'
import { TreeError } from '../tree/limits.ts'
import { mayBeOfOne } from '../tree/tokens.ts'
import { NO_ITEMS, type Profile, parseForStorage, readForStorage, type StoredForm, storedForm } from './derive.ts'
import type { Derivation } from './kind.ts'
import { KIND_NAMES } from './kinds.ts'

/** A document of which something else is stored than it says. */
export interface Disagreement {
  path: string
  /** Whether the rules or models that it declares are others; else only what it is found by. */
  declares: boolean
}

/** A document of which nothing can be told: it was stored under other limits. */
export interface Unreadable {
  path: string
  reason: string
}

/** What a document is found by: whether two forms of it say the same, for most of which order does not matter. */
const FOUND_BY: Readonly<Record<string, (stored: string, wanted: string) => boolean>> = {
  profile: (stored, wanted) => profileInOrder(stored) === profileInOrder(wanted),
  tokens: (stored, wanted) => mayBeOfOne(JSON.parse(stored) as string[], JSON.parse(wanted) as string[]),
  items: () => false,
}

function profileInOrder(text: string): string {
  const { types, namespaces, ...rest } = JSON.parse(text) as Profile
  return JSON.stringify([types.sort(), namespaces.sort(), rest])
}

/** What cannot be read says nothing. */
function isSame(name: string, stored = NO_ITEMS, wanted = NO_ITEMS): boolean {
  if (stored === wanted) return true
  try {
    return FOUND_BY[name]?.(stored, wanted) === true
  } catch {
    return false
  }
}

const inOrder = (packed: string) => packed.split('\n').sort().join('\n')

/** Looks at a document that others write meanwhile: one that they write so often has just been read by whoever stored it. */
const LOOKS = 5

/**
 * Reads all documents of a site again and compares what they say with what is stored beside them: a rule whose row is lost
 * refuses nobody, though its document is there, and a document without its entries and tokens is not found.
 *
 * @param repair stores what the documents say
 * @returns documents with which something is wrong, and those that cannot be read
 */
export async function checkDeclarations(
  store: SiteStore,
  derivation: Derivation,
  repair: boolean,
): Promise<{ wrong: Disagreement[]; unreadable: Unreadable[] }> {
  const wrong: Disagreement[] = []
  const unreadable: Unreadable[] = []
  for await (const resource of store.walk('/')) {
    const found = await standing(store, resource, derivation)
    if (!found) continue
    if ('reason' in found) {
      unreadable.push({ path: found.of.path, reason: found.reason })
      continue
    }
    const { raises, isFound, form, of } = found
    const { path, version } = of
    const { derived, entries } = form
    wrong.push({ path, declares: raises.length > 0 })
    if (!repair) continue
    if (raises.length > 0) await store.commit({ changes: [{ op: 'derive', path, expect: version, derived }], raises })
    if (!isFound) await store.derive(of, { items: NO_ITEMS, ...derived }, entries)
  }
  return { wrong, unreadable }
}

interface Difference {
  of: Resource
  form: StoredForm
  /** Kinds of declarations that are others. */
  raises: string[]
  isFound: boolean
}

/** That a document cannot be read. */
interface Closed {
  of: Resource
  reason: string
}

/** What is wrong with a document as it stands: bytes and what is beside them are read one after the other, and a server may be writing. */
async function standing(
  store: SiteStore,
  walked: Resource,
  derivation: Derivation,
): Promise<Difference | Closed | undefined> {
  let resource = walked
  for (let look = 0; look < LOOKS; look++) {
    const found = await differenceOf(store, resource, derivation)
    if (!found) return undefined
    const now = await store.find(resource.path)
    if (!now || now.version === resource.version) return now && found
    resource = now
  }
  return undefined
}

async function differenceOf(
  store: SiteStore,
  resource: Resource,
  derivation: Derivation,
): Promise<Difference | Closed | undefined> {
  const form = await formOf(store, resource, derivation)
  if (!form) return undefined
  if (typeof form === 'string') return { of: resource, reason: form }
  const { path } = resource
  const { derived } = form
  const raises: string[] = []
  for (const name of KIND_NAMES) {
    const before = await store.derived(path, name)
    if ((before ?? 'null') === (derived[name] ?? 'null')) continue
    if (before !== undefined) derived[name] ??= 'null'
    raises.push(name)
  }
  const isFound = (await isFoundBy(store, path, form)) || (await isFoundByTree(store, resource, derivation))
  return raises.length === 0 && isFound ? undefined : { of: resource, form, raises, isFound }
}

/** Tags tell of more than the tree has, of a second class of one element: an edit leaves what the tree has. */
async function isFoundByTree(store: SiteStore, resource: Resource, derivation: Derivation): Promise<boolean> {
  const form = await formOf(store, resource, derivation, parseForStorage)
  return typeof form === 'object' && isFoundBy(store, resource.path, form)
}

/** What is to be stored beside a document; undefined where nothing can be, or why it cannot be read. */
async function formOf(
  store: SiteStore,
  resource: Resource,
  derivation: Derivation,
  read: typeof readForStorage = readForStorage,
): Promise<StoredForm | string | undefined> {
  const kind = kindOf(resource.type)
  if (resource.kind !== 'document' || kind === 'blob') return undefined
  const body = await store.body(resource)
  if (!body || !('bytes' in body)) return undefined
  try {
    return storedForm((await read(body.bytes, kind, derivation)).derived)
  } catch (error) {
    // What was stored before a limit is no damage.
    if (error instanceof Fault) return error.cause instanceof TreeError ? error.cause.message : error.message
    throw error
  }
}

async function isFoundBy(store: SiteStore, path: string, { derived, entries }: StoredForm): Promise<boolean> {
  for (const name of Object.keys(FOUND_BY))
    if (!isSame(name, await store.derived(path, name), derived[name])) return false
  return inOrder(await store.entries(path)) === inOrder(packEntries(entries))
}
