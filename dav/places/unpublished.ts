/**
 * What the mount keeps unpublished: drafts, marks of removals, and helper files. Those that lie over the site or stand in its
 * listings are indexed in memory; every change of them goes through here.
 */

import { Fault } from '../../pipeline/fault.ts'
import { storedType } from '../../pipeline/http/media.ts'
import { LONGEST_PATH } from '../../pipeline/http/path.ts'
import { OrderedMap } from '../../pipeline/ordered-map.ts'
import type { Beside, ChangedPaths } from '../../pipeline/site/commit-row.ts'
import { ReadingAgain } from '../../pipeline/site/reading-again.ts'
import type { Site } from '../../pipeline/site/site.ts'
import type { Change } from '../../pipeline/store/commit.ts'
import { pathsIn } from '../../pipeline/store/paths.ts'
import type { Property, Resource } from '../../pipeline/store/resource.ts'
import { TurnsBetween } from '../../pipeline/tree/steps.ts'
import { proveReadable } from '../../pipeline/write/collection.ts'
import { describeChange } from '../../pipeline/write/properties.ts'
import { type Anew, commitUnpublished } from '../../pipeline/write/unpublished.ts'
import type { HelperNames } from './helper-names.ts'
import { Overlay, parentOf } from './overlay.ts'
import { isRemoval } from './removals.ts'

/** Helper files whose last use is known at most. */
const MOST_USED = 10_000

/** What happens on the site. */
export type Followed =
  | { op: 'remove'; path: string }
  /** @prop anew what drafts are published by from now on: whoever moves or copies one answers for it (REA-61) */
  | { op: 'move' | 'copy'; from: string; to: string; deep: boolean; anew: Anew }

export class Unpublished {
  /** The part of the store that holds them. */
  readonly site: Site
  /** What differs from the site in listings and tags. */
  readonly overlay = new Overlay()
  readonly #names: HelperNames
  readonly #watchers = new Set<(paths: ChangedPaths) => void>()
  /** Unix milliseconds of the last look at helper files, the longest unused first. */
  readonly #used = new OrderedMap<string, number>()
  /** Paths of which the index does not know what is stored there. */
  readonly #unread = new ReadingAgain(paths => this.#readAgain(paths))
  /** Changes that have begun, of this process and others, and those of this one that are not stored yet. */
  #begun = 0
  #open = 0
  /** Settles when the index knows every change that it has begun to follow; missing while it knows all. */
  #following: Promise<void> | undefined

  private constructor(site: Site, names: HelperNames) {
    this.site = site
    this.#names = names
  }

  /** Reads what an earlier process has left. */
  static async open(site: Site, names: HelperNames): Promise<Unpublished> {
    const unpublished = new Unpublished(site, names)
    const reading = unpublished.#readBelow('/')
    site.watchForeign(async paths => {
      await reading
      await unpublished.#readAgain(paths)
    })
    await reading
    site.watch(paths => unpublished.#tell(paths))
    return unpublished
  }

  /** Has a function told of the paths of every change, when it is made and again when the index knows of it. */
  watch(watcher: (paths: ChangedPaths) => void): void {
    this.#watchers.add(watcher)
  }

  #tell(paths: ChangedPaths): void {
    for (const watcher of this.#watchers) watcher(paths)
  }

  /**
   * What lies over a path of the site: a draft, or the mark of a removal that is to come. It may be outdated, when the
   * site has a newer version.
   */
  coverAt(path: string): Resource | undefined {
    const entry = this.overlay.at(path)
    return entry && !this.#names.of(path) ? entry : undefined
  }

  /**
   * Looks whether another draft or helper may be kept.
   *
   * @param path of what is to come; what stands there already may stay
   * @param from where it goes away: what counts there, and comes to where others count, is no more than before
   * @throws Fault 507
   */
  requireRoom(path: string, from?: string): void {
    const { overlay } = this
    if (!overlay.isFull || overlay.at(path) || !this.#isListed(path)) return
    if (from !== undefined && (overlay.at(from) || overlay.touches(from)) && overlay.touches(parentOf(path))) return
    const reason = 'There are as many drafts and temporary files here as there may be. Delete some first.'
    throw new Fault(507, 'AllowanceExhausted', reason)
  }

  /** Whether what was found over a path of the site is there as it was. */
  stands({ path, version }: Resource): boolean {
    return this.coverAt(path)?.version === version
  }

  /** Whether a file of the site is shown as gone. */
  isGone({ path, version }: Resource): boolean {
    const cover = this.coverAt(path)
    return cover !== undefined && isRemoval(cover) && cover.version > version
  }

  /** What lies over a file, or over files at any depth in a collection; found in turns. */
  async coversOf(path: string): Promise<Resource[]> {
    const covers: Resource[] = []
    const turns = new TurnsBetween()
    for (const { path: each } of path.endsWith('/') ? this.overlay.below(path) : [{ path }]) {
      await turns.next()
      const cover = this.coverAt(each)
      if (cover) covers.push(cover)
    }
    return covers
  }

  /** Unix milliseconds at which a helper file was last asked for in this process; 0 if it was not. */
  lastUse(path: string): number {
    return this.#used.get(path) ?? 0
  }

  /** Everything that is stored unpublished, page by page. */
  stored(): AsyncIterable<Resource> {
    return this.site.store.walk('/', { collections: true })
  }

  /**
   * Changes drafts and helper files.
   *
   * @returns the new state by path; undefined when something was not as the changes need it, and nothing was done
   */
  async commit(changes: Change[]): Promise<Map<string, Resource | undefined> | undefined> {
    const isFirst = this.#open++ === 0
    const begun = ++this.#begun
    let resources: Map<string, Resource | undefined> | undefined
    try {
      resources = await commitUnpublished(this.site, changes).finally(() => this.#open--)
      if (!resources) return undefined
      const left = resources
      await this.#inOrder(async () => {
        // Another one that was under way meanwhile may have come after this one.
        const isLast = isFirst && begun === this.#begun
        for (const [path, resource] of left)
          await this.#follow(path, isLast ? resource : await this.site.store.find(path))
      })
    } catch (error) {
      // It may be stored all the same.
      this.#unread.later(resources?.keys() ?? changes.flatMap(pathsIn))
      throw error
    }
    this.#tell([...resources.keys()])
    return resources
  }

  /** Follows a change when the index knows those before it: of two changes of a path it has to keep what the later one left. */
  async #inOrder(follow: () => Promise<void>): Promise<void> {
    const known = this.#following ? this.#following.then(follow) : follow()
    const following = known.catch(() => undefined)
    this.#following = following
    try {
      await known
    } finally {
      if (this.#following === following) this.#following = undefined
    }
  }

  /** Brings the index in step with what is stored at an unpublished path now. */
  async #follow(path: string, resource: Resource | undefined): Promise<void> {
    const now = Date.now()
    // What had the name in its other form is gone where this one has it, and nobody tells of that.
    if (path.endsWith('/')) {
      if (resource) this.overlay.delete(path.slice(0, -1), now)
      // Whoever looks meanwhile has to find what stays.
      const kept = resource && (await this.#readBelow(path))
      await this.overlay.deleteBelow(path, now, kept)
    } else if (resource) {
      await this.overlay.deleteBelow(`${path}/`, now)
      this.#note(resource)
    } else this.overlay.delete(path, now)
    await this.#renew(this.#listedAbove(path), now)
  }

  /** Another process has changed something unpublished. */
  async #readAgain(paths: ChangedPaths): Promise<void> {
    this.#begun++
    await this.#inOrder(async () => {
      for (const path of paths) await this.#follow(path, await this.site.store.find(path))
    })
    this.#tell(paths)
  }

  /** Drops drafts and helper files at and below a path of the site that is gone. */
  async remove(path: string): Promise<void> {
    const { store } = this.site
    const standing = await (path.endsWith('/') ? store.findNamed(path) : store.find(path))
    if (standing) await this.commit([{ op: 'delete', path: standing.path }])
  }

  /**
   * How drafts and helper files go with what is moved, copied or removed on the site: as they are when that is done. What is kept
   * unpublished at a destination goes. A copy has the index told when it has ended.
   *
   * @throws Fault 507 where there are as many as there may be
   */
  async following(followed: Followed): Promise<Beside | undefined> {
    const changes: Change[] = []
    const absent: string[] = []
    const { op } = followed
    const from = op === 'remove' ? followed.path : followed.from
    // Files that nothing lies over are most of all; drafts are stored under the leases of their paths.
    const found = from.endsWith('/') ? await this.site.store.findNamed(from) : this.coverAt(from)
    const isTaken = op !== 'remove' && found?.path === from && (followed.deep || found.kind !== 'collection')
    if (op !== 'remove') {
      const { to } = followed
      const standing = await this.site.store.findNamed(to)
      if (standing) changes.push({ op: 'delete', path: standing.path })
      if (isTaken) {
        this.requireRoom(to, op === 'move' ? from : undefined)
        if (op === 'copy' && from.endsWith('/')) this.overlay.beginCopy(from, to)
        changes.push(...(await this.#placesAbove(to)))
        const common = { from, to, longest: LONGEST_PATH, ...retyped(found, to) }
        changes.push(op === 'move' ? { op, ...common } : { op, deep: followed.deep, ...common })
        const drafts = (await this.coversOf(from)).filter(each => !isRemoval(each))
        const members = drafts.map(({ path }) => path.slice(from.length))
        if (drafts.length > 0) changes.push({ op: 'derive-below', path: to, members, ...followed.anew })
      }
    }
    // A draft whose name a collection of the site has taken goes with that.
    if (op !== 'copy' && found && !isTaken) changes.push({ op: 'delete', path: found.path })
    if (from.endsWith('/') && !found && (op === 'remove' || followed.deep)) absent.push(from)
    return changes.length + absent.length > 0 ? { site: this.site, changes, absent } : undefined
  }

  /** Has collections be where something is to come, in place of drafts whose names collections of the site have taken. */
  async #placesAbove(path: string): Promise<Change[]> {
    const changes: Change[] = []
    for (let parent = parentOf(path); parent !== '/'; parent = parentOf(parent)) {
      const found = await this.site.store.findNamed(parent)
      if (found?.kind === 'collection') break
      changes.unshift({ op: 'collection', path: parent })
      if (found) changes.unshift({ op: 'delete', path: found.path })
    }
    return changes
  }

  /** Makes a collection among the helpers. @returns false when there is one already; @throws Fault 507 */
  async makeCollection(path: string, properties: readonly Property[]): Promise<boolean> {
    this.requireRoom(path)
    const changes: Change[] = [{ op: 'collection', path }]
    if (properties.length > 0) changes.push(describeChange(path, { set: properties, remove: [] }))
    return this.#commitAt(path, changes)
  }

  /**
   * Moves or copies one helper, or a draft over nothing, to another name of that kind; what stands there goes.
   *
   * @param anew of what comes to stand there, in place of what goes along
   * @returns false when it is gone
   * @throws Fault 414 where the path of something in a collection of helpers would become too long, 507 as `requireRoom`
   */
  async transfer(op: 'move' | 'copy', from: string, to: string, deep: boolean, anew?: Anew): Promise<boolean> {
    this.requireRoom(to, op === 'move' ? from : undefined)
    const changes: Change[] = []
    const standing = await this.site.store.findNamed(to)
    if (standing) changes.push({ op: 'delete', path: standing.path })
    const source = await this.site.store.find(from)
    if (source && op === 'copy') await proveReadable(this.site, source, deep)
    const typed = source && !this.#names.of(to) && retyped(source, to)
    const common = { from, to, longest: LONGEST_PATH, ...typed }
    changes.push(op === 'move' ? { op, ...common } : { op, deep, ...common })
    if (anew) changes.push({ op: 'derive-below', path: to, members: [''], ...anew })
    return this.#commitAt(to, changes)
  }

  /**
   * Gives what is kept under one name another, in one commit with what stands there.
   *
   * @param standing what stands there and where it goes
   * @returns false when one of them is gone, or something else stands there
   * @throws Fault 414 where the path of something in it would become too long
   */
  async replace(from: string, to: string, standing?: { path: string; aside: string }): Promise<boolean> {
    const changes: Change[] = [{ op: 'move', from, to, expectTo: 'absent', longest: LONGEST_PATH }]
    if (standing) changes.unshift({ op: 'move', from: standing.path, to: standing.aside })
    return this.#commitAt(to, changes)
  }

  /**
   * Commits changes with the unpublished collections that a path needs; others may make some of these at the same time.
   *
   * @returns false when something else was not as the changes need it
   */
  async #commitAt(path: string, changes: Change[]): Promise<boolean> {
    for (let before: Change[] | undefined; ; ) {
      const missing = await this.#missingParents(path)
      if (missing.length === before?.length) return false
      if (await this.commit([...missing, ...changes])) return true
      before = missing
    }
  }

  /** Unpublished collections that a path needs, the outermost first. */
  async #missingParents(path: string): Promise<Change[]> {
    const missing: Change[] = []
    for (
      let parent = parentOf(path);
      parent !== '/' && !(await this.site.store.find(parent));
      parent = parentOf(parent)
    )
      missing.unshift({ op: 'collection', path: parent })
    return missing
  }

  /** Takes what is stored at and below a collection into the index. @returns the paths of all that it takes */
  async #readBelow(collection: string): Promise<Set<string>> {
    const found = new Set<string>()
    const take = (resource: Resource) => {
      this.#note(resource)
      if (this.overlay.at(resource.path) === resource) found.add(resource.path)
    }
    for await (const resource of this.site.store.walk(collection, { collections: true })) take(resource)
    const own = collection === '/' ? undefined : await this.site.store.find(collection)
    if (own) take(own)
    return found
  }

  /** Takes into the index what has an entry in a listing of the site: drafts, and helpers outside helper collections. */
  #note(resource: Resource): void {
    const { path, kind } = resource
    if (this.#isListed(path) && (kind !== 'collection' || this.#names.of(path))) this.overlay.set(resource)
  }

  #isListed(path: string): boolean {
    const helper = this.#names.of(path)
    return !helper || (helper.listed && !this.#names.of(parentOf(path)))
  }

  /** The topmost helper collection above a path: its sum changes with everything in it. */
  #listedAbove(path: string): string | undefined {
    let found: string | undefined
    for (let parent = parentOf(path); parent !== '/' && parent !== ''; parent = parentOf(parent))
      if (this.#names.of(parent)) found = parent
    return found
  }

  async #renew(collection: string | undefined, now: number): Promise<void> {
    if (collection === undefined) return
    const resource = await this.site.store.find(collection)
    if (resource) this.#note(resource)
    else this.overlay.delete(collection, now)
  }

  #use(path: string): void {
    this.#used.set(path, Date.now())
    const { size, oldest } = this.#used
    if (size > MOST_USED && oldest !== undefined) this.#used.delete(oldest)
  }

  /**
   * What is stored at a helper's path; counts as use of it.
   *
   * @param collections a collection of that name will do as well
   */
  async findHelper(path: string, collections: boolean): Promise<Resource | undefined> {
    const { store } = this.site
    const file = path.endsWith('/') ? undefined : await store.find(path)
    const resource = file ?? (collections ? await store.find(path.endsWith('/') ? path : `${path}/`) : undefined)
    if (resource) this.#use(resource.path)
    return resource
  }

  /** Members of a helper collection that are listed, ascending by name. */
  async listHelpers(collection: string): Promise<Resource[]> {
    const members = await this.site.store.list(collection)
    return members.filter(({ path }) => this.#names.of(path)?.listed)
  }
}

/** The type of a draft under another name (HTTP-20); that of a mark is no media type. */
export function retyped(source: Resource, to: string): { type?: string } {
  return source.kind === 'collection' || isRemoval(source) ? {} : { type: storedType(to, source.type) }
}
