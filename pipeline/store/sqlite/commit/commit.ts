/** One commit inside a transaction: counters, changes, events and the answer. */

import type { CommitResult } from '../../commit.ts'
import { adoptFile } from '../../disk/folder.ts'
import { namesCollection, pathsIn } from '../../paths.ts'
import { writeEdit } from '../../records/edits.ts'
import { withCounters } from '../../records/events.ts'
import { besideRefusal, Refusal, refuse } from '../../records/refusals.ts'
import type { PackedEvent, WriterJob } from '../writer/messages.ts'
import { applyChange } from './apply.ts'
import {
  type CommitState,
  flushPendingSums,
  forget,
  keep,
  resourceAt,
  rowAt,
  type SiteState,
  type Transaction,
} from './commit-state.ts'
import { requireGuards } from './entries.ts'
import { applyNotes } from './notes.ts'
import { addCollection } from './placing.ts'

type CommitJob = Extract<WriterJob, { task: 'commit' }>

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
function startCommit(transaction: Transaction, job: CommitJob, version: number, bytes: ArrayBuffer): CommitState {
  const { site, founded } = siteOf(transaction, job.site)
  return {
    transaction,
    statements: transaction.writer.statements,
    site,
    founded,
    version,
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
function requireCounters(state: CommitState, required: Record<string, number>): void {
  for (const [counter, value] of Object.entries(required)) {
    const current = state.statements.counter.get(state.site.id, counter)?.value ?? 0
    if (current !== value) throw new Refusal({ ok: false, reason: 'counter', counter, current })
  }
}

/** The body whose text an event tells: that of what stands at its path now. */
function bodyOf(state: CommitState, path: string): { id: number; size: number } {
  const row = state.put.get(path) ?? rowAt(state, path)
  if (row === undefined || row.in_file === 1) throw new Error('The body that an event tells of is not there')
  return row
}

function addEvent(state: CommitState, event: PackedEvent, counter: number): string {
  const { path, payload, tail = null, session = null, token = null, facts = null } = event
  const body = tail === null ? undefined : bodyOf(state, path)
  const bytes =
    Buffer.byteLength(payload) + (body?.size ?? 0) + Buffer.byteLength(tail ?? '') + Buffer.byteLength(facts ?? '')
  state.statements.addEvent.run(
    state.site.id,
    state.ms,
    counter,
    path,
    state.version,
    payload,
    session,
    token,
    facts,
    bytes,
    body?.id ?? null,
    tail,
  )
  state.transaction.writer.grew(state.site.id, path, bytes, state.limits)
  return `${state.ms}-${counter}`
}

/** Gives the staged files of the commit their names; the last thing that can fail. */
function adopt({ adoptions, consumed, transaction }: CommitState): void {
  const { writer, folders, leftovers, named } = transaction
  for (const { file, digest, size } of adoptions) {
    named.push(digest)
    folders.add(adoptFile(writer.folder, file, digest, size))
  }
  leftovers.push(...consumed)
}

function carryOut(state: CommitState, { commit }: CommitJob): CommitResult {
  if (state.founded) addCollection(state, '/')
  if (commit.requires !== undefined) requireCounters(state, commit.requires)
  for (const change of commit.changes) applyChange(state, change)
  if (commit.guards !== undefined) requireGuards(state, commit.guards)
  const counters: Record<string, number> = {}
  for (const name of commit.raises ?? []) {
    counters[name] = state.statements.raise.get(state.site.id, name)?.value ?? 0
  }
  if (commit.notes !== undefined) applyNotes(state.statements, commit.notes)
  const events = withCounters(state, commit.events).map(([event, counter]) => addEvent(state, event, counter))
  const named = commit.changes.flatMap(pathsIn)
  if (named.some(namesCollection)) flushPendingSums(state)
  const resources = new Map(named.map(path => [path, resourceAt(state, path)]))
  const { changes, raises: raised = [], edit } = commit
  state.transaction.writer.logCommit?.({
    version: state.version,
    site: state.site.name,
    changes,
    events: commit.events ?? [],
    raised,
    edit: edit && writeEdit(edit, resources),
  })
  return { ok: true, version: state.version, at: state.at, events, resources, counters }
}

/** Carries out what is changed in another part of the store. @throws Refusal where something there is not as it needs it */
function carryOutBeside(state: CommitState, job: CommitJob, absent: readonly string[]): void {
  try {
    for (const path of absent) {
      const row = rowAt(state, path)
      if (row !== undefined) refuse('version', path, row)
    }
    carryOut(state, job)
  } catch (error) {
    throw besideRefusal(error)
  }
}

/**
 * Carries out a commit inside a savepoint of the running transaction, which the caller releases or rolls back.
 * @param bytes the contents of its message
 * @throws Refusal, or an error of the database or file system; then the savepoint must be rolled back
 */
export function runCommit(transaction: Transaction, job: CommitJob, bytes: ArrayBuffer): CommitResult {
  const state = startCommit(transaction, job, transaction.version + 1, bytes)
  const states = [state]
  try {
    const result = carryOut(state, job)
    const { beside } = job.commit
    if (beside !== undefined) {
      const besideJob: CommitJob = { ...job, site: beside.site, commit: beside }
      const other = startCommit(transaction, besideJob, state.version + 1, bytes)
      states.push(other)
      carryOutBeside(other, besideJob, beside.absent)
    }
    adopt(state)
    for (const each of states) keep(each)
    return result
  } catch (error) {
    for (const each of states) forget(each)
    throw error
  }
}
