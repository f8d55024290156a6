/**
 * Which documents of a site hold what selectors ask for by name. The tokens of a document are derived when it is committed;
 * memory puts them together when somebody asks for the first time, and then follows every commit.
 */

import type { Commit } from '../store/commit.ts'
import type { Resource } from '../store/resource.ts'
import type { SiteReader } from '../store/store.ts'
import { type Needs, typeOfAny } from '../tree/selector/needs.ts'
import { atOnce, type Steps, waitingTurn } from '../tree/steps.ts'
import { ANY_TOKEN } from '../tree/tokens.ts'
import { ChangeLog } from './change-log.ts'
import { filledPaths } from './commit-row.ts'
import { type GivesWay, type IndexRoom, type IndexShare, indexRoom } from './index-room.ts'
import { between, byCodePoints, merging, SORTED_PER_TURN, sorting } from './path-order.ts'

/** Name of the derived data. */
export const TOKENS = 'tokens'

/** Tokens that are put in place, or taken away, without a pause, and those that a document counts as by itself. */
const TOKENS_PER_TURN = 5_000
const TOKENS_OF_ANY = 25

/** Paths of a token that take some milliseconds to be put into a larger table. */
const LARGE = 16_384

/** Paths that are looked through without a pause. */
const PATHS_PER_TURN = 20_000

/** Paths that have changed while nobody asked: behind more of them all is read again. */
const MOST_CHANGED = 20_000

/** Characters of tokens, or of a path, that count as a further token. */
const CHARACTERS_OF_TOKEN = 100

/** Of so many documents, one that is found is one of many. */
const FEW = 8

/** Changes with each document that comes or goes. */
const ANY_DOCUMENT = ''

export class DocumentIndex implements GivesWay {
  readonly #store: SiteReader
  readonly #subtypes: (type: string) => Iterable<string>
  readonly #room: IndexRoom
  /** With what all its documents and their tokens count as. */
  readonly #share: IndexShare
  readonly #tokens = new Map<string, readonly string[]>()
  /** A token that only one document has stands for its path alone: most do where there are many. */
  readonly #paths = new Map<string, string | Set<string>>()
  /** All documents in order, as they were when somebody asked for them. */
  #all: readonly string[] = []
  /** Those that have come since. */
  readonly #come = new Set<string>()
  /** Whether others have gone since. */
  #isGone = false
  /** Tokens gone through since the last pause. */
  #passed = 0
  #isRead = false
  #reading: Promise<void> | undefined
  /** Those who ask and have no answer yet. */
  #waiting = 0
  /** Tokens by when a document has last got or lost them. */
  #moved = new ChangeLog(0)
  #moves = 0
  /** Rises whenever something was read from the store, which may show a commit before memory knows it. */
  readings = 0
  /** Up to which of them memory has come in step. */
  followed = 0
  /** What has changed since it was last read; paths that end in a slash stand for all below them. */
  readonly #changed = new Set<string>()

  /**
   * @param subtypes tells a type and all that descend from it, as schemas stand
   * @param room for tokens, shared with other sites: documents for which there is none are taken to hold anything
   */
  constructor(store: SiteReader, subtypes: (type: string) => Iterable<string>, room = indexRoom) {
    this.#store = store
    this.#subtypes = subtypes
    this.#room = room
    this.#share = room.enter(this)
  }

  /** To be told of every commit. @param own the commit, where it is one of this process */
  changed(paths: Iterable<string>, own?: Pick<Commit, 'changes'>): void {
    // What nobody has asked about yet is read as it is then.
    if (!this.#isRead && !this.#reading) return
    for (const path of filledPaths(paths, own)) this.#changed.add(path)
    // Files that come and go while nobody asks have names without end.
    if (this.#changed.size > MOST_CHANGED && this.giveWay()) this.#room.clear(this.#share)
  }

  /** Follows a commit of this process, told after `changed`: what it has brought is not read again. */
  take(commit: Pick<Commit, 'changes'>, resources: ReadonlyMap<string, Resource | undefined>): void {
    // A reading under way may have read what was there before.
    if (!this.#isRead || this.#reading) return
    const passed = this.#passed
    for (const [path, tokens] of broughtTokens(commit, resources)) {
      // What is left is read, in turns, when somebody asks.
      if (this.#passed - passed > TOKENS_PER_TURN) return
      if (this.#changed.delete(path)) this.#put(path, tokens)
    }
  }

  /**
   * Documents that may hold what is needed, ascending by the bytes of their paths. At once where memory is up to date.
   *
   * @param needs one of these sets of tokens, and of it every token
   * @param below collection that others are left out of: it takes no more than to look at their paths
   */
  find(needs: Needs, below = '/'): readonly string[] | Promise<readonly string[]> {
    this.#room.use(this.#share)
    if (this.#isUpToDate()) return this.#found(needs, below)
    return this.#foundLater(needs, below)
  }

  async #foundLater(needs: Needs, below: string): Promise<readonly string[]> {
    this.#waiting++
    try {
      await this.#upToDate()
      return this.#found(needs, below)
    } finally {
      this.#waiting--
    }
  }

  /** All is read again when somebody asks. */
  giveWay(): boolean {
    if (this.#waiting > 0 || this.#reading) return false
    this.#isRead = false
    this.#tokens.clear()
    this.#paths.clear()
    this.#all = []
    this.#come.clear()
    this.#isGone = false
    this.#changed.clear()
    this.#moved = new ChangeLog(++this.#moves)
    return true
  }

  /** Rises whenever a document has got or lost a token. */
  get moves(): number {
    return this.#moves
  }

  /**
   * Whether the documents that may hold what is needed are those that were found at a moment, told without looking for them;
   * false also where that is not known.
   *
   * @param moves number of that moment, or of an earlier one
   */
  isUnmoved(needs: Needs, moves: number): boolean {
    this.#room.use(this.#share)
    if (!this.#isUpToDate()) return false
    if (moves === this.#moves || needs.length === 0) return true
    const tokens = needs.some(({ length }) => length === 0) ? [ANY_DOCUMENT] : [...needs.flat(), ANY_TOKEN]
    return tokens.every(token => {
      const type = typeOfAny(token)
      if (type === undefined) return !this.#moved.hasChanged(token, moves)
      for (const each of this.#subtypes(type)) if (this.#moved.hasChanged(`type:${each}`, moves)) return false
      return true
    })
  }

  /** As far as it takes no turns to be. */
  #isUpToDate(): boolean {
    return this.#isRead && !this.#reading && this.#changed.size === 0 && this.#come.size <= SORTED_PER_TURN
  }

  async #upToDate(): Promise<void> {
    while (!this.#isUpToDate()) {
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
          if (!path.endsWith('/')) await this.#putInTurn(path, await this.#store.derived(path, TOKENS))
          else await this.#readBelow(path)
        }
      await this.#orderInTurns()
    } catch (error) {
      for (const path of changed) this.#changed.add(path)
      throw error
    } finally {
      this.readings++
    }
  }

  async #readAll(): Promise<void> {
    const gone = await this.#knownBelow('/')
    for await (const { path, value } of this.#store.allDerived(TOKENS)) {
      gone.delete(path)
      await this.#putInTurn(path, value)
    }
    for (const path of gone) await this.#putInTurn(path, undefined)
    this.#isRead = true
  }

  async #readBelow(collection: string): Promise<void> {
    const gone = await this.#knownBelow(collection)
    for await (const { path, kind } of this.#store.walk(collection)) {
      if (kind !== 'document') continue
      gone.delete(path)
      await this.#putInTurn(path, await this.#store.derived(path, TOKENS))
    }
    for (const path of gone) await this.#putInTurn(path, undefined)
  }

  async #knownBelow(collection: string): Promise<Set<string>> {
    const known = new Set<string>()
    let looked = 0
    for (const path of this.#tokens.keys()) {
      if (++looked % PATHS_PER_TURN === 0) await waitingTurn()
      if (path.startsWith(collection)) known.add(path)
    }
    return known
  }

  /** `#put` of one of many. */
  async #putInTurn(path: string, value: string | undefined): Promise<void> {
    const putting = this.#putting(path, value)
    while (!putting.next().done) {
      this.#passed = 0
      await waitingTurn()
    }
  }

  #put(path: string, value: string | undefined): void {
    atOnce(this.#putting(path, value))
  }

  /** In steps, between which nobody may ask. */
  *#putting(path: string, value: string | undefined): Steps<void> {
    if (this.#passed >= TOKENS_PER_TURN) yield
    const before = this.#tokens.get(path)
    const brought = value === undefined ? undefined : (JSON.parse(value) as string[])
    this.#passed += TOKENS_OF_ANY + (brought?.length ?? 0)
    // Most edits leave them, and what is taken out of a large map and put into it again makes it over, time and again.
    if (before && brought && isSame(before, brought)) return
    if (before) this.#room.add(this.#share, -weightOf(path, before))
    const after = brought && this.#withRoom(path, brought)
    const [had, has] = [new Set(before), new Set(after)]
    if (this.#isRead) this.#moves++
    if (!before !== !after) this.#noteMove(ANY_DOCUMENT)
    for (const token of had) if (!has.has(token)) this.#remove(token, path)
    this.#passed += had.size
    if (after) {
      if (!before) this.#come.add(path)
      this.#tokens.set(path, after)
    } else if (this.#tokens.delete(path) && !this.#come.delete(path)) this.#isGone = true
    for (const token of has) {
      if (!had.has(token)) this.#add(token, path)
      if (this.#passed >= TOKENS_PER_TURN) yield
    }
    if (after) this.#room.add(this.#share, weightOf(path, after))
  }

  /** Nobody has asked before all was read. */
  #noteMove(token: string): void {
    if (this.#isRead) this.#moved.note(token, this.#moves)
  }

  #withRoom(path: string, tokens: string[]): string[] {
    return this.#room.hasRoom(this.#share, weightOf(path, tokens)) ? tokens : [ANY_TOKEN]
  }

  #add(token: string, path: string): void {
    this.#noteMove(token)
    const paths = this.#paths.get(token)
    if (paths === undefined) this.#paths.set(token, path)
    else if (typeof paths !== 'string') {
      // It is made over, once more as large, and so are those of other tokens that most documents have.
      if (paths.size >= LARGE && Number.isInteger(Math.log2(paths.size))) this.#passed += TOKENS_PER_TURN
      paths.add(path)
    } else if (paths !== path) this.#paths.set(token, new Set([paths, path]))
  }

  #remove(token: string, path: string): void {
    this.#noteMove(token)
    const paths = this.#paths.get(token)
    if (paths === path) this.#paths.delete(token)
    else if (typeof paths === 'object' && paths.delete(path) && paths.size === 0) this.#paths.delete(token)
  }

  /** @returns undefined where no document has the token */
  #pathsOf(token: string): ReadonlySet<string> | undefined {
    const paths = this.#paths.get(token)
    return typeof paths === 'string' ? new Set([paths]) : paths
  }

  #found(needs: Needs, below: string): readonly string[] {
    if (needs.some(({ length }) => length === 0)) return this.#everything(below)
    const sets = needs.length > 0 ? [...needs, [ANY_TOKEN]].flatMap(tokens => this.#setsOf(tokens) ?? []) : []
    let most = 0
    for (const { rarest } of sets) most += rarest.size
    // To take many out of all in order is done sooner than to gather and sort them.
    if (most * FEW > this.#tokens.size) {
      const has = (path: string) =>
        sets.some(({ rarest, others }) => rarest.has(path) && others.every(paths => paths.has(path)))
      return this.#everything(below).filter(has)
    }
    const found = new Set<string>()
    for (const { rarest, others } of sets)
      for (const path of rarest) if (path.startsWith(below) && others.every(paths => paths.has(path))) found.add(path)
    return [...found].sort(byCodePoints)
  }

  /** All documents below a collection in order: what came is put among those that were there. */
  #everything(below: string): readonly string[] {
    // One that went and came again stands in both.
    if (this.#isGone) this.#all = this.#all.filter(path => this.#tokens.has(path) && !this.#come.has(path))
    if (this.#come.size > 0) this.#all = [...this.#all, ...this.#come].sort(byCodePoints)
    this.#come.clear()
    this.#isGone = false
    return below === '/' ? this.#all : between(this.#all, below)
  }

  /** The same before anybody asks, where it would take long; in turns. */
  async #orderInTurns(): Promise<void> {
    if (this.#come.size <= SORTED_PER_TURN) return
    const ordering = this.#ordering()
    while (!ordering.next().done) await waitingTurn()
  }

  *#ordering(): Steps<void> {
    const kept: string[] = []
    let looked = 0
    for (const path of this.#all) {
      if (++looked % SORTED_PER_TURN === 0) yield
      if (!this.#isGone || (this.#tokens.has(path) && !this.#come.has(path))) kept.push(path)
    }
    const come = yield* sorting([...this.#come])
    this.#all = yield* merging(kept, come)
    this.#come.clear()
    this.#isGone = false
  }

  #ofTypes(ancestor: string): Set<string> {
    const found = new Set<string>()
    for (const type of this.#subtypes(ancestor)) for (const path of this.#pathsOf(`type:${type}`) ?? []) found.add(path)
    return found
  }

  /** Paths of each of some tokens, the fewest first. @returns undefined where no document has one of them */
  #setsOf(tokens: readonly string[]): Having | undefined {
    const sets: ReadonlySet<string>[] = []
    for (const token of tokens) {
      const type = typeOfAny(token)
      const paths = type === undefined ? this.#pathsOf(token) : this.#ofTypes(type)
      if (!paths) return undefined
      sets.push(paths)
    }
    const [rarest, ...others] = sets.sort((a, b) => a.size - b.size)
    return rarest && { rarest, others }
  }
}

/** Documents that have all of some tokens are those that are in each of these. */
interface Having {
  rarest: ReadonlySet<string>
  others: readonly ReadonlySet<string>[]
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

function isSame(before: readonly string[], after: readonly string[]): boolean {
  return before.length === after.length && before.every((token, i) => token === after[i])
}

/** What a document and its tokens count as: many of one character, or few that are long. */
function weightOf(path: string, tokens: readonly string[]): number {
  let { length } = path
  for (const token of tokens) length += token.length
  return 1 + tokens.length + Math.floor(length / CHARACTERS_OF_TOKEN)
}
