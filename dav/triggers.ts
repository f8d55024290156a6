/** Triggers of a site that run on writes of the mount, too (REA-6): what of them the mount knows. */

import type { Answer } from '../pipeline/answer.ts'
import type { BodySource } from '../pipeline/body.ts'
import type { Guard } from '../pipeline/operation.ts'
import type { Alongside, OneAllowance } from '../pipeline/write/commit.ts'
import type { Scope } from './access/scope.ts'
import type { Exchange } from './exchange.ts'
import type { Mount } from './mount.ts'
import { whereItIs } from './places/as-found.ts'

/** Outbound requests of triggers: stored together with the write, or else recorded before the answer (REA-86). */
interface Calls extends Alongside {
  record(): Promise<void>
}

/** The body that a write gets, with what asks triggers of elements again, or the answer in its place; undefined where no trigger runs. */
type Triggered = { body: BodySource; calls: Calls; guard?: Guard | undefined } | { answer: Answer } | undefined

/** A draft that is to be published, as the PUT of an empty document that it was put off from (DAV-62). */
export interface Settling {
  mount: Mount
  path: string
  /** Fields of the request that are remembered, in lower case. */
  headers: Readonly<Record<string, string>>
  /** What was open to whoever made it. */
  scope: Scope
  /** Calls of this server that have led to the request (REA-88). */
  depth: number
  /** Of all code that runs for it. */
  allowance: OneAllowance
}

export interface MountTriggers {
  /** How many calls of this server have led to a request (REA-88). */
  depthOf(exchange: Exchange): number
  ofRequest(exchange: Exchange): Promise<Triggered>
  /**
   * @param publish writes what they leave of the body
   * @returns whether that was done: they may answer in its place
   */
  ofSettling(
    settling: Settling,
    publish: (body: BodySource, alongside?: Alongside) => Promise<unknown>,
  ): Promise<boolean>
}

/** @returns what has methods carried out with the triggers that the server knows of, if it knows of any */
export function withTriggers(triggers: MountTriggers | undefined): Exchange['triggered'] {
  return async (exchange, method) => {
    const depth = triggers?.depthOf(exchange) ?? 0
    const asked = depth > 0 ? { ...exchange, depth } : exchange
    // A draft has none, and may be a document by the time at which the method begins again.
    return whereItIs(async () => {
      const triggered = await triggers?.ofRequest(asked)
      if (!triggered) return method(asked)
      if ('answer' in triggered) return triggered.answer
      const { body, calls, guard } = triggered
      try {
        return await whereItIs(() => method({ ...asked, body, alongside: calls, guard }))
      } finally {
        await calls.record()
      }
    })
  }
}
