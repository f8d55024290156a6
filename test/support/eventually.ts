/** Waiting for what others bring about: another process, the end of a connection, a commit. */

/** Milliseconds between two looks. */
const EVERY = 20
/** Milliseconds after which what has not come never does: less than a test may take, so that the test tells what it saw. */
export const PATIENCE = 150_000

/**
 * Looks again and again until what is seen is right.
 *
 * @param look throws while it is not
 * @returns what it saw
 * @throws what the last look threw
 */
export async function eventually<Seen>(look: () => Seen): Promise<Awaited<Seen>> {
  for (const end = performance.now() + PATIENCE; ; ) {
    try {
      return await look()
    } catch (error) {
      if (performance.now() > end) throw error
    }
    await new Promise(resolve => setTimeout(resolve, EVERY))
  }
}
