/**
 * A connection that is opened anew. SQLite opens a file that it may not write to for reading, and then the connection takes no
 * writes for as long as it lives, even if the disk or the rights of the file have long been mended.
 */

/** Milliseconds between two connections. */
const PAUSE = 1000

export interface Renewable<Opened> {
  current(): Opened
  /** To be called when the connection took no writes, outside of its transactions. Keeps it where no other can be opened. */
  renew(): void
}

/**
 * @param open makes a connection
 * @param clock milliseconds
 * @throws what `open` throws
 */
export function renewable<Opened extends { close(): void }>(
  open: () => Opened,
  clock: () => number = performance.now.bind(performance),
): Renewable<Opened> {
  let current = open()
  let opened = -PAUSE
  return {
    current: () => current,
    renew() {
      if (clock() - opened < PAUSE) return
      opened = clock()
      const before = current
      try {
        current = open()
      } catch {
        return
      }
      before.close()
    },
  }
}
