/**
 * `invalid`: a path or a combination of paths that cannot be (a mistake of the caller); `busy`: another process kept
 * the store locked, or the system lets it open no more files now; `late`: the turn of a commit came when what it had confirmed counted no more, so that it is to be
 * confirmed again; `full`: no space left; `unwritable`: the disk takes no writes; `closed`: after `close`; `unknown`: the
 * store went away during the commit, which may have been carried out; `failed`: anything else, the outcome may be unknown.
 */
type StoreErrorReason = 'invalid' | 'busy' | 'late' | 'full' | 'unwritable' | 'closed' | 'unknown' | 'failed'

/** Why a store could not do what was asked of it; nothing was changed unless the reason is `failed` or `unknown`. */
export class StoreError extends Error {
  readonly reason: StoreErrorReason
  constructor(reason: StoreErrorReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreError'
    this.reason = reason
  }
}

/** Bytes that were stored are not there any more, or are not what was stored. */
export class BlobGone extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BlobGone'
  }
}

/** Bytes that are there, and are not what was stored. */
export class BlobChanged extends BlobGone {}

/** Whether bytes could not be read because they, or the file that they were in, are not there, or are not what was stored. */
export function isLost(error: unknown): boolean {
  return error instanceof BlobGone || (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
}

/** Whether the system lets this process, or all of them, open no more files now. */
export function lacksDescriptors(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === 'EMFILE' || code === 'ENFILE'
}

/**
 * Something that an operator named cannot be used: a folder without a store, a backup that is torn. The message says what
 * and why, and is all that there is to say.
 */
export class Unusable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Unusable'
  }
}

/** What an operator named does not answer, and may by itself later on. */
export class NoAnswer extends Unusable {}

/** @param cause what reading the bytes of a path has failed with; nothing where the store does not have them at all */
export function lostBytes(path: string, cause?: unknown): Unusable {
  const what = cause instanceof BlobChanged ? 'does not hold the bytes that it should' : 'has no bytes in the store'
  return new Unusable(`${path} ${what}; run scriptorium check`, { cause })
}
