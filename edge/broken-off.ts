/** Connections that their clients, or networks between, have ended. */

const CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT'])

/**
 * Whether an error of a request says no more than that its connection has ended. Anybody can bring that about at will, and
 * nothing is wrong with the server: a line for each would let them fill the log of failures.
 */
export function isBrokenOff(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CODES.has(String(error.code))
}
