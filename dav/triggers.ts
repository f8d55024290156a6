/** Triggers of a site that run on writes of the mount, too (REA-6): what of them the mount knows. */

import type { Answer } from '../pipeline/answer.ts'
import type { BodySource } from '../pipeline/body.ts'
import type { Alongside } from '../pipeline/write/commit.ts'
import type { Exchange } from './exchange.ts'

/** Outbound requests of triggers: stored together with the write, or else recorded before the answer (REA-86). */
interface Calls extends Alongside {
  record(): Promise<void>
}

/** @returns the body that the write gets, or the answer in its place; undefined where no trigger runs */
export type MountTriggers = (
  exchange: Exchange,
) => Promise<{ body: BodySource; calls: Calls } | { answer: Answer } | undefined>

/** @returns what has methods carried out with the triggers that the server knows of, if it knows of any */
export function withTriggers(triggers: MountTriggers | undefined): Exchange['triggered'] {
  return async (exchange, method) => {
    const triggered = await triggers?.(exchange)
    if (!triggered) return method(exchange)
    if ('answer' in triggered) return triggered.answer
    const { body, calls } = triggered
    try {
      return await method({ ...exchange, body, alongside: calls })
    } finally {
      await calls.record()
    }
  }
}
