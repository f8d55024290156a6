/** Sites over a store whose commits go wrong as a test wants it. */

import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { localLeases } from '../../../pipeline/coordination/local/leases.ts'
import { documentCache } from '../../../pipeline/site/cache.ts'
import { Site } from '../../../pipeline/site/site.ts'
import type { SiteParts } from '../../../pipeline/site/site-parts.ts'
import type { Commit, CommitResult } from '../../../pipeline/store/commit.ts'
import { StoreError } from '../../../pipeline/store/errors.ts'
import type { SiteStore } from '../../../pipeline/store/store.ts'
import { NS } from '../../support/content.ts'

/** What a store does with a commit; `lost` stores it and says that nobody knows, `late` says so after those behind it. */
export type Fate = 'stored' | 'failed' | 'lost' | 'overtaken' | 'late'

/** A store whose commits meet with fates, one after another; behind the last one all are stored. */
export function fateful(store: SiteStore, path: string, plan: Fate[]): SiteStore {
  return {
    ...store,
    async commit(commit: Commit): Promise<CommitResult> {
      const fate = plan.shift() ?? 'stored'
      if (fate === 'failed') throw new StoreError('full', 'no room')
      if (fate === 'overtaken') return { ok: false, reason: 'version', path }
      const result = await store.commit(commit)
      if (fate === 'late') for (let turns = 0; turns < 3; turns++) await setImmediate()
      if (fate === 'lost') throw new StoreError('failed', 'nobody knows')
      return result
    },
  }
}

/** @param others parts that are to be others, such as those of several processes */
export function openSite(store: SiteStore, others?: Partial<SiteParts>): Promise<Site> {
  return Site.open({
    settings: {
      host: 'example.org',
      brand: 'platform',
      ns: NS,
      errorNs: `${NS}/error`,
      schemaHost: 'https://schema.org',
      defaultGet: 'allow',
      maxBody: 1e8,
      maxDocument: 1e8,
      sessionContentMax: 1e6,
    },
    store,
    leases: localLeases(),
    cache: documentCache(),
    basis: { read: async () => undefined, write: async () => undefined },
    report: message => expect.fail(message),
    tagKey: Buffer.alloc(32),
    ...others,
  })
}
