/** How a program ends without a value. */

import type { Value } from '../values.ts'

/** Where in a program, both counted from 1; columns in code points. */
export interface Position {
  line: number
  column: number
}

/** A text that is no program (SES-28). Its message says where: “line 3, column 14: …”. */
export class SesselSyntaxError extends Error {
  readonly position: Position

  constructor(message: string, position: Position) {
    super(`line ${position.line}, column ${position.column}: ${message}`)
    this.name = 'SesselSyntaxError'
    this.position = position
  }
}

/** SES-210, and `Error` for what a program throws itself (SES-212). */
export type FailureType = 'TypeError' | 'RuntimeError' | 'Error'

/**
 * What hosts tell apart beyond the type: HTTP-140 answers these in their own way, but `limit`, which says that something is longer,
 * deeper or more than a value may be.
 */
export type FailureReason = 'unbound-self' | 'unresolved' | 'thrown' | 'limit'

/** A failure that a program can catch (SES-211). Hosts may throw it as well. */
export class SesselError extends Error {
  readonly type: FailureType
  readonly reason: FailureReason | undefined

  constructor(type: FailureType, message: string, reason?: FailureReason) {
    super(message)
    this.name = 'SesselError'
    this.type = type
    this.reason = reason
  }
}

/** A response that a program has thrown (SES-180). */
export interface ThrownResponse {
  status: number
  body: string
  /** In the order written; a name may repeat. */
  headers: readonly (readonly [name: string, value: string])[]
}

/** An error that nothing caught (SES-214). */
export interface Failure {
  /** Type of a thrown Dictionary or Instance as it says itself, else one of FailureType. */
  type: string
  message: string
  reason: FailureReason | undefined
}

/** What became of an evaluation. An allowance that was spent is no outcome: it is thrown, as `AllowanceSpent`. */
export type Outcome = { value: Value } | { failure: Failure } | { response: ThrownResponse; failure: Failure }
