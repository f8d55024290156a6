/** The files of a site as the process holds them in memory: loaded when they are asked for, replaced by commits. */

import { type Profile, profileOf } from '../declarations/derive.ts'
import { Fault } from '../fault.ts'
import type { Vocabulary } from '../model/vocabulary.ts'
import { OrderedMap } from '../ordered-map.ts'
import type { Body } from '../store/blobs.ts'
import type { Commit } from '../store/commit.ts'
import { isDescribedAlike, isSameState, type Resource } from '../store/resource.ts'
import type { Loaded, SiteStore } from '../store/store.ts'
import { digestOf } from '../tree/document.ts'
import { PinnedDocument } from '../tree/edit/edit.ts'
import type { TreeDocument } from '../tree/nodes.ts'
import { SplicedBytes } from '../tree/spliced-bytes.ts'
import { begin, type Steps } from '../tree/steps.ts'
import type { DocumentCache } from './cache.ts'
import { removedCollections } from './commit-row.ts'
import { type FollowedEdit, followedVersion } from './followed-edits.ts'
import { type NewTree, StoredFile } from './stored-file.ts'

/** A version that a commit brings. */
export interface Version {
  body: { readonly bytes: Uint8Array }
  profile: Profile
  /** The tree of the new version, if the edit produced one; made in steps between which nobody else may have it. */
  newTree?: () => Steps<TreeDocument>
  /** Written as a whole: whoever does that mostly does not work with its elements. */
  isSaved?: boolean
}

/** Versions that are parsed in turns before one is parsed at once, because new ones keep coming. */
const ATTEMPTS = 3

/** Paths where nothing is that are known at once, and letters of the longest. */
const ABSENT = 512
const LONGEST = 256

/** Bytes that may lie around those of a body in the buffer in which they arrived. */
const AROUND = 2048

/** Bytes that are to be kept, in a buffer that holds little else. */
function compact(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength <= bytes.length + AROUND ? bytes : Buffer.from(bytes)
}

/** One path that is being looked at. */
interface Look {
  /** What is read may be that of before a commit. */
  isOutdated: boolean
  /** Readers that wait for an answer. */
  readers: number
}

/** Looks into the store that are under way, and whether a commit has come to their paths meanwhile. */
class Looks {
  readonly #looks = new Map<string, Look>()

  /** To be ended by `end`. */
  begin(path: string): Look {
    const look = this.#looks.get(path) ?? { isOutdated: false, readers: 0 }
    look.readers++
    this.#looks.set(path, look)
    return look
  }

  end(path: string, look: Look): void {
    if (--look.readers === 0 && this.#looks.get(path) === look) this.#looks.delete(path)
  }

  /** A commit has come to a path; whoever begins now reads what it left. */
  outdate(path: string): void {
    const look = this.#looks.get(path)
    if (!look) return
    look.isOutdated = true
    this.#looks.delete(path)
  }

  /** A commit has come to many paths. */
  outdateAll(): void {
    for (const look of this.#looks.values()) look.isOutdated = true
    this.#looks.clear()
  }
}

/** What they need of a site. */
interface Parts {
  store: SiteStore
  cache: DocumentCache
  settings: Vocabulary
  report: (message: string, details: object) => void
}

export class Resources {
  readonly #store: SiteStore
  readonly #cache: DocumentCache
  readonly #vocabulary: Vocabulary
  readonly #report: Parts['report']
  readonly #underWay: (path: string, version: number) => Promise<void>[]
  readonly #ahead = new Set<Promise<void>>()
  /** Rises with every change. */
  #changes = 0
  #newestLoaded = 0
  readonly #looks = new Looks()
  /** Paths where no file is, as the store said and no commit has changed since: a write looks there more than once. */
  readonly #absent = new OrderedMap<string, true>()

  /**
   * @param underWay commits of this process that may have left a version at a path, while memory does not know them yet; each
   *   promise is kept when it does
   */
  constructor({ store, cache, settings, report }: Parts, underWay: (path: string, version: number) => Promise<void>[]) {
    this.#store = store
    this.#cache = cache
    this.#vocabulary = settings
    this.#report = report
    this.#underWay = underWay
  }

  /** Version of the newest file that came from the store: another process may have written it just now. */
  get newestLoaded(): number {
    return this.#newestLoaded
  }

  /** Commits of this process whose work has come from the store before memory knows them: each is kept when it does. */
  get ahead(): ReadonlySet<Promise<void>> {
    return this.#ahead
  }

  /** Another number whenever something has changed. */
  get changes(): number {
    return this.#changes
  }

  /** What is in memory for a path; undefined says nothing about the store. */
  inMemory(path: string): StoredFile | undefined {
    const file = this.#cache.get(this.#store.name, path)
    return file?.isOutdated ? undefined : file
  }

  /** Whether a file is what is in memory for its path, found out without looking for the path. */
  isInMemory(file: StoredFile): boolean {
    return this.#cache.holds(file) && !file.isOutdated
  }

  /**
   * Whether a file in memory has items, as its profile tells; blobs have none.
   *
   * @param version which it has to be
   * @returns undefined when that is not known
   */
  hasItems(path: string, version: number): boolean | undefined {
    if (this.inMemory(path)?.resource.version !== version) return undefined
    const types = this.typesAt(path)
    return types && types.length > 0
  }

  /** Types of the items of a file in memory; undefined when they are not known. */
  typesAt(path: string): readonly string[] | undefined {
    const file = this.inMemory(path)
    return file && (file.isDocument ? file.profile?.types : [])
  }

  /** The newest version of a file; undefined when nothing, or a collection, is stored there. */
  async find(path: string): Promise<StoredFile | undefined> {
    if (this.#absent.has(path)) return undefined
    return this.inMemory(path) ?? this.#load(path)
  }

  /**
   * The newest version of a file, with its tree if it is a document. Large documents are parsed in turns with other work.
   *
   * @throws Fault 422 for a document that cannot be parsed
   */
  async findParsed(path: string): Promise<StoredFile | undefined> {
    for (let tries = 1; ; tries++) {
      const file = await this.find(path)
      if (!file?.isDocument || file.hasTree || tries > ATTEMPTS) return file
      if (file.lent && tries < ATTEMPTS) {
        await file.lent
        continue
      }
      await file.parse()
      // A version that came meanwhile has a tree of its own, unless it is the work of another process.
      if (this.inMemory(path) === file) return file
      // What has left the memory meanwhile comes back as another object.
      const newest = await this.find(path)
      if (newest?.resource.version !== file.resource.version) continue
      newest.adoptTree(file)
      return newest
    }
  }

  async #load(path: string): Promise<StoredFile | undefined> {
    for (;;) {
      const look = this.#looks.begin(path)
      try {
        const found = await this.#read(path, look)
        if (found !== 'again') return found
      } finally {
        this.#looks.end(path, look)
      }
    }
  }

  /** @returns `again` for what a commit has replaced meanwhile */
  async #read(path: string, look: Look): Promise<StoredFile | 'again' | undefined> {
    const loaded = await this.#stored(path)
    if (!loaded || loaded.resource.kind === 'collection') {
      if (!look.isOutdated) this.#noteAbsent(path)
      return undefined
    }
    const { resource } = loaded
    this.#newestLoaded = Math.max(this.#newestLoaded, resource.version)
    this.#noteAhead(path, resource.version)
    const body = loaded.body ?? (await this.#store.body(resource))
    if (!body) return 'again'
    if ('bytes' in body && (await digestOf(body.bytes)) !== resource.digest) {
      const now = await this.#store.find(path)
      if (now?.version === resource.version) throw this.#damaged(resource)
      return 'again'
    }
    const profile = resource.kind === 'document' ? await this.#profile(loaded, body) : undefined
    const file = new StoredFile(resource, body, profile)
    if (look.isOutdated) {
      const newer = this.inMemory(path)
      if (newer) return newer
      if (!(await this.#isNewest(resource))) return 'again'
    }
    const before = this.#cache.get(this.#store.name, path)
    if (before && !before.isOutdated && before.resource.version === resource.version) return before
    if (before) file.inherit(before)
    this.#cache.set(this.#store.name, file)
    return file
  }

  /** Whether a state is what the store has, and no commit has come to its path since that was asked. */
  async #isNewest(resource: Resource): Promise<boolean> {
    const { path } = resource
    const look = this.#looks.begin(path)
    try {
      const now = await this.#store.find(path)
      return now !== undefined && isSameState(now, resource) && isDescribedAlike(now, resource) && !look.isOutdated
    } finally {
      this.#looks.end(path, look)
    }
  }

  #noteAhead(path: string, version: number): void {
    for (const done of this.#underWay(path, version)) {
      if (this.#ahead.has(done)) continue
      this.#ahead.add(done)
      void done.then(() => this.#ahead.delete(done))
    }
  }

  /** A commit has come to a path: what the store said of it before counts no more. */
  #arrived(path: string): void {
    this.#absent.delete(path)
    this.#looks.outdate(path)
  }

  #noteAbsent(path: string): void {
    if (path.length > LONGEST) return
    const { oldest } = this.#absent
    if (oldest !== undefined && this.#absent.size >= ABSENT) this.#absent.delete(oldest)
    this.#absent.set(path, true)
  }

  /** What is read from a disk that has lost or changed some of it is told, never served (its tag is known). */
  #damaged({ path, version }: Resource): Fault {
    this.#report('A stored file is damaged: its bytes are not those of its tag', { path, version })
    return new Fault(500, 'Internal', 'What is stored at this address is damaged. The failure was recorded.')
  }

  async #stored(path: string): Promise<Loaded | undefined> {
    if (this.#store.load) return this.#store.load(path)
    const resource = await this.#store.find(path)
    return resource && { resource }
  }

  async #profile({ resource, profile }: Loaded, body: Body): Promise<Profile | undefined> {
    const stored = profile ?? (await this.#store.derived(resource.path, 'profile'))
    if (stored) return JSON.parse(stored) as Profile
    if (!('bytes' in body)) return undefined
    return profileOf(body.bytes, resource.type, this.#vocabulary)
  }

  /** The tree of a document in memory; counts as use of the tree. */
  tree(file: StoredFile): TreeDocument {
    const { tree } = file
    this.#cache.weighTree(file)
    return tree
  }

  /** To be called before the changes of a commit. */
  change(): void {
    this.#changes++
  }

  /**
   * Follows a commit of this process.
   *
   * @param resources what the commit has left at each of its paths
   * @param written the documents that it puts, by path
   */
  take(
    commit: Pick<Commit, 'changes'>,
    resources: ReadonlyMap<string, Resource | undefined>,
    written: ReadonlyMap<string, Version>,
  ): void {
    this.change()
    for (const [path, resource] of resources) {
      if (path.endsWith('/')) continue
      this.#arrived(path)
      const version = written.get(path)
      const bytes = version ? undefined : blobBytes(commit, path)
      if (resource && version) this.#replace(resource, version)
      else if (resource && bytes) this.#renew(resource, bytes)
      else this.forget(path)
    }
    for (const collection of removedCollections(commit)) this.forget(collection)
  }

  /** Puts a committed version in place of what memory has. */
  #replace(resource: Resource, version: Version): void {
    const before = this.inMemory(resource.path)
    const isKept = !version.isSaved || before?.keepsTree
    const tree = isKept ? this.#newTree(resource.path, version, () => before?.treeBytes ?? 0) : undefined
    before?.releaseTree()
    const body = version.body instanceof SplicedBytes ? version.body : { bytes: compact(version.body.bytes) }
    this.#cache.set(this.#store.name, new StoredFile(resource, body, version.profile, tree))
  }

  /** Keeps a blob in memory that was there before: whoever saves a file again and again reads it as often. */
  #renew(resource: Resource, bytes: Uint8Array): void {
    if (this.inMemory(resource.path))
      this.#cache.set(this.#store.name, new StoredFile(resource, { bytes: compact(bytes) }, undefined))
  }

  /**
   * The commit stands whatever happens here: a tree that cannot follow, or is being read, is parsed anew when somebody
   * needs it.
   *
   * @param weight of the version before, in bytes
   */
  #newTree(path: string, { newTree }: Version, weight: () => number): NewTree | undefined {
    try {
      const work = newTree?.()
      // Once it has begun, the tree before knows what it is to hold.
      return work && (begin(work) ?? { work, bytes: weight() })
    } catch (error) {
      if (error instanceof PinnedDocument) return undefined
      this.#report('A parsed document could not follow its commit', { path, error })
      return undefined
    }
  }

  /** Follows an edit of another process, if the version is held that it was made on. */
  follow(edit: FollowedEdit, to: number): void {
    this.#arrived(edit.path)
    const before = this.#cache.get(this.#store.name, edit.path)
    const version = before && followedVersion(before, edit, to)
    const isHeld = before?.follow(edit, to) ?? false
    if (!version) {
      if (!isHeld) this.forget(edit.path)
      return
    }
    const file = new StoredFile(version.resource, version.body, version.profile)
    if (isHeld) file.inherit(before)
    this.#cache.set(this.#store.name, file)
  }

  /** Forgets a file or, by a path ending in `/`, everything below it. */
  forget(path: string): void {
    if (path.endsWith('/')) {
      this.#absent.clear()
      this.#looks.outdateAll()
      this.#cache.deleteBelow(this.#store.name, path)
    } else {
      this.#arrived(path)
      this.#cache.delete(this.#store.name, path)
    }
  }
}

/** Bytes of a blob that a commit stores, if they are in memory and nothing else happens to its path. */
function blobBytes({ changes }: Pick<Commit, 'changes'>, path: string): Uint8Array | undefined {
  const [first] = changes
  if (first?.op !== 'put' || first.path !== path || first.kind !== 'blob' || !('bytes' in first.content))
    return undefined
  return changes.every((change, at) => at === 0 || change.op === 'describe') ? first.content.bytes : undefined
}
