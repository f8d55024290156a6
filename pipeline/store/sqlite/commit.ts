/** One commit inside a transaction: counters, changes, events and the answer. */

import { namesCollection } from '../paths.ts'
import type { CommitResult, EventDraft } from '../store.ts'
import { applyChange } from './apply.ts'
import { adoptFile } from './blobs.ts'
import {
  type Draft,
  forget,
  keep,
  Refusal,
  resourceAt,
  type SiteState,
  settle,
  startEventIds,
  type Transaction,
} from './draft.ts'
import { requireGuards } from './entries.ts'
import type { Job, PackedChange } from './jobs.ts'
import { addCollection } from './placing.ts'

type CommitJob = Extract<Job, { task: 'commit' }>

/** The site of a job; made when it is new. */
function siteOf(transaction: Transaction, name: string): { site: SiteState; founded: boolean } {
  const known = transaction.sites.get(name)
  if (known !== undefined) return { site: known, founded: false }
  const { statements } = transaction.writer
  const row = statements.site.get(name)
  const id = row?.id ?? statements.addSite.get(name)?.id
  if (id === undefined) throw new Error('A site could not be added')
  const site: SiteState = { id, name, ms: row?.ms ?? 0, seq: row?.seq ?? 0, sums: new Map(), known: new Set() }
  transaction.sites.set(name, site)
  return { site, founded: row === undefined }
}

/** Everything noted for one commit, empty at first. */
function startDraft(transaction: Transaction, job: CommitJob, bytes: ArrayBuffer): Draft {
  const { site, founded } = siteOf(transaction, job.site)
  return {
    transaction,
    statements: transaction.writer.statements,
    site,
    founded,
    version: transaction.version + 1,
    at: job.at,
    unlisted: new Set(job.unlisted),
    bytes,
    sums: new Map(),
    known: new Set(),
    put: new Map(),
    before: undefined,
    ms: site.ms,
    seq: site.seq,
    limits: job.eventLimits,
    adoptions: [],
    consumed: [],
  }
}

/** @throws Refusal when a counter does not stand where it must */
function requireCounters(draft: Draft, required: Record<string, number>): void {
  for (const [counter, value] of Object.entries(required)) {
    const current = draft.statements.counter.get(draft.site.id, counter)?.value ?? 0
    if (current !== value) throw new Refusal({ ok: false, reason: 'counter', counter, current })
  }
}

function addEvent(draft: Draft, event: EventDraft): string {
  const { path, payload, session = null, token = null, facts = null } = event
  draft.seq = startEventIds(draft)
  const bytes = Buffer.byteLength(payload)
  draft.statements.addEvent.run(
    draft.site.id,
    draft.ms,
    draft.seq,
    path,
    draft.version,
    payload,
    session,
    token,
    facts,
    bytes,
  )
  draft.transaction.writer.grew(draft.site.id, path, bytes, draft.limits)
  return `${draft.ms}-${draft.seq}`
}

/** Paths whose new state belongs into the answer. */
function namedBy(change: PackedChange): string[] {
  return 'path' in change ? [change.path] : [change.from, change.to]
}

/** Gives the staged files of the commit their names; the last thing that can fail. */
function adopt({ adoptions, consumed, transaction }: Draft): void {
  const { writer, folders, leftovers } = transaction
  for (const { file, digest, size } of adoptions) {
    for (const changed of adoptFile(writer.folder, file, digest, size)) folders.add(changed)
  }
  leftovers.push(...consumed)
}

function carryOut(draft: Draft, { commit }: CommitJob): CommitResult {
  if (draft.founded) addCollection(draft, '/')
  if (commit.requires !== undefined) requireCounters(draft, commit.requires)
  for (const change of commit.changes) applyChange(draft, change)
  if (commit.guards !== undefined) requireGuards(draft, commit.guards)
  const counters: Record<string, number> = {}
  for (const name of commit.raises ?? []) {
    counters[name] = draft.statements.raise.get(draft.site.id, name)?.value ?? 0
  }
  const events = (commit.events ?? []).map(event => addEvent(draft, event))
  const named = commit.changes.flatMap(namedBy)
  if (named.some(namesCollection)) settle(draft)
  const resources = new Map(named.map(path => [path, resourceAt(draft, path)]))
  const { changes, raises: raised = [], edit } = commit
  draft.transaction.writer.logCommit?.({
    version: draft.version,
    site: draft.site.name,
    changes,
    events: commit.events ?? [],
    raised,
    edit,
  })
  adopt(draft)
  return { ok: true, version: draft.version, at: draft.at, events, resources, counters }
}

/**
 * Carries out a commit inside a savepoint of the running transaction, which the caller releases or rolls back.
 * @param bytes the contents of its message
 * @throws Refusal, or an error of the database or file system; then the savepoint must be rolled back
 */
export function runCommit(transaction: Transaction, job: CommitJob, bytes: ArrayBuffer): CommitResult {
  const draft = startDraft(transaction, job, bytes)
  try {
    const result = carryOut(draft, job)
    keep(draft)
    return result
  } catch (error) {
    forget(draft)
    throw error
  }
}
