/**
 * What the files of a site and their dead properties take together, kept in step with its commits: for sites that have a
 * quota (RFC 4331, DAV-33).
 */

import { setImmediate } from 'node:timers/promises'
import { Fault } from '../fault.ts'
import type { Content } from '../store/blobs.ts'
import type { Change } from '../store/commit.ts'
import { namesCollection, parentOf } from '../store/paths.ts'
import type { Property, Resource } from '../store/resource.ts'
import type { SiteStore } from '../store/store.ts'
import { ZERO } from '../store/tags.ts'
import { RoomTurns } from './room-turn.ts'
import type { SiteParts } from './site-parts.ts'
import { TreeSums } from './tree-sums.ts'

export interface Usage {
  /** Bytes that the files of the site may take together. */
  readonly quota: number
  /** Bytes that they take now; the first call reads what is stored. */
  used(): Promise<number>
  /** Bytes that one more file may have. */
  left(): Promise<number>
  /**
   * Looks whether there is room for so many bytes more, before they are sent.
   *
   * @throws Fault 507
   */
  require(bytes: number): Promise<void>
  /**
   * Keeps the room that a commit needs, so that others cannot take it meanwhile.
   *
   * @returns to be called when the commit has come to its end
   * @throws Fault 507 where there is not so much room; what makes files smaller or fewer is never refused
   */
  reserve(changes: readonly Change[]): Promise<() => void>
  /** Has paths looked at again; one that ends in a slash stands for everything below it. */
  changed(paths: Iterable<string>): void
}

/**
 * Bytes of quota for each file or folder that a site may hold. What has no bytes still takes a row in the store with its
 * path, twice: without this, folders and empty files could be left without end.
 */
const ENTRY = 512
/** Characters of its path for which one counts as another file or folder: a visitor's PUT makes hundreds of folders around it. */
const LONG = 512

function weightOf(path: string): number {
  return 1 + Math.floor(path.length / LONG)
}

/** Files and folders that a site may hold however small its quota is. */
const FEWEST = 256

/** Files and folders that are looked at, or forgotten, in one turn of the event loop: each takes a step for each folder around it. */
const IN_A_TURN = 100

/** Paths that have changed since somebody asked: behind more of them all is read again. */
const MOST_CHANGED = 20_000

/** That of a site; undefined where nothing limits it. */
export function usageOf({ quota, store, leases, coherence }: Omit<SiteParts, 'basis'>): Usage | undefined {
  if (quota === undefined) return undefined
  return createUsage(store, quota, coherence && new RoomTurns(leases, store.name))
}

/**
 * @param quota bytes
 * @param turns where other processes write to the site as well
 */
export function createUsage(
  store: Pick<SiteStore, 'find' | 'walk' | 'properties'>,
  quota: number,
  turns?: RoomTurns,
): Usage {
  /** Bytes of files with those of their properties, which are parts that stay when a file gets another content; what has none is there as well. */
  const sizes = new TreeSums(weightOf)
  /** Characters of the longest path that it has had. */
  let longest = 0
  const reserved = { bytes: 0, entries: 0 }
  const changed = new Set(['/'])
  let reading: Promise<unknown> = Promise.resolve()

  async function take({ path, size, properties }: Resource): Promise<void> {
    const part = properties === ZERO ? 0 : weigh(await store.properties(path))
    longest = Math.max(longest, path.length)
    // Collections that a commit makes for what it puts are not named by it.
    sizes.set(path, { size: size + part, part, isThere: true, isWithin: true })
  }

  /** Reads what has changed; only afterwards is it known again. */
  async function read(): Promise<void> {
    const paths = [...changed]
    changed.clear()
    try {
      for (const path of paths) {
        if (path.endsWith('/')) {
          let seen = 0
          for (const _ of sizes.forgetting(path)) if (++seen % IN_A_TURN === 0) await setImmediate()
          const own = await store.find(path)
          if (own) await take(own)
          for await (const each of store.walk(path, { collections: true })) {
            await take(each)
            if (++seen % IN_A_TURN === 0) await setImmediate()
          }
        } else {
          const file = await store.find(path)
          if (file && file.kind !== 'collection') await take(file)
          else sizes.set(path, {})
        }
      }
    } catch (error) {
      for (const path of paths) changed.add(path)
      throw error
    }
  }

  /** Afterwards nothing is unknown until the caller lets others run. */
  async function upToDate(): Promise<void> {
    let known: typeof reading
    do {
      if (changed.size > 0) reading = reading.catch(() => {}).then(read)
      known = reading
      await known
      // Whoever has waited with others for a reading may come after what was stored meanwhile.
    } while (changed.size > 0 || reading !== known)
  }

  const total = (): number => sizes.sum('/')

  const most = Math.max(Math.floor(quota / ENTRY), FEWEST)

  /** The topmost folder is there without anybody's doing. */
  const entries = (): number => sizes.count('/') - Number(sizes.has('/'))

  function check(bytes: number, more: number): void {
    if (bytes > 0 && total() + reserved.bytes + bytes > quota) throw exceeded()
    if (more > 0 && entries() + reserved.entries + more > most) throw exceeded()
  }

  function gainOf(change: Change): number {
    if (change.op === 'put') return sizeOf(change.content) + sizes.part(change.path) - sizes.sum(change.path)
    if (change.op === 'delete') return -sizes.sum(change.path)
    if (change.op === 'move') return -sizes.sum(change.to)
    if (change.op === 'copy')
      return (change.deep ? sizes.sum(change.from) : sizes.own(change.from)) - sizes.sum(change.to)
    return 0
  }

  /** As how many files and folders those count that come; what is replaced goes. */
  function entriesOf(changes: readonly Change[]): number {
    const made = new Set<string>()
    let more = 0
    for (const change of changes) {
      if (change.op === 'put' || change.op === 'collection')
        for (let at = change.path; at.length > 1 && !sizes.has(at) && !made.has(at); at = parentOf(at)) {
          made.add(at)
          more += weightOf(at)
        }
      if (change.op === 'delete') more -= sizes.count(change.path)
      if (change.op === 'move') more -= sizes.count(change.to)
      if (change.op === 'copy')
        more += (change.deep ? sizes.count(change.from) : weightOf(change.to)) - sizes.count(change.to)
    }
    return more
  }

  /** As how many more files and folders count that come to a longer path. */
  async function lengthened({ from, to }: Extract<Change, { op: 'move' | 'copy' }>): Promise<number> {
    const longer = to.length - from.length
    if (longer <= 0) return 0
    await upToDate()
    if (longest + longer < LONG) return 0
    let more = sizes.has(from) ? weightOf(to) - weightOf(from) : 0
    if (!namesCollection(from)) return more
    let seen = 0
    for await (const { path } of store.walk(from, { collections: true })) {
      more += weightOf(to + path.slice(from.length)) - weightOf(path)
      if (++seen % IN_A_TURN === 0) await setImmediate()
    }
    return more
  }

  async function gainOfProperties({ path, set, remove }: Extract<Change, { op: 'describe' }>): Promise<number> {
    if (set.length === 0 && remove.length === 0) return 0
    const named = new Set([...set, ...remove].map(nameOf))
    const before = await store.properties(path)
    return weigh(set) - weigh(before.filter(each => named.has(nameOf(each))))
  }

  return {
    quota,
    async used() {
      await upToDate()
      return total()
    },
    async left() {
      await upToDate()
      return entries() < most ? Math.max(quota - total(), 0) : 0
    },
    async require(bytes) {
      await upToDate()
      check(bytes, 0)
    },
    async reserve(changes) {
      const leave = await turns?.take()
      let bytes = 0
      let more = 0
      try {
        for (const change of changes) {
          if (change.op === 'describe') bytes += await gainOfProperties(change)
          if (change.op === 'move' || (change.op === 'copy' && change.deep)) more += await lengthened(change)
        }
        await upToDate()
        for (const change of changes) bytes += gainOf(change)
        more += entriesOf(changes)
        check(bytes, more)
      } catch (error) {
        leave?.()
        throw error
      }
      bytes = Math.max(bytes, 0)
      more = Math.max(more, 0)
      if (bytes + more === 0) {
        leave?.()
        return () => {}
      }
      reserved.bytes += bytes
      reserved.entries += more
      return () => {
        reserved.bytes -= bytes
        reserved.entries -= more
        leave?.()
      }
    },
    changed(paths) {
      // That of all stands for the others. Other processes give names without end while nobody asks here.
      if (changed.has('/')) return
      for (const path of paths) changed.add(path)
      if (changed.size > MOST_CHANGED) {
        changed.clear()
        changed.add('/')
      }
    },
  }
}

function sizeOf(content: Content): number {
  return 'bytes' in content ? (content.size ?? content.bytes.length) : content.staged.size
}

/** Bytes of properties with their names. */
function weigh(properties: readonly Property[]): number {
  let bytes = 0
  for (const { namespace, name, value } of properties)
    bytes += Buffer.byteLength(namespace) + Buffer.byteLength(name) + Buffer.byteLength(value)
  return bytes
}

function nameOf({ namespace, name }: Pick<Property, 'namespace' | 'name'>): string {
  return `{${namespace}}${name}`
}

function exceeded(): Fault {
  return new Fault(507, 'AllowanceExhausted', 'The site has no room left for this. Delete something first.', {
    precondition: { code: 'quota-not-exceeded' },
  })
}
