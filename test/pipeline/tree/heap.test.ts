import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { doing } from '../../../pipeline/compose/work.ts'
import { asFault } from '../../../pipeline/failures.ts'
import { cloneTree } from '../../../pipeline/tree/clone.ts'
import { parseDocument, parsingDocument } from '../../../pipeline/tree/document.ts'
import { HeapError, isHeapTight, watchHeap } from '../../../pipeline/tree/heap.ts'
import { inTurns, type Steps } from '../../../pipeline/tree/steps.ts'

const MIB = 1024 * 1024

/** What a failure is answered with. */
function answered(error: unknown): string {
  const { status, kind, details } = asFault(error) as { status: number; kind: string; details: { headers?: object } }
  return `${status} ${kind} ${JSON.stringify(details.headers ?? {})}`
}

function failure(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('tree/heap', () => {
  afterEach(() => watchHeap(undefined))

  /** A heap in which as much is used as `used` says, of which a collection leaves `kept`. */
  function heapOf(size: number, used: number, kept: () => number, release = () => {}): void {
    let now = used
    const collect = () => {
      now = kept()
    }
    watchHeap({ size, used: () => now, collect, release })
  }

  const never: [what: string, run: () => unknown][] = [
    ['HTML', () => parseDocument('html', '<br>'.repeat(40_000))],
    ['XML', () => parseDocument('xml', `<r>${'<a/>'.repeat(40_000)}</r>`)],
    ['attributes', () => parseDocument('html', '<i a b c d e f g h i j k l></i>'.repeat(500).repeat(20))],
  ]
  for (const [what, run] of never)
    it(`HTTP-183 a tree that never fits is 507: ${what}`, () => {
      heapOf(54 * MIB, 0, () => 0)
      expect(answered(failure(run))).to.equal('507 AllowanceExhausted {}')
      watchHeap(undefined)
      expect(failure(run), 'without a limit').to.not.be.instanceOf(HeapError)
    })

  it('HTTP-183 so is a copy beside which there is no room', () => {
    const tree = parseDocument('html', '<br>'.repeat(10_000))
    heapOf(54 * MIB, 0, () => 0)
    expect(answered(failure(() => cloneTree(tree)))).to.equal('507 AllowanceExhausted {}')
  })

  it('HTTP-183 a full heap is collected and what is kept goes before work is refused', async () => {
    let kept = 95 * MIB
    heapOf(
      100 * MIB,
      99 * MIB,
      () => kept,
      () => {
        kept = 20 * MIB
      },
    )
    await inTurns(parsingDocument('html', '<p>'.repeat(30_000)), 90_000)
    expect(kept).to.equal(20 * MIB)
  })

  it('HTTP-183 half-empty pages are joined before there are no further ones, and again when as many have come', () => {
    let pages = 114
    let joined = 0
    const compact = () => {
      joined++
      pages = 80
    }
    const heap = { size: 100 * MIB, used: () => 60 * MIB, collect: () => {}, release: () => {} }
    watchHeap({ ...heap, committed: () => pages * MIB, compact })
    const after = (megabytes: number) => {
      pages = megabytes
      expect(isHeapTight()).to.equal(false)
      return joined
    }
    expect([114, 115, 114, 115].map(after)).to.deep.equal([0, 1, 1, 2])
    watchHeap({ ...heap, committed: () => pages * MIB, compact: () => void joined++ })
    joined = 0
    expect([120, 144, 145, 150].map(after), 'where joining brings nothing').to.deep.equal([1, 1, 2, 2])
  })

  it('HTTP-183 work for which nothing is left is 503', async () => {
    heapOf(100 * MIB, 99 * MIB, () => 95 * MIB)
    const refused = await inTurns(parsingDocument('html', '<p>x'.repeat(30_000)), 120_000).catch(error => error)
    expect(answered(refused)).to.equal('503 Unavailable {"Retry-After":"5"}')
  })

  it('HTTP-183 so is a page that is put together', async () => {
    heapOf(100 * MIB, 99 * MIB, () => 95 * MIB)
    let isTakenBack = false
    const endless = function* () {
      try {
        for (;;) yield
      } finally {
        isTakenBack = true
      }
    }
    const handing = function* () {
      yield endless()
    }
    const refused = await doing(handing()).catch(error => error)
    expect(answered(refused)).to.equal('503 Unavailable {"Retry-After":"5"}')
    expect(isTakenBack).to.equal(true)
  })

  it('HTTP-183 where the heap is full, later works give way to the oldest', async () => {
    let full = false
    const ended: string[] = []
    watchHeap({
      size: 100 * MIB,
      used: () => (full && ended.length === 0 ? 95 : 20) * MIB,
      collect: () => {},
      release: () => {},
    })
    const work = function* (name: string): Steps<string> {
      try {
        for (let i = 0; i < 4; i++) {
          for (const end = performance.now() + 6; performance.now() < end; );
          yield
          full = i > 0 && ended.length === 0
        }
        return name
      } finally {
        ended.push(name)
      }
    }
    const [first, second] = await Promise.allSettled([
      inTurns(work('first'), 100_000),
      inTurns(work('second'), 100_000),
    ])
    expect(second.status).to.equal('rejected')
    expect(first.status).to.equal('fulfilled')
    expect(ended).to.deep.equal(['second', 'first'])
  })
})
