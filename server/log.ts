/** The server's log: one JSON line an entry, requests with duration and outcome. */

import pino from 'pino'

export type Log = pino.Logger

/**
 * @param level pino level; `silent` for none
 * @param destination file descriptor or path; standard output by default
 */
export function createLog(level: string, destination: number | string = 1): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: ['headers.authorization', 'headers.cookie'] },
    // Lines are gathered for a moment: a write for every request would cost more than most requests do.
    pino.destination({ dest: destination, sync: false, minLength: 4096, periodicFlush: 500 }),
  )
}

/** One line a request. Query strings are left out: they may hold secrets. */
export function logRequest(
  log: Log,
  entry: { face: 'public' | 'mount'; host: string; method: string; path: string; status: number; milliseconds: number },
): void {
  log.info(
    {
      face: entry.face,
      host: entry.host,
      method: entry.method,
      path: entry.path,
      status: entry.status,
      ms: Math.round(entry.milliseconds * 100) / 100,
    },
    'request',
  )
}
