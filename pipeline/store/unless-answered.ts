/**
 * Says that an answer is late. Where this process itself was held up it may be there already: then it is taken first.
 *
 * @param late called unless the timer is cleared before
 * @param wait milliseconds
 * @returns for `clearTimeout`
 */
export function unlessAnswered(late: () => void, wait: number): NodeJS.Timeout {
  return setTimeout(() => setImmediate(late), wait)
}
