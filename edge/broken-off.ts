/** Connections that their clients, or networks between, have ended. */

const CODES = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT'])

/**
 * What reports the failures of requests, but not those that say no more than that a connection has ended. Anybody can bring
 * that about at will, and nothing is wrong with the server: a line for each would let them fill the log of failures.
 */
export function unlessBrokenOff(log: {
  error(failure: { err: unknown }, message: string): void
}): (error: unknown) => void {
  return err => {
    if (!(err instanceof Error && 'code' in err && CODES.has(String(err.code)))) log.error({ err }, 'request failed')
  }
}
