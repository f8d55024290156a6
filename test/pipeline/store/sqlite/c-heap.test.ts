import { expect } from 'chai'
import { describe, it } from 'mocha'
import { succeed } from '../../../support/program.ts'

const MODULE = new URL('../../../../pipeline/store/sqlite/c-heap.ts', import.meta.url).href

/** Fills 64 MiB with pieces too small to be mapped, frees all but some between the others, and tells what comes of it. */
const PROGRAM = `
  const { trimHeap } = await import(${JSON.stringify(MODULE)})
  const mib = () => process.memoryUsage.rss() / 2 ** 20
  let pieces = Array.from({ length: 16384 }, () => Buffer.allocUnsafeSlow(4096).fill(7))
  pieces = pieces.filter((_, i) => i % 64 === 0)
  let freed = 0
  const registry = new FinalizationRegistry(() => freed++)
  registry.register({}, 0)
  while (freed === 0) {
    gc()
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  // The collector frees buffers beside the program: looked at until it has.
  let given = 0
  for (let i = 0; i < 200 && given < 32; i++) {
    const before = mib()
    trimHeap()
    given += before - mib()
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  const { glibcVersionRuntime } = process.report.getReport().header
  const isWhole = pieces.every(piece => piece.every(byte => byte === 7))
  console.log(JSON.stringify({ isGiven: given >= 32 || glibcVersionRuntime === undefined, isWhole }))
`

describe('The heap of the C library', () => {
  it('gives back what is free between pieces that live on', async () => {
    const env = { ...process.env, MALLOC_ARENA_MAX: '1', NODE_OPTIONS: '' }
    const flags = ['--expose-gc', '--no-warnings', '--input-type=module']
    const output = await succeed(process.execPath, [...flags, '-e', PROGRAM], { env })
    expect(JSON.parse(output)).to.deep.equal({ isGiven: true, isWhole: true })
  })
})
