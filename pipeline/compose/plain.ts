/** Documents that are served as they are stored (COMP-2). */

import { hasResolvers } from '../model/read-chains.ts'
import type { Registry } from '../model/registry.ts'
import type { Site } from '../site/site.ts'
import type { StoredFile } from '../site/stored-file.ts'
import { isLive, meaningOf } from './vocabulary.ts'

const known = new WeakMap<StoredFile, { model: Registry; plain: boolean }>()

/** Whether nothing in a document is a directive or the value of a read resolver: a whole read answers the stored bytes. */
export function isPlain(site: Pick<Site, 'model' | 'settings'>, file: StoredFile): boolean {
  const { kind, profile } = file
  if (kind === 'blob' || !profile || (profile.namespaces.length === 0 && profile.types.length === 0)) return true
  const { model, settings } = site
  const before = known.get(file)
  if (before?.model === model) return before.plain
  const plain =
    !profile.namespaces.some(uri => isLive(meaningOf(uri, settings.ns, model), kind)) &&
    !profile.types.some(type => hasResolvers(model, type))
  known.set(file, { model, plain })
  return plain
}
