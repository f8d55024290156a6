/** Rendering: the nodes of a template, one after another. */

import { piecesOf } from '../../tree/document.ts'
import { HTML_NAMESPACE } from '../../tree/nodes.ts'
import { textKey } from '../../tree/text-key.ts'
import { FilterError, TemplateError } from './error.ts'
import { escapeMarkup, goesOn, inserted, insertedSafe, isNamed, takesReferences, withoutColons } from './escape.ts'
import { evaluate, evaluateFiltered, evaluating, takesTurns } from './evaluate.ts'
import type { Expression, Filtered } from './expression.ts'
import { numbersOf, writingJson } from './json.ts'
import { LoopState } from './loop-state.ts'
import { apart } from './markup.ts'
import { comparing } from './operators.ts'
import { Output, PIECE, SPAN_BYTES } from './output.ts'
import { type Part, partsOf } from './parts.ts'
import type { Run } from './run.ts'
import type { Located, Loop, Node, Template } from './template.ts'
import { isHash, isList, isTruthy, type LiquidValue, numberIn, plain, Range, Safe } from './values.ts'
import { Pending, ready, type Work } from './work.ts'

/** Nodes and loop rounds after which others may get their turn. */
const PER_TURN = 50

/** Parts of a captured text that are printed without a pause. */
const MOST_PARTS = 1000

/** Characters of a message in a page (LIQ-60). */
const MAX_MESSAGE = 300

/** What ends a body early. */
type Jump = 'break' | 'continue' | undefined

/** @throws TemplateError, AllowanceSpent */
export function* rendering(template: Template, run: Run): Work<string> {
  run.out = new Output(template.start)
  yield* body(template.nodes, run)
  return run.out.text
}

const turns = new WeakMap<Filtered, boolean>()

function isSlow(value: Filtered): boolean {
  if (value.filters.length === 0) return value.input.kind === 'operation'
  let slow = turns.get(value)
  if (slow === undefined) turns.set(value, (slow = takesTurns(value)))
  return slow
}

function* body(nodes: readonly Node[], run: Run): Work<Jump> {
  let count = 0
  for (const node of nodes) {
    if (++count % PER_TURN === 0 || run.isDue()) yield undefined
    switch (node.kind) {
      case 'text':
        // An empty value, which else the next name would become.
        if (run.out.place.state === 'before-value' && run.out.text !== '' && /^[\s>]/.test(node.text)) run.print('""')
        else if (isJoined(node.text, run)) run.print('\\')
        if (node.text.length > PIECE) yield* run.out.reading(node)
        run.printText(node)
        break
      case 'output':
        run.step()
        if (isSlow(node.value)) yield* slowOutput(node.value, run)
        else {
          const late = output(node.value, run)
          if (late) {
            yield late
            yield* slowOutput(node.value, run)
          }
        }
        break
      default: {
        run.step()
        const jump = yield* tag(node, run)
        if (jump) return jump
      }
    }
  }
  return undefined
}

/** Whether text of a template would be a tag or comment in a script only because of the data before it. */
function isJoined(text: string, { out: { endsInData, place, tail } }: Run): boolean {
  return endsInData && place.position === 'raw' && goesOn(text, place, tail)
}

/** @returns what to wait for when a value is not there yet, or is too long to be printed at once */
function output(value: Filtered, run: Run): Promise<unknown> | undefined {
  try {
    const result = evaluateFiltered(value, run)
    if (isHash(plain(result))) return Promise.resolve()
    const text = textOf(result, run)
    if (text.length > PIECE || (result instanceof Safe && result.data.length > MOST_PARTS)) return Promise.resolve()
    if (result instanceof Safe) for (const part of partsOf(result, run)) print(part, run)
    else print({ text, isData: true }, run)
  } catch (error) {
    if (error instanceof Pending) return error.promise
    degrade(error, run)
  }
  return undefined
}

function* slowOutput(value: Filtered, run: Run): Work<void> {
  try {
    const result = yield* evaluating(value, run)
    const bare = plain(result)
    const text = isHash(bare) ? yield* writingJson(bare, 0, run) : yield* ready(() => textOf(result, run))
    let count = 0
    const parts = result instanceof Safe ? partsOf(result, run) : [{ text, isData: true }]
    for (const { text: whole, trust, isData } of parts) {
      for (const piece of piecesOf(whole, PIECE)) {
        print({ text: piece, trust, isData }, run)
        if (++count % MOST_PARTS === 0 || run.isDue()) yield undefined
      }
    }
  } catch (error) {
    degrade(error, run)
  }
}

function textOf(value: LiquidValue, run: Run): string {
  return value instanceof Safe ? value.text : run.text(value)
}

/** Prints a part of a value, or a piece of it. */
function print({ text, trust, isData }: Part, run: Run): void {
  if (text === '') return
  const { place, tail, data } = run.out
  const written = trust ? insertedSafe(text, trust, place, tail) : inserted(text, place, tail)
  const piece = isData && hidesColons(run) ? withoutColons(written) : written
  if (isData && data && run.out.note(piece, place.position)) run.allowance.take(SPAN_BYTES)
  run.print(piece)
  run.out.endsInData = isData
}

/**
 * Whether colons of data are written as references: wherever a page is read that may have directives, whatever markup it turns
 * out to be in the end. What is captured keeps them, as it may be compared or split.
 */
function hidesColons({ scope, out }: Run): boolean {
  const { place, data } = out
  return isNamed(place) || (scope.hasDirectives === true && !data && takesReferences(place.position))
}

/** An expression that cannot be evaluated says so where a reader sees it, and nowhere else (LIQ-60). */
function degrade(error: unknown, run: Run): void {
  if (!(error instanceof FilterError)) throw error
  const { place } = run.out
  if (place.position !== 'text') return
  const message = inserted([...error.message].slice(0, MAX_MESSAGE).join(''), place, '')
  const type = escapeMarkup(`${run.scope.ns}/Error`)
  const [scope, end] = place.xml ? [`xmlns="${HTML_NAMESPACE}" itemscope=""`, '/>'] : ['itemscope', '>']
  run.print(
    `<span ${scope} itemtype="${type}"><meta itemprop="kind" content="TemplateError"${end}` +
      `<span itemprop="message">${message}</span></span>`,
  )
}

function* tag(node: Exclude<Node, { kind: 'text' | 'output' }>, run: Run): Work<Jump> {
  switch (node.kind) {
    case 'if':
      for (const { test, negated, body: branch } of node.branches) {
        if (test) {
          run.step()
          if (run.isDue()) yield undefined
          if (isTruthy(yield* decided(test, run)) === negated) continue
        }
        return yield* body(branch, run)
      }
      return undefined
    case 'case': {
      const subject = yield* decided(node.subject, run)
      for (const { values, body: branch } of node.whens) {
        let met = values === undefined
        for (const value of values ?? []) {
          if (met) break
          run.step()
          if (run.isDue()) yield undefined
          met = yield* comparing('==', subject, yield* evaluated(value, run), run)
        }
        if (met) return yield* body(branch, run)
      }
      return undefined
    }
    case 'for':
      return yield* loop(node.loop, run)
    case 'tablerow':
      return yield* tableRows(node.loop, run)
    case 'cycle':
      return yield* cycle(node, run)
    case 'assign': {
      const value = yield* decided(node.value, run)
      run.allowance.take(16)
      run.frames[0]?.set(node.name, value)
      return undefined
    }
    case 'capture':
      return yield* capture(node, run)
    case 'count': {
      const before = run.counters.get(node.name) ?? 0n
      run.counters.set(node.name, before + node.by)
      print({ text: String(node.by === 1n ? before : before - 1n), isData: true }, run)
      return undefined
    }
    default:
      return node.kind
  }
}

/** A value that control flow needs: its error is one of the whole page (LIQ-61). */
function* decided({ value, line }: Located<Filtered>, run: Run): Work<LiquidValue> {
  try {
    if (isSlow(value)) return yield* evaluating(value, run)
    return yield* ready(() => evaluateFiltered(value, run))
  } catch (error) {
    throw located(error, line)
  }
}

function* evaluated({ value, line }: Located<Expression>, run: Run): Work<LiquidValue> {
  try {
    return yield* ready(() => evaluate(value, run))
  } catch (error) {
    throw located(error, line)
  }
}

function located(error: unknown, line: number): unknown {
  return error instanceof FilterError ? new TemplateError(error.message, line) : error
}

function* capture(node: Extract<Node, { kind: 'capture' }>, run: Run): Work<Jump> {
  const outer = run.out
  const start = apart(outer.place)
  run.out = new Output(start, true)
  try {
    const jump = yield* body(node.body, run)
    const { position } = start
    const trust = position === 'raw' || position === 'cdata' ? 'raw' : 'printed'
    run.frames[0]?.set(node.name, new Safe(run.out.text, trust, run.out.data, { from: start, to: run.out.place }))
    return jump
  } finally {
    run.out = outer
  }
}

function* cycle(node: Extract<Node, { kind: 'cycle' }>, run: Run): Work<Jump> {
  const { name, values } = node
  const group = name ? yield* ready(() => run.text(evaluate(name, run))) : ''
  run.passOver(group.length)
  const key = `${textKey(group)}:${name ? '' : node.group}`
  const index = run.cycles.get(key) ?? 0
  run.cycles.set(key, (index + 1) % values.length)
  const value = values[index % values.length]
  if (value) yield* slowOutput(value, run)
  return undefined
}

/** What a loop goes through: its rounds are made only as far as they are needed (LIQ-25, LIQ-70). */
function* rounds(loop: Loop, run: Run): Work<LiquidValue[]> {
  const collection = plain(yield* evaluated(loop.collection, run))
  let offset = 0
  if (loop.offset === 'continue') offset = run.continued.get(loop.register) ?? 0
  else if (loop.offset) offset = count(yield* evaluated(loop.offset, run), 0)
  const given = loop.limit ? plain(yield* evaluated(loop.limit, run)) : null
  const limit = given === null ? Number.POSITIVE_INFINITY : count(given, 0)
  const values =
    collection instanceof Range
      ? yield* counting(collection, offset, limit, run)
      : sliced(collection, offset, limit, run)
  run.continued.set(loop.register, offset + values.length)
  return loop.reversed ? values.reverse() : values
}

/** Numbers that are made without a pause. */
const NUMBERS_PER_TURN = 10_000

function* counting(range: Range, offset: number, limit: number, run: Run): Work<LiquidValue[]> {
  const first = range.first + BigInt(offset)
  const left = range.last - first + 1n
  const size = left < 0n ? 0n : left
  const taken = Number.isFinite(limit) && BigInt(limit) < size ? BigInt(limit) : size
  // The numbers count before they are made.
  run.allowance.take(Number(taken) * 16)
  const numbers: LiquidValue[] = []
  for (const number of numbersOf(new Range(first, first + taken - 1n)))
    if (numbers.push(number) % NUMBERS_PER_TURN === 0) yield undefined
  return numbers
}

function sliced(collection: Exclude<LiquidValue, Range>, offset: number, limit: number, run: Run): LiquidValue[] {
  if (isList(collection)) {
    const end = Math.min(collection.length, offset + limit)
    run.allowance.take(Math.max(0, end - offset) * 8)
    return collection.slice(offset, end)
  }
  if (collection === null || collection === '') return []
  const all: LiquidValue[] = isHash(collection)
    ? [...collection.keys()].map(key => [key, collection.get(key) ?? null])
    : [collection]
  run.allowance.take(all.length * 32)
  return all.slice(offset, offset + limit)
}

function count(value: LiquidValue, otherwise: number): number {
  const bare = plain(value)
  const number = typeof bare === 'string' ? numberIn(bare) : bare
  if (typeof number !== 'bigint' && typeof number !== 'number') return otherwise
  return Math.max(0, Math.min(Number.MAX_SAFE_INTEGER, Math.trunc(Number(number))))
}

function* loop(node: Loop, run: Run): Work<Jump> {
  const values = yield* rounds(node, run)
  if (values.length === 0) return yield* body(node.otherwise, run)
  const state = new LoopState(values.length, parentLoop(run))
  const frame = new Map<string, LiquidValue>([['forloop', state]])
  run.frames.push(frame)
  try {
    for (const [index, value] of values.entries()) {
      if (index % PER_TURN === 0 || run.isDue()) yield undefined
      run.step()
      state.index = index
      frame.set(node.variable, value)
      const jump = yield* body(node.body, run)
      if (jump === 'break') break
    }
  } finally {
    run.frames.pop()
  }
  return undefined
}

function parentLoop(run: Run): LoopState | undefined {
  for (let i = run.frames.length - 1; i > 0; i--) {
    const state = run.frames[i]?.get('forloop')
    if (state instanceof LoopState) return state
  }
  return undefined
}

function* tableRows(node: Loop, run: Run): Work<Jump> {
  const values = yield* rounds(node, run)
  const columns = node.columns ? count(yield* evaluated(node.columns, run), 0) : 0
  const width = columns > 0 ? columns : Math.max(1, values.length)
  const state = new LoopState(values.length, undefined, width)
  const frame = new Map<string, LiquidValue>([['tablerowloop', state]])
  run.frames.push(frame)
  try {
    for (const [index, value] of values.entries()) {
      if (index % PER_TURN === 0 || run.isDue()) yield undefined
      run.step()
      state.index = index
      frame.set(node.variable, value)
      const column = index % width
      if (column === 0) run.print(`${index === 0 ? '' : '</tr>'}<tr class="row${Math.floor(index / width) + 1}">`)
      run.print(`<td class="col${column + 1}">`)
      const jump = yield* body(node.body, run)
      run.print('</td>')
      if (jump === 'break') break
    }
    if (values.length > 0) run.print('</tr>')
  } finally {
    run.frames.pop()
  }
  return undefined
}
