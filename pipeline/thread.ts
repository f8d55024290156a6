/** Threads of this process that run modules of this project. */

import { Worker, type WorkerOptions } from 'node:worker_threads'

const SOURCES = new URL('sources.mjs', import.meta.url).href

/** Starts a thread that reads its modules as the process does. @param module what runs in it */
export function startThread(module: URL, options: WorkerOptions): Worker {
  return new Worker(module, { ...options, execArgv: [...(options.execArgv ?? []), '--import', SOURCES] })
}
