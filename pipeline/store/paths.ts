/** Paths as keys: how a decoded absolute path is taken apart, and which paths may be stored at all. */

/** A path taken apart: that of its collection and its name in it. The root has neither. */
export interface SplitPath {
  /** Ends in `/`; empty for the root. */
  folder: string
  /** Last segment without slash; empty for the root. */
  name: string
}

/** Takes a path apart; a trailing slash makes no difference, because a name is used once per collection. */
export function splitPath(path: string): SplitPath {
  if (path === '/') return { folder: '', name: '' }
  const end = path.endsWith('/') ? path.length - 1 : path.length
  const cut = path.lastIndexOf('/', end - 1) + 1
  return { folder: path.slice(0, cut), name: path.slice(cut, end) }
}

/** Path of the collection that a resource is a member of; empty for the root. */
export function parentOf(path: string): string {
  return splitPath(path).folder
}

/** True of paths of collections. */
export function namesCollection(path: string): boolean {
  return path.endsWith('/')
}

/** Whether a path is that of a file or collection, or of something in the collection. */
export function isWithin(path: string, root: string): boolean {
  return path === root || (namesCollection(root) && path.startsWith(root))
}

/** A path as that of a file and of a collection, if it does not say which of them it is. */
export function bothForms(path: string): string[] {
  return namesCollection(path) ? [path] : [path, `${path}/`]
}

/**
 * The first key behind everything below a collection, for range scans: `0` follows `/`.
 * @param collection path with its trailing slash
 */
export function endOf(collection: string): string {
  return `${collection.slice(0, -1)}0`
}

/** An empty segment, a dot segment or U+0000. */
const UNSTORABLE = /\/(?:\/|\.{1,2}(?:\/|$))|\0/

/** Whether a path can be stored: absolute, well-formed text, no empty, `.` or `..` segments, no U+0000. */
export function isStorable(path: string): boolean {
  return path.startsWith('/') && !UNSTORABLE.test(path) && path.isWellFormed()
}

/** What every change of a commit has, with its bytes or without. */
export type Naming = { path: string } | { from: string; to: string }

/** Paths that a change names. */
export function pathsIn(change: Naming): string[] {
  return 'path' in change ? [change.path] : [change.from, change.to]
}
