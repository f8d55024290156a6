import type { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { Allowance } from '../../../../pipeline/language/allowance.ts'
import { createJavaScript, type ScriptJob } from '../../../../pipeline/language/javascript/javascript.ts'
import { noteCounts } from '../../../../pipeline/tree/weight.ts'
import { html, NS } from './programs.ts'

describe('language: JavaScript: documents that workers keep', () => {
  it('JS-38 what a worker keeps of documents is bounded by what their trees take, not by their text', async () => {
    const orders: { forget?: string[] }[] = []
    const note = (worker: Worker) => {
      const post = worker.postMessage.bind(worker)
      worker.postMessage = (order: { forget?: string[] }) => {
        orders.push(order)
        post(order)
      }
    }
    process.on('worker', note)
    const own = createJavaScript({ workers: 1 })
    const job: ScriptJob = { site: 'a.example', ns: NS, place: 'method', source: 'export default () => 1' }
    // Said to be as heavy as a text of many elements; two of them have room.
    const [light, heavy] = [html('<p>x</p>'), html('<p>y</p>')]
    noteCounts(heavy.root, heavy.source, { elements: 180_000, leaves: 0, attributes: 0 })
    for (const [version, document] of Object.entries({ a: heavy, b: light, c: heavy, d: heavy }))
      await own.evaluate({ ...job, document: { document, version } }, new Allowance({ time: 60_000 }))
    process.off('worker', note)
    await own.close()
    expect(orders.map(({ forget }) => forget?.map(each => each.at(-1)))).to.deep.equal([[], [], [], ['a']])
  })
})
