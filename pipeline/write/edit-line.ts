/**
 * Writers of one document, one after another (HTTP-4). Those who have come while somebody committed are done together: each
 * edit is made and judged on what the one before it has left, and all go to the store in a row, which it commits with one
 * flush to disk. Each has a version, an event and an answer of its own, and none is answered before it is on disk. Nobody
 * reads a tree meanwhile that nobody has committed: whoever needs one waits for the next version.
 */

import { setImmediate } from 'node:timers/promises'
import type { AskedCommit } from '../declarations/site-declarations.ts'
import type { Site, WrittenDocument } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import type { CommitResult } from '../store/commit.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { isPinned } from '../tree/pins.ts'
import { done } from '../tree/steps.ts'

/** A document as the edits before have left it. */
export interface Head {
  file: StoredFile
  tree: TreeDocument
  /** False while those edits are on their way to the store. */
  isCommitted: boolean
}

/** An edit that can be committed together with those before it. */
export interface Joined<T> {
  commit: AskedCommit
  written: WrittenDocument
  /** Makes the edit in the tree of the head. */
  make(): Head
  /** @param at unix milliseconds of the commit */
  answer(at: number): T
}

/** A write that waits for its turn. */
export interface LineWrite<T> {
  /** Writes with the document to itself. */
  alone(): Promise<T>
  /**
   * The edit on top of others, without a pause; nothing is changed yet.
   *
   * @returns undefined where it has to be made alone
   * @throws what refuses the write, if all edits before it are committed
   */
  join(head: Head): Joined<T> | undefined
}

/** Milliseconds of edits that are made before others get their turn. */
const TURN = 10

/**
 * Does a write when its turn has come.
 *
 * @param path canonical path of the document
 * @returns what it returns
 * @throws what refuses it; LeaseTimeout when waiting exceeds the limit
 */
export function inLine<T>(site: Site, path: string, write: LineWrite<T>): Promise<T> {
  const paths = linesOf(site)
  let line = paths.get(path)
  if (!line) paths.set(path, (line = new Set()))
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const { join } = write
  const waiting = line
  const place: Place = {
    isWaiting: true,
    isAlone: false,
    join: head => {
      const joined = join(head)
      return joined && { ...joined, answer: at => () => resolve(joined.answer(at)) }
    },
    fail: reject,
    again: () => {
      waiting.add(place)
      paths.set(path, waiting)
      if (!place.isWaiting) void attempt()
    },
  }
  const turn = async () => {
    if (!waiting.has(place)) return
    if (!place.isAlone && waiting.size > 1) {
      // Whoever has waited for the version before looks at it first.
      await setImmediate()
      await makeTogether(site, path, waiting)
    }
    if (waiting.delete(place)) await write.alone().then(resolve, reject)
  }
  const attempt = async () => {
    place.isWaiting = true
    try {
      await site.leases.hold(site.store.name, [path], turn)
    } catch (error) {
      if (waiting.delete(place)) reject(error)
    } finally {
      place.isWaiting = false
      if (waiting.size === 0 && paths.get(path) === waiting) paths.delete(path)
    }
  }
  line.add(place)
  void attempt()
  return promise
}

/** A writer in a line. Those whose edits are being made have left it. */
interface Place {
  /** It will have a turn. */
  isWaiting: boolean
  /** It cannot be done together with others. */
  isAlone: boolean
  join(head: Head): Joined<() => void> | undefined
  fail(error: unknown): void
  /** Puts it back into the line. */
  again(): void
}

const lines = new WeakMap<Site, Map<string, Set<Place>>>()

function linesOf(site: Site): Map<string, Set<Place>> {
  let paths = lines.get(site)
  if (!paths) lines.set(site, (paths = new Map()))
  return paths
}

/** Edits that were made in a tree, in their order, and writes that were refused by what these had left. */
interface Made {
  row: { place: Place; joined: Joined<() => void> }[]
  refused: { place: Place; error: unknown; behind: number }[]
  /** What all have left; undefined where that is not known. */
  head: Head | undefined
}

/** Makes and commits the edits of a line that can be done together. Who holds the lease calls it. */
async function makeTogether(site: Site, path: string, line: Set<Place>): Promise<void> {
  const file = await withTree(site, path)
  if (!file || isPinned(site.tree(file))) return
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  const { row, refused, head } = makeAll({ file, tree: site.tree(file), isCommitted: true }, line, () =>
    file.lendTree(isOver),
  )
  let results: PromiseSettledResult<CommitResult>[] = []
  try {
    const last = row.at(-1)?.joined.written
    if (last && head) last.newTree = () => done(head.tree)
    if (row.length > 0) results = (await site.commitRow(row.map(({ joined }) => joined))) ?? []
  } catch (error) {
    for (const { place } of row) place.fail(error)
    for (const { place } of refused) place.again()
    return
  } finally {
    end()
  }
  settle(row, refused, results)
}

/** The document with its tree, if that is there or follows from an older one. */
async function withTree(site: Site, path: string): Promise<StoredFile | undefined> {
  const file = site.inMemory(path)
  if (!file?.isDocument || !file.keepsTree) return undefined
  if (file.hasTree) return file
  try {
    await file.parse()
  } catch {
    // Whoever makes the first edit alone is told.
    return undefined
  }
  return site.isInMemory(file) ? file : undefined
}

function makeAll(first: Head, line: Set<Place>, begin: () => void): Made {
  const made: Made = { row: [], refused: [], head: first }
  const { row, refused } = made
  let head = first
  const until = performance.now() + TURN
  for (const place of [...line]) {
    if (row.length > 0 && performance.now() >= until) break
    if (place.isAlone) continue
    let joined: Joined<() => void> | undefined
    try {
      joined = place.join(head)
    } catch (error) {
      line.delete(place)
      refused.push({ place, error, behind: row.length })
      continue
    }
    if (!joined) {
      place.isAlone = true
      continue
    }
    if (row.length === 0) begin()
    try {
      head = joined.make()
    } catch {
      // It is told what was wrong when it is made alone.
      place.isAlone = true
      made.head = undefined
      break
    }
    line.delete(place)
    row.push({ place, joined })
    made.head = head
  }
  return made
}

function settle(
  row: Made['row'],
  refused: Made['refused'],
  results: readonly PromiseSettledResult<CommitResult>[],
): void {
  const firstLost = row.findIndex((_, i) => !isStored(results[i]))
  const stored = firstLost < 0 ? row.length : firstLost
  for (const [i, { place, joined }] of row.entries()) {
    const settled = results[i]
    if (settled?.status === 'rejected') place.fail(settled.reason)
    else if (settled?.value.ok) joined.answer(settled.value.at)()
    // Something else has come first, or was to come first and has not.
    else place.again()
  }
  for (const { place, error, behind } of refused) {
    if (behind <= stored) place.fail(error)
    else place.again()
  }
}

function isStored(settled: PromiseSettledResult<CommitResult> | undefined): boolean {
  return settled?.status === 'fulfilled' && settled.value.ok
}
