/**
 * Answers kept in memory so that they can be given again as they are: of each only the newest, and only as long as nothing
 * has changed that it was made of.
 */

import type { Answer, AnswerBody, Reuse } from '../pipeline/answer.ts'
import type { KeptMemory } from '../pipeline/memory.ts'
import { OrderedMap } from '../pipeline/ordered-map.ts'

/** An answer as it goes to a socket. */
export interface CachedAnswer<Facts> {
  status: number
  /** `ETag`, quoted. */
  tag: string | undefined
  /** Names and values in turn, with `Content-Length`; undefined as long as nobody has asked for the whole. */
  head: string[] | undefined
  /** The same of the 304 to a request that brings the tag. */
  unchanged: string[]
  /** Pieces one after another; none of an answer to HEAD. */
  body: readonly Uint8Array[]
  /** Bytes of these pieces. */
  size: number
  /** Bytes of all that is kept for it. */
  takes: number
  /** Both heads as text, made when they are first sent again (`edge/one-piece.ts`). */
  texts: HeadTexts
  reuse: Reuse
  facts: Facts
  /** Whether the cache has it still; of one that it gave up only this is left. */
  isKept: boolean
}

/** Absent before anybody needs it; undefined for a head that only Node itself can send. */
export interface HeadTexts {
  head?: string | undefined
  unchanged?: string | undefined
}

/** @typeParam Facts whatever its reader needs to know of an answer beside its question */
export interface AnswerCache<Facts> {
  /** The answer to a question, unless something has changed. */
  find(question: string): CachedAnswer<Facts> | undefined
  /** Whether an answer that was found once would be found again: who has it at hand need not look for it. */
  stillFits(answer: CachedAnswer<Facts>): boolean
  /**
   * Keeps an answer that may be reused and is held in memory; any other one is ignored.
   *
   * @param condition `If-None-Match` of the request
   * @param announced bytes that an answer to HEAD says there are: of such a one the head is kept, wherever its content is
   */
  keep(question: string, answer: Answer, facts: Facts, condition?: string, announced?: number): void
  readonly size: number
  readonly memory: KeptMemory
}

/** What an answer takes beside its body: its fields twice, its question, what it depends on. Measured of usual ones. */
export const ENTRY = 2048
/** Characters of its fields and its question that are counted in there. */
const USUAL = 2048
/** A body larger than this is better streamed with back-pressure. */
const LARGEST_BODY = 4 * 1024 * 1024
/** Characters of a question to which an answer is kept. */
export const LONGEST_QUESTION = 4096

const NEVER: Reuse = { holds: () => false }

/**
 * @param options.bytes of all kept answers
 * @param options.repeats whether a field, by its name in lower case, belongs to a 304 as well
 * @param options.stands whether an answer of these facts still may be given at all
 */
export function createAnswerCache<Facts>(options: {
  bytes: number
  repeats: (field: string) => boolean
  stands?: (facts: Facts) => boolean
}): AnswerCache<Facts> {
  const { repeats, stands = () => true } = options
  const kept = new OrderedMap<string, CachedAnswer<Facts>>()
  let bytes = 0

  function drop(question: string): void {
    const answer = kept.delete(question)
    if (!answer) return
    bytes -= answer.takes
    answer.isKept = false
    answer.head = undefined
    answer.unchanged = []
    answer.body = []
    answer.texts = {}
    // It may hold on to all rules of its time.
    answer.reuse = NEVER
  }

  function shrink(most: number): void {
    for (const [oldest] of kept) {
      if (bytes <= most) break
      drop(oldest)
    }
  }

  const stillFits = ({ isKept, facts, reuse }: CachedAnswer<Facts>) => isKept && stands(facts) && reuse.holds()

  function find(question: string): CachedAnswer<Facts> | undefined {
    const answer = kept.get(question)
    if (!answer) return undefined
    if (stillFits(answer)) return answer
    drop(question)
    return undefined
  }

  function add(question: string, made: Omit<CachedAnswer<Facts>, 'takes' | 'texts' | 'isKept'>): void {
    drop(question)
    const answer = { ...made, takes: takenBy(question, made), texts: {}, isKept: true }
    kept.set(question, answer)
    bytes += answer.takes
    shrink(options.bytes)
  }

  return {
    find,
    stillFits,
    keep(question, { status, headers, body, reuse }, facts, condition, announced) {
      if (!reuse || question.length > LONGEST_QUESTION) return
      const tag = headers.ETag
      const unchanged = fieldsOf(headers, name => status === 304 || repeats(name.toLowerCase()))
      if (status === 304) {
        // A tag among several, or in another spelling, is not the one that clients go on asking with.
        if (condition === tag && !find(question))
          add(question, {
            status,
            tag,
            head: undefined,
            unchanged,
            body: [],
            size: 0,
            reuse,
            facts,
          })
        return
      }
      const pieces = announced === undefined ? inMemory(body) : []
      if (!pieces || status >= 300) return
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
      if (size > LARGEST_BODY) return
      // A head written before its content is known to Node would announce chunks.
      const head = [...fieldsOf(headers, () => true), 'Content-Length', String(announced ?? size)]
      add(question, { status, tag, head, unchanged, body: pieces, size, reuse, facts })
    },
    get size() {
      return kept.size
    },
    memory: {
      get bytes() {
        return bytes
      },
      shrink,
    },
  }
}

/** Bytes that an answer takes: who asks writes the question, and what a page is made of may be thousands of documents. */
function takenBy(
  question: string,
  answer: Pick<CachedAnswer<unknown>, 'head' | 'unchanged' | 'size' | 'reuse'>,
): number {
  const { head, unchanged, size, reuse } = answer
  // As fields, and as text of each head.
  const fields = 3 * (head ?? unchanged).reduce((sum, text) => sum + text.length, 0)
  return ENTRY + Math.max(0, question.length + fields - USUAL) + size + (reuse.bytes ?? 0)
}

/** Names and values in turn. Whoever needs a cookie needs one of their own. */
function fieldsOf(headers: Answer['headers'], belongs: (name: string) => boolean): string[] {
  return Object.entries(headers).flatMap(field => (field[0] !== 'Set-Cookie' && belongs(field[0]) ? field : []))
}

/** The pieces of a body; undefined where some are not in memory. */
function inMemory(body: AnswerBody | undefined): readonly Uint8Array[] | undefined {
  if (body === undefined) return undefined
  if (typeof body === 'string') return [Buffer.from(body)]
  if (body instanceof Uint8Array) return [body]
  if ('blob' in body) return undefined
  const pieces = body.pieces.filter(piece => piece instanceof Uint8Array)
  return pieces.length === body.pieces.length ? pieces : undefined
}
