/** What reaction code sees of the request and its answer (REA-40 to REA-43), and how it changes the answer (REA-71). */

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Answer, AnswerBody } from '../answer.ts'
import { personalHeaders } from '../http/caching.ts'
import { decodeField } from '../http/field-text.ts'
import { type Allowance, AllowanceSpent } from '../language/allowance.ts'
import { OpenDictionary, SesselError, textForm } from '../language/sessel/sessel.ts'
import { ElementValue, isDictionary, LazyDictionary, type Value } from '../language/values.ts'
import type { RequestValue } from '../request-value.ts'
import { blobBytes, type StoredBlob } from '../store/blobs.ts'
import { asciiLower, trimmed } from '../tree/ascii.ts'
import { decodeInTurn, encoding, PIECE } from '../tree/document.ts'
import { writingMarkup } from '../tree/serialize.ts'
import { atOnce, done, type Steps } from '../tree/steps.ts'
import { type KeptBody, LARGEST_TEXT } from './body.ts'
import { isSafeField } from './header-fields.ts'
import { addFields } from './thrown.ts'

function textOf(bytes: Uint8Array, allowance: Allowance): string {
  allowance.take(bytes.length)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** A body that is larger than what code may hold spends its allowance (REA-95), for every language. */
function tooLarge(allowance: Allowance): AllowanceSpent {
  allowance.take(Number.POSITIVE_INFINITY)
  return new AllowanceSpent('memory')
}

/** `Context`: one for all code of a request; what code adds to it, later code sees (REA-43). */
export class ContextValue extends OpenDictionary {
  readonly request: ReactionRequest
  /** Of processors alone. */
  response: ResponseValue | undefined
  readonly shared = new Map<string, Value>()

  constructor(request: ReactionRequest) {
    super()
    this.request = request
  }

  get(key: string): Value | undefined {
    if (key === 'request') return this.request
    if (key === 'response') return this.response
    return this.shared.get(key)
  }

  keys(): Iterable<string> {
    return ['request', ...(this.response ? ['response'] : []), ...this.shared.keys()]
  }

  set(key: string, value: Value): void {
    if (key === 'request' || key === 'response') throw new SesselError('TypeError', `“${key}” cannot be assigned`)
    this.shared.set(key, value)
  }
}

/** The request with its body, which a trigger may have replaced. */
export class ReactionRequest extends LazyDictionary {
  readonly #request: RequestValue
  readonly #body: KeptBody
  readonly #allowance: Allowance
  readonly #texts = new Map<Uint8Array, string>()
  #hasReadBody = false

  constructor(request: RequestValue, body: KeptBody, allowance: Allowance) {
    super()
    this.#request = request
    this.#body = body
    this.#allowance = allowance
  }

  /** Whether code has read what differs from visitor to visitor. */
  get isPrivate(): boolean {
    return this.#hasReadBody || this.#request.isPrivate
  }

  get(key: string): Value | undefined {
    if (key === 'body') return this.#text(this.#body.current)
    if (key === 'rawBody') return this.#text(this.#body.received)
    return this.#request.get(key)
  }

  keys(): Iterable<string> {
    return [...this.#request.keys(), 'rawBody']
  }

  #text(bytes: Uint8Array | undefined): string {
    if (!bytes) throw tooLarge(this.#allowance)
    // A GET may have a body, which caches do not look at.
    this.#hasReadBody ||= bytes.length > 0
    let text = this.#texts.get(bytes)
    if (text === undefined) this.#texts.set(bytes, (text = textOf(bytes, this.#allowance)))
    return text
  }
}

/** The answer as processors see it and, in Sessel, assign to it. */
export class ResponseValue extends OpenDictionary {
  #answer: Answer
  readonly #allowance: Allowance
  readonly #sessionCookie: string
  #text: string | undefined
  #bytes: Uint8Array | undefined
  /** What these say, where that takes longer than a turn may. */
  #decoded: string | undefined
  #headers: AnswerHeaders | undefined
  #namesCaching = false

  /** @param sessionCookie name of the server's own cookie */
  constructor(answer: Answer, allowance: Allowance, sessionCookie: string) {
    super()
    this.#answer = answer
    this.#allowance = allowance
    this.#sessionCookie = sessionCookie
  }

  /** As it stands; the object that was given as long as nothing was assigned (REA-70). */
  get answer(): Answer {
    return this.#answer
  }

  get status(): number {
    return this.#answer.status
  }

  /** What it was made of differs from visitor to visitor: no shared cache keeps it, unless code has said who may (HTTP-150). */
  becomePersonal(): void {
    if (!this.#namesCaching) this.#answer = { ...this.#answer, headers: personalHeaders(this.#answer.headers) }
  }

  /**
   * Reads a body that is kept in a file, so that code can be shown it.
   *
   * @param hold counts its bytes; Fault 503 when requests hold too many
   */
  async load(hold: (bytes: number) => void): Promise<void> {
    const { body } = this.#answer
    if (this.#bytes || body === undefined) return
    const stored = fileParts(body)
    if (!stored || stored.size > LARGEST_TEXT) return
    hold(stored.size)
    const all: Uint8Array[] = []
    for (const piece of stored.pieces) {
      if (piece instanceof Uint8Array) all.push(piece)
      else all.push((await blobBytes(piece.blob)).subarray(piece.start, piece.end))
    }
    this.#bytes = Buffer.concat(all)
    if (this.#bytes.length <= PIECE || this.#answer.headers['Content-Encoding'] !== undefined) return
    const { text, bom } = await decodeInTurn(this.#bytes)
    this.#decoded = bom ? `\ufeff${text}` : text
  }

  get(key: string): Value | undefined {
    if (key === 'status') return BigInt(this.#answer.status)
    if (key === 'headers') return this.#fields()
    return key === 'body' ? this.#bodyText() : undefined
  }

  keys(): Iterable<string> {
    return ['status', 'body', 'headers']
  }

  set(key: string, value: Value): void {
    if (key === 'status') this.#replace({ status: statusFrom(value) })
    else if (key === 'body') atOnce(this.setting(key, value) ?? done(this.#assignBody(value)))
    else if (key === 'headers') this.#assignHeaders(value)
    else throw new SesselError('TypeError', `a response has no “${key}”`)
  }

  override setting(key: string, value: Value): Steps<void> | undefined {
    return key === 'body' && value instanceof ElementValue ? this.#settingBody(value) : undefined
  }

  *#settingBody({ node, source }: ElementValue): Steps<void> {
    const text = yield* writingMarkup(node, source?.document.kind ?? 'html', units => this.#allowance.take(units))
    this.#setBody(text, yield* encoding(text, false))
  }

  #fields(): AnswerHeaders {
    this.#headers ??= new AnswerHeaders(
      () => this.#answer,
      (name, value) => this.#setField(name, value),
    )
    return this.#headers
  }

  /** REA-71: what described the old content goes. */
  #replace(change: Pick<Answer, 'status'> | Pick<Answer, 'body'>): void {
    const { reuse: _, ...answer } = this.#answer
    const headers = { ...answer.headers }
    for (const name of ['ETag', 'Last-Modified', 'Content-Range']) delete headers[name]
    if ('body' in change) delete headers['Content-Encoding']
    // An error is kept by no cache (HTTP-150), unless code has said who may.
    if ('status' in change && change.status >= 400 && !this.#namesCaching) headers['Cache-Control'] = 'no-store'
    this.#answer = { ...answer, headers, ...change }
  }

  #assignBody(value: Value): void {
    const text = bodyFrom(value, this.#allowance)
    this.#setBody(text, text)
  }

  #setBody(text: string, body: string | Uint8Array): void {
    this.#replace({ body })
    delete this.#answer.serverPage
    this.#text = text
  }

  #assignHeaders(value: Value): void {
    if (value === null || !isDictionary(value))
      throw new SesselError('TypeError', 'headers are assigned as a Dictionary')
    if (value === this.#headers) return
    // What comes back as it was says nothing: code adds to the fields that it was shown.
    const caching = this.#answer.headers['Cache-Control']
    for (const name of [...value.keys()]) this.#setField(name, value.get(name) ?? null, value.get(name) !== caching)
  }

  /**
   * Sets a field in the place of those of the same name; null removes it.
   *
   * @param isMeant whether it says who may keep the answer, if it is the field for that
   */
  #setField(name: string, value: Value, isMeant = true): void {
    const { reuse: _, ...answer } = this.#answer
    const lower = asciiLower(name)
    const values = value === null ? [] : Array.isArray(value) ? value : [value]
    const fields = values.map(each => [name, textForm(each, steps => this.#allowance.step(steps))] as const)
    if (fields.some(field => !isSafeField(field, this.#sessionCookie))) return
    if (lower === 'cache-control' && isMeant) this.#namesCaching = true
    const headers = Object.fromEntries(Object.entries(answer.headers).filter(([each]) => asciiLower(each) !== lower))
    const repeated = (answer.repeated ?? []).filter(([each]) => asciiLower(each) !== lower)
    // All fields are looked at, and those that stay are copied.
    this.#allowance.step(Object.keys(headers).length + repeated.length)
    this.#answer = { ...answer, headers, repeated }
    addFields(this.#answer, fields)
  }

  #bodyText(): string {
    if (this.#text !== undefined) return this.#text
    const bytes = this.#bytes ?? inMemory(this.#answer.body)
    if (!bytes) throw tooLarge(this.#allowance)
    if (this.#decoded !== undefined) this.#allowance.take(bytes.length)
    this.#text = this.#decoded ?? textOf(decoded(bytes, this.#answer.headers['Content-Encoding']), this.#allowance)
    return this.#text
  }
}

/** Fields of an answer by name in whatever case (REA-41). */
class AnswerHeaders extends OpenDictionary {
  readonly #answer: () => Answer
  readonly #set: (name: string, value: Value) => void

  constructor(answer: () => Answer, set: (name: string, value: Value) => void) {
    super()
    this.#answer = answer
    this.#set = set
  }

  #all(): Map<string, string> {
    const { headers, repeated = [] } = this.#answer()
    const all = new Map<string, string>()
    for (const [name, value] of [...Object.entries(headers), ...repeated]) {
      const lower = asciiLower(name)
      const known = all.get(lower)
      all.set(lower, known === undefined ? decodeField(value) : `${known}, ${decodeField(value)}`)
    }
    return all
  }

  get(key: string): Value | undefined {
    return this.#all().get(asciiLower(key))
  }

  keys(): Iterable<string> {
    return this.#all().keys()
  }

  set(key: string, value: Value): void {
    this.#set(key, value)
  }
}

/** @throws SesselError for what is no status (REA-71) */
function statusFrom(value: Value): number {
  const status = typeof value === 'string' && /^\d{3}$/.test(trimmed(value)) ? Number(value) : value
  const number = typeof status === 'bigint' || typeof status === 'number' ? Number(status) : Number.NaN
  if (Number.isInteger(number) && number >= 200 && number <= 599) return number
  throw new SesselError('RuntimeError', 'a status is an Integer from 200 to 599')
}

function bodyFrom(value: Value, allowance: Allowance): string {
  const text = value === null ? '' : textForm(value, steps => allowance.step(steps))
  allowance.take(text.length)
  return text
}

/** The bytes of a body that are in memory; undefined where some are in files. */
function inMemory(body: AnswerBody | undefined): Uint8Array | undefined {
  if (body === undefined) return new Uint8Array()
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  if ('blob' in body) return undefined
  const pieces = body.pieces.filter(piece => piece instanceof Uint8Array)
  return pieces.length === body.pieces.length ? Buffer.concat(pieces) : undefined
}

interface FilePart {
  blob: StoredBlob
  start: number
  end: number
}

function fileParts(body: AnswerBody): { pieces: readonly (Uint8Array | FilePart)[]; size: number } | undefined {
  if (typeof body === 'string' || body instanceof Uint8Array) return undefined
  // A part of a large file is cut out of the whole.
  if ('blob' in body) return { pieces: [body], size: body.blob.size }
  const sizes = body.pieces.map(piece => (piece instanceof Uint8Array ? piece.length : piece.blob.size))
  return { pieces: body.pieces, size: sizes.reduce((sum, each) => sum + each, 0) }
}

function decoded(bytes: Uint8Array, coding: string | undefined): Uint8Array {
  const options = { maxOutputLength: LARGEST_TEXT }
  if (coding === 'br') return brotliDecompressSync(bytes, options)
  return coding === 'gzip' ? gunzipSync(bytes, options) : bytes
}

/**
 * Whether a program may look at the body of the request, or of its answer. It is asked for bodies in files alone, which are
 * read before the program runs.
 */
export function mayReadBody(source: string, of: 'request' | 'response'): boolean {
  if (/body|\[|\.\.\.|JSON|keys|entries|values/i.test(source)) return true
  return OTHER_MEMBERS[of].test(source)
}

/** A mention of the request or its answer that goes on with something else than one of the other members. */
const OTHER_MEMBERS = {
  request: /request(?!\s*\.\s*(method|path|headers|query|params|auth|host)\b)/,
  response: /response(?!\s*\.\s*(status|headers)\b)/,
}
