/** Methods of the public surface by what they do. */

/** Those that change something. */
export const WRITES: ReadonlySet<string> = new Set(['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH'])
