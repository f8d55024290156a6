/** What a commit makes of the declarations of one kind. */

import type { Change, Commit } from '../store/commit.ts'
import type { SiteStore } from '../store/store.ts'
import { inTurns, type Steps } from '../tree/steps.ts'
import type { Snapshot } from './kind.ts'
import { KIND_NAMES, type KindName } from './kinds.ts'

/** Stands for the length of a text: how much a commit changes shows only on the way. */
export const UNKNOWN_LENGTH = 1024 * 1024

/** What the new versions of a commit declare; undefined for paths that it brings no new text to. */
export type Brought = (path: string) => { raw: unknown } | undefined

/**
 * The declarations after a commit.
 *
 * @param changed told of every document that may declare something else now
 */
export function* applyingCommit(
  before: Snapshot<unknown>,
  { changes }: Pick<Commit, 'changes'>,
  brought: Brought,
  changed: (path: string) => void = () => undefined,
): Steps<Snapshot<unknown>> {
  const state: Following = { snapshot: before, changed }
  for (const change of changes) {
    if (change.op === 'put') yield* replacing(state, change.path, brought(change.path)?.raw)
    else if (change.op === 'delete')
      for (const path of state.snapshot.documentsUnder(change.path)) yield* replacing(state, path, undefined)
    else if (change.op === 'derive') {
      const known = brought(change.path)
      if (known) yield* replacing(state, change.path, known.raw)
    } else if (change.op === 'move' || change.op === 'copy') {
      // A collection that is copied without its members brings nothing along.
      const sources = (isBare(change) ? [] : state.snapshot.documentsUnder(change.from)).map(path => ({
        path,
        raw: state.snapshot.document(path),
      }))
      for (const path of state.snapshot.documentsUnder(change.to)) yield* replacing(state, path, undefined)
      for (const { path, raw } of sources) {
        if (change.op === 'move') yield* replacing(state, path, undefined)
        yield* replacing(state, change.to + path.slice(change.from.length), raw)
      }
      // A type that changes with the name makes the file another document, or one for the first time (HTTP-20).
      const moved = brought(change.to)
      if (moved) yield* replacing(state, change.to, moved.raw)
    }
  }
  return state.snapshot
}

interface Following {
  snapshot: Snapshot<unknown>
  changed: (path: string) => void
}

function* replacing(state: Following, path: string, raw: unknown): Steps<void> {
  state.changed(path)
  state.snapshot = yield* state.snapshot.exchanging(path, raw)
}

function isBare(change: Extract<Change, { op: 'move' | 'copy' }>): boolean {
  return change.op === 'copy' && !change.deep && change.from.endsWith('/')
}

/** Whether a commit changes what is declared. */
export function changesDeclarations(
  before: Snapshot<unknown>,
  { changes }: Pick<Commit, 'changes'>,
  brought: Brought,
  same: (a: unknown, b: unknown) => boolean,
): boolean {
  const declares = (path: string) => before.documentsUnder(path).length > 0
  return changes.some(change => {
    if (change.op === 'put' || change.op === 'derive') {
      const known = brought(change.path)
      if (!known && change.op === 'derive') return false
      const [now, then] = [known?.raw, before.document(change.path)]
      return now !== then && !same(now, then)
    }
    if (change.op === 'delete') return declares(change.path)
    if (change.op === 'move' || change.op === 'copy')
      return (!isBare(change) && declares(change.from)) || declares(change.to) || brought(change.to)?.raw !== undefined
    return false
  })
}

/**
 * Documents whose declarations may be others than before, when only paths are known: files among the paths, and what
 * declares, or declared, something below the collections among them.
 */
export async function declaringAt(
  store: Pick<SiteStore, 'allDerived'>,
  before: Iterable<Snapshot<unknown>>,
  paths: Iterable<string>,
): Promise<Set<string>> {
  const found = new Set<string>()
  const collections: string[] = []
  for (const path of paths) {
    if (path.endsWith('/')) collections.push(path)
    else found.add(path)
  }
  if (collections.length === 0) return found
  for (const known of before)
    for (const collection of collections) for (const path of known.documentsUnder(collection)) found.add(path)
  for (const name of KIND_NAMES) {
    for await (const { path } of store.allDerived(name))
      if (collections.some(collection => path.startsWith(collection))) found.add(path)
  }
  return found
}

/** One kind's part of a commit that changes it. */
export interface Exchange {
  name: KindName
  before: Snapshot<unknown>
  after: Snapshot<unknown>
  /** Documents that may declare something else now. */
  paths: ReadonlySet<string>
  /** The same on another snapshot. */
  again(snapshot: Snapshot<unknown>): ReturnType<typeof applyingCommit>
}

/** Works out the declarations of a kind after a commit, in turns with other work. */
export async function exchangeBy(
  name: KindName,
  before: Snapshot<unknown>,
  commit: Pick<Commit, 'changes'>,
  brought: Brought,
): Promise<Exchange> {
  const paths = new Set<string>()
  const again = (snapshot: Snapshot<unknown>) => applyingCommit(snapshot, commit, brought, path => paths.add(path))
  return { name, before, after: await inTurns(again(before), UNKNOWN_LENGTH), paths, again }
}
