import { expect } from 'chai'
import { describe, it } from 'mocha'
import { StoreError } from '../../../../pipeline/store/errors.ts'
import { createCircuit, IDLE, SELDOM, SOON } from '../../../../pipeline/store/objects/circuit.ts'

const NO = new Error('Timeout: no answer')

/** What has been promised is done. */
const settle = () => new Promise(resolve => setImmediate(resolve))

/** A circuit whose object store the test plays; time goes on when it says so. */
function played() {
  const log: string[] = []
  const naps: number[] = []
  const probes: PromiseWithResolvers<void>[] = []
  let nap: PromiseWithResolvers<void> | undefined
  const circuit = createCircuit({
    probe() {
      const asked = Promise.withResolvers<void>()
      probes.push(asked)
      return asked.promise
    },
    log: (level, message) => log.push(`${level}: ${message}`),
    wait(milliseconds, signal) {
      naps.push(milliseconds)
      nap = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => nap?.reject(new Error('ended')))
      return nap.promise
    },
  })
  return {
    circuit,
    log,
    naps,
    probes,
    /** Answers the last question. */
    async answer(failure?: Error) {
      const asked = probes.at(-1)
      if (failure === undefined) asked?.resolve()
      else asked?.reject(failure)
      await settle()
    },
    async wake() {
      nap?.resolve()
      await settle()
    },
  }
}

type Played = ReturnType<typeof played>

const isRefused = (circuit: { requireThere(): void }) =>
  expect(() => circuit.requireThere())
    .to.throw(StoreError)
    .with.property('reason', 'busy')

describe('objects: whether the object store is there', () => {
  it('a request that hears nothing has it asked, others at that time share the question', async () => {
    const { circuit, probes, answer } = played()
    for (let i = 0; i < 100; i++) circuit.suspect()
    expect(probes).to.have.length(1)
    circuit.requireThere()
    await answer()
    circuit.requireThere()
    circuit.suspect()
    expect(probes).to.have.length(2)
  })

  it('HTTP-4 it is asked when nobody else has heard of it for a while, and else not', async () => {
    const { circuit, naps, probes, log, answer, wake } = played()
    circuit.watch()
    circuit.answered()
    await wake()
    expect([naps, probes.length]).to.deep.equal([[IDLE, IDLE], 0])
    await wake()
    expect(probes).to.have.length(1)
    await answer()
    circuit.requireThere()
    await wake()
    expect(probes).to.have.length(2)
    await answer(NO)
    expect(circuit.isAway).to.equal(true)
    isRefused(circuit)
    expect(log).to.deep.equal(['error: The object store does not answer'])
    expect(naps.at(-1), 'it is asked again soon').to.equal(SOON)
    circuit.close()
  })

  it('HTTP-4 while it is away everything is refused at once, and nobody asks it but one who does so more and more seldom', async () => {
    const { circuit, log, naps, probes, answer, wake } = played()
    let interrupted = 0
    circuit.onAway(() => interrupted++)
    circuit.onAway(() => interrupted++)()
    circuit.suspect()
    await answer(NO)
    expect([circuit.isAway, interrupted]).to.deep.equal([true, 1])
    for (let asked = 1; asked <= 8; asked++) {
      for (let i = 0; i < 100; i++) {
        circuit.suspect()
        isRefused(circuit)
      }
      expect(probes).to.have.length(asked)
      await wake()
      await answer(NO)
    }
    expect(naps.slice(0, 7)).to.deep.equal([SOON, 500, 1000, 2000, SELDOM, SELDOM, SELDOM])
    await wake()
    await answer()
    circuit.requireThere()
    expect(log).to.deep.equal(['error: The object store does not answer', 'warn: The object store answers again'])
    circuit.suspect()
    await answer(NO)
    expect(naps.at(-1), 'the next time begins anew').to.equal(SOON)
    circuit.close()
  })

  it('somebody who is answered ends it, too', async () => {
    const { circuit, probes, answer, wake } = played()
    circuit.suspect()
    await answer(NO)
    circuit.answered()
    circuit.requireThere()
    await wake()
    expect(probes).to.have.length(1)
  })

  it('one that was away at the start is there when some work has succeeded, and not before', async () => {
    const { circuit, probes, wake } = played()
    const outcomes = [Promise.reject(NO), Promise.resolve()]
    for (const outcome of outcomes) outcome.catch(() => undefined)
    circuit.loseUntil(() => outcomes.shift() ?? Promise.reject(NO))
    isRefused(circuit)
    circuit.answered()
    await wake()
    isRefused(circuit)
    await wake()
    circuit.requireThere()
    expect(probes).to.have.length(0)
    circuit.close()
  })

  it('HTTP-4 one that was away at the start is there again whatever was being asked when that was said', async () => {
    const asked: [string, (played: Played) => Promise<void>][] = [
      ['by one who suspects it, and it answers', async ({ circuit }) => circuit.suspect()],
      [
        'by one who asks on',
        async ({ circuit, answer, wake }) => {
          circuit.suspect()
          await answer(NO)
          await wake()
        },
      ],
    ]
    for (const [which, ask] of asked) {
      const asking = played()
      const { circuit, answer, wake } = asking
      let proved = 0
      await ask(asking)
      circuit.loseUntil(async () => void proved++)
      await answer()
      isRefused(circuit)
      expect(proved, which).to.equal(0)
      await wake()
      circuit.requireThere()
      expect(proved, which).to.equal(1)
      circuit.close()
    }
  })

  it('HTTP-4 who is answered while it is asked knows better than a question that nobody answers', async () => {
    const { circuit, log, probes, answer } = played()
    circuit.suspect()
    circuit.answered()
    await answer(NO)
    circuit.requireThere()
    expect(log).to.deep.equal([])
    circuit.suspect()
    expect(probes, 'it is asked anew').to.have.length(2)
    await answer(NO)
    isRefused(circuit)
    circuit.close()
  })

  it('after its end nothing is asked or told any more', async () => {
    const { circuit, log, probes, answer } = played()
    circuit.suspect()
    circuit.close()
    await answer(NO)
    circuit.suspect()
    expect([probes.length, log]).to.deep.equal([1, []])
  })
})
