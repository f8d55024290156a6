import { expect } from 'chai'
import { describe, it } from 'mocha'
import { unlessAnswered } from '../../pipeline/unless-answered.ts'

/** Has the thread stand still. */
const stand = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

const turn = () => new Promise(resolve => setImmediate(resolve))

describe('answers that are waited for', () => {
  it('are late when their time is up', async () => {
    const begun = performance.now()
    await new Promise<void>(resolve => unlessAnswered(resolve, 20))
    // Timers count whole milliseconds.
    expect(performance.now() - begun).to.be.at.least(16)
  })

  it('are not late once they came', async () => {
    clearTimeout(unlessAnswered(() => expect.fail('it was answered'), 2))
    await new Promise<void>(resolve => unlessAnswered(resolve, 20))
  })

  it('are not late because this process stood still', async () => {
    let isLate = false
    const timer = unlessAnswered(() => {
      isLate = true
    }, 40)
    // The timer is overdue five times; what comes in the few turns afterwards is in time.
    await turn()
    stand(200)
    for (let i = 0; i < 4; i++) await turn()
    expect(isLate).to.equal(false)
    clearTimeout(timer)
  })
})
