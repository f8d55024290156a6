/** Parts of a `multipart/form-data` body while it arrives (RFC 7578, RFC 2046 section 5.1.1). */

import { Fault } from '../fault.ts'
import { KeptPieces } from '../kept-pieces.ts'
import { essence } from './media.ts'

/** What the head of a part says of it. */
export interface FormPart {
  /** Of the field. */
  name: string
  /** Without folders, which some browsers put before it; undefined for a field that is no file, empty where none was chosen. */
  filename: string | undefined
  type: string | undefined
}

/** Parts of a body; one with more is refused. */
const MOST_PARTS = 10_000
/** Bytes of the head of a part. */
export const LONGEST_HEAD = 8192

const LINE_END = Buffer.from('\r\n')
const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * @param type `Content-Type` of the body
 * @returns undefined for a body that is no `multipart/form-data`
 */
export function boundaryOf(type: string): string | undefined {
  if (essence(type) !== 'multipart/form-data') return undefined
  const found = /;[ \t]*boundary=(?:"([^"]{1,70})"|([^ \t;"]{1,70}))/i.exec(type)
  return found?.[1] ?? found?.[2]
}

/**
 * Hands over part after part. At any time one piece of the body and a delimiter are in memory, wherever pieces end.
 *
 * @param pieces the body as it arrives
 * @param take reads the content of the part to its end, or throws
 * @throws Fault 400 for a body that ends before its last delimiter, for a head over 8 KiB, and for more than 10,000 parts;
 *   whatever `pieces` and `take` throw
 */
export async function eachPart(
  pieces: AsyncIterable<Uint8Array>,
  boundary: string,
  take: (part: FormPart, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const body = new Splitter(pieces)
  await drained(body.until(delimiter))
  for (let left = MOST_PARTS; ; left--) {
    // Two hyphens right behind a delimiter end the body; blanks may stand between it and the end of its line.
    if ((await body.peek(2)).equals(Buffer.from('--'))) break
    if (left === 0) throw malformed(`has more than ${MOST_PARTS} parts`)
    const part = partOf(await head(body.until(HEAD_END)))
    await take(part, body.until(delimiter))
  }
  await body.rest()
}

/** A stream of bytes that is read up to one delimiter after another. */
class Splitter {
  readonly #pieces: AsyncIterator<Uint8Array>
  /** What has arrived and was not handed over. The first delimiter may stand at the very start, without its line end. */
  #held: Buffer = LINE_END

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** @returns what stands before the delimiter, which is taken too */
  async *until(delimiter: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#held.indexOf(delimiter)
      // The last bytes may be the beginning of a delimiter.
      const certain = at < 0 ? this.#held.length - delimiter.length + 1 : at
      const content = this.#held.subarray(0, Math.max(certain, 0))
      this.#held = this.#held.subarray(at < 0 ? content.length : at + delimiter.length)
      if (content.length > 0) yield content
      if (at >= 0) return
      await this.#more()
    }
  }

  /** The next bytes, which stay. */
  async peek(length: number): Promise<Buffer> {
    while (this.#held.length < length) await this.#more()
    return this.#held.subarray(0, length)
  }

  /** Passes over all that is left: a client reads its answer when it has sent everything. */
  async rest(): Promise<void> {
    this.#held = LINE_END
    while (!(await this.#pieces.next()).done);
  }

  async #more(): Promise<void> {
    const next = await this.#pieces.next()
    if (next.done) throw malformed('ends before its last part')
    const { buffer, byteOffset, length } = next.value
    const piece = Buffer.from(buffer, byteOffset, length)
    this.#held = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece])
  }
}

async function drained(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

async function head(content: AsyncIterable<Uint8Array>): Promise<string> {
  return (await contentBytes(content, LONGEST_HEAD, () => malformed('has a part whose head is too long'))).toString(
    'utf8',
  )
}

/**
 * A part that is small enough for memory.
 *
 * @param cap bytes
 * @param refusal thrown over the cap
 */
export async function contentBytes(
  content: AsyncIterable<Uint8Array>,
  cap: number,
  refusal: () => unknown,
): Promise<Buffer> {
  const pieces = new KeptPieces()
  let size = 0
  for await (const piece of content) {
    size += piece.length
    if (size > cap) throw refusal()
    pieces.add(piece)
  }
  return Buffer.concat(pieces.all, size)
}

function partOf(fields: string): FormPart {
  return {
    name: parameter(fields, 'name') ?? '',
    filename: parameter(fields, 'filename')?.replace(/^.*[\\/]/s, ''),
    type: /^content-type:[ \t]*([^\r\n]*)/im.exec(fields)?.[1],
  }
}

/** A parameter of `Content-Disposition`. */
export function parameter(fields: string, name: string): string | undefined {
  const line = fields.split('\r\n').find(each => /^content-disposition:/i.test(each)) ?? ''
  const found = new RegExp(`;[ \\t]*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^ \\t;"]*))`, 'i').exec(line)
  const value = found?.[1] ?? found?.[2]
  return value?.replace(/%22/g, '"').replace(/\\(.)/g, '$1')
}

function malformed(how: string): Fault {
  return new Fault(400, 'BadRequest', `The form ${how}.`)
}
