/** The heap of the C library, which holds what the heap of JavaScript does not: bodies, and pages of the database. */

import { DatabaseSync } from 'node:sqlite'

/** Where Linux has the GNU C library; others have no such function, and nothing happens. */
const LIBRARY = 'libc.so.6'

/**
 * Has the C library give back what is free between two pieces that live on; by itself it gives back only the end of its heap.
 * Takes some milliseconds for every 10 MB.
 *
 * Node has no word for that. SQLite calls functions of libraries, as starts of extensions, with the address of a connection:
 * this function takes it for a number of bytes to leave at the end (malloc_trim(3)), and SQLite takes its answer,
 * that something was given back, for an error.
 */
export function trimHeap(): void {
  const database = new DatabaseSync(':memory:', { allowExtension: true })
  try {
    database.loadExtension(LIBRARY, 'malloc_trim')
  } catch {
    // Given back, or there is no such library.
  } finally {
    database.close()
  }
}
