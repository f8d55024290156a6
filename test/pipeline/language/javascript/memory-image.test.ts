import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect } from 'chai'
import { type Host, startEngine } from '../../../../pipeline/language/javascript/worker/engine.ts'

const ENGINE = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
const REALM = 'for (const name of ["begin", "enter", "failed", "finish"]) globalThis["realm:" + name] = () => 1'

const host: Host = {
  call: () => undefined,
  interrupts: () => false,
  exhausted: () => undefined,
  resolve: () => undefined,
  source: () => undefined,
}

describe('language: JavaScript: memory of an engine', () => {
  let memory: WebAssembly.Memory | undefined
  const OwnMemory = WebAssembly.Memory
  before(() => {
    WebAssembly.Memory = class extends OwnMemory {
      constructor(limits: WebAssembly.MemoryDescriptor) {
        super(limits)
        memory = this
      }
    }
  })
  after(() => {
    WebAssembly.Memory = OwnMemory
  })

  const nested = (levels: number) => `${'a=>'.repeat(levels)}1`
  const inner = (levels: number) => `globalThis.left = eval("${nested(levels)}")`
  const PROGRAMS: [what: string, source: string][] = [
    ['a short one', 'globalThis.left = [1, 2, 3].map(n => n * 2)'],
    ['one that is nested deeply', nested(2_000)],
    ['text that is nested deeply', inner(2_000)],
    ['calls without end', 'try { (function f() { f() })() } catch {}'],
  ]
  it('JS-4, JS-38 nothing of a program is in it when the next one begins', async () => {
    const compiled = new WebAssembly.Module(readFileSync(ENGINE))
    const engine = await startEngine(compiled, { memory: 1 << 24, stack: 1 << 18 }, REALM, host)
    const bytes = () => Buffer.from(memory?.buffer ?? new ArrayBuffer(0))
    engine.begin(host)
    const fresh = Buffer.from(bytes())
    expect(fresh.length).to.be.greaterThan(1 << 23)
    for (const [what, source] of PROGRAMS) {
      expect(engine.evaluate(source, what), what).to.have.property('value')
      expect(fresh.equals(bytes()), what).to.equal(false)
      engine.begin(host)
      expect(fresh.equals(bytes()), what).to.equal(true)
      engine.meanwhile(() => engine.evaluate(source, what))
      engine.begin(host)
      expect(fresh.equals(bytes()), `${what}, meanwhile`).to.equal(true)
    }
    expect(engine.isSound).to.equal(true)
  })
})
