/** How often others have their turn while something works, whatever the machine. */

/** @returns turns of the event loop until it is done */
export async function turnsOf(work: () => unknown): Promise<number> {
  let turns = 0
  let next = setImmediate(function count() {
    turns++
    next = setImmediate(count)
  })
  try {
    await work()
  } finally {
    clearImmediate(next)
  }
  return turns
}
