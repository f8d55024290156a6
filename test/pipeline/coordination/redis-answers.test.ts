import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { Redis } from 'ioredis'
import { afterEach, describe, it } from 'mocha'
import { expectAnswers } from '../../../pipeline/coordination/redis/answers.ts'

/** Milliseconds. */
const EVERY = 5
const WAIT = 40

/**
 * A server in a thread of its own, which answers every PING, or none. `answered` counts what the system has taken of its
 * answers, also while the thread of the test stands.
 */
async function answering(isMute: boolean) {
  const answered = new Int32Array(new SharedArrayBuffer(4))
  const source = `
    const { workerData: { answered, isMute }, parentPort } = require('node:worker_threads')
    const count = () => { Atomics.add(answered, 0, 1); Atomics.notify(answered, 0) }
    const server = require('node:net').createServer(socket =>
      socket.on('error', () => undefined).on('data', data => {
        for (const _ of String(data).matchAll(/ping/gi)) isMute ? count() : socket.write('+PONG\\r\\n', count)
      }))
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`
  const worker = new Worker(source, { eval: true, workerData: { answered, isMute } })
  const [port] = (await once(worker, 'message')) as [number]
  return { port, answered, close: () => worker.terminate() }
}

describe('connections to Redis are asked whether they stand', () => {
  const open: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of open.splice(0)) await close()
  })

  async function asked({ isMute = false, enableReadyCheck = false } = {}) {
    const { port, answered, close } = await answering(isMute)
    open.push(close)
    // Nothing is said when the connection begins: the server knows one command.
    const quiet = { protocol: 2, disableClientInfo: true, enableReadyCheck } as const
    const node = new Redis({ ...quiet, port, host: '127.0.0.1', retryStrategy: () => null, lazyConnect: true })
    const errors: string[] = []
    node.on('error', (error: Error) => errors.push(error.message))
    open.push(() => node.disconnect())
    const connecting = node.connect()
    connecting.catch(() => undefined)
    if (!enableReadyCheck) await connecting
    open.push(expectAnswers(() => [node], EVERY, WAIT))
    return { node, answered, errors }
  }

  it('EVT-81 an answer that came while this process was held up is taken before the connection counts as dead', async () => {
    const { node, answered, errors } = await asked()
    const ping = node.ping.bind(node)
    let held = 0
    node.ping = () => {
      const before = Atomics.load(answered, 0)
      const pong = ping()
      // Written in this turn; then nothing more happens here until the answer has come, and long after its time is up.
      setImmediate(() => {
        if (held++ >= 3) return
        Atomics.wait(answered, 0, before, 10_000)
        for (const begun = performance.now(); performance.now() < begun + 2 * WAIT; );
      })
      return pong
    }
    while (held < 6) await new Promise(resolve => setTimeout(resolve, EVERY))
    expect([node.status, errors]).to.deep.equal(['ready', []])
  })

  it('EVT-81 one that does not answer is ended, and what waits on it fails', async () => {
    const { node } = await asked({ isMute: true })
    const failure = await node.get('x').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Error)
    expect(node.status).to.equal('end')
  })

  it('EVT-81 one that says nothing when it begins is ended too', async () => {
    const { node, errors } = await asked({ enableReadyCheck: true })
    await new Promise(resolve => node.once('end', resolve))
    expect(errors).to.deep.equal([`Redis answered nothing for ${WAIT} ms`])
  })
})
