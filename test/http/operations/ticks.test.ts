import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { describe, it } from 'mocha'

/** Tells how many times as long a tick takes after garbage collections as before, in time of the processor. */
const PROGRAM = `
  import { keepNextTickFast } from ${JSON.stringify(new URL('../../../server/next-tick.ts', import.meta.url).href)}
  keepNextTickFast()
  const rounds = () => new Promise(resolve => {
    let left = 100_000
    const tick = () => (left-- > 0 ? process.nextTick(tick) : resolve())
    tick()
  })
  const cost = async () => {
    const costs = []
    for (let i = 0; i < 15; i++) {
      const before = process.threadCpuUsage()
      await rounds()
      // How much of it is the system's is a guess of the system; the sum is exact.
      const { user, system } = process.threadCpuUsage(before)
      costs.push(user + system)
    }
    return Math.min(...costs)
  }
  const before = await cost()
  // Outside of a tick, as when the collector chooses the moment.
  await new Promise(resolve => setImmediate(() => { for (let i = 0; i < 4; i++) gc(); resolve() }))
  console.log(await cost() / before)
`

describe('operations: ticks', () => {
  it('stay fast when all objects of earlier ones are gone', async () => {
    const run = promisify(execFile)
    const cwd = fileURLToPath(new URL('../../..', import.meta.url))
    const { stdout } = await run(process.execPath, ['--expose-gc', '--input-type=module', '-e', PROGRAM], { cwd })
    // Without care it is five times as long.
    expect(Number(stdout)).to.be.below(2.5)
  })
})
