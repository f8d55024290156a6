/**
 * Rules and groups by the types that schemas make of them: when a schema's parents change, documents with items of the
 * types concerned are read again, in the same commit (RULE-12, GRP-4).
 */

import { type AccessTypes, extractAccess, type RawAccess, sameDeclarations } from '../access/extract.ts'
import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import { typeKey } from '../model/entries.ts'
import type { Registry } from '../model/registry.ts'
import type { Change, Commit, SiteStore } from '../store/store.ts'
import { decode, parsingDocument, TreeError } from '../tree/document.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { inTurns } from '../tree/steps.ts'

/** What a commit needs to know of the site. */
export interface Retyping {
  store: Pick<SiteStore, 'lookup'>
  before: Registry
  after: Registry
  /** What a document declares now. */
  access(path: string): RawAccess | undefined
  /** Reads the documents that the commit itself brings; undefined for others. */
  brought(path: string): ((types: AccessTypes, ns: string) => RawAccess | undefined) | undefined
  /** A stored document with its version; undefined when it is gone or none. */
  read(path: string): Promise<{ tree: TreeDocument; version: number } | undefined>
}

const NONE: AccessTypes = { rule: new Set(), group: new Set() }

/**
 * @returns the changes of the commit with what the new types add to them, and what documents declare by these types;
 *   undefined when the types stay as they are
 * @throws Fault 422 for a document whose items break a limit once they are rules
 */
export async function retyped(
  { changes }: Commit,
  { store, before, after, access, brought, read }: Retyping,
): Promise<{ changes: Change[]; access: Map<string, RawAccess | undefined> } | undefined> {
  const [old, types] = [before.accessTypes ?? NONE, after.accessTypes ?? NONE]
  const concerned = [...difference(old.rule, types.rule), ...difference(old.group, types.group)]
  if (concerned.length === 0) return undefined
  const { ns } = after.vocabulary
  const found = new Map<string, RawAccess | undefined>()
  const rewritten = changes.map(change => {
    const extract = change.op === 'put' ? brought(change.path) : undefined
    if (change.op !== 'put' || !extract) return change
    const raw = readable(change.path, () => extract(types, ns))
    found.set(change.path, raw)
    const { access: _, ...derived } = change.derived ?? {}
    return { ...change, derived: { ...derived, ...(raw && { access: JSON.stringify(raw) }) } }
  })
  const written = new Set(changes.flatMap(change => ('path' in change ? [change.path] : [change.from, change.to])))
  for (const path of await holdersOf(store, concerned)) {
    if (written.has(path)) continue
    const document = await read(path)
    const raw = document && readable(path, () => extractAccess(document.tree, ns, types))
    if (!document || sameDeclarations(raw, access(path))) continue
    found.set(path, raw)
    // Stored data have no absence: a document that declares nothing any more says so.
    const derived = { access: JSON.stringify(raw ?? null) }
    rewritten.push({ op: 'derive', path, expect: document.version, derived })
  }
  return { changes: rewritten, access: found }
}

/**
 * Reads rules and groups of subtypes where derived data have been made without knowing of any.
 *
 * @param report told of documents whose items cannot be rules
 * @returns what documents declare that have some, by path
 */
export async function retypeAll(
  store: SiteStore,
  registry: Registry,
  report: (message: string, details: object) => void,
): Promise<Map<string, RawAccess | undefined>> {
  const found = new Map<string, RawAccess | undefined>()
  const types = registry.accessTypes
  if (!types) return found
  for (const path of await holdersOf(store, [...types.rule, ...types.group])) {
    const resource = await store.find(path)
    const body = resource && (await store.body(resource))
    const kind = resource && kindOf(resource.type)
    if (!body || !('bytes' in body) || !kind || kind === 'blob') continue
    const { text } = decode(body.bytes)
    const tree = await inTurns(parsingDocument(kind, text), text.length)
    try {
      const raw = readable(path, () => extractAccess(tree, registry.vocabulary.ns, types))
      await store.derive(resource, { access: JSON.stringify(raw ?? null) })
      found.set(path, raw)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      report('A stored document breaks a limit', { path, reason: error.message })
    }
  }
  return found
}

/** @throws Fault 422 for a document whose items break a limit once they are rules */
function readable(path: string, extract: () => RawAccess | undefined): RawAccess | undefined {
  try {
    return extract()
  } catch (error) {
    if (!(error instanceof TreeError)) throw error
    throw new Fault(422, 'InvalidFragment', `${path} cannot have rules of these types: ${error.message}`)
  }
}

/** What two sets do not share. */
function difference(a: ReadonlySet<string>, b: ReadonlySet<string>): string[] {
  return [...[...a].filter(type => !b.has(type)), ...[...b].filter(type => !a.has(type))]
}

async function holdersOf(store: Pick<SiteStore, 'lookup'>, types: readonly string[]): Promise<Set<string>> {
  const paths = new Set<string>()
  for (const type of types) for (const { path } of await store.lookup([typeKey(type)])) paths.add(path)
  return paths
}
