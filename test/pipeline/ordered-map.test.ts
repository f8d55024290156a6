/** The map that caches keep things in: what it holds, in which order, and what an operation costs after many others. */

import { expect } from 'chai'
import fc from 'fast-check'
import { OrderedMap } from '../../pipeline/ordered-map.ts'

/** The same in the plainest way: the last at the end. */
class Plain {
  readonly rows: [number, number][] = []
  #put: number[] = []
  #turn = 0

  take(key: number): number | undefined {
    const at = this.rows.findIndex(([known]) => known === key)
    return at < 0 ? undefined : this.rows.splice(at, 1)[0]?.[1]
  }

  set(key: number, value: number): void {
    this.take(key)
    this.rows.push([key, value])
    this.#put[key] = ++this.#turn
  }

  /** What half of all were put behind goes to the end. */
  use(key: number): number | undefined {
    const value = this.rows.find(([known]) => known === key)?.[1]
    if (value !== undefined && this.#turn - (this.#put[key] ?? 0) >= this.rows.length / 2) this.set(key, value)
    return value
  }
}

describe('a map with an order', () => {
  it('holds what a list of its entries would hold, whatever is done to it', () => {
    const step = fc.record({
      does: fc.constantFrom('set', 'use', 'delete', 'drop', 'oldest', 'clear'),
      // More keys than deleted ones are noted.
      key: fc.integer({ min: 0, max: 150 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: 'max' }), steps => {
        const [map, plain] = [new OrderedMap<number, number>(), new Plain()]
        for (const [at, { does, key }] of steps.entries()) {
          if (does === 'set') {
            map.set(key, at)
            plain.set(key, at)
          } else if (does === 'use') expect(map.use(key)).to.equal(plain.use(key))
          else if (does === 'delete') expect(map.delete(key)).to.equal(plain.take(key))
          else if (does === 'drop') expect(map.drop(key)).to.equal(plain.take(key))
          else if (does === 'oldest') {
            expect(map.oldest).to.equal(plain.rows[0]?.[0])
            if (map.oldest !== undefined) expect(map.delete(map.oldest)).to.equal(plain.rows.shift()?.[1])
          } else if (key === 0) {
            map.clear()
            plain.rows.length = 0
          }
          expect([map.size, map.has(key)]).to.deep.equal([
            plain.rows.length,
            plain.rows.some(([known]) => known === key),
          ])
        }
        expect([...map]).to.deep.equal(plain.rows)
        for (const [key, value] of plain.rows) expect(map.get(key)).to.equal(value)
      }),
      { numRuns: 60 },
    )
  })

  it('keeps what is used while others come and go', () => {
    const map = new OrderedMap<number, number>()
    for (let i = 0; i < 1000; i++) {
      map.set(i, i)
      for (const used of [3, 5, 8]) map.use(used)
      if (map.size > 100 && map.oldest !== undefined) map.delete(map.oldest)
    }
    expect([3, 4, 5, 8, 9, 999].filter(key => map.has(key))).to.deep.equal([3, 5, 8, 999])
  })

  it('is gone through while entries are deleted', () => {
    const map = new OrderedMap<number, string>()
    for (let i = 0; i < 6; i++) map.set(i, 'a')
    const seen: number[] = []
    for (const [key] of map) {
      seen.push(key)
      if (key === 1) for (const gone of [0, 1, 2, 4]) map.delete(gone)
    }
    expect(seen).to.deep.equal([0, 1, 3, 5])
    expect([...map].map(([key]) => key)).to.deep.equal([3, 5])
  })

  /** Changes of the table below: those of a `Map` leave holes that later look-ups walk over. */
  function changes(work: () => void): number {
    let count = 0
    const { set, delete: remove } = Map.prototype
    Map.prototype.set = function (key, value) {
      count++
      return set.call(this, key, value)
    }
    Map.prototype.delete = function (key) {
      count++
      return remove.call(this, key)
    }
    try {
      work()
    } finally {
      Object.assign(Map.prototype, { set, delete: remove })
    }
    return count
  }

  const REPEATED: [name: string, work: (map: OrderedMap<number, number>, round: number) => void][] = [
    ['using one entry again and again', map => map.use(7)],
    ['using several in turn', (map, round) => map.use(round % 50)],
    ['putting one anew again and again', (map, round) => map.set(7, round)],
    [
      'deleting some and putting them again',
      (map, round) => {
        map.delete(round % 30)
        map.set(round % 30, round)
      },
    ],
  ]
  for (const [name, work] of REPEATED)
    it(`leaves its table alone: ${name}`, () => {
      const map = new OrderedMap<number, number>()
      for (let i = 0; i < 1000; i++) map.set(i, i)
      const count = changes(() => {
        for (let round = 0; round < 500; round++) work(map, round)
      })
      expect(count).to.equal(0)
      expect(map.size).to.equal(1000)
    })

  it('keeps no more keys of deleted entries than it notes', () => {
    const map = new OrderedMap<number, number>()
    for (let i = 0; i < 1000; i++) map.set(i, i)
    const count = changes(() => {
      for (let i = 0; i < 1000; i++) map.delete(i)
    })
    expect(count).to.equal(1000 - 64)
  })
})
