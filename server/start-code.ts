/** Code that runs at the start of a server and hardly again. */

import { setFlagsFromString } from 'node:v8'

/** Calls after which V8 compiles a function, and turns of a loop after which it compiles that, by its own defaults. */
const USUAL = { maglev: 400, 'maglev-osr': 100 }

/**
 * How much more has to come while the server starts. What each compilation needs goes through the heap of the C library,
 * where dozens at once leave 5 to 20 MB that are free and stay with the process. Whatever a start does for long is still
 * compiled.
 */
const TIMES = 10

function compileAfter(times: number): void {
  for (const [tier, count] of Object.entries(USUAL))
    setFlagsFromString(`--invocation-count-for-${tier}=${count * times}`)
}

/**
 * Has V8 compile only what is really used, for the time of a start.
 *
 * @param options that Node was started with: who has chosen there when to compile, has it so
 * @returns ends that time
 */
export function compileLess(options: string): () => void {
  if (/invocation.count.for.maglev/.test(options)) return () => undefined
  compileAfter(TIMES)
  return () => compileAfter(1)
}
