/** Code of a start is not compiled; what is used afterwards is. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'

const MODULE = fileURLToPath(new URL('../../server/start-code.ts', import.meta.url))

/** Which functions V8 has marked for its first optimizing compiler, which it says as soon as it has done so. */
async function marked(options: string): Promise<string[]> {
  const program = `
    const { compileLess } = await import(${JSON.stringify(MODULE)})
    const run = (work, times) => { let sum = 0; for (let i = 0; i < times; i++) sum += work(i); return sum }
    function ofTheStart(n) { return n % 7 + n % 3 }
    function ofLongWork(n) { return n % 5 + n % 3 }
    function afterwards(n) { return n % 4 + n % 3 }
    const compileAsUsual = compileLess(${JSON.stringify(options)})
    run(ofTheStart, 1500)
    run(ofLongWork, 60000)
    compileAsUsual()
    run(afterwards, 1500)`
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--trace-opt',
    '--input-type=module',
    '--disable-warning=ExperimentalWarning',
    '-e',
    program,
  ])
  return ['ofTheStart', 'ofLongWork', 'afterwards'].filter(name =>
    new RegExp(`^\\[marking .*<JSFunction ${name}\\b.* for optimization to MAGLEV`, 'm').test(stdout),
  )
}

describe('code that runs at the start of a server', () => {
  it('is compiled when it goes on for long, and as usual once the start is over', async () => {
    expect(await marked('')).to.deep.equal(['ofLongWork', 'afterwards'])
  })

  it('is compiled when the operator has said', async () => {
    expect(await marked('--invocation-count-for-maglev=300')).to.deep.equal(['ofTheStart', 'ofLongWork', 'afterwards'])
  })
})
