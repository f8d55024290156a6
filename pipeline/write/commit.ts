/** Commits of writes: judged by the site's data model as it stands, and made again until they go through (HTTP-4, MOD-42). */

import type { AskedCommit } from '../declarations/site-declarations.ts'
import { busy } from '../failures.ts'
import { Allowance } from '../language/allowance.ts'
import type { CodeHost } from '../model/code.ts'
import { requirementFault } from '../model/judge.ts'
import { Registry } from '../model/registry.ts'
import type { Beside } from '../site/commit-row.ts'
import type { Site, WrittenDocument } from '../site/site.ts'
import type { Change, CommitResult, NewEvent, PassedEdit } from '../store/commit.ts'
import type { NoteChange } from '../store/notes.ts'
import type { Consequences } from './consequences.ts'
import { refuseConfiguring, refuseFollowing } from './may-configure.ts'
import type { TransitionSink } from './transitions.ts'

/** Attempts before a writer is told to come again; conflicts need another process, or rules that keep changing. */
const ATTEMPTS = 50

/**
 * @param attempt returns undefined when another commit came first
 * @throws Fault 503 when other commits keep coming first
 */
export async function commitLoop<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < ATTEMPTS; i++) {
    const done = await attempt()
    if (done !== undefined) return done
  }
  throw busy()
}

/** The data model that a write is judged by, as it stood when the attempt began. */
export interface ModelState {
  registry: Registry
  version: number
  /** Runs the code of schemas; made when somebody asks for it. */
  readonly host: CodeHost
  /** False where the write must leave the configuration of the site alone (SEC-10). */
  configure: boolean
  mayPut: Judging['mayPut']
  alongside: Alongside | undefined
  transitions: TransitionSink | undefined
}

/** What is to be stored together with a write, if that goes through. */
export interface Alongside {
  notes(): readonly NoteChange[]
  /** Told when they are stored. */
  stored(notes: readonly NoteChange[]): void
  /** What is changed in another part of the store. */
  beside?(): Beside | undefined
}

/** What every write may say about how it is judged. */
export interface Judging {
  /** Of the request that the write belongs to, shared by all code that runs for it; a write without one has its own. */
  allowance?: OneAllowance | undefined
  /** Stored as it is, as if the site had no data model; the mount allows it to those who repair a site (DAV-7). */
  raw?: boolean | undefined
  /** False for those whose writes must leave the configuration of the site alone (SEC-10). */
  configure?: boolean | undefined
  /** Whether a document may be PUT as a whole, for what follows from a write that rules decide (SEC-8). */
  mayPut?: ((path: string) => boolean) | undefined
  /** Such as outbound requests of reactions (REA-86). */
  alongside?: Alongside | undefined
  /** Has transitions judged, as on the public plane (REA-103). */
  transitions?: TransitionSink | undefined
}

/** The allowance of a request, made when something begins that is metered: the same at each call. */
export interface OneAllowance {
  (): Allowance
  /** Stops its clock; undefined where nothing was metered yet. @returns lets it go on */
  pause?(): (() => void) | undefined
}

/** @param party the site that pays */
export function oneAllowance(party: object): OneAllowance {
  let made: Allowance | undefined
  return Object.assign(() => (made ??= new Allowance({}, party)), { pause: () => made?.pause() })
}

/** @param allowance what the code of schemas may spend */
export function modelState(
  site: Site,
  allowance: () => Allowance,
  { raw = false, ...judging }: Judging = {},
): ModelState {
  const registry = raw ? Registry.empty(site.settings) : site.model
  return new ReadState(site, allowance, registry, judging)
}

class ReadState implements ModelState {
  readonly registry: Registry
  readonly version: ModelState['version']
  readonly configure: boolean
  readonly mayPut: Judging['mayPut']
  readonly alongside: Judging['alongside']
  readonly transitions: Judging['transitions']
  readonly #site: Site
  readonly #allowance: () => Allowance
  #host: CodeHost | undefined

  constructor(
    site: Site,
    allowance: () => Allowance,
    registry: Registry,
    { configure = true, mayPut, alongside, transitions }: Judging,
  ) {
    this.#site = site
    this.#allowance = allowance
    this.registry = registry
    this.version = site.modelVersion
    this.configure = configure
    this.mayPut = mayPut
    this.alongside = alongside
    this.transitions = transitions
  }

  get host(): CodeHost {
    return (this.#host ??= this.#site.code(this.#allowance()))
  }
}

/** What a write changes by itself. */
export interface OwnChanges {
  changes: readonly Change[]
  events: readonly NewEvent[]
  /** What the changes put, for every document among them. */
  written: readonly WrittenDocument[]
  /** Value of the counter of rules that the write was decided under; undefined when no rules decided. */
  accessVersion?: number | undefined
  /** How others may make the same change of the document. */
  edit?: PassedEdit
}

/** A write with what follows from it as one commit, which needs the site to be as the judgement requires. */
export function askedCommit(
  { version }: ModelState,
  { changes, events, accessVersion, edit }: OwnChanges,
  { changes: following, events: news, requirements }: Consequences,
): AskedCommit {
  return {
    changes: [...changes, ...following],
    events: [...events, ...news],
    requires: { model: version, ...(accessVersion !== undefined && { access: accessVersion }) },
    ...(edit !== undefined && { edit }),
    ...(requirements.length > 0 && { guards: requirements.map(({ guard }) => guard) }),
  }
}

/**
 * Commits a write with what follows from it, if the site is as the judgement requires; other rules, or another state of
 * the data model, are a conflict, and the write is judged anew.
 *
 * @throws Fault 403 for configuration that the writer must leave alone (SEC-10), 409 where it would follow (SEC-8), 422 when a value is taken or a reference leads nowhere
 */
export async function commitJudged(
  site: Site,
  model: ModelState,
  own: OwnChanges,
  follows: Consequences,
): Promise<CommitResult> {
  const { registry, configure, mayPut, alongside, transitions } = model
  const { changes, written } = own
  const { requirements } = follows
  if (!configure) await refuseConfiguring(site, { changes, written }, follows)
  else if (mayPut && (follows.changes.length > 0 || follows.own.size > 0))
    await refuseFollowing(site, { changes, written }, follows, mayPut)
  const notes = alongside?.notes() ?? []
  const asked = askedCommit(model, own, follows)
  const ready = { ...asked, ...(notes.length > 0 && { notes }) }
  const result = await site.commit(ready, [...written, ...follows.written], alongside?.beside?.())
  if (result.ok) {
    alongside?.stored(notes)
    if (follows.fired.length > 0) transitions?.fired(follows.fired)
  }
  if (result.ok || result.reason !== 'guard') return result
  const broken = requirements[result.guard]
  const fault = broken && requirementFault(registry, broken)
  if (fault) throw fault
  return result
}
