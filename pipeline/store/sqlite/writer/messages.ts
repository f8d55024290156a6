/** What the threads of the store say to each other. */

import type { MessagePort } from 'node:worker_threads'
import type { BesideChanges, Change, Commit, CommitResult, Guard, NewEvent } from '../../commit.ts'
import type { StoreError } from '../../errors.ts'
import type { NoteChange } from '../../notes.ts'
import type { EventLimits } from '../../records/events.ts'

/**
 * Bytes of a change on their way to the writer: a stretch of the buffer that travels with the message, or a staged file.
 */
export type PackedContent =
  | { offset: number; length: number; digest?: string }
  | { splices: readonly PackedSplice[]; digest: string; size: number }
  | { file: string; sha256: string; sha1: string | undefined; md5: string | undefined; size: number }

/** A stretch of stored bytes, and what stands in its place: a stretch of the buffer. */
export interface PackedSplice {
  start: number
  end: number
  offset: number
  length: number
}

/** What a change carries beside its bytes, its entries as one text. */
type Packed<C extends Change> = C extends { entries?: unknown } ? Omit<C, 'entries'> & { entries?: string } : C

type PackedPut = Packed<Extract<Change, { op: 'put' }>>

/** A change with its bytes taken out. */
export type PackedChange =
  | Packed<Exclude<Change, { op: 'put' }>>
  | (Omit<PackedPut, 'content'> & { content: PackedContent })

/** An event; where it has a tail, the text of the document that its commit puts at its path stands before that. */
export type PackedEvent = Omit<NewEvent, 'text'> & { tail?: string }

/** A change of one kind with its bytes taken out. */
export type ChangeOf<Op extends PackedChange['op']> = Extract<PackedChange, { op: Op }>

type PackedBeside = Omit<BesideChanges, 'changes'> & { changes: PackedChange[] }

/** One thing for the writer to do. Times are unix milliseconds by the clock of the process. */
export type WriterJob =
  | {
      task: 'commit'
      id: number
      at: number
      site: string
      commit: Omit<Commit, 'changes' | 'events' | 'beside'> & {
        changes: PackedChange[]
        events?: PackedEvent[]
        beside?: PackedBeside
      }
      /** How many guards have come before, which are as good as if they came with it. */
      sent?: number
      /** Names in the paths of the changes that have no line in the sum of their collection. */
      unlisted: string[]
      /** How many events are kept of a path of this site; the writer has its own measure if not given. */
      eventLimits?: EventLimits | undefined
      /** Until when its turn may come, by the clock of `turn.ts`; at any time if not given. */
      until?: number
    }
  | {
      task: 'derive'
      id: number
      at: number
      site: string
      path: string
      version: number
      derived: Record<string, string>
      /** As one text. */
      entries?: string
    }
  | { task: 'setting'; id: number; at: number; name: string; value: string; unlessSet: boolean }
  | { task: 'checksums'; id: number; at: number; digest: string; sha1: string; md5: string }
  | { task: 'notes'; id: number; at: number; changes: readonly NoteChange[] }
  /** Does nothing but wait for its turn. */
  | { task: 'turn'; id: number; at: number }

/** Which body is to be read: that of one state of a resource. */
export interface BodyPlace {
  /** Number of the site. */
  site: number
  folder: string
  name: string
  version: number
}

/** Undefined when the resource has changed meanwhile; `file` for bytes that are in a file. */
export type ReadBody = Uint8Array | 'file' | undefined

/** A message to the writer. */
export type WriterMessage =
  | { jobs: WriterJob[]; bytes: ArrayBuffer }
  /** Guards of a job that comes later. */
  | { guards: readonly Guard[]; job: number }
  | { read: BodyPlace; id: number }
  /** Nothing to commit, but time has passed. */
  | { housekeeping: number }
  /** The store is closed, or memory is to be given back. With `stays`, the thread waits for another store afterwards. */
  | { close: true; stays?: boolean }

/** What became of a job; `result` is undefined for jobs other than commits. */
export type JobResult =
  | { id: number; result: CommitResult | undefined }
  | { id: number; error: { reason: StoreError['reason']; message: string } }

/** A message of the writer. */
export type WriterReply =
  | { answers: JobResult[] }
  | { read: number; body: ReadBody }
  | { read: number; error: string }
  /** The search for files without a row is over. */
  | { searched: true }
  /** The last one: the thread has closed the store, and another may have it. */
  | { free: true }
  | { log: { level: 'warn' | 'error'; message: string; details: Record<string, unknown> } }

/** What the writer is told by whoever starts it. */
export interface WriterSettings {
  folder: string
  /** Milliseconds. */
  eventRetention: number
  /** Milliseconds to wait for another process's write transaction. */
  lockWait: number
  /** Name of this process in the log of commits; without it no log is kept. */
  origin: string | undefined
  /** Bytes of pages kept in memory. */
  pages: number
  /** Whether files without a row are searched for: once in the life of a process, where there are any files. */
  search: boolean
}

/** What its thread is told first, and each time that it is to write for another store. */
export interface WriterData extends WriterSettings {
  /** Where its messages go. */
  replies: MessagePort
  /** One number, set to 1 behind each of them, so that looking for one costs next to nothing. */
  replied: Int32Array
}
