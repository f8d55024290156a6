/** One commit inside a transaction: counters, changes, events and the answer. */

import type { Change, Commit, CommitResult, NewEvent } from '../../commit.ts'
import { namesCollection, pathsIn } from '../../paths.ts'
import { pathsOf } from '../../records/changes.ts'
import { writeEdit } from '../../records/edits.ts'
import { type EventLimits, withCounters } from '../../records/events.ts'
import { besideRefusal, Refusal, refuse } from '../../records/refusals.ts'
import { mergeSums } from '../../records/sums.ts'
import { applyChange, isSimple } from './apply.ts'
import { requireGuards } from './entries.ts'
import { writeNotes } from './notes.ts'
import { mergePending } from './pending.ts'
import { addCollection } from './placing.ts'
import {
  type CommitState,
  foldSums,
  forgetRead,
  newState,
  nextId,
  resourceAt,
  rowAt,
  type SiteState,
  settleTables,
  settleTransaction,
  type Transaction,
} from './state.ts'

/** A commit as it was handed over. */
export interface CommitJob {
  task: 'commit'
  /** Unix milliseconds by the clock of the process. */
  at: number
  site: string
  commit: Commit
  /** Names in the paths of the changes that have no line in the sum of their collection. */
  unlisted: ReadonlySet<string>
  /** How many events are kept of a path of this site. */
  eventLimits: EventLimits | undefined
  /** Uploads in chunks of blobs that are in objects and become documents, by digest. */
  chunks?: ReadonlyMap<string, string> | undefined
}

/** The site of a job; made when it is new. */
function siteOf(transaction: Transaction, name: string): { site: SiteState; founded: boolean } {
  const known = transaction.sites.get(name)
  if (known !== undefined) return { site: known, founded: false }
  const id = nextId(transaction)
  const site: SiteState = { id, name, ms: 0, seq: 0, sums: new Map(), known: new Set(), counters: new Map() }
  transaction.sites.set(name, site)
  return { site, founded: true }
}

/** @throws Refusal when a counter does not stand where it must */
function requireCounters({ counters, site }: CommitState, required: Record<string, number>): void {
  for (const [counter, value] of Object.entries(required)) {
    const current = counters.get(counter) ?? site.counters.get(counter) ?? 0
    if (current !== value) throw new Refusal({ ok: false, reason: 'counter', counter, current })
  }
}

function raise({ counters, site, pending }: CommitState, name: string): number {
  const value = (counters.get(name) ?? site.counters.get(name) ?? 0) + 1
  counters.set(name, value)
  pending.counters.set(`${site.id} ${name}`, { site: site.id, name, value })
  return value
}

function addEvent(state: CommitState, { path, payload, session, token, facts }: NewEvent, seq: number): string {
  const bytes = Buffer.byteLength(payload) + Buffer.byteLength(facts ?? '')
  state.pending.events.push({
    site: state.site.id,
    ms: state.ms,
    seq,
    path,
    version: state.version,
    payload,
    session: session ?? null,
    token: token ?? null,
    facts: facts ?? null,
    bytes,
  })
  state.transaction.grew(state.site.id, path, bytes, state.limits)
  return `${state.ms}-${seq}`
}

async function carryOut(state: CommitState, { commit }: CommitJob, founded: boolean): Promise<CommitResult> {
  const { site, pending } = state
  if (founded) addCollection(state, '/')
  if (commit.requires !== undefined) requireCounters(state, commit.requires)
  for (const change of commit.changes) await applyChange(state, change)
  if (commit.guards !== undefined && commit.guards.length > 0) {
    await settleTables(state)
    await requireGuards(state, commit.guards)
  }
  const counters: Record<string, number> = {}
  for (const name of commit.raises ?? []) counters[name] = raise(state, name)
  const events = withCounters(state, commit.events).map(([event, counter]) => addEvent(state, event, counter))
  const named = commit.changes.flatMap(pathsIn)
  if (named.some(namesCollection)) await foldSums(state)
  const resources: Extract<CommitResult, { ok: true }>['resources'] = new Map()
  for (const path of named) resources.set(path, await resourceAt(state, path))
  pending.sites.set(site.id, { name: site.name, ms: state.ms, seq: state.seq })
  const { changes, raises = [], edit } = commit
  const paths = pathsOf(changes as readonly Change[], commit.events ?? [])
  pending.log.push({
    version: state.version,
    site: site.name,
    paths: JSON.stringify(paths),
    raised: JSON.stringify(raises),
    edit: edit ? writeEdit(edit, resources) : null,
  })
  // Nothing of the commit can be refused any more.
  if (commit.notes !== undefined) await Promise.all(writeNotes(state.transaction.session, commit.notes))
  return { ok: true, version: state.version, at: state.at, events, resources, counters }
}

/** Makes what a successful commit noted part of its transaction. */
function keep(state: CommitState): void {
  const { site, transaction } = state
  transaction.version = state.version
  site.ms = state.ms
  site.seq = state.seq
  mergeSums(site.sums, state.sums)
  for (const path of state.known) site.known.add(path)
  for (const [name, value] of state.counters) site.counters.set(name, value)
  mergePending(transaction.pending, state.pending)
}

/** A commit on its way, with everything noted for it, empty at first. */
interface Started {
  state: CommitState
  founded: boolean
  /** Leaves its site as it was before; the tables are rolled back by the caller. */
  undo(): void
}

function start(transaction: Transaction, job: CommitJob, version: number, isDirect: boolean): Started {
  const { site, founded } = siteOf(transaction, job.site)
  const { sums } = site
  return {
    state: {
      ...newState(transaction, site, version, job.at),
      unlisted: job.unlisted,
      limits: job.eventLimits,
      chunks: job.chunks,
      isDirect,
    },
    founded,
    undo() {
      site.sums = sums
      if (founded) transaction.sites.delete(site.name)
    },
  }
}

/** Carries out what is changed in another part of the store. @throws Refusal where something there is not as it needs it */
async function carryOutBeside({ state, founded }: Started, job: CommitJob, absent: readonly string[]): Promise<void> {
  try {
    for (const path of absent) {
      const row = await rowAt(state, path)
      if (row !== undefined) refuse('version', path, row)
    }
    await carryOut(state, job, founded)
  } catch (error) {
    throw besideRefusal(error)
  }
}

/**
 * Carries out a commit. Most only note what they change; those that go through tables have a savepoint of their own.
 *
 * @throws Refusal, or the database's error; then nothing of the commit is left
 */
export async function runCommit(transaction: Transaction, job: CommitJob): Promise<CommitResult> {
  const { session } = transaction
  const { changes, guards = [], beside } = job.commit
  const isDirect = guards.length > 0 || beside !== undefined || !changes.every(isSimple)
  if (isDirect) {
    await settleTransaction(transaction)
    await session.run('SAVEPOINT change')
  }
  const own = start(transaction, job, transaction.version + 1, isDirect)
  const started = [own]
  try {
    const result = await carryOut(own.state, job, own.founded)
    if (isDirect) await settleTables(own.state)
    if (beside !== undefined) {
      const besideJob: CommitJob = { ...job, site: beside.site, commit: { changes: [...beside.changes] } }
      const other = start(transaction, besideJob, own.state.version + 1, isDirect)
      started.push(other)
      await carryOutBeside(other, besideJob, beside.absent)
      await settleTables(other.state)
    }
    if (isDirect) await session.run('RELEASE change')
    for (const { state } of started) keep(state)
    return result
  } catch (error) {
    for (const { undo } of started) undo()
    if (isDirect) {
      forgetRead(transaction)
      await session.run('ROLLBACK TO change')
      await session.run('RELEASE change')
    }
    throw error
  }
}
