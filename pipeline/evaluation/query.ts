/** QUERY with an expression (SES-230 to SES-236, HTTP-140): a request program and its answer. */

import type { Answer } from '../answer.ts'
import type { BodySource } from '../body.ts'
import { Fault } from '../fault.ts'
import { type Conditions, evaluateRead, preconditionFailed } from '../http/conditions.ts'
import { digestingText } from '../http/digest.ts'
import { trimField } from '../http/field-text.ts'
import type { Allowance } from '../language/allowance.ts'
import {
  compileInTurns,
  evaluate,
  type Failure,
  type Program,
  SesselError,
  type SesselHost,
  SesselSyntaxError,
  writingJson,
} from '../language/sessel/sessel.ts'
import { ElementValue, isList, type Value } from '../language/values.ts'
import { absent } from '../refusals.ts'
import type { Site } from '../site/site.ts'
import { notHtml } from '../site/stored-file.ts'
import { contentTag } from '../store/tags.ts'
import { isBlank } from '../tree/ascii.ts'
import { rootElement } from '../tree/nodes.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { inTurns } from '../tree/steps.ts'
import { type Bounds, SiteReach } from './reach.ts'
import { siteSchemas } from './schemas.ts'

/** What is asked, and of what. */
export interface ProgramQuery {
  site: Site
  allowance: Allowance
  /** Decoded: a document, or a directory by the slash at its end. */
  path: string
  /** What the program reaches, as of now. */
  bounds(): Bounds
  /** `request` and `Context`, as of now: who asks may be in fewer groups than when the program was sent. */
  names(): Promise<ReadonlyMap<string, Value>>
  /** The `Range` field as it came. */
  range: string | undefined
  conditions: Conditions | undefined
  /** Reads once more where others change meanwhile what is read. */
  atOneMoment<T>(read: () => Promise<T>): Promise<T>
}

/** UTF-8 bytes of a program that is sent: a little more than one may have, so that too long a one is told apart. */
const MAX_BODY = 512 * 1024

/**
 * Evaluates a program that a client has sent. Nothing is changed by it.
 *
 * @returns one element as 206 with its markup, anything else as 200 with JSON (SES-231)
 * @throws Fault by SES-236; AllowanceSpent
 */
export async function answerProgram(query: ProgramQuery, body: BodySource): Promise<Answer> {
  const program = await programIn(body)
  return query.atOneMoment(async () => {
    // What was read in vain is not for the program to pay.
    const allowance = query.allowance.part()
    try {
      return await evaluating({ ...query, allowance }, program)
    } finally {
      query.allowance.end(allowance)
    }
  })
}

async function evaluating(query: ProgramQuery, program: Program): Promise<Answer> {
  const { site, allowance, path, bounds } = query
  const reach = new SiteReach(site, allowance, bounds())
  try {
    const source = path.endsWith('/') ? undefined : await reach.document(path)
    if (!path.endsWith('/') && !source) throw (await site.find(path)) ? notHtml() : absent()
    const root = source && rootElement(source.document)
    const host: SesselHost = {
      ns: site.settings.ns,
      self: root && new ElementValue(root, source),
      prior: undefined,
      names: await query.names(),
      reach,
      base: path,
      schemas: siteSchemas(site, allowance),
      selectors: site.selectors,
      platform: undefined,
    }
    const outcome = await evaluate(program, host, allowance)
    if ('failure' in outcome) throw failed(outcome.failure, site.settings.ns)
    return await answering(query, outcome.value)
  } finally {
    reach.release()
  }
}

async function programIn(body: BodySource): Promise<Program> {
  const bytes = await body.bytes(MAX_BODY)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Fault(400, 'BadRequest', 'The expression is not valid UTF-8.')
  }
  if (isBlank(text)) throw new Fault(400, 'EmptyBody', 'The body must hold an expression.')
  try {
    return await compileInTurns(text)
  } catch (error) {
    if (!(error instanceof SesselSyntaxError)) throw error
    throw new Fault(400, 'BadRequest', `The expression cannot be read: ${error.message}.`)
  }
}

/** SES-236. */
function failed({ type, message, reason }: Failure, ns: string): Fault {
  if (reason === 'unbound-self')
    return new Fault(416, 'SelectorNoMatch', `The expression needs a document: ${message}.`)
  const isClients = type === 'TypeError' || (reason !== undefined && reason !== 'limit')
  const failure = { language: `${ns}/Sessel`, variant: 'threw' as const, message }
  return isClients
    ? new Fault(400, 'BadRequest', `The expression has failed: ${message}`, { failure })
    : new Fault(500, 'BindingFailure', `The expression has failed: ${message}`, { failure })
}

const ENTRIES = /^entries[ \t]*=[ \t]*(\d{1,15})[ \t]*-[ \t]*(\d{0,15})$/i

/** The slice of a list that is asked for; undefined where the field asks for nothing that is known (SES-233). */
function entriesOf(field: string | undefined): { first: number; last: number } | undefined {
  const parts = field === undefined ? null : ENTRIES.exec(trimField(field))
  if (!parts) return undefined
  const first = Number(parts[1])
  const last = parts[2] === '' ? Number.POSITIVE_INFINITY : Number(parts[2])
  return first > last ? undefined : { first, last }
}

async function answering(query: ProgramQuery, value: Value): Promise<Answer> {
  const { allowance, site, range } = query
  const entries = entriesOf(range)
  const slice = entries && sliceOf(value, entries)
  if (value instanceof ElementValue) {
    const kind = value.source?.document.kind ?? 'html'
    const length = value.source?.document.source.length ?? 0
    // What is stored was counted when it came.
    const pay = value.source ? undefined : (units: number) => allowance.take(units)
    const body = await inTurns(writingMarkup(value.node, kind, pay), length)
    return tagged(query, 206, { 'Content-Type': 'text/html; charset=utf-8' }, body)
  }
  const headers: Record<string, string> = { 'Content-Type': 'application/sessel+json' }
  if (slice) headers['Content-Range'] = slice.range
  try {
    const shown = slice ? slice.list : value
    const body = await inTurns(
      writingJson(shown, steps => allowance.step(steps)),
      0,
    )
    return await tagged(query, slice ? 206 : 200, headers, body)
  } catch (error) {
    if (!(error instanceof SesselError)) throw error
    throw failed({ type: error.type, message: error.message, reason: undefined }, site.settings.ns)
  }
}

/** @throws Fault 416 for what is no list, or a place behind its end */
function sliceOf(value: Value, { first, last }: { first: number; last: number }): { list: Value; range: string } {
  if (value === null || !isList(value))
    throw new Fault(416, 'InvalidRange', 'The expression gives no list, so that it has no entries.')
  const count = value.length
  if (first >= count)
    throw new Fault(416, 'InvalidRange', 'The list ends before the first entry that is asked for.', {
      headers: { 'Content-Range': `entries */${count}` },
    })
  const end = Math.min(last, count - 1)
  return { list: value.slice(first, end + 1), range: `entries ${first}-${end}/${count}` }
}

/** SES-235. */
async function tagged(
  { conditions }: ProgramQuery,
  status: number,
  own: Record<string, string>,
  body: string,
): Promise<Answer> {
  const tag = contentTag(await inTurns(digestingText(body), 0))
  const headers = { ...own, ETag: tag, 'Cache-Control': 'no-store' }
  const verdict = conditions && evaluateRead(conditions, { tag }, false)
  if (verdict === 412) throw preconditionFailed(tag)
  if (verdict && verdict !== 'proceed')
    return { status: 304, headers: { ETag: verdict.tag, 'Cache-Control': 'no-store' } }
  return { status, headers, body }
}
