/** Parts that the wait for an answer is counted in. */
const PARTS = 8

/**
 * Says that an answer is late. What counts is time in which this process ran: where it stood still, as its machine may have,
 * that is one part of the wait at most, and an answer that is there already is taken first.
 *
 * @param late called unless the timer is cleared before
 * @param wait milliseconds
 * @returns for `clearTimeout`
 */
export function unlessAnswered(late: () => void, wait: number): NodeJS.Timeout {
  let left = PARTS
  // One that is overdue comes once, however long it is.
  const timer = setInterval(
    () => {
      if (--left > 0) return
      clearInterval(timer)
      setImmediate(late)
    },
    Math.ceil(wait / PARTS),
  )
  return timer
}
