/** What documents declare about their site, rules and data models alike, kept in step with commits. */

import type { Change, Commit, SiteStore } from '../store/store.ts'
import { atOnce, type Steps } from '../tree/steps.ts'

/** All declarations of a site at one moment, by document. Immutable. */
interface Declared<Raw> {
  document(path: string): Raw | undefined
  /** The path itself or, for a collection, everything below it that declares something. */
  documentsUnder(path: string): string[]
  withDocument(path: string, raw: Raw | undefined): this
}

/** What the new versions of a commit declare; undefined for paths that it brings no new text to. */
export type Brought<Raw> = (path: string) => { raw: Raw | undefined } | undefined

/**
 * The declarations after a commit.
 *
 * @param changed told of every document that may declare something else now
 */
export function afterCommit<Raw, S extends Declared<Raw>>(
  before: S,
  commit: Pick<Commit, 'changes'>,
  brought: Brought<Raw>,
  changed: (path: string) => void = () => undefined,
): S {
  const exchanging = function* (snapshot: S, path: string, raw: Raw | undefined): Steps<S> {
    changed(path)
    yield
    return snapshot.withDocument(path, raw)
  }
  return atOnce(applyingCommit(before, commit, brought, exchanging))
}

/**
 * `afterCommit` in steps.
 *
 * @param exchanging gives the declarations with another version of a document
 */
export function* applyingCommit<Raw, S extends Pick<Declared<Raw>, 'document' | 'documentsUnder'>>(
  before: S,
  { changes }: Pick<Commit, 'changes'>,
  brought: Brought<Raw>,
  exchanging: (snapshot: S, path: string, raw: Raw | undefined) => Steps<S>,
): Steps<S> {
  let snapshot = before
  const replace = function* (path: string, raw: Raw | undefined): Steps<void> {
    snapshot = yield* exchanging(snapshot, path, raw)
  }
  for (const change of changes) {
    if (change.op === 'put') yield* replace(change.path, brought(change.path)?.raw)
    else if (change.op === 'delete')
      for (const path of snapshot.documentsUnder(change.path)) yield* replace(path, undefined)
    else if (change.op === 'derive') {
      const known = brought(change.path)
      if (known) yield* replace(change.path, known.raw)
    } else if (change.op === 'move' || change.op === 'copy') {
      // A collection that is copied without its members brings nothing along.
      const sources = (isBare(change) ? [] : snapshot.documentsUnder(change.from)).map(path => ({
        path,
        raw: snapshot.document(path),
      }))
      for (const path of snapshot.documentsUnder(change.to)) yield* replace(path, undefined)
      for (const { path, raw } of sources) {
        if (change.op === 'move') yield* replace(path, undefined)
        yield* replace(change.to + path.slice(change.from.length), raw)
      }
      // A type that changes with the name makes the file another document, or one for the first time (HTTP-20).
      const moved = brought(change.to)
      if (moved) yield* replace(change.to, moved.raw)
    }
  }
  return snapshot
}

function isBare(change: Extract<Change, { op: 'move' | 'copy' }>): boolean {
  return change.op === 'copy' && !change.deep && change.from.endsWith('/')
}

/** Whether a commit changes what is declared. */
export function changesDeclarations<Raw>(
  before: Declared<Raw>,
  commit: Commit,
  brought: Brought<Raw>,
  same: (a: Raw | undefined, b: Raw | undefined) => boolean,
): boolean {
  const declares = (path: string) => before.documentsUnder(path).length > 0
  return commit.changes.some(change => {
    if (change.op === 'put' || change.op === 'derive') {
      const known = brought(change.path)
      if (!known && change.op === 'derive') return false
      return !same(known?.raw, before.document(change.path))
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
  before: readonly { documentsUnder(path: string): string[] }[],
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
  for (const name of ['access', 'model']) {
    for await (const { path } of store.allDerived(name))
      if (collections.some(collection => path.startsWith(collection))) found.add(path)
  }
  return found
}
