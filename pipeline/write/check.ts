/** Commits of writes that were judged by the site's data model: what they require is checked where they are made (MOD-42). */

import type { CodeHost } from '../model/code.ts'
import { type Judgement, requirementFault } from '../model/judge.ts'
import { Registry } from '../model/registry.ts'
import { MODEL_COUNTER } from '../site/declared.ts'
import type { Settled, Site } from '../site/site.ts'
import type { Commit, CommitResult } from '../store/store.ts'

/** The data model that a write is judged by, as it stood when the attempt began. */
export interface ModelState {
  registry: Registry
  version: number
  /** Runs the code of schemas. */
  host: CodeHost
}

/** What every write may say about how it is judged. */
export interface Judged {
  /** Stored as it is, as if the site had no data model; the mount allows it to those who repair a site (DAV-7). */
  raw?: boolean | undefined
}

export function modelState(site: Site, { raw = false }: Judged = {}): ModelState {
  const registry = raw ? Registry.empty(site.settings) : site.model
  return { registry, version: site.modelVersion, host: site.code }
}

/**
 * Commits if the site is as the judgement requires; another state of the data model is a conflict, and the write is judged
 * anew.
 *
 * @throws Fault 422 when a value is taken or a reference leads nowhere
 */
export async function commitJudged(
  site: Site,
  { registry, version }: ModelState,
  { requirements }: Pick<Judgement, 'requirements'>,
  commit: Commit,
  settled: Settled[] = [],
): Promise<CommitResult> {
  const result = await site.commit(
    {
      ...commit,
      requires: { ...commit.requires, [MODEL_COUNTER]: version },
      ...(requirements.length > 0 && { guards: requirements.map(({ guard }) => guard) }),
    },
    settled,
  )
  if (result.ok || result.reason !== 'guard') return result
  const broken = requirements[result.guard]
  const fault = broken && requirementFault(registry, broken)
  if (fault) throw fault
  return result
}
