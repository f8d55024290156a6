import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { describe, it } from 'mocha'

const MODULE = new URL('../../../pipeline/store/garbage-collection.ts', import.meta.url).href

/** Finds the collector when it is told to: all threads at once. */
const PROGRAM = `
  import { parentPort, workerData } from 'node:worker_threads'
  const { dropGarbage } = await import(${JSON.stringify(MODULE)})
  const begun = new Int32Array(workerData)
  parentPort.postMessage('ready')
  Atomics.wait(begun, 0, 0)
  dropGarbage()
  parentPort.postMessage('done')
`

describe('Garbage collection', () => {
  it('is found by threads that look for it at the same moment', async () => {
    const begun = new Int32Array(new SharedArrayBuffer(4))
    const program = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`)
    const threads = Array.from({ length: 12 }, () => new Worker(program, { workerData: begun.buffer }))
    await Promise.all(threads.map(thread => once(thread, 'message')))
    const ends = Promise.all(threads.map(thread => once(thread, 'message')))
    Atomics.store(begun, 0, 1)
    Atomics.notify(begun, 0)
    expect((await ends).flat()).to.deep.equal(threads.map(() => 'done'))
    await Promise.all(threads.map(thread => thread.terminate()))
  })
})
