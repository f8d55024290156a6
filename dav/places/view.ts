/**
 * The mount's view of a site: its stored resources, with drafts and helper files laid over them. States are kept in
 * memory and forgotten by the commits that change them.
 */

import { setImmediate } from 'node:timers/promises'
import { textBytes } from '../../pipeline/http/media.ts'
import { ifThere, type KeptTogether } from '../../pipeline/kept-together.ts'
import { OrderedMap } from '../../pipeline/ordered-map.ts'
import type { Site } from '../../pipeline/site/site.ts'
import type { StoredFile } from '../../pipeline/site/stored-file.ts'
import type { Property, Resource } from '../../pipeline/store/resource.ts'
import { addTo, shownSeconds, weight, ZERO } from '../../pipeline/store/tags.ts'
import { TurnsBetween } from '../../pipeline/tree/steps.ts'
import type { PropertyPatch } from '../../pipeline/write/properties.ts'
import { MOST_DESCRIBED } from '../listings/listing-bounds.ts'
import {
  exchanged,
  inLeaves,
  type Listed,
  type ListedMembers,
  Listings,
  memberAt,
  siteNode,
} from '../listings/listings.ts'
import { tooMuch } from '../properties/named-bytes.ts'
import type { PropertyName } from '../properties/property-name.ts'
import { coveringDraft, newDraft } from './draft-place.ts'
import type { HelperNames } from './helper-names.ts'
import { helperPlace } from './helper-place.ts'
import { OverlaidSums } from './overlaid-sums.ts'
import { parentOf } from './overlay.ts'
import type { Node, Stored } from './place.ts'
import { isRemoval } from './removals.ts'
import type { Unpublished } from './unpublished.ts'

/** SHA-256 of nothing. */
const EMPTY_DIGEST = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Members whose properties are read at once. */
const DESCRIBED_AT_ONCE = 1000

/** Bytes that a state takes with its places in the tables, beside its texts. */
const STATE = 700

export class View {
  readonly #site: Site
  readonly #unpublished: Unpublished
  readonly #stored: Stored
  readonly #names: HelperNames
  /** By path: files as the site has them, collections with the sum of what is shown in them. */
  readonly #states = new OrderedMap<string, Resource>()
  readonly #all: KeptTogether<object>
  readonly #own = new WeakRef(this)
  readonly #listings: Listings
  readonly #sums: OverlaidSums
  /** Commits seen; tells a look-up whether what it read may be outdated. */
  #seen = 0

  /**
   * @param members counts what is kept of listings
   * @param states counts what is kept of single resources
   */
  constructor(
    site: Site,
    unpublished: Unpublished,
    names: HelperNames,
    members: ListedMembers,
    states: KeptTogether<object>,
  ) {
    this.#all = states
    this.#site = site
    this.#unpublished = unpublished
    this.#stored = { site, unpublished }
    this.#names = names
    const stored = { find: (path: string) => this.#newest(path), list: (path: string) => site.store.list(path) }
    this.#listings = new Listings(stored, members)
    this.#sums = new OverlaidSums(unpublished.overlay, member => this.#gainOf(member), states)
    site.watch(paths => this.#forget(paths))
    site.watch(paths => this.#listings.forget(paths))
    unpublished.watch(paths => this.#forget(paths))
  }

  /**
   * What stands at a path.
   *
   * @param path with a slash at its end only a collection fits; without it a file, or else the collection of that name
   */
  async find(path: string): Promise<Node | undefined> {
    const helper = this.#names.of(path)
    if (helper) {
      const resource = await this.#unpublished.findHelper(path, helper.inCollection)
      if (resource) return { resource, place: helperPlace }
    }
    const standing = this.#states.get(path) ?? (await this.#state(path))
    const entry = this.#unpublished.coverAt(path)
    return entry ? this.#overlaid(entry, standing) : standing && siteNode(standing)
  }

  /** Whether a node is still what is found at its path; false may also mean that nobody has looked for a while. */
  isCurrent({ resource, place }: Node): boolean {
    const { path } = resource
    return place.isPublished && this.#states.get(path) === resource && !this.#unpublished.coverAt(path)
  }

  /**
   * How to find out again and again whether these bytes are what is shown at their path; undefined for those of a helper
   * file, for which each look counts as use.
   */
  showing({ resource }: StoredFile): (() => boolean) | undefined {
    const { path } = resource
    if (this.#names.of(path)) return undefined
    // Properties change what is shown, too, but no version; the file itself would hold its tree.
    return () => this.#site.inMemory(path)?.resource === resource && !this.#unpublished.coverAt(path)
  }

  /**
   * Members of a collection as they are listed, ascending by name. Where nothing has changed, the leaves are the same
   * objects again.
   */
  async members(collection: Node): Promise<Listed> {
    const { path, members: sum } = collection.resource
    if (collection.place.isHelper) {
      const listed = await this.#unpublished.listHelpers(path)
      return { leaves: inLeaves(listed.map(resource => ({ resource, place: helperPlace }))), sum }
    }
    const listed = await this.#listings.of(path)
    const { leaves: stored } = listed
    const { overlay } = this.#unpublished
    if (!overlay.touches(path)) return listed
    const turns = new TurnsBetween()
    const changes = new Map<string, Node | undefined>()
    for (const member of overlay.touchedMembers(path)) {
      await turns.next()
      const node = memberAt(stored, member)
      if (node) changes.set(member, siteNode(await this.#effective(node.resource)))
    }
    for (const entry of [...overlay.membersOf(path)]) {
      await turns.next()
      const standing = memberAt(stored, entry.path) ?? memberAt(stored, `${entry.path}/`)
      const node = this.#overlaid(entry, standing?.resource)
      if (node?.resource !== standing?.resource) changes.set(entry.path, node)
    }
    let gain = 0n
    for (const [member, node] of changes) {
      await turns.next()
      const was = memberAt(stored, member)
      gain += (node ? weight(node.resource) : 0n) - (was ? weight(was.resource) : 0n)
    }
    return { leaves: exchanged(stored, changes), sum: listed.sum && addTo(listed.sum, gain) }
  }

  /** Dead properties of a node; those of a published document stay with it while a draft covers it. */
  properties({ resource, place }: Node): Promise<Property[]> {
    if (resource.properties === ZERO) return Promise.resolve([])
    return place.propertiesIn(this.#stored).store.properties(resource.path)
  }

  /** The same for somebody who is told of the node as well. @returns undefined where they are not those of the node any more */
  async propertiesWith(node: Node): Promise<Property[] | undefined> {
    const properties = await this.properties(node)
    const { path, properties: sum } = node.resource
    if (sum === ZERO) return properties
    const now = await node.place.propertiesIn(this.#stored).store.find(path)
    return now?.properties === sum ? properties : undefined
  }

  /**
   * Dead properties of several nodes, of members of one collection in one query for every thousand.
   *
   * @param nodes members ascending by name
   * @param values those whose values are wanted, undefined for all; of others they may be empty
   * @returns by path; nodes without any are left out
   * @throws Fault 507 where they take more than one answer may hold
   */
  async propertiesOf(
    nodes: readonly Node[],
    values?: readonly PropertyName[],
  ): Promise<ReadonlyMap<string, readonly Property[]>> {
    const all = new Map<string, readonly Property[]>()
    let most = MOST_DESCRIBED
    const take = (path: string, properties: readonly Property[]) => {
      for (const { namespace, name, value } of properties) most -= namespace.length + name.length + value.length
      if (most < 0) throw tooMuch()
      all.set(path, properties)
    }
    const described = nodes.filter(({ resource }) => resource.properties !== ZERO)
    for (const [parent, siblings] of Map.groupBy(described, node => this.#siblingsKey(node))) {
      if (parent === undefined) for (const node of siblings) take(node.resource.path, await this.properties(node))
      else
        for (let from = 0; from < siblings.length; from += DESCRIBED_AT_ONCE) {
          if (from > 0) await setImmediate()
          const some = siblings.slice(from, from + DESCRIBED_AT_ONCE)
          const [first = '', last = ''] = [some[0]?.resource.path, some.at(-1)?.resource.path]
          const found = await this.#site.store.propertiesBetween(first, last, { ...(values && { values }), most })
          if (!found) throw tooMuch()
          for (const [path, properties] of found) take(path, properties)
        }
    }
    return all
  }

  /** The collection that holds a node whose properties the site keeps. */
  #siblingsKey({ resource, place }: Node): string | undefined {
    return place.propertiesIn(this.#stored) === this.#site ? parentOf(resource.path) : undefined
  }

  /** Whether the mount keeps a path apart from the site: as a helper, unless the site has something there already. */
  async isHelper(path: string): Promise<boolean> {
    const helper = this.#names.of(path)
    if (!helper || (path.endsWith('/') && !helper.inCollection)) return false
    if (await this.#unpublished.findHelper(path, helper.inCollection)) return true
    return !(await (path.endsWith('/') ? this.#state(path) : this.#siteFile(path)))
  }

  /**
   * Changes the properties of a node. Those of a published document stay with it while a draft covers it; the times of
   * the draft are its own.
   *
   * @throws Fault 404 when it is gone
   */
  describe({ resource, place }: Node, patch: PropertyPatch): Promise<unknown> {
    return place.describe(this.#stored, resource.path, patch)
  }

  /**
   * What an entry makes of its path.
   *
   * @param standing what the site has there: a file, or a collection of the same name, in whose place no file can be
   * @returns undefined for nothing
   */
  #overlaid(entry: Resource, standing: Resource | undefined): Node | undefined {
    if (this.#names.of(entry.path)) return { resource: entry, place: helperPlace }
    // What is newer than its cover was written by somebody who did not know of it.
    if (standing && (standing.kind === 'collection' || standing.version > entry.version)) return siteNode(standing)
    return isRemoval(entry) ? undefined : draftNode(entry, standing)
  }

  async #siteFile(path: string): Promise<Resource | undefined> {
    return path.endsWith('/') ? undefined : fileOf(await this.#state(path))
  }

  /** As the store has it. */
  async #newest(path: string): Promise<Resource | undefined> {
    return this.#site.inMemory(path)?.resource ?? this.#site.store.find(path)
  }

  /** What `find` finds of the site; of a collection with the sum of what is shown in it. */
  async #state(path: string): Promise<Resource | undefined> {
    const known = this.#states.get(path) ?? this.#states.get(`${path}/`)
    if (known) return known
    const seen = this.#seen
    const { store } = this.#site
    const stored =
      this.#site.inMemory(path)?.resource ?? (await (path.endsWith('/') ? store.find(path) : store.findNamed(path)))
    const state = stored && (await this.#effective(stored))
    if (state && seen === this.#seen) this.#keep(state)
    return state
  }

  #keep(state: Resource): void {
    const { path } = state
    this.#drop(path)
    this.#states.set(path, state)
    const drop = ifThere(this.#own, view => view.#states.delete(path))
    this.#all.use(state, STATE + textBytes(state), drop)
  }

  #drop(path: string): void {
    const state = this.#states.delete(path)
    if (state) this.#all.leave(state)
  }

  /** A stored resource of the site, of a collection with the lines of drafts and helper files in its sum (DAV-52). */
  async #effective(resource: Resource): Promise<Resource> {
    const { path, members = ZERO } = resource
    if (resource.kind !== 'collection' || !this.#unpublished.overlay.touches(path)) return resource
    const gain = await this.#sums.of(path)
    const modified = Math.max(resource.modified, this.#unpublished.overlay.changed(path))
    return { ...resource, members: addTo(members, gain), modified }
  }

  /** What a draft or a helper file makes of the sum that it stands in, or a collection with some of them. */
  async #gainOf(member: string): Promise<bigint> {
    const { overlay } = this.#unpublished
    let gain = 0n
    const entry = overlay.at(member)
    if (entry) {
      const standing = await this.#state(member)
      const node = this.#overlaid(entry, standing)
      const published = fileOf(standing)
      if (node?.resource !== standing)
        gain += (node ? weight(node.resource) : 0n) - (published ? weight(published) : 0n)
    }
    if (overlay.touches(member)) {
      const stored = await this.#site.store.find(member)
      if (stored) gain += weight(await this.#effective(stored)) - weight(stored)
    }
    return gain
  }

  /** Everything above a changed path has a new sum, and everything below a changed collection may be gone. */
  #forget(paths: Iterable<string>): void {
    this.#seen++
    for (const path of paths) {
      this.#sums.forget(path)
      for (let parent = path; parent !== ''; parent = parentOf(parent)) this.#drop(parent)
      if (!path.endsWith('/')) continue
      for (const [known] of this.#states) if (known.startsWith(path)) this.#drop(known)
    }
  }
}

function fileOf(resource: Resource | undefined): Resource | undefined {
  return resource?.kind === 'collection' ? undefined : resource
}

/** An empty file, with the properties of what it covers. */
function draftNode(draft: Resource, published: Resource | undefined): Node {
  if (!published) return { resource: draft, place: newDraft }
  const { created, properties } = published
  const { sameSecond, modified } = draft
  return {
    resource: {
      ...draft,
      size: 0,
      digest: EMPTY_DIGEST,
      created,
      properties,
      sameSecond: sameSecond || secondsEqual(draft, published),
      shownLater: draft.shownLater || published.shownLater || shownSeconds(published) * 1000 > modified,
    },
    place: coveringDraft,
    published,
  }
}

function secondsEqual(draft: Resource, published: Resource): boolean {
  return shownSeconds(draft) === shownSeconds(published)
}
