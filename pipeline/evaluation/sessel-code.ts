/** Expressions in the slots of schemas and in groups (SES-2, MOD-32, MOD-65 to MOD-73, GRP-4). */

import type { CodeFailure } from '../fault.ts'
import { type Allowance, AllowanceSpent } from '../language/allowance.ts'
import {
  compileInTurns,
  evaluate,
  isTruthy,
  type SesselHost,
  SesselSyntaxError,
  textForm,
} from '../language/sessel/sessel.ts'
import { ElementValue, isList, type Source, type Value } from '../language/values.ts'
import type { CodeHost, CodeItem, CodeResult, CodeValues, Given } from '../model/code.ts'
import type { RawCode } from '../model/declarations.ts'
import type { Site } from '../site/site.ts'
import { cloneNode } from '../tree/clone.ts'
import { comparing } from '../tree/compare.ts'
import { attribute, type ElementNode, isElement } from '../tree/nodes.ts'
import { atOnce, inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { fetching } from './fetched.ts'
import { ownElement, payingFor } from './given-elements.ts'
import type { Language, LanguageOf } from './languages.ts'
import { SiteReach } from './reach.ts'
import { referringIn } from './readable.ts'
import { callingBy, isSessel, schemasOf } from './schemas.ts'

/** What a slot binds. */
interface Bound {
  self: Value | undefined
  names?: ReadonlyMap<string, Value>
  /** Whether `prior` is bound: the document before the write. */
  hasPrior?: boolean
  /** What has to be done, and paid, before `self` can be read. */
  prepare?: () => Promise<void>
}

export const sessel: LanguageOf = (site, allowance, others) => {
  const { ns } = site.settings
  const run = <T>(code: RawCode, at: CodeItem, bound: Bound, take: Take<T>) =>
    runSlot({ site, allowance, others }, code, at, bound, take)
  const code: CodeHost = {
    default: (slot, at) =>
      run(slot, at, { self: undefined }, value => {
        if (value === null) return { value: undefined }
        return {
          value: value instanceof ElementValue ? atOnce(ownElement(value)) : textForm(value, spending(allowance)),
        }
      }),
    validateValues: (slot, at) =>
      run(slot, at, { self: storedValues(at), hasPrior: true }, value => ({ value: isTruthy(value) })),
    async uncompiled({ type, source }) {
      try {
        await compileInTurns(source)
        return undefined
      } catch (error) {
        if (!(error instanceof SesselSyntaxError)) throw error
        return { language: type === '' ? `${ns}/Sessel` : type, variant: 'parse', message: error.message }
      }
    },
    validateItem: (slot, at) =>
      run(slot, at, { self: new ElementValue(at.element, sourceOf(at)), hasPrior: true }, value => ({
        value: isTruthy(value),
      })),
    write: (slot, at) => resolving(slot, at, { hasPrior: true }),
    read: async steps => {
      const results: CodeResult<Given>[] = []
      for (const { code: slot, at } of steps) {
        const result = await resolving(slot, at, {})
        results.push('response' in result ? noResponse(slot) : result)
      }
      return results
    },
    includes: ({ implementation, parameters }, at, email) => {
      const names = new Map<string, Value>([['email', email]])
      const [parameter] = parameters
      if (parameter) names.set(parameter.name, email)
      const self = new ElementValue(at.element, sourceOf(at), at.itemtype)
      return run(implementation, at, { self, names }, value => ({ value: isTruthy(value) }))
    },
  }
  const resolving = (slot: RawCode, at: CodeValues, more: { hasPrior?: boolean }) => {
    const copies: ElementValue[] = []
    const prepare = () => inTurns(copyingValues(at, copies, allowance), 0)
    return run(slot, at, { ...more, self: copies, prepare }, value =>
      inTurns(giving(value, copies, at, slot, allowance), 0),
    )
  }
  const language: Language = { speaks: type => isSessel(type, ns), code }
  return language
}

function spending(allowance: Allowance): (steps: number) => void {
  return steps => allowance.step(steps)
}

function sourceOf({ path, document }: CodeItem): Source {
  return { path, document }
}

function storedValues(at: CodeValues): Value {
  const source = sourceOf(at)
  return at.elements.map(element => new ElementValue(element, source))
}

/**
 * MOD-70: working copies, which code may change. Those that hold elements are paid for: values may stand in each other, so
 * that each is copied with all that is in it.
 *
 * @throws AllowanceSpent
 */
function* copyingValues({ elements }: CodeValues, copies: ElementValue[], allowance: Allowance): Steps<void> {
  for (const element of elements) {
    if (element.childNodes.some(isElement)) yield* payingFor(element, allowance)
    const copy = cloneNode(element)
    delete copy.sourceCodeLocation
    copies.push(new ElementValue(copy))
    yield
  }
}

/**
 * MOD-70: what a resolver gives. A working copy that nobody has changed stands for the element itself; what is stored, or given
 * more than once, is paid for each time.
 *
 * @throws AllowanceSpent
 */
function* giving(
  value: Value,
  copies: readonly ElementValue[],
  at: CodeValues,
  code: RawCode,
  allowance: Allowance,
): Steps<CodeResult<Given>> {
  const list = value !== null && isList(value) ? value : [value]
  const elements: ElementNode[] = []
  const originals = new Map(copies.map(({ node }, i) => [node, at.elements[i]]))
  const known = new Map<ElementNode, ElementNode>()
  for (const each of list) {
    if (!(each instanceof ElementValue)) {
      const message = `The resolver of ${at.property} gives something that is no element.`
      return { failure: { language: code.type, variant: 'return-type', message } }
    }
    const { node, source } = each
    let element = known.get(node)
    if (source || element) yield* payingFor(node, allowance)
    if (!element || source) {
      const original = originals.get(node)
      const isKept = original !== undefined && (yield* comparing([original], [node]))
      element = isKept ? original : named(yield* ownElement(each), at.property)
      known.set(node, element)
    }
    elements.push(element)
    if (elements.length % NODES_PER_STEP === 0) yield
  }
  return { value: { elements } }
}

/** A representation is no place for a response of its own (MOD-67). */
function noResponse({ type }: RawCode): { failure: CodeFailure } {
  return { failure: { language: type, variant: 'threw', message: 'A resolver of reads cannot answer the request.' } }
}

/** An element that says of no property that it is its value becomes the value of the one that it is given for. */
function named(element: ElementNode, property: string): ElementNode {
  if (attribute(element, 'itemprop') === undefined) element.attrs.push({ name: 'itemprop', value: property })
  return element
}

/** Makes of a value what the slot is for. */
type Take<T> = (value: Value) => CodeResult<T> | Promise<CodeResult<T>>

interface Surroundings {
  site: Site
  allowance: Allowance
  others: readonly Language[]
}

async function runSlot<T>(
  { site, allowance, others }: Surroundings,
  code: RawCode,
  at: CodeItem,
  bound: Bound,
  take: Take<T>,
): Promise<CodeResult<T>> {
  const { ns } = site.settings
  const language = code.type === '' ? `${ns}/Sessel` : code.type
  const fails = (variant: CodeFailure['variant'], message: string) => ({ failure: { language, variant, message } })
  const reach = new SiteReach(site, allowance, { scope: '/' })
  try {
    const program = await compileInTurns(code.source)
    await bound.prepare?.()
    // Reading the document as it was before is left out where nobody asks for it.
    const isAsked = bound.hasPrior && code.source.includes('prior')
    const prior = isAsked ? ((await reach.document(at.path)) ?? null) : bound.hasPrior ? null : undefined
    const host: SesselHost = {
      ns,
      self: bound.self,
      prior,
      names: bound.names ?? new Map(),
      reach,
      base: at.path,
      schemas: schemasOf(site.model, callingBy(others)),
      refersIn: referringIn(site),
      selectors: site.selectors,
      // Nothing is written from a slot.
      platform: { get: fetching(site, reach) },
    }
    const outcome = await evaluate(program, host, allowance)
    if ('response' in outcome) {
      const { status, body, headers } = outcome.response
      return { response: { status, body, headers: headersOf(headers) } }
    }
    if ('failure' in outcome) {
      return fails('threw', outcome.failure.message)
    }
    return await take(outcome.value)
  } catch (error) {
    if (error instanceof SesselSyntaxError) return fails('parse', error.message)
    if (error instanceof AllowanceSpent)
      return fails(error.spent === 'memory' ? 'out-of-memory' : 'timeout', error.message)
    throw error
  } finally {
    reach.release()
  }
}

/** A field that comes several times is one list (RFC 9110 section 5.2). */
function headersOf(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const found = new Map<string, [name: string, value: string]>()
  for (const [name, value] of headers) {
    const known = found.get(name.toLowerCase())
    if (known) known[1] += `, ${value}`
    else found.set(name.toLowerCase(), [name, value])
  }
  return Object.fromEntries(found.values())
}
