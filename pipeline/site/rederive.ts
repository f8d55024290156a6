/** Brings derived data up to date when what it is derived by has changed: the vocabulary's base URI, or this release. */

import { Fault } from '../fault.ts'
import { kindOf } from '../http/media.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import type { SiteStore } from '../store/store.ts'
import { parseForStorage, storedForm } from './derive.ts'

/** Where a site remembers by what its derived data was made. */
export interface Basis {
  read(): Promise<string | undefined>
  write(basis: string): Promise<void>
}

/** Rises whenever derived data gets another form or meaning. */
const FORM = 2

/**
 * @returns whether derived data were made anew; by built-in types alone
 * @param report told at the beginning and now and then, for the log: all documents of the site are parsed
 */
export async function rederive(
  store: SiteStore,
  vocabulary: Vocabulary,
  basis: Basis,
  report: (message: string, details: object) => void,
): Promise<boolean> {
  const wanted = `${FORM} ${vocabulary.ns} ${vocabulary.schemaHost}`
  const known = await basis.read()
  if (known === wanted) return false
  let documents = 0
  for await (const resource of store.walk('/')) {
    const kind = kindOf(resource.type)
    if (resource.kind !== 'document' || kind === 'blob') continue
    if (documents++ % 1000 === 0)
      report('Reading all documents again, because the vocabulary has changed', { documents })
    const body = await store.body(resource)
    if (!body || !('bytes' in body)) continue
    try {
      const { derived, entries } = storedForm((await parseForStorage(body.bytes, kind, vocabulary)).derived)
      await store.derive(resource, derived, entries)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      report('A stored document breaks a limit', { path: resource.path, reason: error.message })
    }
  }
  await basis.write(wanted)
  return true
}
