/** One evaluation: a program in a fresh realm, from its source to a report of what became of it. */

import { ownText } from '../../../own-text.ts'
import type { AnyNode, ChildNode, DocumentNode, TreeDocument } from '../../../tree/nodes.ts'
import { isElement } from '../../../tree/nodes.ts'
import { type CompactTree, compact, expand } from '../compact.ts'
import { type GivenTree, packed } from '../given.ts'
import type { CodePlace, ConsoleLine, Limits } from '../interface.ts'
import type { RealmAnswer, RealmQuestion, Reference, Report, SentJob, SentValues } from '../messages.ts'
import { Budget } from './budget.ts'
import { DomError } from './dom/errors.ts'
import { Nodes } from './dom/nodes.ts'
import type { Completion, Engine, Host } from './engine.ts'
import { importsOf } from './imports.ts'
import { answering, RealmError } from './operations.ts'
import { expressionProgram, PROGRAM, PROOF, type Program } from './program.ts'

/** What is made of the result in each place, and where a response may be thrown (JS-15 to JS-23, JS-45). */
interface PlaceRules {
  /** The settled value, its truth value alone, or nothing. */
  returns: 'value' | 'truth' | 'nothing'
  mayAnswer: boolean
}

const value: PlaceRules = { returns: 'value', mayAnswer: false }

const PLACES: Readonly<Record<CodePlace, PlaceRules>> = {
  method: value,
  call: value,
  includes: { returns: 'truth', mayAnswer: false },
  default: value,
  validate: { returns: 'truth', mayAnswer: true },
  check: { returns: 'nothing', mayAnswer: false },
  write: { returns: 'value', mayAnswer: true },
  read: value,
  computed: value,
  when: { returns: 'truth', mayAnswer: false },
  action: { returns: 'nothing', mayAnswer: true },
  property: value,
  expression: value,
}

/** What an evaluation needs of its worker. */
export interface Worker {
  engine: Engine
  limits: Limits
  /** The parsed document of a version. */
  documentOf(view: { kind: TreeDocument['kind']; version: string; source: string | undefined }): DocumentNode
  /** Asks the request thread, and waits for the answer. */
  ask(question: RealmQuestion): Exclude<RealmAnswer, { run: SentJob }>
}

type Failure = Extract<Report['result'], { failure: unknown }>['failure']

/** @returns the report; whatever the program does, this does not throw */
export function evaluate(job: SentJob, worker: Worker): Report {
  const { limits, engine } = worker
  const time = Math.min(limits.time, job.time)
  const budget = new Budget({ time, steps: job.steps, memory: limits.memory })
  const trees: GivenTree[] = []
  const lines: Report['lines'] = []
  let fleeting = false
  /** What stands in them. */
  let characters = 0
  /** Those that the request thread has been told of. */
  let told = 0
  const untold = () => {
    const more = packed(trees.slice(told))
    told = trees.length
    return more
  }
  const result = run()
  // Nobody looks at those of a failure, however many there are.
  return {
    result,
    trees: 'failure' in result ? [] : untold(),
    lines,
    fleeting,
    atLimit: budget.isAtLimit,
    ...budget.taken,
  }

  function run(): Report['result'] {
    const { returns, mayAnswer } = PLACES[job.place]
    if (Buffer.byteLength(job.source) > limits.source)
      return failed('parse', `The source has more than ${limits.source} bytes.`)
    const imports = importsOf(job.source, job.ns)
    if ('forbidden' in imports)
      return failed('import-not-allowed', `Only schemas can be imported, not ${imports.forbidden.slice(0, 200)}.`)
    const tooLong = (what = 'The result') => {
      budget.isAtLimit = true
      return failed('return-type', `${what} has more than ${limits.result} characters.`)
    }
    let prevented: Failure | undefined
    let isCompiled = false
    const nodes = new Nodes(budget)
    const references: Reference[] = []
    const sent: ChildNode[][] = []
    let view: { root: DocumentNode; all: ChildNode[] | undefined } | undefined

    const documentView = (): NonNullable<typeof view> => {
      if (view) return view
      if (!job.view) return (view = { root: nodes.main, all: undefined })
      const isFixed = job.place !== 'default'
      if ('tree' in job.view) {
        const all: ChildNode[] = []
        const root = expand(job.view.tree, node => all.push(node))
        nodes.addDocument(job.view.tree.kind, root, isFixed)
        view = { root, all }
      } else {
        const kept = worker.documentOf(job.view)
        // What others see, too, is never written to.
        const root = isFixed ? kept : expand(compact(job.view.kind, kept.mode, kept.childNodes))
        nodes.addDocument(job.view.kind, root, isFixed)
        view = { root, all: undefined }
      }
      nodes.main = view.root
      return view
    }

    const take = (values: SentValues): string => {
      for (const tree of values.trees) {
        const all: ChildNode[] = []
        const root = expand(tree, node => all.push(node))
        nodes.addDocument(tree.kind, root, true)
        sent.push(all)
      }
      references.push(...values.references)
      return values.text
    }

    const nodeOf = (reference: Reference | undefined): AnyNode | undefined => {
      if (!reference) return undefined
      if ('tree' in reference) return sent[reference.tree]?.[reference.node]
      const { root, all } = documentView()
      if ('view' in reference) return all?.[reference.view]
      let at: AnyNode = root
      for (const place of reference.path) {
        const child: ChildNode | undefined = 'childNodes' in at ? at.childNodes[place] : undefined
        if (!child) return undefined
        at = child
      }
      return at
    }

    /** Elements that came in, by their nodes: what goes out again is named, not copied. */
    const known = new Map<AnyNode, number>()

    let questions = 0
    const asked = (question: RealmQuestion): string | null => {
      budget.step(STEPS_PER_QUESTION)
      // The request thread has others to answer, too.
      if (++questions > MOST_QUESTIONS) budget.ended ??= 'timeout'
      if (budget.isOver()) return null
      const answer = worker.ask(question)
      if ('error' in answer) throw new RealmError(answer.error)
      return take(answer.values)
    }

    const host: Host = {
      call: answering({
        nodes,
        document: () => nodes.name(documentView().root),
        reference: number => {
          const node = nodeOf(references[number])
          if (node) known.set(node, number)
          return nodes.name(node)
        },
        give: handle => {
          const node = nodes.element(handle)
          const reference = known.get(node)
          const written = () => {
            const tree = compact(nodes.kindOf(node), undefined, [node])
            budget.take(8 * tree.parts.length)
            characters += lengthOf(tree)
            return { tree }
          }
          budget.take(BYTES_PER_GIVEN)
          budget.step(STEPS_PER_GIVEN)
          trees.push(reference === undefined ? written() : { reference })
          return trees.length - 1
        },
        lookup: (dictionary, key) => asked({ want: 'get', dictionary, key }) || null,
        names: dictionary => asked({ want: 'keys', dictionary, key: '' }) ?? '[]',
        schema: type => asked({ want: 'schema', type }),
        method: call => {
          if (characters > limits.result) prevented ??= tooLong().failure
          return prevented ? 'null' : (asked({ want: 'call', call, trees: untold() }) ?? 'null')
        },
        readFleeting: () => {
          fleeting = true
        },
        // The realm says no more by itself, but with texts and lists that a program may have changed.
        log: (level, text) => {
          budget.step(text.length >> 6)
          if (lines.length === MOST_LINES) return
          lines.push({ level: level as ConsoleLine['level'], text: ownText(text.slice(0, LONGEST_LINE)) })
        },
      }),
      interrupts: () => budget.isOver() || prevented !== undefined,
      exhausted: () => {
        budget.ended ??= 'out-of-memory'
      },
      resolve: (name, importer) => {
        if (name === PROOF && importer === PROGRAM) {
          isCompiled = true
          return PROOF
        }
        if (importer.startsWith('schema:') && name === 'realm:classes') return name
        if (importer === PROGRAM && imports.schemas.includes(name)) {
          if (!isKnown(name)) return undefined
          return `schema:${name}`
        }
        prevented ??= {
          variant: 'import-not-allowed',
          message: `Only schemas can be imported, not ${name.slice(0, 200)}.`,
        }
        return undefined
      },
      source: name => {
        if (name === PROOF) return ''
        return `import { classFor } from 'realm:classes'; export default classFor(${JSON.stringify(name.slice('schema:'.length))})`
      },
    }

    const isKnown = (type: string): boolean => {
      const answer = worker.ask({ want: 'schema', type })
      const isThere = 'values' in answer && answer.values.text !== 'null'
      if (!isThere) prevented ??= { variant: 'unknown-schema', message: `There is no schema of ${type.slice(0, 200)}.` }
      return isThere
    }

    const spent = (): Report['result'] | undefined => {
      if (prevented) return { failure: prevented }
      if (budget.ended === 'timeout') return failed('timeout', 'The program took too long.')
      if (budget.ended) return failed('out-of-memory', 'The program took too much memory.')
      return undefined
    }

    try {
      // The document that the program sees is the one that new nodes belong to.
      if (job.view && 'tree' in job.view) documentView()
      engine.begin(host)
      const given = take(job.values)
      const program: Program =
        job.place === 'expression' ? expressionProgram(job.source, namesIn(given)) : { source: job.source, checks: [] }
      engine.call('begin', beginning(given, returns, mayAnswer, program.bindings))
      for (const check of program.checks) {
        const checked = engine.evaluate(check, 'check')
        if ('exception' in checked) return spent() ?? failed('parse', shown(engine, checked.exception))
      }
      // Imports and exports may stand behind what ends it before it begins.
      const ahead = `import '${PROOF}';${job.place === 'check' ? 'throw 0;' : ''}`
      const completion = engine.evaluate(ahead + program.source, PROGRAM)
      if ('exception' in completion) {
        if (!isCompiled) return spent() ?? failed('parse', shown(engine, completion.exception))
        engine.call('failed', completion.exception)
      } else if (engine.isPending(completion.value)) enter(engine, completion, true)
      else enter(engine, completion, false)
      while (!budget.isOver() && prevented === undefined && engine.work());
      return spent() ?? finished(spent)
    } catch (error) {
      budget.isAtLimit = true
      if (error instanceof DomError || error instanceof RealmError) return failed('threw', error.message)
      // The engine is done for; what it was that broke it is told by the flags, if by anything. It has answered nothing.
      const variant = error instanceof RangeError ? 'out-of-memory' : 'threw'
      return spent() ?? failed(variant, 'The program broke its engine.')
    }

    function finished(isSpent: typeof spent): Report['result'] {
      const completion = engine.call('finish')
      const over = budget.isOver() ? isSpent() : isSpent()
      if (over) return over
      if ('exception' in completion) return failed('out-of-memory', 'The program left nothing that could be read.')
      const state = JSON.parse(engine.text(completion.value)) as RealmState
      if ('pending' in state) return failed('threw', 'The promise that the program returned did not settle.')
      if ('shape' in state) return failed('shape', state.shape)
      if ('isAtLimit' in state && state.isAtLimit) budget.isAtLimit = true
      if ('unusable' in state) return failed('return-type', state.unusable)
      if ('threw' in state) return failed('threw', state.threw)
      const text = 'response' in state ? state.response : state.value
      if (text.length > limits.result || characters > limits.result) return tooLong()
      if ('response' in state) return { response: state.response }
      const { value, truthy, written } = state
      if (written.length > limits.result) return tooLong('What was assigned to Context')
      return { value, truthy, written, changed: job.place === 'default' ? changed() : undefined }
    }

    function changed(): number | undefined {
      if (!view) return undefined
      const { root } = view
      const element = root.childNodes.find(isElement)
      return element && trees.push({ tree: compact(nodes.kindOf(root), root.mode, [element]) }) - 1
    }
  }

  function beginning(
    given: string,
    returns: string,
    mayAnswer: boolean,
    bindings: readonly string[] | undefined,
  ): string {
    const more = JSON.stringify({
      bindings,
      document: job.view !== undefined,
      returns,
      mayAnswer,
      responseType: `${job.ns}/HTTPResponse`,
    })
    return `${given.slice(0, -1)},${more.slice(1)}`
  }
}

/** What the realm says of a program (`realm/main.js`). */
type RealmState =
  | { pending: true }
  | { shape: string }
  | { unusable: string; isAtLimit?: boolean }
  | { threw: string; isAtLimit?: boolean }
  | { response: string }
  | { value: string; truthy: boolean; written: string }

/** Questions to the request thread in one evaluation, and steps that each costs. */
const MOST_QUESTIONS = 2_000
const STEPS_PER_QUESTION = 100

/** What an element of a result or of a call takes, beside its parts. */
const BYTES_PER_GIVEN = 100
const STEPS_PER_GIVEN = 8

/** Lines of `console` in one evaluation, and characters of each (JS-30). */
const MOST_LINES = 100
const LONGEST_LINE = 1024

/** Characters of messages (JS-43). */
const MOST_MESSAGE = 500

function failed(variant: Failure['variant'], message: string): { failure: Failure } {
  return { failure: { variant, message: message.slice(0, MOST_MESSAGE) } }
}

function shown(engine: Engine, exception: number): string {
  return engine.text(exception)
}

function enter(engine: Engine, completion: Completion, isPromise: boolean): void {
  const value = 'value' in completion ? completion.value : 0
  const flag = engine.boolean(isPromise)
  engine.call('enter', value, flag)
}

function namesIn(given: string): string[] {
  const { context = [] } = JSON.parse(given) as { context?: unknown[] }
  return context.filter((each, i): each is string => i % 2 === 0 && typeof each === 'string')
}

function lengthOf({ parts }: CompactTree): number {
  let length = 0
  for (const part of parts) length += typeof part === 'string' ? part.length : 1
  return length
}
