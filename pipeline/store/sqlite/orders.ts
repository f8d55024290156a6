/** Changes as callers hand them in: what they name, and which of them can never be. */

import { isStorable, namesCollection } from '../paths.ts'
import { type Change, StoreError } from '../store.ts'

/** Paths that a change names. */
export function pathsIn(change: Change): string[] {
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
