/** Entity tags of property answers (DAV-50 to DAV-52). */

import { hash } from 'node:crypto'
import type { Lock } from '../../pipeline/coordination/locks.ts'
import type { Resource } from '../../pipeline/store/resource.ts'
import { contentTag, fileTag, listTag, statTag } from '../../pipeline/store/tags.ts'

/**
 * @param depth of the answer; for a file it does not matter
 * @param locks that the answer shows: those on the target and, at depth 1, on its direct members
 * @returns the `ETag` of a PROPFIND answer, quoted
 */
export function answerTag(resource: Resource, depth: '0' | '1', locks: readonly Lock[]): string {
  const state =
    resource.kind !== 'collection' ? fileTag(resource) : depth === '0' ? statTag(resource) : listTag(resource)
  return `"${state}${lockSuffix(locks)}"`
}

/** `getetag` of a file, and of a collection that is a member in a listing; quoted. */
export function memberTag(resource: Resource): string {
  return resource.kind === 'collection' ? `"${statTag(resource)}"` : contentTag(resource.digest)
}

function lockSuffix(locks: readonly Lock[]): string {
  if (locks.length === 0) return ''
  const tokens = [...new Set(locks.map(({ token }) => token))].sort()
  return `-l${hash('sha256', tokens.map(token => `${token}\n`).join('')).slice(0, 16)}`
}
