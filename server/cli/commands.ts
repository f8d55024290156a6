/** The work behind the commands, as the command line sees it. `server/main.ts` supplies it. */

import type { Settings } from '../../config/schema.ts'
import type { AccessAnswer, AccessQuestion } from '../../pipeline/explain-request.ts'
import type { ReactionsAnswer } from '../../pipeline/react/explain.ts'

/** Told now and then during long work. */
export interface ProgressReport {
  /** What is being done, such as `checking documents`. */
  step: string
  done: number
  /** Undefined while nobody knows. */
  total?: number
}

export type Progress = (report: ProgressReport) => void

export interface ServeOptions {
  /** No site is configured: make the demo site's credential, and its documents when the store is empty. */
  firstStart: boolean
  /** Make a new password for the user of the demo site. */
  newPassword: boolean
  /**
   * Reads the settings again.
   *
   * @throws SettingsError
   */
  reload: () => Promise<Settings>
  /** Writes one line to the operator; all of `banner` go through it. */
  print: (line: string) => void
}

export interface CheckOutcome {
  /** Number of resources looked at. */
  checked: number
  /** What is wrong, one sentence each. */
  problems: string[]
  /** How many of them were repaired. */
  repaired: number
  /**
   * What documents declare that means nothing, or something else than it seems to, and what a process has left that was
   * killed; the store is sound all the same.
   */
  notes?: string[]
}

export interface TransferOptions {
  /** Name of the site in the store. */
  site: string
  /** Folder to write to or to read from. */
  directory: string
  progress: Progress
}

export interface TransferOutcome {
  files: number
  bytes: number
  /** What could not be transferred, one sentence each. */
  problems: string[]
  /** Files of desktop systems that were left out. */
  helpers?: number
}

/** What is stored of one site. */
export interface StoredSite {
  name: string
  files: number
  bytes: number
  /** Drafts and helper files, which only the mount shows. */
  unpublished: number
  /** Unix milliseconds of the last change; absent where nothing is stored. */
  changed?: number
  /** The settings have a site of this name. */
  isServed: boolean
}

export interface BackupOptions {
  /** Absolute path of a folder, or of a tar archive. */
  place: string
  isArchive: boolean
  progress: Progress
}

export interface MigrateOptions {
  /** Absolute paths of data folders, or addresses of databases. */
  from: string
  to: string
  progress: Progress
}

export interface MoveBlobsOptions {
  /** Addresses: one of a database, the other of the bucket for its large files. */
  from: string
  to: string
  progress: Progress
}

export interface SavedOutcome {
  sites: readonly { name: string }[]
  files: number
  bytes: number
}

/** Who asks a site for what (SEC-5). */
export interface Question extends AccessQuestion {
  /** Name of the site in the store. */
  site: string
}

export type Explanation = AccessAnswer

/** An expression to evaluate (SES-126). */
export interface Evaluation {
  /** Name of the site in the store. */
  site: string
  path: string
  program: string
}

/** An outbound request in the queue; of its address and content nothing is told that may be a secret. */
export interface OutboundCall {
  delivery: string
  site: string
  method: string
  host: string
  state: 'waiting' | 'failed'
  attempts: number
  /** Why the last attempt failed. */
  failure?: string
}

export interface Commands {
  /** Runs the server; resolves when it has ended. */
  serve(settings: Settings, options: ServeOptions): Promise<void>
  check(settings: Settings, options: { repair: boolean; progress: Progress }): Promise<CheckOutcome>
  export(settings: Settings, options: TransferOptions): Promise<TransferOutcome>
  import(settings: Settings, options: TransferOptions): Promise<TransferOutcome>
  /** Names of the sites that something is stored of; none where there is no store. */
  stored(settings: Settings): Promise<string[]>
  /** Every site that is stored or named by the settings. */
  sites(settings: Settings): Promise<StoredSite[]>
  backup(settings: Settings, options: BackupOptions): Promise<SavedOutcome & { newFiles: number; newBytes: number }>
  restore(settings: Settings, options: BackupOptions): Promise<SavedOutcome & { at: string }>
  /** Puts everything from one store into another. */
  migrate(settings: Settings, options: MigrateOptions): Promise<SavedOutcome & { found: number }>
  /** Moves the large files of a database into a bucket, or back. */
  moveBlobs(
    settings: Settings,
    options: MoveBlobsOptions,
  ): Promise<{ blobs: number; bytes: number; problems: readonly string[] }>
  /** Proves that a backup is whole. */
  checkSaved(options: BackupOptions): Promise<SavedOutcome & { at: string; problems: string[] }>
  /** Asks the server that runs with these settings on this machine. */
  askHealth(settings: Settings, options: { ready: boolean }): Promise<{ ok: boolean; said: string }>
  explain(settings: Settings, question: Question): Promise<Explanation>
  reactions(settings: Settings, question: { site: string; method: string; path: string }): Promise<ReactionsAnswer>
  /** @param options.resend delivery ids of failed requests */
  outbound(
    settings: Settings,
    options: { resend: readonly string[] },
  ): Promise<{ calls: readonly OutboundCall[]; unknown: readonly string[] }>
  /** @throws Fault for an expression that gives nothing (SES-236) */
  query(settings: Settings, evaluation: Evaluation): Promise<{ text: string; isMarkup: boolean }>
}
