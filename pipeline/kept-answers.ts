/**
 * Answers kept in memory so that they can be given again as they are: of each only the newest, and only as long as nothing
 * has changed that it was made of.
 */

import type { Answer, AnswerBody, Reuse } from './answer.ts'

/** An answer as it goes to a socket. */
export interface KeptAnswer<Facts> {
  status: number
  /** `ETag`, quoted. */
  tag: string | undefined
  /** Names and values in turn, with `Content-Length`. */
  head: string[]
  /** The same for the 304 to a request that brings the tag. */
  unchanged: string[]
  body: Uint8Array
  reuse: Reuse
  facts: Facts
}

/** @typeParam Facts whatever its reader needs to know of an answer beside its question */
export interface KeptAnswers<Facts> {
  /** The answer to a question, unless something has changed. */
  find(question: string): KeptAnswer<Facts> | undefined
  /** Keeps a successful answer that may be reused and is held in memory; any other one is ignored. */
  keep(question: string, answer: Answer, facts: Facts): void
  readonly size: number
}

const MOST_ANSWERS = 4096
/** A body larger than this is better streamed with back-pressure. */
const LARGEST_BODY = 4 * 1024 * 1024
const LONGEST_QUESTION = 4096

/**
 * @param options.bytes of all kept bodies
 * @param options.repeats whether a field, by its name in lower case, belongs to a 304 as well
 * @param options.stands whether an answer of these facts still may be given at all
 */
export function keptAnswers<Facts>(options: {
  bytes: number
  repeats: (field: string) => boolean
  stands?: (facts: Facts) => boolean
}): KeptAnswers<Facts> {
  const { repeats, stands = () => true } = options
  const kept = new Map<string, KeptAnswer<Facts>>()
  let bytes = 0

  function drop(question: string): void {
    bytes -= kept.get(question)?.body.length ?? 0
    kept.delete(question)
  }

  return {
    find(question) {
      const answer = kept.get(question)
      if (!answer) return undefined
      if (stands(answer.facts) && answer.reuse.holds()) return answer
      drop(question)
      return undefined
    },
    keep(question, { status, headers, body, reuse }, facts) {
      if (!reuse || status >= 300 || question.length > LONGEST_QUESTION) return
      const content = inMemory(body)
      if (!content) return
      drop(question)
      const head: string[] = []
      const unchanged: string[] = []
      for (const [name, value] of Object.entries(headers)) {
        // Whoever needs a cookie needs one of their own.
        if (name === 'Set-Cookie') continue
        head.push(name, value)
        if (repeats(name.toLowerCase())) unchanged.push(name, value)
      }
      // A head written before its content is known to Node would announce chunks.
      head.push('Content-Length', String(content.length))
      kept.set(question, { status, tag: headers.ETag, head, unchanged, body: content, reuse, facts })
      bytes += content.length
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST_ANSWERS && bytes <= options.bytes) break
        drop(oldest)
      }
    },
    get size() {
      return kept.size
    },
  }
}

/** The bytes of a body; undefined where they are on disk, or too many. */
function inMemory(body: AnswerBody | undefined): Uint8Array | undefined {
  if (body === undefined) return undefined
  if (typeof body === 'string') return small(Buffer.from(body))
  if (body instanceof Uint8Array) return small(body)
  if ('file' in body || body.size > LARGEST_BODY) return undefined
  const pieces = body.pieces.filter(piece => piece instanceof Uint8Array)
  if (pieces.length < body.pieces.length) return undefined
  return pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)
}

function small(bytes: Uint8Array): Uint8Array | undefined {
  return bytes.length <= LARGEST_BODY ? bytes : undefined
}
