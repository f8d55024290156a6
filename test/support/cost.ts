/** What work costs on a machine of any speed, however busy others keep it. */

import { expect } from 'chai'

/** Milliseconds that `sample` takes on the machine for which limits are written down. */
const USUAL = 0.7
/**
 * Limits from here on are measured in time of the processor at once, whose clock may tick every few milliseconds only. Work
 * with smaller ones that seems too slow is repeated until it is that long together.
 */
const COARSE = 20
/** Times that work is repeated while it seems too slow: what interrupts it, or compiles its code, does so once. */
const RUNS = 10

/** Milliseconds that this thread has worked: what others do on the machine does not count. */
export function worked(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Runs of the sample that a figure is the mean of. */
const SAMPLES = 100

/**
 * How many times slower this machine works at the moment than the one for which limits are written down; at least one. In
 * time of the processor, which others make dearer who use its caches at the same time.
 */
export function slowness(): number {
  return compared(worked)
}

/**
 * How many times longer one waits at the moment for what takes some time of the processor; at least one. It grows with the
 * number of those who want to work.
 */
export function delay(): number {
  return compared(() => performance.now())
}

function compared(clock: () => number): number {
  sample()
  const start = clock()
  for (let run = 0; run < SAMPLES; run++) sample()
  return Math.max(1, (clock() - start) / SAMPLES / USUAL)
}

/** Some work on strings, maps and lists, as most code of the server does. */
function sample(): number {
  const counts = new Map<string, number>()
  let text = ''
  for (let i = 0; i < 4000; i++) {
    const word = `w${(i * 7919) % 1000}`
    counts.set(word, (counts.get(word) ?? 0) + 1)
    text += `${word} `
  }
  let sum = counts.size
  for (const word of text.split(' ').sort()) sum += word.length + text.indexOf(word, 20_000)
  return sum
}

/**
 * @param limit milliseconds; work that takes as long is repeated
 * @param work of any kind that may be repeated
 * @returns milliseconds of the fastest run, in which the speed of a slower machine is no part, and what the last run gave
 */
export async function cost<Result>(
  limit: number,
  work: () => Result,
): Promise<{ milliseconds: number; result: Awaited<Result> }> {
  const clock = limit < COARSE ? () => performance.now() : worked
  /** Runs that are long enough together to be measured in time of the processor. */
  const together = Math.ceil((4 * COARSE) / limit)
  let milliseconds = Number.POSITIVE_INFINITY
  let slowBefore = 1
  for (let run = 1; ; run++) {
    let start = clock()
    let result = await work()
    let took = clock() - start
    if (took >= limit) {
      if (limit < COARSE) {
        start = worked()
        for (let i = 0; i < together; i++) result = await work()
        took = Math.min(took, (worked() - start) / together)
      }
      // What kept others busy beside the work may have ended with it.
      const slowAfter = slowness()
      took /= Math.max(slowBefore, slowAfter)
      slowBefore = slowAfter
    }
    milliseconds = Math.min(milliseconds, took)
    if (milliseconds < limit || run === RUNS) return { milliseconds, result }
  }
}

/**
 * Makes sure that work takes less than a time; on a machine that is slower than usual, as many times longer.
 *
 * @param limit milliseconds
 * @param work of any kind that may be repeated
 * @param what to tell when it takes longer
 * @returns what it gave
 */
export async function takesLess<Result>(limit: number, work: () => Result, what = ''): Promise<Awaited<Result>> {
  const { milliseconds, result } = await cost(limit, work)
  expect(milliseconds, `${what} milliseconds`).to.be.below(limit)
  return result
}
