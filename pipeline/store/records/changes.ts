/** Changes before they are carried out: what they name, and which can never be. */

import type { Change } from '../commit.ts'
import { StoreError } from '../errors.ts'
import { isStorable, namesCollection } from '../paths.ts'

/** What every change has, with its bytes or without. */
type Naming = { path: string } | { from: string; to: string }

/** Paths that a change names. */
export function pathsIn(change: Naming): string[] {
  return 'path' in change ? [change.path] : [change.from, change.to]
}

/** Names of all resources that a change may make. */
export function namesIn(change: Change): string[] {
  return pathsIn(change).flatMap(path => path.split('/'))
}

function invalid(message: string): never {
  throw new StoreError('invalid', message)
}

/**
 * Refuses what is a mistake of the caller, whatever the store holds.
 * @throws StoreError of reason `invalid`
 */
export function checkChange(change: Change): void {
  for (const path of pathsIn(change))
    if (!isStorable(path)) invalid(`Not a path that can be stored: ${JSON.stringify(path)}`)
  if (change.op === 'put' && namesCollection(change.path)) invalid('A file has no slash at the end of its path')
  if (change.op === 'collection' && !namesCollection(change.path))
    invalid('A collection has a slash at the end of its path')
  if (change.op !== 'move' && change.op !== 'copy') return
  const { from, to } = change
  if (namesCollection(from) !== namesCollection(to))
    invalid('Files go to paths of files, collections to paths of collections')
  if (from === '/' || to === '/') invalid('The root stays where it is')
  if (from === to || (namesCollection(from) && to.startsWith(from)))
    invalid('A resource cannot go to itself or below itself')
}

/** True of blobs in memory that belong into a file. @param limit bytes kept in the database at most */
export function isTooLarge(
  change: Change,
  limit: number,
): change is Extract<Change, { op: 'put' }> & { content: { bytes: Uint8Array } } {
  return (
    change.op === 'put' && change.kind === 'blob' && 'bytes' in change.content && change.content.bytes.length > limit
  )
}

/** Paths that changes name, and of events those that do not lie in a collection that is named already. */
export function pathsOf(changes: readonly Naming[], events: readonly { path: string }[]): string[] {
  const paths = new Set(changes.flatMap(pathsIn))
  const collections = [...paths].filter(path => path.endsWith('/'))
  for (const { path } of events) {
    if (!collections.some(collection => path.startsWith(collection))) paths.add(path)
  }
  return [...paths]
}
