/** What a composition has read: it decides who may be shown the result, and how long it is the right one. */

import type { Registry } from '../model/registry.ts'
import type { Site } from '../site/site.ts'
import { type FileState, isSameState, type Resource } from '../store/resource.ts'
import type { Needs } from '../tree/selector/needs.ts'
import { isUnchangedSince, rememberChanges } from './changed-paths.ts'
import type { Found } from './routes.ts'

/** A question to the index of the site, with the documents that it has named. */
interface Search {
  needs: Needs
  paths: readonly string[]
  /** Which of them were wanted; all of them when missing. */
  isWanted: ((path: string) => boolean) | undefined
}

/** Bytes that a document takes, a path without its characters, and an entry of a list. Measured. */
const DOCUMENT = 100
const PATH = 60
const ENTRY = 16

export class Reads {
  /** Something that belongs to the requester was read (COMP-22, COMP-115, COMP-73). */
  personal = false
  /** Something was read that is another one each time, such as the clock. */
  fleeting = false
  /** Documents that elements of the result come from, beside the page's own. */
  readonly projected = new Set<Resource>()
  readonly #documents = new Map<string, FileState>()
  /** By path: the state of the site in which nothing was there. */
  readonly #absent = new Map<string, number>()
  readonly #searches: Search[] = []
  /** The document of the page, and the state of the site in which it was found. */
  #served: { document: string; changes: number } | undefined
  /** Routes of the site, where one serves the page. */
  #routes: { current: (site: Site) => unknown; were: unknown } | undefined
  /** State of the site in which reading began. */
  readonly #began: number
  /** By which types, methods and resolvers were found. */
  readonly #model: Registry
  /** State of the index in which all searches have found what they say. */
  #moves: number
  /** State in which everything was as it was read: nothing may be different before the first change. */
  #holding: number

  constructor(site: Site) {
    rememberChanges(site)
    this.#model = site.model
    this.#began = site.changes
    this.#holding = site.changes
    this.#moves = movesOf(site)
  }

  /** @param state undefined where nothing is stored */
  document(path: string, state: FileState | undefined): void {
    if (state === undefined) this.#absent.set(path, this.#began)
    else this.#documents.set(path, { version: state.version, digest: state.digest })
  }

  /**
   * @param paths all that the index has named
   * @param isWanted which of them were looked into; all of them when missing
   */
  search(needs: Needs, paths: readonly string[], isWanted?: (path: string) => boolean): void {
    this.#searches.push({ needs, paths, isWanted })
  }

  /**
   * A document serves a path. What has changed since that was found is no less a change than what does later.
   *
   * @param document its path: that of the template, where a route serves it because nothing is stored at the path
   * @param current tells the routes as they stand
   */
  served(path: string, document: string, { changes, routes }: Found, current: (site: Site) => unknown): void {
    this.#served = { document, changes }
    this.#holding = Math.min(this.#holding, changes)
    if (!routes) return
    this.#absent.set(path, changes)
    this.#routes = { current, were: routes }
  }

  /** Bytes that all of this takes: answers that are kept hold on to it, one for each address by which the page is asked for. */
  get bytes(): number {
    let bytes = (this.#documents.size + this.projected.size) * DOCUMENT
    for (const path of this.#absent.keys()) bytes += PATH + path.length
    for (const { paths, needs } of this.#searches) bytes += DOCUMENT + (paths.length + needs.flat().length) * ENTRY
    return bytes
  }

  /** Whether nothing has changed since; false also where that cannot be told at once. */
  hold(site: Site): boolean {
    const { changes } = site
    if (this.#model !== site.model) return false
    if (this.#holding === changes) return true
    for (const [path, state] of this.#documents) {
      const file = site.inMemory(path)
      // What has left the memory is no other version for that: many documents together may not fit into it.
      if (file ? !isSameState(file.resource, state) : !isUnchangedSince(site, path, this.#since(path))) return false
    }
    for (const [path, state] of this.#absent) if (!isUnchangedSince(site, path, state)) return false
    if (this.#routes && this.#routes.current(site) !== this.#routes.were) return false
    for (const search of this.#searches)
      if (!site.index?.isUnmoved(search.needs, this.#moves) && !finds(site, search)) return false
    this.#moves = movesOf(site)
    this.#holding = changes
    return true
  }

  /** State of the site in which a document was looked for, or an earlier one. */
  #since(path: string): number {
    return path === this.#served?.document ? Math.min(this.#served.changes, this.#began) : this.#began
  }
}

function movesOf({ index }: Site): number {
  return index?.moves ?? 0
}

/** Whether the index still names the same documents; of others it is enough that nobody wants those that have come or gone. */
function finds(site: Site, search: Search): boolean {
  const { needs, isWanted, paths } = search
  const now = site.documentsWith(needs)
  if (now instanceof Promise) return false
  if (now === paths || (now.length === paths.length && now.every((path, at) => path === paths[at]))) return true
  // Many patterns may say what is wanted, and much is asked again after each commit.
  if (!isWanted || without(now, paths).some(isWanted) || without(paths, now).some(isWanted)) return false
  search.paths = now
  return true
}

function without(paths: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others)
  return paths.filter(path => !known.has(path))
}
