/**
 * A transaction of the writer and the commits inside it. What a commit changes beside rows stays in its state until it
 * has succeeded, so that undoing it touches nothing of the others.
 */

import { splitPath } from '../../paths.ts'
import type { EventLimits } from '../../records/events.ts'
import { pathOf, type ResourceRow, resourceOf } from '../../records/rows.ts'
import { mergeSums, type Sums } from '../../records/sums.ts'
import type { Resource } from '../../resource.ts'
import type { Database } from '../database.ts'
import type { LogCommit } from './commit-log.ts'
import type { Statements } from './statements.ts'
import { flushSums } from './sums.ts'
import type { TreeEventStatements } from './tree-events.ts'

/** What lives as long as the writer does. */
export interface WriterState {
  database: Database
  statements: Statements
  /** Compiled on first use: they take a deep copy apart. */
  copies: ReturnType<Database['prepare']>[] | undefined
  /** The same for events of whole trees. */
  treeEvents: TreeEventStatements | undefined
  folder: string
  /** Told about every event, so that those beyond the limits of a path are removed in time. */
  grew(site: number, path: string, bytes: number, limits?: EventLimits, count?: number): void
  /** Tells other processes of a commit; undefined when there are none. */
  logCommit?: LogCommit | undefined
  /** Takes away those files of blobs that no row speaks of, by digest; called outside of transactions. */
  takeAway?: ((digests: readonly string[]) => void) | undefined
}

/** A site within a transaction: the newest event id that was given out, and what its collections have to gain. */
export interface SiteState {
  id: number
  name: string
  ms: number
  seq: number
  sums: Sums
  /** Collections seen to exist. */
  known: Set<string>
}

/** One group of commits between BEGIN and COMMIT. */
export interface Transaction {
  writer: WriterState
  sites: Map<string, SiteState>
  version: number
  /** Highest number of a resource that is or was in use since the transaction began. */
  lastId: number
  /** Folders with new names that must be on disk before COMMIT. */
  folders: Set<string>
  /** Digests of blobs whose files were given their names. */
  named: string[]
  /** Staged files of successful commits; what is left of them is removed after COMMIT. */
  leftovers: string[]
}

/** One commit on its way. */
export interface CommitState {
  transaction: Transaction
  statements: Statements
  site: SiteState
  /** True when the site did not exist before. */
  founded: boolean
  version: number
  at: number
  /** Names without a line in sums. */
  unlisted: ReadonlySet<string>
  /** Bytes of all contents of the message. */
  bytes: ArrayBuffer
  sums: Sums
  known: Set<string>
  /** Rows of files that the last changes have put, by path: they need not be read again for the answer. */
  put: Map<string, ResourceRow>
  /** Set once pending sums were written early: what they were before, in case the commit is undone. */
  before: { sums: Sums; known: Set<string> } | undefined
  ms: number
  seq: number
  /** How many events are kept of a path. */
  limits: EventLimits | undefined
  /** Staged files that become blobs when everything else has succeeded. */
  adoptions: { file: string; digest: string; size: number }[]
  /** All staged files of the commit; what is left of them is removed when it is on disk. */
  consumed: string[]
}

/** The row at a place, whatever its kind. */
export function rowAt(state: CommitState, path: string): ResourceRow | undefined {
  const { folder, name } = splitPath(path)
  return state.statements.find.get(state.site.id, folder, name)
}

/** The resource of exactly this path: `/a` finds no collection and `/a/` no file. */
export function resourceAt(state: CommitState, path: string): Resource | undefined {
  const row = state.put.get(path) ?? rowAt(state, path)
  return row !== undefined && pathOf(row) === path ? resourceOf(row) : undefined
}

/** A number for a new resource. */
export function nextId(state: CommitState, count = 1): number {
  const { transaction } = state
  const id = transaction.lastId + 1
  transaction.lastId += count
  return id
}

/**
 * Writes what is pending in the site so far, so that whole subtrees can be taken away, moved or copied with right sums.
 * Forgets which collections exist.
 */
export function flushPendingSums(state: CommitState): void {
  const { site, statements } = state
  state.before ??= { sums: site.sums, known: site.known }
  const pending: Sums = new Map()
  mergeSums(pending, site.sums)
  mergeSums(pending, state.sums)
  flushSums(statements, site.id, pending)
  site.sums = new Map()
  site.known = new Set()
  state.sums = new Map()
  state.known = new Set()
}

/** Makes what a successful commit noted part of its transaction. */
export function keep(state: CommitState): void {
  const { site, transaction } = state
  transaction.version = state.version
  site.ms = state.ms
  site.seq = state.seq
  mergeSums(site.sums, state.sums)
  for (const path of state.known) site.known.add(path)
}

/** Forgets what an undone commit noted; the rows are rolled back by the caller. */
export function forget(state: CommitState): void {
  const { site, transaction, before } = state
  if (before !== undefined) {
    site.sums = before.sums
    site.known = before.known
  }
  if (state.founded) transaction.sites.delete(site.name)
}
