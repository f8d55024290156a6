/** Shows how far long work has come: one line that is rewritten on a terminal, a line every ten seconds elsewhere. */

import type { Progress, ProgressReport } from './commands.ts'
import type { Output } from './terminal.ts'

const ON_TERMINAL = 100
const ELSEWHERE = 10_000

/**
 * @param clock milliseconds
 * @returns the function to report to, and one that clears the line at the end
 */
export function progressLine(output: Output, clock: () => number = Date.now): { report: Progress; end: () => void } {
  const onTerminal = output.isTTY === true
  let shownAt = onTerminal ? Number.NEGATIVE_INFINITY : clock()
  let shown = false
  return {
    report(progress) {
      const now = clock()
      if (now - shownAt < (onTerminal ? ON_TERMINAL : ELSEWHERE)) return
      shownAt = now
      shown = true
      output.write(onTerminal ? `\r\u001b[K${text(progress)}` : `${text(progress)}\n`)
    },
    end() {
      if (shown && onTerminal) output.write('\r\u001b[K')
    },
  }
}

function text({ step, done, total }: ProgressReport): string {
  if (total === undefined || total <= 0) return `${step}: ${done}`
  return `${step}: ${done} of ${total} (${Math.min(100, Math.floor((100 * done) / total))} %)`
}
