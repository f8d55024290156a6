/** JavaScript in the slots of schemas, in groups, and called by expressions (JS-16 to JS-18, MOD-32, MOD-60 to MOD-73, GRP-4). */

import type { CodeFailure } from '../fault.ts'
import { type Allowance, AllowanceSpent } from '../language/allowance.ts'
import type {
  CodePlace,
  DocumentView,
  JavaScript,
  SchemaClasses,
  ScriptJob,
  ScriptOutcome,
} from '../language/javascript/interface.ts'
import { SesselError } from '../language/sessel/failure.ts'
import { type ForeignCall, OpenDictionary } from '../language/sessel/host.ts'
import { ElementValue, isDictionary, isList, LazyDictionary, type Value } from '../language/values.ts'
import {
  type CodeDefault,
  type CodeHost,
  type CodeItem,
  type CodeResult,
  type CodeValues,
  type DefaultResult,
  type Given,
  isSpent,
} from '../model/code.ts'
import type { RawCode } from '../model/declarations.ts'
import { type ModelItem, readingItem, valueReader } from '../model/items.ts'
import { copiedPart, writingTexts } from '../model/write-back.ts'
import type { Site } from '../site/site.ts'
import { typesOf } from '../tree/microdata.ts'
import { isConfiguration } from '../tree/microdata-value.ts'
import { type DocumentKind, type ElementNode, isElement } from '../tree/nodes.ts'
import { type Paying, writingMarkup, writingWholeDocument } from '../tree/serialize.ts'
import { atOnce, inTurns, NODES_PER_STEP, type Steps } from '../tree/steps.ts'
import { ownElement, payingFor } from './given-elements.ts'
import type { Language, LanguageOf } from './languages.ts'
import { scriptSchemas } from './script-schemas.ts'

/** JS-2: the item type that says that code is a module. */
export function isScript(type: string, ns: string): boolean {
  return type === `${ns}/JavaScript/Module`
}

/** Sources that can come to a `document`: by its name, or by code that is made of text. */
const MAY_SEE_DOCUMENT = /document|globalThis|eval|Function|constructor|\\u/

/** The view of a document for code that may look at it; it costs a copy. */
export function viewFor(source: string, view: DocumentView): DocumentView | undefined {
  return MAY_SEE_DOCUMENT.test(source) ? view : undefined
}

/** The language of modules, for the list of languages. */
export function scripts(javascript: JavaScript): LanguageOf {
  return (site, allowance, others) => {
    const { ns } = site.settings
    const slots: Slots = { javascript, site, allowance, others }
    const language: Language = {
      speaks: type => isScript(type, ns),
      code: codeHost(slots),
      call: (code, call) => called(slots, code, call),
    }
    return language
  }
}

interface Slots {
  javascript: JavaScript
  site: Site
  allowance: Allowance
  others: readonly Language[]
}

/** Resolvers that one message takes to a worker; others get their turn in between. */
const STEPS_AT_ONCE = 50

/** UTF-16 code units of their values after which there are no more of them: items in each other are paid for when they are sent. */
const UNITS_AT_ONCE = 4 * 1024 * 1024

function codeHost(slots: Slots): CodeHost {
  return {
    default: async (code, at) => {
      const job = jobFor(slots, 'default', code, at)
      const fields = await inTurns(declaredFields(at, slots.site.settings.ns), 0)
      const markup = await inTurns(writingWholeDocument(at.document), at.document.source.length)
      const given = new Map<string, Value>([['document_html', markup]])
      const view = viewFor(code.source, { document: at.document, scope: at.element })
      const outcome = await run(slots, { ...job, this: fields, arguments: [given], document: view })
      return resultOf(outcome, ({ value, changed }): DefaultResult => {
        if (view && !changed) return unusable(code, 'A default cannot take its item away.')
        const more = changed && { changed }
        if (value === null) return { value: undefined, ...more }
        if (value instanceof ElementValue) return { value: atOnce(ownElement(value)), ...more }
        const text = scalarText(value)
        if (text === undefined) return unusable(code, 'A default is a text, a number or an element.')
        return { value: text, ...more }
      })
    },
    validateValues: async (code, at) => {
      const value = await inTurns(writtenValue(at, slots.site.settings.ns), 0)
      const job = { ...jobFor(slots, 'validate', code, at), arguments: [value] }
      return resultOf(await run(slots, job), ({ truthy }) => ({ value: truthy }))
    },
    validateItem: async (code, at) => {
      const self = await inTurns(writingMarkup(at.element, at.document.kind), 0)
      const job = { ...jobFor(slots, 'validate', code, at), this: self, arguments: [null] }
      return resultOf(await run(slots, job), ({ truthy }) => ({ value: truthy }))
    },
    async uncompiled(code) {
      const { store, settings } = slots.site
      const outcome = await run(slots, { site: store.name, ns: settings.ns, place: 'check', source: code.source })
      if (!('failure' in outcome)) return undefined
      const { variant } = outcome.failure
      return variant === 'parse' || isSpent(outcome.failure) ? outcome.failure : undefined
    },
    write: async (code, at) => {
      const value = await inTurns(writtenValue(at, slots.site.settings.ns), 0)
      const job = { ...jobFor(slots, 'write', code, at), arguments: [value] }
      return taking(slots, await run(slots, job), code, at)
    },
    read: async steps => {
      const results: CodeResult<Given>[] = []
      for (let first = 0; first < steps.length; ) {
        const jobs: ScriptJob[] = []
        let units = 0
        for (const { code, at } of steps.slice(first, first + STEPS_AT_ONCE)) {
          const value = await inTurns(writtenValue(at, slots.site.settings.ns), 0)
          jobs.push({ ...jobFor(slots, 'read', code, at), arguments: [value] })
          for (const text of typeof value === 'string' ? [value] : (value ?? [])) units += text.length
          if (units > UNITS_AT_ONCE) break
        }
        const some = steps.slice(first, first + jobs.length)
        first += jobs.length
        const outcomes = await slots.javascript.batch(jobs, slots.allowance)
        for (const [i, { code, at }] of some.entries()) {
          const outcome = outcomes[i]
          if (outcome) results.push(await taking(slots, outcome, code, at))
        }
      }
      return results
    },
    includes: async ({ implementation: code }, at, email) => {
      const self = new ElementValue(at.element, { path: at.path, document: at.document }, at.itemtype)
      const job = { ...jobFor(slots, 'includes', code, at), this: self, arguments: [email] }
      return resultOf(await run(slots, job), ({ truthy }) => ({ value: truthy }))
    },
  }
}

function schemasFor({ javascript, site, allowance, others }: Slots, caller?: ForeignCall): SchemaClasses {
  return scriptSchemas(site, allowance, others, evaluate => scripts({ ...javascript, evaluate }), caller)
}

function run({ javascript, allowance }: Slots, job: ScriptJob): Promise<ScriptOutcome> {
  return javascript.evaluate(job, allowance)
}

function jobFor(slots: Slots, place: CodePlace, { source }: RawCode, at: CodeItem): ScriptJob {
  const { site } = slots
  return {
    site: site.store.name,
    ns: site.settings.ns,
    origin: at.path,
    place,
    source,
    document: viewFor(source, { document: at.document }),
    schemas: schemasFor(slots),
  }
}

function resultOf<Result>(
  outcome: ScriptOutcome,
  take: (result: Extract<ScriptOutcome, { value: Value }>) => Result,
): Result | Exclude<ScriptOutcome, { value: Value }> {
  return 'value' in outcome ? take(outcome) : outcome
}

/** MOD-65: a text, or a list where there are or may be several; a nested item as its markup. */
function* writtenValue(at: CodeValues, ns: string): Steps<string | string[] | null> {
  const values = yield* writtenValues(at.elements, yield* readingItem(at.element), at.document.kind, ns)
  return at.asList ? values : (values[0] ?? null)
}

/** MOD-32: the declared fields that are present. */
function* declaredFields(at: CodeDefault, ns: string): Steps<Value> {
  const item = yield* readingItem(at.element)
  const fields = new Map<string, Value>()
  for (const name of at.declared) {
    const elements = item.properties.get(name)
    if (!elements) continue
    const values = yield* writtenValues(elements, item, at.document.kind, ns)
    fields.set(name, values.length > 1 ? values : (values[0] ?? null))
  }
  return fields
}

function* writtenValues(
  elements: readonly ElementNode[],
  item: ModelItem | undefined,
  kind: DocumentKind,
  ns: string,
  pay?: Paying,
): Steps<string[]> {
  const read = valueReader(ns)
  const values: string[] = []
  for (const element of elements) {
    values.push(read(element, item ?? (yield* readingItem(element))) ?? (yield* writingMarkup(element, kind, pay)))
    // Values may stand in each other: each is read with all that is in it.
    yield
  }
  return values
}

/** The text of a scalar; undefined for anything else. */
function scalarText(value: Value): string | undefined {
  return typeof value === 'object' ? undefined : String(value)
}

/** MOD-70: a scalar, a list of scalars, elements; null removes. */
function given(
  value: Value,
  code: RawCode,
): CodeResult<{ elements: readonly ElementValue[] } | { texts: readonly string[] }> {
  if (value === null) return { value: { texts: [] } }
  const list = isList(value) ? value : [value]
  const elements = list.filter(each => each instanceof ElementValue)
  if (elements.length === list.length && list.length > 0) return { value: { elements } }
  const texts = list.flatMap(each => scalarText(each) ?? [])
  if (texts.length === list.length) return { value: { texts } }
  return unusable(code, 'A resolver gives scalars, or elements.')
}

/** What a resolver gives, once it is paid for. */
async function taking(
  { allowance, site }: Slots,
  outcome: ScriptOutcome,
  code: RawCode,
  { element, elements }: CodeValues,
): Promise<CodeResult<Given>> {
  const result = resultOf(outcome, ({ value }) => given(value, code))
  if (!('value' in result)) return result
  const byContent = isConfiguration(typesOf(element), site.settings.ns)
  try {
    return { value: await inTurns(paying(result.value, elements, byContent, allowance), 0) }
  } catch (error) {
    if (!(error instanceof AllowanceSpent)) throw error
    const variant = error.spent === 'memory' ? 'out-of-memory' : 'timeout'
    return { failure: { language: code.type, variant, message: error.message } }
  }
}

/**
 * Pays for the copies of what is stored, and for those that texts need: of values that hold elements, and beyond those that there were.
 *
 * @throws AllowanceSpent
 */
function* paying(
  result: { elements: readonly ElementValue[] } | { texts: readonly string[] },
  values: readonly ElementNode[],
  byContent: boolean,
  allowance: Allowance,
): Steps<Given> {
  if ('elements' in result) {
    const elements: ElementNode[] = []
    for (const each of result.elements) {
      if (each.source) yield* payingFor(each.node, allowance)
      elements.push(yield* ownElement(each))
      if (elements.length % NODES_PER_STEP === 0) yield
    }
    return { elements }
  }
  for (const at of result.texts.keys()) {
    const form = values[at] ?? values.at(-1)
    const part = form && copiedPart(form, byContent)
    // Values may stand in each other: each is copied with all that is in it.
    if (part && (at >= values.length || part.childNodes.some(isElement))) yield* payingFor(part, allowance)
    if (at % NODES_PER_STEP === NODES_PER_STEP - 1) yield
  }
  return result
}

function unusable(code: RawCode, message: string): { failure: CodeFailure } {
  return { failure: { language: code.type, variant: 'return-type', message } }
}

/**
 * Code that an expression has called: a method (JS-16), a computed property or a read resolver.
 *
 * @throws SesselError for a failure, AllowanceSpent when a budget of the request is spent
 */
async function called(slots: Slots, code: RawCode, call: ForeignCall): Promise<Value> {
  const { self, parameters, context } = call
  const { javascript, site, allowance } = slots
  const { source } = code
  if (self !== null && isList(self)) return resolved(slots, code, self, call)
  const element = self instanceof ElementValue ? self : undefined
  const { node, source: stored } = element ?? {}
  const view = node && { document: stored?.document ?? detachedDocument(node), scope: node }
  const job: ScriptJob = {
    site: site.store.name,
    ns: site.settings.ns,
    origin: stored?.path,
    place: 'call',
    source,
    this: self,
    arguments: [...parameters.values()],
    // There is no document for a typed instance (JS-16).
    document: view && element?.type === undefined ? viewFor(source, view) : undefined,
    ...contextOf(context),
    schemas: schemasFor(slots, call),
  }
  const outcome = await javascript.evaluate(job, allowance)
  if ('written' in outcome && context instanceof OpenDictionary)
    for (const [name, value] of outcome.written) context.set(name, value)
  return valueOrError(outcome, allowance)
}

/** Members of `request` that say nothing about who asks (JS-28). */
const PLAIN = ['method', 'path', 'query', 'params']

/** The caller's `Context` as a script sees it: what is assigned comes back. */
function contextOf(context: Value | undefined): Pick<ScriptJob, 'context' | 'request' | 'plainMembers'> {
  if (context === undefined || context === null || !isDictionary(context)) return {}
  const names = new Map<string, Value>()
  let request: LazyDictionary | undefined
  for (const name of context.keys()) {
    const value = context.get(name)
    if (name === 'request' && value instanceof LazyDictionary) request = value
    else if (value !== undefined) names.set(name, value)
  }
  return { context: names, ...(request && { request, plainMembers: PLAIN }) }
}

/** A step of a chain of read resolvers that an expression goes through: it has copies, and wants elements (MOD-72). */
async function resolved(slots: Slots, code: RawCode, copies: readonly Value[], call: ForeignCall): Promise<Value> {
  const { javascript, site, allowance } = slots
  const elements = copies.flatMap(each => (each instanceof ElementValue ? [each.node] : []))
  let units = 0
  // Escapes make them longer than the copies that were paid for; where they are sent, they are paid for themselves.
  const pay = (more: number): void => {
    if ((units += more) > allowance.memoryLeft) allowance.exhaust('memory')
  }
  const values = await inTurns(writtenValues(elements, undefined, 'html', site.settings.ns, pay), 0)
  const argument = values.length > 1 ? values : (values[0] ?? null)
  const { store, settings } = site
  const job: ScriptJob = {
    site: store.name,
    ns: settings.ns,
    place: 'read',
    source: code.source,
    arguments: [argument],
    quoted: elements,
  }
  const outcome = await javascript.evaluate({ ...job, schemas: schemasFor(slots, call) }, allowance)
  if ('failure' in outcome && outcome.failure.variant === 'parse') return [...copies]
  const result = given(valueOrError(outcome, allowance), code)
  if (!('value' in result)) throw new SesselError('TypeError', 'a read resolver gives scalars, or elements')
  const made = await inTurns(paying(result.value, elements, false, allowance), 0)
  const nodes = 'elements' in made ? made.elements : await inTurns(writingTexts(made.texts, elements, false), 0)
  return nodes.map(node => new ElementValue(node))
}

/** @throws SesselError, AllowanceSpent */
function valueOrError(outcome: ScriptOutcome, allowance: Allowance): Value {
  if ('value' in outcome) return outcome.value
  if ('response' in outcome) throw new SesselError('RuntimeError', 'A method cannot answer the request.')
  const { variant, message } = outcome.failure
  // What the language has left is gone for everybody: a spent budget cannot be caught.
  if (variant === 'timeout') allowance.exhaust('time')
  if (variant === 'out-of-memory') allowance.exhaust('memory')
  throw new SesselError('RuntimeError', message)
}

function detachedDocument(node: ElementNode): DocumentView['document'] {
  return { kind: 'html', source: '', clean: false, root: { nodeName: '#document', childNodes: [node] } }
}
