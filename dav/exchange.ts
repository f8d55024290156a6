/** One request on the mount after its first gates: what every method's handler works with. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { header } from '../edge/request.ts'
import type { ReadPieces } from '../edge/request-body.ts'
import type { Answer } from '../pipeline/answer.ts'
import type { BodySource } from '../pipeline/body.ts'
import { Fault } from '../pipeline/fault.ts'
import { trimField } from '../pipeline/http/field-text.ts'
import type { Allowance } from '../pipeline/language/allowance.ts'
import type { Guard } from '../pipeline/operation.ts'
import type { Alongside } from '../pipeline/write/commit.ts'
import type { Author } from './access/credentials.ts'
import type { Mount } from './mount.ts'

export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** Upper case. */
  method: string
  mount: Mount
  /** Decoded path relative to the mount, as requested: with or without a slash at its end (DAV-12). */
  path: string
  author: Author
  /** Scheme, host and port by which the client came. */
  origin: string
  /** Origin of the public surface, as this client reaches it. */
  pages: string
  /** Host and port by which the client knows this mount. */
  authorities: readonly string[]
  /** Lock tokens that the `If` header submits (DAV-89). */
  submitted: ReadonlySet<string>
  /**
   * Asks once more, when the request's turn at its path has come: others may have written while its body was on its way, and
   * its credentials may have been withdrawn.
   *
   * @throws Fault 401, or 412 when the `If` header does not hold any more
   */
  lookAgain(): Promise<void>
  /** Writes may configure the site (SEC-10). */
  configure: boolean
  /** Writes go past the data model (DAV-7). */
  raw: boolean
  /** What all code of the request may spend together (SES-213). */
  allowance: () => Allowance
  /** Read once, in the form the handler needs. */
  body: BodySource
  /** The body of the request as it arrives, for those who ask instead of `body`. */
  pieces: ReadPieces
  /** How many calls of this server have led here (REA-88); missing for none. */
  depth?: number
  /** Stored together with what the request writes. */
  alongside?: Alongside | undefined
  /** Asks triggers about the elements that a write is carried out on (REA-23). */
  guard?: Guard | undefined
  /** Has a method carry a request out, with the triggers that the site has for it (REA-6): this one, or one that it stands for. */
  triggered(exchange: Exchange, method: Handler): Promise<Answer>
  /** Has something done when the answer has left, or there is nobody any more who could get it. */
  afterwards(work: () => void): void
}

/** Carries out one method. */
export type Handler = (exchange: Exchange) => Promise<Answer>

/**
 * To be called between the turns of what may take long, and changes nothing. Over plain HTTP whoever has only ended its side still
 * waits.
 *
 * @throws Fault 400 where there is nobody any more who could get the answer
 */
export function checkAwaited({ response }: Pick<Exchange, 'response'>): void {
  if (response.destroyed) throw new Fault(400, 'BadRequest', 'The connection has ended before the answer.')
}

export type Depth = '0' | '1' | 'infinity'

/**
 * The `Depth` field.
 *
 * @param allowed what the method can do
 * @param otherwise what an absent field means
 * @throws Fault 400 for any other value, and for a field that is sent twice
 */
export function depthOf<D extends string>(exchange: Exchange, allowed: readonly D[], otherwise: D): D {
  const field = header(exchange, 'depth')
  if (field === undefined) return otherwise
  const written = field.toLowerCase().split(',').map(trimField).join(',')
  const depth = allowed.find(value => value === written)
  if (depth !== undefined) return depth
  throw new Fault(400, 'BadRequest', `Depth must be ${allowed.join(' or ')} here.`)
}
