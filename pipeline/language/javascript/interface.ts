/**
 * What hosts say to server-side JavaScript and hear from it (JS-1 to JS-45). A host describes one evaluation as data; the
 * language runs it in a worker thread and answers with a value, a failure or a thrown response. It never throws for
 * what a program does.
 */

import type { CodeFailure } from '../../fault.ts'
import type { ElementNode, TreeDocument } from '../../tree/nodes.ts'
import type { Allowance } from '../allowance.ts'
import type { ElementValue, LazyDictionary, Value } from '../values.ts'

/** Where code stands (JS-1); it decides what is made of the result and whether a response may be thrown (JS-45). */
export type CodePlace =
  /** Method `implementation`, dispatched by a page (JS-11). */
  | 'method'
  /** Method called from code (JS-16). */
  | 'call'
  /** `includes` of a group (GRP-4): the truth value counts. */
  | 'includes'
  /** `default` (MOD-32): the document is writable, changes of `this` are not kept. */
  | 'default'
  /** `@validate` of a property or a schema (MOD-65, MOD-66): the truth value counts. */
  | 'validate'
  /** Whether a validator compiles (MOD-66): nothing of it runs. */
  | 'check'
  /** `@write` (MOD-70). */
  | 'write'
  /** `@read` (MOD-71). */
  | 'read'
  /** `@computed` (MOD-60). */
  | 'computed'
  /** `when` of a trigger or processor (JS-22): the truth value counts. */
  | 'when'
  /** `action` or `otherwise` (JS-22): the result is discarded. */
  | 'action'
  /** A dynamic property of an outbound request (JS-23). */
  | 'property'
  /** The expression of a `j:` attribute (JS-25). */
  | 'expression'

/** The document that code sees as `document`. Everything outside does not exist for it. */
export interface DocumentView {
  document: TreeDocument
  /** The element whose subtree is the whole document (JS-13, JS-27). Missing: the whole document. */
  scope?: ElementNode
  /**
   * Names these bytes among all versions of all documents of the site, such as path and entity tag. A worker keeps what it
   * has parsed under it. Only for stored documents seen as a whole, whose tree is what their source says; everything else
   * is sent as it stands.
   */
  version?: string
}

/** One evaluation: one run of one module or of one expression. */
export interface ScriptJob {
  /** Whose code it is: sites share the workers in turns, and nothing else (JS-38). */
  site: string
  /** Base URI of the site's vocabulary, without a slash at its end. */
  ns: string
  /** Where the code is written, for the operator's log: a canonical path. */
  origin?: string
  place: CodePlace
  /** The raw text of a module (JS-3), or of an expression where the place is `expression`. */
  source: string
  /**
   * `this`; missing: undefined (JS-5). An element of the view is the same node in `document`. A dictionary is a plain object;
   * an element with a type, in places that hand over instances (`call`, `computed`), an instance of its class (JS-9).
   */
  this?: Value
  /** Missing arguments are undefined, so say null where a rule does. */
  arguments?: readonly Value[]
  /** Elements whose markup is among the arguments: it may come back as elements. */
  quoted?: readonly ElementNode[]
  document?: DocumentView
  /**
   * Names in scope (COMP-20). Given: there is a global `Context` (JS-14), and for expressions those that are identifiers
   * are in scope by themselves (JS-26). Nearest wins before it comes here.
   */
  context?: ReadonlyMap<string, Value>
  /**
   * Given: there is a global `request`, also as `Context.request`. Its members are looked up when the program reads them, so
   * that `get`, `has` and `keys` tell exactly what it read (JS-28).
   */
  request?: LazyDictionary
  /** Members of `request` that may be looked up beforehand, as it makes no difference that they are read. */
  plainMembers?: readonly string[]
  /** The site's schemas; without them every import is of an unknown schema. */
  schemas?: SchemaClasses
}

/** A response that code has thrown (JS-45); whoever sends it applies the rules of the wire (REA-52, REA-53). */
export interface ThrownResponse {
  status: number
  /** Values of a name that was given several are joined. */
  headers: Record<string, string>
  /** The same with a line for each value. */
  fields: readonly (readonly [name: string, value: string])[]
  body: string
}

/** What a program gave. */
export interface ScriptResult {
  /** The settled result (JS-36); null where the place discards it or asks for its truth value. */
  value: Value
  /** The truth value of the result, by JavaScript's rules. */
  truthy: boolean
  /** What was assigned to members of `Context`, in order of the first assignment (JS-14). */
  written: ReadonlyMap<string, Value>
  /** `default` only: the document element after changes that the program made through `document` (JS-18). */
  changed?: ElementNode
}

export type ScriptOutcome = ScriptResult | { failure: CodeFailure } | { response: ThrownResponse }

/** A schema as a class (JS-9). */
export interface SchemaClass {
  /** The governed type URL. */
  type: string
  /** The parent's type URL; `{ns}/Map` makes it a `Map`. */
  parent?: string
  /** Properties that the schema itself declares. */
  properties: readonly ClassProperty[]
  /** Methods that the schema itself declares. */
  methods: readonly { name: string; static: boolean }[]
}

/** A property that a schema itself declares. */
export interface ClassProperty {
  name: string
  /** Spells out `0..n` or `1..n` (JS-10). */
  many: boolean
  /** Code of the schema says what it is: `@computed` or `@read` (MOD-60, MOD-71). */
  derived?: boolean
}

/** A call of a schema's method from a script, or a derived property that it reads. */
export interface MethodCall {
  type: string
  name: string
  static: boolean
  /** A property is meant. */
  derived?: boolean
  /** The instance; for a static method missing. Fields of one that the script has built, or a stored one. */
  receiver?: Instance
  arguments: readonly Value[]
}

/** An instance: read from an element, or built by a script and not completed yet. */
export interface Instance {
  type: string
  element?: ElementValue
  fields: ReadonlyMap<string, Value>
}

/** What a script needs of the schemas of a site. */
export interface SchemaClasses {
  /** The schema that governs a type; undefined when none is registered. */
  find(type: string): SchemaClass | undefined
  /** The declared properties of an instance as values, those that are present. */
  fields(instance: ElementValue): ReadonlyMap<string, Value>
  /**
   * Completes and validates what a script has built (JS-9).
   *
   * @param evaluate runs defaults that are JavaScript; where a script's worker waits for the instance, in that worker
   * @throws Fault or Error whose message says what is wrong with it; the evaluation fails with `threw`
   */
  build(type: string, fields: ReadonlyMap<string, Value>, evaluate: Evaluate): Promise<ElementValue>
  /**
   * Runs a method while the script waits (JS-16).
   *
   * @param inner evaluates a method that is JavaScript; only this may be used, since the script's worker waits for the answer
   * @throws Fault or Error; it becomes an error that the script can catch. FailedElsewhere is no answer that counts, whatever
   *   the script makes of it
   */
  call(call: MethodCall, allowance: Allowance, inner: Evaluate): Promise<Value>
}

/** What a script asked for went wrong elsewhere, as in the store: neither it nor what it has called is to blame. */
export class FailedElsewhere extends Error {
  constructor(cause: unknown) {
    super('The answer failed.', { cause })
  }
}

/** Rejects with what has gone wrong elsewhere, whatever a script made of it. */
export type Evaluate = (job: ScriptJob, allowance: Allowance) => Promise<ScriptOutcome>

/** A line that a script has written with `console` (JS-30). */
export interface ConsoleLine {
  site: string
  origin: string | undefined
  level: 'log' | 'info' | 'warn' | 'error' | 'debug'
  text: string
}

/** Limits of one evaluation (JS-32). */
export interface Limits {
  /** Milliseconds; what is left of the allowance's clock and steps bounds it, too. */
  time: number
  /** Bytes beyond the empty realm, those that nodes take outside of it included. */
  memory: number
  /** Bytes of stack. */
  stack: number
  /** UTF-8 bytes of a source. */
  source: number
  /** Characters of text in a result. */
  result: number
}

export const DEFAULT_LIMITS: Readonly<Limits> = {
  time: 1_000,
  memory: 16 * 1024 * 1024,
  stack: 256 * 1024,
  source: 256 * 1024,
  result: 4 * 1024 * 1024,
}

export interface JavaScriptOptions {
  /** Most worker threads; by default one for each processor. */
  workers?: number
  limits?: Partial<Limits>
  /** Takes the lines of `console`. */
  log?: (line: ConsoleLine) => void
  /** Takes why a worker has not started: its scripts fail as if they had taken too long. */
  failed?: (error: Error) => void
  /** Called after scripts have run: their workers may take more memory than before. */
  grown?: () => void
}

/** Figures for metrics. Those of the workers rise and fall, all others only grow. */
export interface Counters {
  evaluations: number
  /** Evaluations that ended with a failure. */
  failures: number
  /** Milliseconds that evaluations have taken in workers. */
  time: number
  /** Workers that had to be ended because a script did not end by itself. */
  kills: number
  /** Worker threads that are up, and those of them that are at work. */
  workers: number
  busy: number
  /** Evaluations that wait for a worker. */
  queue: number
  /** Bytes of the heaps of all workers, each when it last had nothing to do. */
  memory: number
}

/** Server-side JavaScript: a pool of workers, which are started when they are first needed. */
export interface JavaScript {
  /**
   * Runs one program.
   *
   * Everything that the job refers to is read before this returns, so trees may change afterwards; what is looked up later
   * are members of `request` and schemas.
   *
   * @param allowance what the request may spend: 1 ms of script time takes 400 steps, a call of the DOM one and one more for
   *   each node that it visits
   * @returns what became of it; a spent allowance is the failure `timeout` or `out-of-memory`
   */
  evaluate: Evaluate
  /** The same for several, each in a realm of its own, one after the other in one message to one worker. */
  batch(jobs: readonly ScriptJob[], allowance: Allowance): Promise<ScriptOutcome[]>
  counters(): Counters
  /** Ends all workers; evaluations that are not done yet fail with `timeout`. */
  close(): Promise<void>
}
