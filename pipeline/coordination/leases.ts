/** Write leases: at most one writer per path at a time (HTTP-4, DAV-8). */

/** Why a lease could not be had. */
export class LeaseTimeout extends Error {
  readonly path: string
  constructor(path: string) {
    super('No write lease within the time limit')
    this.path = path
  }
}

/** Why no lease can be had by anybody now. */
export class LeaseError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LeaseError'
  }
}

/**
 * A lease keeps writers from working in vain and lets them come in turn. It is no proof: a process that stands still may
 * lose it. What a writer decided by is asked again inside its commit, by version (HTTP-4), so that nobody needs to show
 * the store a number of the lease. WebDAV locks have no version there: for their sake a writer confirms its lease when the
 * turn of its commit has come (DAV-8).
 */
export interface Leases {
  /**
   * Runs `work` while holding the leases of all `paths`; waiting writers of one path are served in order of arrival.
   *
   * @param paths canonical paths, in any order; duplicates count once
   * @param work runs once all leases are held; the leases end with it, whatever its outcome. Where it is known, it is given
   *   the version of the newest commit of all who have held leases of the site before
   * @returns what `work` returns
   * @throws LeaseTimeout when waiting exceeds the limit (DAV-8: 10 s); LeaseError when leases cannot be had now
   */
  hold<T>(site: string, paths: readonly string[], work: (newest?: number) => Promise<T>): Promise<T>
  /**
   * Looks whether this process still has the leases that it holds of these paths.
   *
   * @param paths those of which it holds none do not count
   * @returns at once where they will be held for a moment, which is longer than a database waits for a process that stands
   * still in a transaction, else when that was asked
   * @throws LeaseError when nobody can be asked
   */
  confirm(site: string, paths: readonly string[]): boolean | Promise<boolean>
  /**
   * Waits for those who hold a lease now on a path, on a collection above it or on something below it; not for those who
   * come later. Whoever has made something known that every writer looks for under the lease, such as a lock, is sure
   * afterwards that no write goes on which has not seen it. A trailing slash makes no difference.
   *
   * Of writers in other processes, those on the path itself and above it are waited for.
   *
   * @throws LeaseTimeout, LeaseError as above
   */
  outlast(site: string, path: string): Promise<void>
}

/** Whether two paths are the same, or one of them lies below the other. A trailing slash makes no difference. */
export function touches(a: string, b: string): boolean {
  const [one, other] = [withSlash(a), withSlash(b)]
  return one.startsWith(other) || other.startsWith(one)
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}
