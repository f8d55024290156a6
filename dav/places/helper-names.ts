/**
 * Names that desktop systems and editors give to files of their own (DAV-70): metadata, and the work files of a save.
 * The mount keeps such files apart from the site.
 */

/** How a path's name makes it a helper. */
export interface HelperName {
  /** Work files have entries in listings, metadata files have none (DAV-75). */
  listed: boolean
  /** A segment is the name of a helper collection, so collections belong here, too; else only a file does. */
  inCollection: boolean
}

/** An operator's further names (DAV-74). */
export interface HelperSettings {
  metadata: readonly string[]
  work: readonly string[]
  ordinary: readonly string[]
}

export interface HelperNames {
  /** Matches every path that `of` could know, and few others: most requests end here. */
  readonly suspect: RegExp
  /** @param path decoded; undefined for an ordinary name */
  of(path: string): HelperName | undefined
}

const METADATA = [
  '._*',
  '.ds_store',
  '.localized',
  '.spotlight-v100',
  '.trashes',
  '.fseventsd',
  '.temporaryitems',
  '.apdisk',
  '.volumeicon.icns',
  '.metadata_never_index',
  '.ql_*',
  'desktop.ini',
  'thumbs.db',
  'ehthumbs.db',
  '.directory',
]

/** Collections whose whole content belongs to a save that is under way. */
const WORK_COLLECTIONS = ['*.sb-????????-??????', '(a document being saved by *)']

const WORK_FILES = [
  '~$*',
  '.~lock.*#',
  '~wr?????.tmp',
  '*~',
  '.*.sw?',
  '4913',
  '.#*',
  '#*#',
  '.goutputstream-*',
  '.fuse_hidden*',
  '.davfs.tmp*',
]

/** The temporary names of Windows applications; no glob says "hexadecimal digit". */
const EIGHT_DIGITS = /^[0-9a-f]{8}(\.tmp)?$/

type Test = (name: string) => boolean

/**
 * @param settings names are compared without regard to case; `*` stands for any characters, `?` for one
 */
export function helperNames(settings: HelperSettings): HelperNames {
  const ordinary = anyOf(settings.ordinary)
  const metadata = anyOf([...METADATA, ...settings.metadata])
  const workCollection = anyOf(WORK_COLLECTIONS)
  const workFile = anyOf([...WORK_FILES, ...settings.work])
  const isWorkFile: Test = name => EIGHT_DIGITS.test(name) || workFile(name)

  return {
    suspect: settings.metadata.length + settings.work.length > 0 ? /^/ : SUSPECT,
    of(path) {
      const lower = path.toLowerCase()
      let inCollection = false
      let last = ''
      for (let start = 1; start < lower.length; start += last.length + 1) {
        const end = lower.indexOf('/', start)
        last = end < 0 ? lower.slice(start) : lower.slice(start, end)
        if (!inCollection && mayBeHelper(last) && !ordinary(last)) inCollection = metadata(last) || workCollection(last)
      }
      if (last === '') return undefined
      if (inCollection) return { listed: !metadata(last) || ordinary(last), inCollection }
      if (lower.endsWith('/') || !isWorkFile(last) || ordinary(last)) return undefined
      return { listed: true, inCollection: false }
    },
  }

  /** Most names are told apart by their first character; only further names of the operator can begin with any. */
  function mayBeHelper(name: string): boolean {
    return settings.metadata.length > 0 || FIRST.has(name.charCodeAt(0)) || name.includes('.sb-')
  }
}

/** First characters of built-in metadata names and of collections, in lower case. */
const FIRST = new Set([...'.dte('].map(character => character.charCodeAt(0)))

/** What paths with built-in names have in common: how a segment begins, what it holds, or how the last one ends. */
const SUSPECT = /\/[.dte(~#]|\.sb-|~$|\/4913$|\/[0-9a-f]{8}(?:\.tmp)?$/i

/** A test against all patterns at once, linear in the length of the name for each. */
function anyOf(patterns: readonly string[]): Test {
  const lower = patterns.map(pattern => pattern.toLowerCase())
  const exact = new Set(lower.filter(pattern => !/[*?]/.test(pattern)))
  const open = lower.filter(pattern => /[*?]/.test(pattern))
  return name => exact.has(name) || open.some(pattern => matches(pattern, name))
}

/** Two pointers, going back to the last star: never more than pattern times name. */
function matches(pattern: string, name: string): boolean {
  let p = 0
  let n = 0
  let star = -1
  let from = 0
  while (n < name.length) {
    const token = pattern[p]
    if (token === '*') {
      star = p++
      from = n
    } else if (token === '?' || token === name[n]) {
      p++
      n++
    } else if (star >= 0) {
      p = star + 1
      n = ++from
    } else return false
  }
  while (pattern[p] === '*') p++
  return p === pattern.length
}
