/**
 * The mount's view of a site: its stored resources, with drafts and helper files laid over them. States of collections
 * are kept in memory and forgotten by the commits that change them.
 */

import {
  addTo,
  type Change,
  type Property,
  type Resource,
  shownSeconds,
  weight,
  ZERO,
} from '../pipeline/resource-tags.ts'
import type { Site } from '../pipeline/site.ts'
import { describeChange, type PropertyPatch, writeProperties } from '../pipeline/write-properties.ts'
import { commitScratch } from '../pipeline/write-scratch.ts'
import type { HelperNames } from './helper-names.ts'
import { Overlay, parentOf } from './overlay.ts'
import { isRemoval } from './removals.ts'

/** Where a resource of the mount is kept. */
export type Keeper = 'site' | 'draft' | 'helper'

/** A resource as the mount shows it. */
export interface Node {
  /** Of a draft: an empty file. Of a collection: with the sum of what is shown in it. */
  resource: Resource
  keeper: Keeper
  /** Of a draft: the published version behind it. */
  published?: Resource
}

/** SHA-256 of nothing. */
const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Helper files whose last use is known at most. */
const MOST_USED = 10_000

/** States of collections kept at most. */
const MOST_COLLECTIONS = 20_000

export function isCollection({ resource }: Pick<Node, 'resource'>): boolean {
  return resource.kind === 'collection'
}

export class View {
  readonly #site: Site
  readonly #scratch: Site
  readonly #names: HelperNames
  readonly #overlay = new Overlay()
  readonly #collections = new Map<string, Resource>()
  /** Unix milliseconds of the last look at helper files, the longest unused first. */
  readonly #used = new Map<string, number>()
  /** Commits seen; tells a look-up whether what it read may be outdated. */
  #seen = 0

  private constructor(site: Site, scratch: Site, names: HelperNames) {
    this.#site = site
    this.#scratch = scratch
    this.#names = names
  }

  /** Opens the view and reads what is stored beside the site. */
  static async open(site: Site, scratch: Site, names: HelperNames): Promise<View> {
    const view = new View(site, scratch, names)
    const reading = view.#readBelow('/')
    scratch.watchForeign(async paths => {
      await reading
      await view.#readAgain(paths)
    })
    await reading
    site.watch(paths => view.#forget(paths))
    scratch.watch(paths => view.#forget(paths))
    return view
  }

  /**
   * What stands at a path.
   *
   * @param path with a slash at its end only a collection fits; without it a file, or else the collection of that name
   */
  async find(path: string): Promise<Node | undefined> {
    const helper = this.#names.of(path)
    if (helper) {
      const found = await this.#findHelper(path, helper.inCollection)
      if (found) {
        this.#use(found.resource.path)
        return found
      }
    }
    if (!path.endsWith('/')) {
      const file = await this.#siteFile(path)
      const entry = this.coverAt(path)
      const node = entry ? this.#overlaid(entry, file) : file && siteNode(file)
      if (node || file) return node
    }
    const collection = await this.#collection(path.endsWith('/') ? path : `${path}/`)
    return collection && { resource: collection, keeper: 'site' }
  }

  /** Members of a collection as they are listed, ascending by name. */
  async members(collection: Node): Promise<Node[]> {
    const { path } = collection.resource
    if (collection.keeper === 'helper') {
      const stored = await this.#scratch.store.list(path)
      return stored
        .filter(member => this.#names.of(member.path)?.listed)
        .map(resource => ({ resource, keeper: 'helper' }))
    }
    const stored = await this.#site.store.list(path)
    if (!this.#overlay.touches(path)) return stored.map(resource => ({ resource, keeper: 'site' }))
    const nodes = new Map<string, Node>()
    for (const resource of stored)
      nodes.set(resource.path, { resource: await this.#effective(resource), keeper: 'site' })
    for (const entry of this.#overlay.membersOf(path)) {
      const node = this.#overlaid(entry, nodes.get(entry.path)?.resource)
      if (node) nodes.set(entry.path, node)
      else nodes.delete(entry.path)
    }
    return [...nodes.values()].sort((a, b) => Buffer.compare(nameBytes(a.resource), nameBytes(b.resource)))
  }

  /** The part of the store that keeps a node's bytes and properties. */
  keeperOf(node: Node): Site {
    return node.keeper === 'site' ? this.#site : this.#scratch
  }

  /** Dead properties of a node; those of a published document stay with it while a draft covers it. */
  properties({ resource, keeper, published }: Node): Promise<Property[]> {
    if (resource.properties === ZERO) return Promise.resolve([])
    const site = keeper === 'site' || published ? this.#site : this.#scratch
    return site.store.properties(resource.path)
  }

  /** Whether the mount keeps a path apart from the site: as a helper, unless the site has something there already. */
  async isHelper(path: string): Promise<boolean> {
    const helper = this.#names.of(path)
    if (!helper || (path.endsWith('/') && !helper.inCollection)) return false
    if (await this.#findHelper(path, helper.inCollection)) return true
    const file = await this.#siteFile(path)
    return !file && !(await this.#collection(path.endsWith('/') ? path : `${path}/`))
  }

  /**
   * What lies over a path of the site: a draft, or the mark of a removal that is to come. It may be outdated, when the
   * site has a newer version.
   */
  coverAt(path: string): Resource | undefined {
    const entry = this.#overlay.at(path)
    return entry && !this.#names.of(path) ? entry : undefined
  }

  /** Whether a file of the site is shown as gone. */
  isGone({ path, version }: Resource): boolean {
    const cover = this.coverAt(path)
    return cover !== undefined && isRemoval(cover) && cover.version > version
  }

  /** Everything that lies over paths of the site. */
  covers(): Resource[] {
    return [...this.#overlay.entries()].filter(({ path }) => !this.#names.of(path))
  }

  /** Unix milliseconds at which a helper file was last asked for in this process; 0 if it was not. */
  lastUse(path: string): number {
    return this.#used.get(path) ?? 0
  }

  /** Everything stored beside the site, page by page. */
  beside(): AsyncIterable<Resource> {
    return this.#scratch.store.walk('/', { collections: true })
  }

  /**
   * Changes drafts and helper files.
   *
   * @returns the new state by path; undefined when something was not as the changes need it, and nothing was done
   */
  async commit(changes: Change[]): Promise<Map<string, Resource | undefined> | undefined> {
    const resources = await commitScratch(this.#scratch, changes)
    if (!resources) return undefined
    for (const [path, resource] of resources) await this.#follow(path, resource)
    this.#forget(resources.keys())
    return resources
  }

  /** Brings the index in step with what is stored at a path beside the site now. */
  async #follow(path: string, resource: Resource | undefined): Promise<void> {
    const now = Date.now()
    if (path.endsWith('/')) {
      this.#overlay.deleteBelow(path, now)
      if (resource) await this.#readBelow(path)
    } else if (resource) this.#note(resource)
    else this.#overlay.delete(path, now)
    await this.#renew(this.#listedAbove(path), now)
  }

  /** Another process has changed something beside the site. */
  async #readAgain(paths: Iterable<string>): Promise<void> {
    for (const path of paths) await this.#follow(path, await this.#scratch.store.find(path))
    this.#forget(paths)
  }

  /**
   * Changes the properties of a node. Those of a published document stay with it while a draft covers it; the times of
   * the draft are its own.
   *
   * @throws Fault 404 when it is gone
   */
  async describe({ resource, keeper, published }: Node, patch: PropertyPatch): Promise<void> {
    const { path } = resource
    if (keeper === 'site') await writeProperties(this.#site, path, patch)
    else if (!published) await this.commit([describeChange(path, patch)])
    else {
      const { set, remove, ...own } = patch
      if (set.length + remove.length > 0) await writeProperties(this.#site, path, { set, remove })
      await this.commit([describeChange(path, { set: [], remove: [], ...own })])
    }
  }

  /** Drops drafts and helper files at and below a path of the site that is gone. */
  async removeBeside(path: string): Promise<void> {
    if (await this.#scratch.store.find(path)) await this.commit([{ op: 'delete', path }])
  }

  /**
   * Takes drafts and helper files along with what was copied or moved on the site; what stood beside the destination
   * goes.
   *
   * @param deep with what stands beside the members of a collection
   */
  async transferBeside(op: 'move' | 'copy', from: string, to: string, deep: boolean): Promise<void> {
    const { store } = this.#scratch
    const taken = deep ? await store.find(from) : undefined
    const changes: Change[] = []
    for (const path of [to, otherForm(to)]) if (await store.find(path)) changes.push({ op: 'delete', path })
    if (taken)
      changes.push(...(await this.#missingParents(to)), op === 'move' ? { op, from, to } : { op, from, to, deep })
    else if (op === 'move' && (await store.find(from))) changes.push({ op: 'delete', path: from })
    if (changes.length > 0) await this.commit(changes)
  }

  /** Makes a collection among the helpers. @returns false when there is one already */
  async makeHelperCollection(path: string, properties: readonly Property[]): Promise<boolean> {
    const changes: Change[] = [...(await this.#missingParents(path)), { op: 'collection', path }]
    if (properties.length > 0) changes.push(describeChange(path, { set: properties, remove: [] }))
    return (await this.commit(changes)) !== undefined
  }

  /**
   * Moves or copies one helper, or a draft over nothing, to another name of that kind; what stands there goes.
   *
   * @returns false when it is gone
   */
  async transferHelper(op: 'move' | 'copy', from: string, to: string, deep: boolean): Promise<boolean> {
    const changes: Change[] = await this.#missingParents(to)
    for (const path of [to, otherForm(to)])
      if (await this.#scratch.store.find(path)) changes.push({ op: 'delete', path })
    changes.push(op === 'move' ? { op, from, to } : { op, from, to, deep })
    return (await this.commit(changes)) !== undefined
  }

  /** Collections beside the site that a path needs, the outermost first. */
  async #missingParents(path: string): Promise<Change[]> {
    const missing: Change[] = []
    for (
      let parent = parentOf(path);
      parent !== '/' && !(await this.#scratch.store.find(parent));
      parent = parentOf(parent)
    )
      missing.unshift({ op: 'collection', path: parent })
    return missing
  }

  async #readBelow(collection: string): Promise<void> {
    for await (const resource of this.#scratch.store.walk(collection, { collections: true })) this.#note(resource)
    const own = collection === '/' ? undefined : await this.#scratch.store.find(collection)
    if (own) this.#note(own)
  }

  /** Takes into the index what has an entry in a listing of the site: drafts, and helpers outside helper collections. */
  #note(resource: Resource): void {
    const { path, kind } = resource
    const helper = this.#names.of(path)
    if (helper ? helper.listed && !this.#names.of(parentOf(path)) : kind !== 'collection') this.#overlay.set(resource)
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
    const resource = await this.#scratch.store.find(collection)
    if (resource) this.#note(resource)
    else this.#overlay.delete(collection, now)
  }

  #use(path: string): void {
    this.#used.delete(path)
    this.#used.set(path, Date.now())
    if (this.#used.size <= MOST_USED) return
    const [oldest] = this.#used.keys()
    if (oldest !== undefined) this.#used.delete(oldest)
  }

  async #findHelper(path: string, collections: boolean): Promise<Node | undefined> {
    const { store } = this.#scratch
    const file = path.endsWith('/') ? undefined : await store.find(path)
    const resource = file ?? (collections ? await store.find(path.endsWith('/') ? path : `${path}/`) : undefined)
    return resource && { resource, keeper: 'helper' }
  }

  /** What an entry makes of its path; undefined for nothing. */
  #overlaid(entry: Resource, published: Resource | undefined): Node | undefined {
    if (this.#names.of(entry.path)) return { resource: entry, keeper: 'helper' }
    // What is newer than its cover was written by somebody who did not know of it.
    if (published && published.version > entry.version) return siteNode(published)
    return isRemoval(entry) ? undefined : draftNode(entry, published)
  }

  async #siteFile(path: string): Promise<Resource | undefined> {
    if (path.endsWith('/')) return undefined
    return this.#site.held(path)?.resource ?? this.#site.store.find(path)
  }

  /** A collection of the site with the sum of what is shown in it. */
  async #collection(path: string): Promise<Resource | undefined> {
    const known = this.#collections.get(path)
    if (known) return known
    const seen = this.#seen
    const stored = await this.#site.store.find(path)
    if (!stored) return undefined
    const resource = await this.#effective(stored)
    if (seen !== this.#seen) return resource
    if (this.#collections.size >= MOST_COLLECTIONS) {
      const [oldest] = this.#collections.keys()
      if (oldest !== undefined) this.#collections.delete(oldest)
    }
    this.#collections.set(path, resource)
    return resource
  }

  /** A stored resource of the site, of a collection with the lines of drafts and helper files in its sum (DAV-52). */
  async #effective(resource: Resource): Promise<Resource> {
    const { path, members = ZERO } = resource
    if (resource.kind !== 'collection' || !this.#overlay.touches(path)) return resource
    let gain = 0n
    for (const entry of this.#overlay.membersOf(path)) {
      const published = await this.#siteFile(entry.path)
      const node = this.#overlaid(entry, published)
      gain += (node ? weight(node.resource) : 0n) - (published ? weight(published) : 0n)
    }
    for (const member of this.#overlay.touchedMembers(path)) {
      const stored = await this.#site.store.find(member)
      if (stored) gain += weight(await this.#effective(stored)) - weight(stored)
    }
    const modified = Math.max(resource.modified, this.#overlay.changed(path))
    return { ...resource, members: addTo(members, gain), modified }
  }

  /** Everything above a changed path has a new sum, and everything below a changed collection may be gone. */
  #forget(paths: Iterable<string>): void {
    this.#seen++
    for (const path of paths) {
      for (let parent = path; parent !== ''; parent = parentOf(parent)) this.#collections.delete(parent)
      if (!path.endsWith('/')) continue
      for (const known of [...this.#collections.keys()]) if (known.startsWith(path)) this.#collections.delete(known)
    }
  }
}

function nameBytes({ path }: Resource): Buffer {
  return Buffer.from(path.endsWith('/') ? path.slice(0, -1) : path)
}

function siteNode(resource: Resource): Node {
  return { resource, keeper: 'site' }
}

/** An empty file, with the properties of what it covers. */
function draftNode(draft: Resource, published: Resource | undefined): Node {
  if (!published) return { resource: draft, keeper: 'draft' }
  const { created, properties } = published
  const { sameSecond } = draft
  return {
    resource: {
      ...draft,
      size: 0,
      digest: EMPTY_DIGEST,
      created,
      properties,
      sameSecond: sameSecond || secondsEqual(draft, published),
    },
    keeper: 'draft',
    published,
  }
}

function secondsEqual(draft: Resource, published: Resource): boolean {
  return shownSeconds(draft) === shownSeconds(published)
}

/** The path of a collection for that of a file, and the other way round: a name is used only once. */
function otherForm(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : `${path}/`
}
