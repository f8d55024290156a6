/** Reads the failure out of a call that must fail. */

import { Fault } from '../../../pipeline/fault.ts'

/** @returns status and kind of the Fault thrown, such as `400 InvalidPath`; other errors pass through */
export function faultOf(call: () => unknown): string {
  try {
    return `no fault but ${JSON.stringify(call())}`
  } catch (error) {
    if (error instanceof Fault) return `${error.status} ${error.kind}`
    throw error
  }
}
