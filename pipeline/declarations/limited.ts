/** Declarations of a site of which only those of some documents count (SEC-10). */

import { compilePattern, matchesPath } from '../access/glob.ts'
import { PersistentMap } from '../access/persistent-map.ts'
import type { Steps } from '../tree/steps.ts'
import type { Snapshot } from './kind.ts'

/** Whether what a document at a path declares counts. */
export type Counts = (path: string) => boolean

/** Stands for a site on which every document declares: nothing has to be asked. */
export const EVERYWHERE: Counts = () => true

/** @param patterns the setting `declarationsIn`: path patterns in which `*` crosses `/` */
export function countsIn(patterns: readonly string[]): Counts {
  if (patterns.some(pattern => pattern === '/*' || pattern === '/**')) return EVERYWHERE
  const compiled = patterns.map(pattern => compilePattern(pattern))
  return path => compiled.some(pattern => matchesPath(pattern, path))
}

/**
 * All that is declared, with a snapshot of what counts. The rest is kept as well: it counts as soon as its document is
 * moved to where it does.
 */
export class LimitedSnapshot implements Snapshot<unknown> {
  readonly #counts: Counts
  readonly #documents: PersistentMap<unknown>
  /** The declarations that count. */
  readonly effective: Snapshot<unknown>

  private constructor(counts: Counts, documents: PersistentMap<unknown>, effective: Snapshot<unknown>) {
    this.#counts = counts
    this.#documents = documents
    this.effective = effective
  }

  static of(empty: Snapshot<unknown>, counts: Counts): LimitedSnapshot {
    return new LimitedSnapshot(counts, PersistentMap.empty(), empty)
  }

  document(path: string): unknown {
    return this.#documents.get(path)
  }

  documentsUnder(path: string): string[] {
    if (!path.endsWith('/')) return this.#documents.get(path) === undefined ? [] : [path]
    return [...this.#documents.entries()].map(([document]) => document).filter(document => document.startsWith(path))
  }

  *exchanging(path: string, raw: unknown): Steps<LimitedSnapshot> {
    if (raw === undefined && this.#documents.get(path) === undefined) return this
    const effective = this.#counts(path) ? yield* this.effective.exchanging(path, raw) : this.effective
    return new LimitedSnapshot(this.#counts, this.#documents.with(path, raw), effective)
  }

  findings(path: string): readonly object[] {
    if (this.#counts(path)) return this.effective.findings(path)
    return this.document(path) === undefined ? [] : [{ path, reason: LEFT_OUT }]
  }

  /** Documents whose declarations do not count. */
  *leftOut(): Generator<string> {
    for (const [path] of this.#documents.entries()) if (!this.#counts(path)) yield path
  }
}

/** What the author of such a document is told. */
export const LEFT_OUT = 'the setting `declarationsIn` leaves its path out, so what it declares is text'

/** The declarations that count. */
export function effective(snapshot: Snapshot<unknown>): Snapshot<unknown> {
  return snapshot instanceof LimitedSnapshot ? snapshot.effective : snapshot
}
