/**
 * Keeps the memory of this process in step with a store that other processes write to as well (RULE-11): whoever asks
 * first after a commit of theirs has it followed before anything else is decided.
 */

import { LeaseError, type Leases } from '../coordination/leases.ts'
import type { ForeignCommit, ForeignCommits } from '../store/foreign.ts'
import type { Store } from '../store/store.ts'
import type { Site } from './site.ts'

export interface CoherenceOptions {
  foreign: ForeignCommits
  /** Milliseconds after which a process without requests looks by itself. */
  every?: number
  /** Told when memory could not be brought in step; it is tried again. */
  failed?: (error: unknown) => void
}

/** What others committed while a site was being opened. */
interface Opening {
  name: string
  missed: ForeignCommit[]
  /** Set when anything may have changed: the newest version. */
  startOver?: number
}

/**
 * Told of a commit of another process after memory has followed it; undefined: there may have been any.
 *
 * @param isSetBack commits that were known are gone
 */
export type ForeignListener = (commit: ForeignCommit | undefined, isSetBack: boolean) => void

/** Sites of which is looked for at the first whether they are gone: clients can invent hosts that match a wildcard. */
const MANY_SITES = 1_000

export class Coherence {
  readonly #foreign: ForeignCommits
  readonly #failed: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  /** Sites that are no longer used are not kept. */
  readonly #sites = new Map<string, WeakRef<Site>>()
  /** So many of them have those looked for that are gone. */
  #manySites = MANY_SITES
  readonly #openings = new Set<Opening>()
  readonly #listeners = new Set<ForeignListener>()
  /** The last one to be begun or waiting. */
  #turn: Promise<void> | undefined
  /** Not begun yet. */
  #next: Promise<void> | undefined
  #isBroken = false
  /** Commits that were known are gone, and nobody was told yet. */
  #isSetBack = false
  #isClosed = false

  constructor({ foreign, every = 1000, failed = () => undefined }: CoherenceOptions) {
    this.#foreign = foreign
    this.#failed = failed
    this.#timer = setInterval(() => void this.inStep(), every).unref()
  }

  /** Whether others have to be asked before memory is known to be in step. */
  get asks(): boolean {
    return this.#foreign.asks === true
  }

  /**
   * Brings memory in step with everything that was acknowledged before the call.
   *
   * @param version of the last commit that has to be followed, if somebody knows it
   * @returns undefined when it is so already and the store could tell at once
   */
  inStep(version?: number): Promise<void> | undefined {
    if (this.#isClosed) return this.#turn
    if (!this.#isBroken && version !== undefined && version <= this.#foreign.version()) return this.#turn
    const waiting = this.#waiting()
    if (typeof waiting === 'boolean') return waiting || this.#isBroken ? this.#inTurn() : this.#turn
    const asked = waiting.then(isWaiting => (isWaiting || this.#isBroken ? this.#inTurn() : this.#turn))
    waiting.catch(this.#failed)
    // Not everybody who asks waits for the answer.
    asked.catch(() => undefined)
    return asked
  }

  /** Whether there is news. Callers have nowhere to catch what the store could not tell at once. */
  #waiting(): boolean | Promise<boolean> {
    try {
      return this.#foreign.waiting()
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Has the next turn follow what others have committed. */
  #inTurn(): Promise<void> {
    if (this.#next) return this.#next
    const before = this.#turn ?? Promise.resolve()
    const turn = before
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        return this.#catchUp()
      })
    this.#next = this.#turn = turn
    const done = () => {
      if (this.#turn === turn) this.#turn = undefined
    }
    turn.then(done, error => {
      done()
      this.#failed(error)
    })
    return turn
  }

  async #catchUp(): Promise<void> {
    const wasBroken = this.#isBroken
    // What could not be read is news still.
    const { version, commits, isSetBack = false } = await this.#foreign.read()
    this.#isBroken = true
    this.#isSetBack ||= isSetBack
    const known = wasBroken ? undefined : commits
    if (known) await this.#follow(known)
    else await this.#startOver(version)
    this.#isBroken = false
    const tellsSetBack = this.#isSetBack
    this.#isSetBack = false
    for (const commit of known ?? [undefined]) for (const listener of this.#listeners) listener(commit, tellsSetBack)
  }

  async #follow(commits: readonly ForeignCommit[]): Promise<void> {
    for (const opening of this.#openings) opening.missed.push(...commits.filter(({ site }) => site === opening.name))
    for (const [name, ofSite] of Map.groupBy(commits, ({ site }) => site)) {
      const site = this.#sites.get(name)?.deref()
      if (site) await site.follow(ofSite)
      else this.#sites.delete(name)
    }
  }

  async #startOver(version: number): Promise<void> {
    for (const opening of this.#openings) opening.startOver = version
    for (const [name, reference] of this.#sites) {
      const site = reference.deref()
      if (site) await site.startOver(version)
      else this.#sites.delete(name)
    }
  }

  /**
   * Keeps a site in step from the moment at which it is opened.
   *
   * @param name of the site in the store; not kept already
   */
  async open(name: string, open: () => Promise<Site>): Promise<Site> {
    const opening: Opening = { name, missed: [] }
    this.#openings.add(opening)
    let site: Site
    try {
      site = await open()
    } finally {
      this.#openings.delete(opening)
    }
    this.#sites.set(name, new WeakRef(site))
    if (this.#sites.size >= this.#manySites) this.#forgetGone()
    if (opening.startOver !== undefined) await site.startOver(opening.startOver)
    else if (opening.missed.length > 0) await site.follow(opening.missed)
    return site
  }

  #forgetGone(): void {
    for (const [name, site] of this.#sites) if (!site.deref()) this.#sites.delete(name)
    this.#manySites = 2 * this.#sites.size + MANY_SITES
  }

  /** Has a function told of commits of other processes, in their order. It throws nothing. */
  onCommit(listener: ForeignListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Follows nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    await this.#turn?.catch(() => undefined)
  }
}

/** Leases that were got or outlasted with memory that knows what those who held them before have committed. */
export function leasesInStep(
  leases: Leases,
  coherence: Pick<Coherence, 'inStep'>,
  store: Pick<Store, 'outlast'>,
): Leases {
  async function follow(newest?: number): Promise<void> {
    try {
      await coherence.inStep(newest)
    } catch (cause) {
      throw new LeaseError('What was committed before cannot be followed', { cause })
    }
  }

  return {
    hold: (site, paths, work) =>
      leases.hold(site, paths, async newest => {
        await follow(newest)
        return work(newest)
      }),
    confirm: (site, paths) => leases.confirm(site, paths),
    async outlast(site, path) {
      await leases.outlast(site, path)
      // A writer that stood still may have lost its lease in the middle of a transaction.
      await store.outlast?.()
      await follow()
    },
  }
}
