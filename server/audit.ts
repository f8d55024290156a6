/**
 * The record of changes: one line for every commit to a site, with who asked for it. Whatever a request has changed, on
 * either surface or by code that runs for it, is told with that request; what the server does by itself has none.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { closeSync, openSync, writeSync } from 'node:fs'
import type { Settings } from '../config/schema.ts'
import { siteOfUnpublished } from '../pipeline/site/unpublished-name.ts'
import type { Change, Commit } from '../pipeline/store/commit.ts'
import type { Store } from '../pipeline/store/store.ts'
import { inPlainJson, type Log } from './log.ts'

/** The request that a change is made for. */
export interface Actor {
  face: 'public' | 'mount'
  method: string
  /** Decoded path of its target, where it was found out. */
  path?: string | undefined
  /** Who is known by a session or a credential. */
  user?: string | undefined
  client?: string | undefined
  selector?: string | undefined
}

export interface Audit {
  /** Has all changes of some work told with an actor, who is looked at when something is committed. */
  within<Result>(actor: () => Actor, work: () => Result): Result
  /** The store, every commit of which is recorded. Drafts and helper files of mounts are not. */
  recording(store: Store): Store
  /** Opens the file anew: the old one may have been moved away. */
  reopen(): void
  close(): void
}

/** Milliseconds between two complaints that nothing can be written. */
const COMPLAIN_EVERY = 60_000

/**
 * @param settings undefined where nothing is recorded
 * @throws the system's error when the file cannot be opened
 */
export function openAudit({ audit }: Pick<Settings['log'], 'audit'>, log: Log): Audit | undefined {
  if (audit === undefined) return undefined
  const acting = new AsyncLocalStorage<() => Actor>()
  const { write, reopen, close } = audit === 'log' ? intoLog(log) : intoFile(audit, log)

  function record(site: string, commit: Commit, version: number, at: number): void {
    const actor = acting.getStore()?.()
    write({ time: new Date(at).toISOString(), site, version, changes: commit.changes.map(told), ...actor })
  }

  return {
    within: (actor, work) => acting.run(actor, work),
    recording: store => ({
      ...store,
      site(name) {
        const site = store.site(name)
        if (siteOfUnpublished(name) !== undefined) return site
        return {
          ...site,
          async commit(commit) {
            const result = await site.commit(commit)
            if (result.ok) record(name, commit, result.version, result.at)
            return result
          },
        }
      },
    }),
    reopen,
    close,
  }
}

/** What of a change is told: what was done where. */
function told(change: Change): object {
  const { op } = change
  return 'from' in change ? { op, path: change.from, to: change.to } : { op, path: change.path }
}

function intoLog(log: Log) {
  return { write: (entry: object) => log.info(entry, 'change'), reopen: () => undefined, close: () => undefined }
}

function intoFile(file: string, log: Log) {
  const open = () => openSync(file, 'a', 0o600)
  let descriptor = open()
  let complained = Number.NEGATIVE_INFINITY
  /** A disk that became full took a part of the last line. */
  let isCut = false
  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      if (Date.now() - complained < COMPLAIN_EVERY) return
      complained = Date.now()
      log.error({ err: error, file }, 'changes are not recorded')
    }
  }
  return {
    // In one piece, which the system appends as a whole where several processes write.
    write: (entry: object) =>
      attempt(() => {
        const line = Buffer.from(`${isCut ? '\n' : ''}${inPlainJson(JSON.stringify(entry))}\n`)
        isCut = writeSync(descriptor, line) < line.length
        if (isCut) throw new Error('A part of a line was written')
      }),
    reopen: () =>
      attempt(() => {
        const fresh = open()
        closeSync(descriptor)
        descriptor = fresh
      }),
    close: () => closeSync(descriptor),
  }
}
