/** Threads of this process that run modules of this project. */

import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'

const SOURCES = new URL('sources.mjs', import.meta.url).href

/** Megabytes of a half of a thread's young generation: what a message leaves behind is little. */
const YOUNG = 1

/** Starts a thread that reads its modules as the process does. @param module what runs in it */
export function startThread(module: URL, options: WorkerOptions): Worker {
  // What the command line says of the process counts for its threads too, whatever their limits say.
  setFlagsFromString(`--max-semi-space-size=${YOUNG}`)
  return new Worker(module, { ...options, execArgv: [...(options.execArgv ?? []), '--import', SOURCES] })
}
