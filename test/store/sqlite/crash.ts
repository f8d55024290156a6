/** What the crashing process and its judge agree on. */

export const WRITERS = 16

/** Bytes of a blob that goes to a file. */
export const LARGE = 20_000

/** Bytes that are stored at a path in a writer's n-th commit; every fiftieth commit has a blob in a file. */
export function bodyOf(path: string, n: number): Buffer {
  const size = n % 50 === 49 && path.endsWith('/b') ? LARGE : 700
  return Buffer.alloc(size, `${path} `)
}
