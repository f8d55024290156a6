/** What a site is opened with. */

import type { RuleScope } from '../access/matching.ts'
import type { FanOut } from '../coordination/fan-out.ts'
import type { Leases } from '../coordination/leases.ts'
import type { Basis } from '../declarations/rederive.ts'
import type { AskedCommit } from '../declarations/site-declarations.ts'
import type { CodeHosts } from '../model/code.ts'
import type { SiteStore } from '../store/store.ts'
import type { DocumentCache } from './cache.ts'
import type { Coherence } from './coherence.ts'
import type { ChangedPaths } from './commit-row.ts'

/** The settings of a site that the pipeline acts on. */
export interface PipelineSettings {
  /** Main host name without port; names the site in events (EVT-27). */
  host: string
  brand: string
  ns: string
  errorNs: string
  /** Base URI of primitive types. */
  schemaHost: string
  defaultGet: 'allow' | 'deny'
  /** Patterns of the paths of documents that may configure the site (SEC-10); all when missing. */
  declarationsIn?: readonly string[]
  /** Bytes. */
  maxBody: number
  /** Bytes; HTML and XML are held in memory while they are parsed (HTTP-181). */
  maxDocument: number
  /** Bytes of markup that one session's copies of transient elements may hold in one document (COMP-82). */
  sessionContentMax: number
}

/** Those who watch documents: told of events, asked how rules read for them. */
export interface Audience {
  fanOut: FanOut
  /** @param site name of the site in the store */
  onlookers(site: string, path: string): Iterable<RuleScope>
}

/** What a site is opened with. */
export interface SiteParts {
  settings: PipelineSettings
  store: SiteStore
  leases: Leases
  cache: DocumentCache
  basis: Basis
  /** Without it, writes that need code are not implemented. */
  code?: CodeHosts
  /** Takes findings about rules (RULE-13) and repairs, for the log. */
  report: (message: string, details: object) => void
  /** Hears of the events of its commits; without it they are only kept. */
  audience?: Audience | undefined
  /** Brings memory in step with other processes, where there are any. */
  coherence?: Pick<Coherence, 'inStep'> | undefined
  /** Bytes that its files may take together. */
  quota?: number | undefined
  /** Makes fragment tags (SEC-11); the same for all processes and at every start. Without it tags hold for this object alone. */
  tagKey?: Uint8Array
}

/** Is told of changed paths, and of the commit where it is one of this process. */
export type Watcher = (paths: ChangedPaths, own?: Pick<AskedCommit, 'changes'>) => void
