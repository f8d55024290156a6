/**
 * Which documents of a site hold what selectors ask for by name. The tokens of a document are derived when it is committed;
 * memory puts them together when somebody asks for the first time, and then follows every commit.
 */

import type { Commit } from '../store/commit.ts'
import type { Resource } from '../store/resource.ts'
import type { SiteReader } from '../store/store.ts'
import { type Needs, typeOfAny } from '../tree/selector/needs.ts'
import { waitingTurn } from '../tree/steps.ts'
import { ANY_TOKEN } from '../tree/tokens.ts'

/** Name of the derived data. */
export const TOKENS = 'tokens'

/** Documents whose tokens are put in place without a pause. */
const PUTS_PER_TURN = 200

/** Of so many documents, one that is found is one of many. */
const FEW = 8

export class DocumentIndex {
  readonly #store: SiteReader
  readonly #subtypes: (type: string) => Iterable<string>
  readonly #tokens = new Map<string, readonly string[]>()
  readonly #paths = new Map<string, Set<string>>()
  /** All documents in order, as they were when somebody asked for them. */
  #all: readonly string[] = []
  /** Those that have come since. */
  readonly #come = new Set<string>()
  /** Whether others have gone since. */
  #isGone = false
  #puts = 0
  #isRead = false
  #reading: Promise<void> | undefined
  /** What has changed since it was last read; paths that end in a slash stand for all below them. */
  readonly #changed = new Set<string>()

  /** @param subtypes tells a type and all that descend from it, as schemas stand */
  constructor(store: SiteReader, subtypes: (type: string) => Iterable<string>) {
    this.#store = store
    this.#subtypes = subtypes
  }

  /** To be told of every commit. */
  changed(paths: Iterable<string>): void {
    // What nobody has asked about yet is read as it is then.
    if (!this.#isRead && !this.#reading) return
    for (const path of paths) this.#changed.add(path)
  }

  /** Follows a commit of this process, told after `changed`: what it has brought is not read again. */
  take(commit: Pick<Commit, 'changes'>, resources: ReadonlyMap<string, Resource | undefined>): void {
    // A reading under way may have read what was there before.
    if (!this.#isRead || this.#reading) return
    for (const [path, tokens] of broughtTokens(commit, resources))
      if (this.#changed.delete(path)) this.#put(path, tokens)
  }

  /**
   * Documents that may hold what is needed, ascending by the bytes of their paths. At once where memory is up to date.
   *
   * @param needs one of these sets of tokens, and of it every token
   */
  find(needs: Needs): readonly string[] | Promise<readonly string[]> {
    if (this.#isRead && !this.#reading && this.#changed.size === 0) return this.#found(needs)
    return this.#upToDate().then(() => this.#found(needs))
  }

  async #upToDate(): Promise<void> {
    while (!this.#isRead || this.#reading || this.#changed.size > 0) {
      this.#reading ??= this.#read([...this.#changed]).finally(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
  }

  async #read(changed: readonly string[]): Promise<void> {
    this.#changed.clear()
    try {
      if (!this.#isRead || changed.includes('/')) await this.#readAll()
      else
        for (const path of changed) {
          if (!path.endsWith('/')) this.#put(path, await this.#store.derived(path, TOKENS))
          else await this.#readBelow(path)
        }
    } catch (error) {
      for (const path of changed) this.#changed.add(path)
      throw error
    }
  }

  async #readAll(): Promise<void> {
    const found = new Map<string, string>()
    for await (const { path, value } of this.#store.allDerived(TOKENS)) found.set(path, value)
    for (const path of [...this.#tokens.keys()]) if (!found.has(path)) await this.#putInTurn(path, undefined)
    for (const [path, value] of found) await this.#putInTurn(path, value)
    this.#isRead = true
  }

  async #readBelow(collection: string): Promise<void> {
    const gone = new Set([...this.#tokens.keys()].filter(path => path.startsWith(collection)))
    for await (const { path, kind } of this.#store.walk(collection)) {
      if (kind !== 'document') continue
      gone.delete(path)
      await this.#putInTurn(path, await this.#store.derived(path, TOKENS))
    }
    for (const path of gone) await this.#putInTurn(path, undefined)
  }

  /** `#put` of one of many. */
  async #putInTurn(path: string, value: string | undefined): Promise<void> {
    if (++this.#puts % PUTS_PER_TURN === 0) await waitingTurn()
    this.#put(path, value)
  }

  #put(path: string, value: string | undefined): void {
    const before = this.#tokens.get(path)
    const after = value === undefined ? undefined : (JSON.parse(value) as string[])
    for (const token of before ?? []) {
      const paths = this.#paths.get(token)
      paths?.delete(path)
      if (paths?.size === 0) this.#paths.delete(token)
    }
    if (after) {
      if (!before) this.#come.add(path)
      this.#tokens.set(path, after)
    } else if (this.#tokens.delete(path) && !this.#come.delete(path)) this.#isGone = true
    for (const token of after ?? []) {
      const paths = this.#paths.get(token)
      if (paths) paths.add(path)
      else this.#paths.set(token, new Set([path]))
    }
  }

  #found(needs: Needs): readonly string[] {
    if (needs.some(({ length }) => length === 0)) return this.#everything()
    const found = new Set<string>()
    for (const tokens of needs) for (const path of this.#having(tokens)) found.add(path)
    if (needs.length > 0) for (const path of this.#paths.get(ANY_TOKEN) ?? []) found.add(path)
    // To take many out of all in order is done sooner than to sort them.
    if (found.size * FEW > this.#tokens.size) return this.#everything().filter(path => found.has(path))
    return [...found].sort(byCodePoints)
  }

  /** All documents in order: what came is put among those that were there. */
  #everything(): readonly string[] {
    if (!this.#isGone && this.#come.size === 0) return this.#all
    // One that went and came again stands in both.
    const kept = this.#isGone ? this.#all.filter(path => this.#tokens.has(path)) : [...this.#all]
    const known = this.#isGone ? new Set(kept) : undefined
    for (const path of this.#come) if (!known?.has(path)) kept.push(path)
    this.#all = kept.sort(byCodePoints)
    this.#come.clear()
    this.#isGone = false
    return this.#all
  }

  #ofTypes(ancestor: string): Set<string> {
    const found = new Set<string>()
    for (const type of this.#subtypes(ancestor))
      for (const path of this.#paths.get(`type:${type}`) ?? []) found.add(path)
    return found
  }

  /** Documents that have all of some tokens, from the rarest one on. */
  #having(tokens: readonly string[]): string[] {
    const sets: Set<string>[] = []
    for (const token of tokens) {
      const type = typeOfAny(token)
      const paths = type === undefined ? this.#paths.get(token) : this.#ofTypes(type)
      if (!paths) return []
      sets.push(paths)
    }
    const [rarest, ...others] = sets.sort((a, b) => a.size - b.size)
    return [...(rarest ?? [])].filter(path => others.every(paths => paths.has(path)))
  }
}

/** Tokens of the documents that a commit puts by itself, and of none where a file is gone. */
function broughtTokens(
  { changes }: Pick<Commit, 'changes'>,
  resources: ReadonlyMap<string, Resource | undefined>,
): Map<string, string | undefined> {
  const brought = new Map<string, string | undefined>()
  if (changes.some(({ op }) => op === 'move' || op === 'copy')) return brought
  for (const [path, resource] of resources) if (!resource && !path.endsWith('/')) brought.set(path, undefined)
  for (const change of changes) {
    if (change.op === 'put') brought.set(change.path, change.derived?.[TOKENS])
    else if (change.op === 'derive' && change.derived[TOKENS] !== undefined)
      brought.set(change.path, change.derived[TOKENS])
  }
  return brought
}

/** The order of the bytes of UTF-8, which is that of code points. */
function byCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return a.length - b.length
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at))
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit
}
