/** Whether what a store keeps of the declarations of a site is what its documents say. */

import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import type { SiteStore } from '../store/store.ts'
import { readForStorage, storedForm } from './derive.ts'
import type { Derivation } from './kind.ts'
import { KIND_NAMES } from './kinds.ts'

/**
 * Reads all documents of a site again and compares the rules and models that they declare with those that are stored beside
 * them: a rule whose row is lost refuses nobody, though its document is there.
 *
 * @param repair stores what the documents say
 * @returns paths of the documents that disagreed
 */
export async function checkDeclarations(store: SiteStore, derivation: Derivation, repair: boolean): Promise<string[]> {
  const wrong: string[] = []
  for await (const resource of store.walk('/')) {
    const { path, version } = resource
    const kind = kindOf(resource.type)
    if (resource.kind !== 'document' || kind === 'blob') continue
    const body = await store.body(resource)
    if (!body || !('bytes' in body)) continue
    const derived = await readForStorage(body.bytes, kind, derivation).then(
      read => storedForm(read.derived).derived,
      error => {
        // What was stored before a limit is no damage.
        if (error instanceof Fault) return undefined
        throw error
      },
    )
    if (!derived) continue
    const raises: string[] = []
    for (const name of KIND_NAMES) {
      const before = await store.derived(path, name)
      if ((before ?? 'null') === (derived[name] ?? 'null')) continue
      if (before !== undefined) derived[name] ??= 'null'
      raises.push(name)
    }
    if (raises.length === 0) continue
    wrong.push(path)
    if (repair) await store.commit({ changes: [{ op: 'derive', path, expect: version, derived }], raises })
  }
  return wrong
}
