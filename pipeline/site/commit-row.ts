/** Commits as they are handed to the store, and what becomes of them. */

import type { CommitOutcome } from '../coordination/fan-out.ts'
import type { Leases } from '../coordination/leases.ts'
import type { AskedCommit } from '../declarations/site-declarations.ts'
import { Fault } from '../fault.ts'
import type { BesideChanges, CommitResult } from '../store/commit.ts'
import { StoreError } from '../store/errors.ts'
import { pathsIn } from '../store/paths.ts'
import { ROOM } from './room-turn.ts'
import type { Site, WrittenDocument } from './site.ts'
import { siteOfUnpublished } from './unpublished-name.ts'
import type { Usage } from './usage.ts'

/** Changes of another part of the store that go with a commit. */
export interface Beside extends Omit<BesideChanges, 'site'> {
  site: Site
}

/** Paths that a commit has changed: whoever is told of them may go through them more than once. */
export type ChangedPaths = ReadonlySet<string> | readonly string[]

/** One of several that build on each other, with the document that it puts; a blob needs none. */
export interface InRow {
  commit: AskedCommit
  written: WrittenDocument | undefined
}

/**
 * Keeps room for the largest version of the document.
 *
 * @returns to be called when all have come to their end; undefined where there is not so much room
 */
export async function reserveLargest(usage: Usage, row: readonly InRow[]): Promise<(() => void) | undefined> {
  const sizeOf = ({ commit }: InRow) =>
    Math.max(
      ...commit.changes.map(each => (each.op === 'put' && 'bytes' in each.content ? (each.content.size ?? 0) : 0)),
    )
  const largest = row.reduce((most, each) => (sizeOf(each) > sizeOf(most) ? each : most))
  try {
    return await usage.reserve(largest.commit.changes)
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** Whether a commit that failed so may have been carried out. */
function mayBeStored(failure: unknown): boolean {
  return failure instanceof StoreError && (failure.reason === 'failed' || failure.reason === 'unknown')
}

/**
 * What the store asks when the turn of a commit has come: a process that stood still may have lost its leases, and somebody
 * else may have locked what it writes to.
 *
 * @param takesRoom the site has a quota, which its processes take in turns
 * @returns throws Fault 503 where a lease is lost (DAV-8): the conflict is the server's own, and clients try again
 */
export function confirming(
  leases: Leases,
  name: string,
  commit: AskedCommit,
  takesRoom: boolean,
): () => undefined | Promise<void> {
  const refuse = () => {
    throw new Fault(503, 'Unavailable', 'The server lost its turn before the change was stored. Nothing has changed.', {
      headers: { 'Retry-After': '1' },
    })
  }
  // Drafts and helper files stand in a part of the store of their own: those who write them hold leases of the site's paths.
  const site = siteOfUnpublished(name) ?? name
  const held = commit.changes.flatMap(pathsIn)
  if (takesRoom) held.push(ROOM)
  return () => {
    const isHeld = leases.confirm(site, held)
    if (isHeld === true) return undefined
    return Promise.resolve(isHeld).then(is => (is ? undefined : refuse()))
  }
}

/** Paths where commits leave something, where they leave nothing, and where they change properties alone. */
export interface Changed {
  filled: string[]
  emptied: string[]
  described: string[]
}

export function changedBy(commits: readonly Pick<BesideChanges, 'changes'>[]): Changed {
  const [filled, emptied, described]: [string[], string[], string[]] = [[], [], []]
  for (const change of commits.flatMap(({ changes }) => changes)) {
    if (change.op === 'move' || change.op === 'copy') filled.push(change.to)
    if (change.op === 'move') emptied.push(change.from)
    if (change.op === 'delete') emptied.push(change.path)
    if (change.op === 'put' || change.op === 'collection') filled.push(change.path)
    if (change.op === 'describe') described.push(change.path)
  }
  return { filled, emptied, described }
}

/**
 * Changed paths without collections that a commit of this process does nothing with but make or describe them: nothing in them
 * is another.
 */
export function filledPaths(paths: Iterable<string>, own?: Pick<AskedCommit, 'changes'>): Iterable<string> {
  if (!own?.changes.some(({ op }) => op === 'describe' || op === 'collection')) return paths
  const others = new Set(own.changes.filter(({ op }) => op !== 'describe' && op !== 'collection').flatMap(pathsIn))
  return [...paths].filter(path => !path.endsWith('/') || others.has(path))
}

/** Collections whose members a commit takes away or replaces. */
export function removedCollections({ changes }: Pick<AskedCommit, 'changes'>): string[] {
  const paths = changes.flatMap(change => {
    if (change.op === 'delete') return [change.path]
    if (change.op === 'move') return [change.from, change.to]
    return change.op === 'copy' ? [change.to] : []
  })
  return paths.filter(path => path.endsWith('/'))
}

/** Commits of a row that may have been carried out although they failed. */
export function doubtful(
  row: readonly Pick<InRow, 'commit'>[],
  results: readonly PromiseSettledResult<CommitResult>[],
): AskedCommit[] {
  return row.flatMap(({ commit }, i) => {
    const settled = results[i]
    return settled?.status === 'rejected' && mayBeStored(settled.reason) ? [commit] : []
  })
}

/** @returns undefined where nobody knows what became of a commit, or it was not tried */
export function resultOf(settled: PromiseSettledResult<CommitResult> | undefined): CommitResult | undefined {
  return settled?.status === 'fulfilled' ? settled.value : undefined
}

/** What those who watch are told of a commit. */
export function outcomeOf(settled: PromiseSettledResult<CommitResult> | undefined): CommitOutcome {
  const result = resultOf(settled)
  if (result === undefined) return 'unknown'
  return result.ok ? result : 'refused'
}

/** Collections about whose files the store makes events by itself. */
export function toldTrees({ changes }: AskedCommit): string[] {
  return changes.flatMap(change => {
    if (!('tell' in change) || change.tell === undefined) return []
    if (change.op === 'delete') return [change.path]
    return change.op === 'move' ? [change.from, change.to] : [change.to]
  })
}
