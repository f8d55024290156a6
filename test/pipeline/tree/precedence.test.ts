import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { begun, doing, type Work } from '../../../pipeline/compose/work.ts'
import { compileTemplate, renderTemplate } from '../../../pipeline/language/liquid/liquid.ts'
import { compile, evaluate } from '../../../pipeline/language/sessel/sessel.ts'
import { HeapError, watchHeap } from '../../../pipeline/tree/heap.ts'
import { asRequest, Precedence } from '../../../pipeline/tree/precedence.ts'
import { inTurns, type Steps } from '../../../pipeline/tree/steps.ts'
import { unhurried } from '../../support/unhurried.ts'
import { scopeOf } from '../language/liquid/rendering.ts'
import { hostFor } from '../language/sessel/site.ts'

const MIB = 1024 * 1024

/** Milliseconds that are more than one turn. */
const MORE = 6

/** UTF-16 code units of a text that is not worked on at once. */
const LONG = 100_000

describe('tree/precedence', () => {
  afterEach(() => watchHeap(undefined))

  /** @param used megabytes in use of a hundred */
  function heapOf(used: () => number): void {
    watchHeap({ size: 100 * MIB, used: () => used() * MIB, collect: () => {}, release: () => {} })
  }

  /** Works some turns, and notes each. */
  function* turning(name: string, log: string[], turns = 3): Steps<string> {
    try {
      for (let i = 0; i < turns; i++) {
        log.push(name)
        for (const end = performance.now() + MORE; performance.now() < end; );
        yield
      }
      return name
    } finally {
      log.push(`${name} ends`)
    }
  }

  // Of sites of their own, whose lines go forward in turns where there is room.
  const KINDS: [what: string, run: (work: Steps<string>) => Promise<string>][] = [
    ['works on a tree', work => inTurns(work, LONG)],
    ['pages', work => doing(work)],
  ]

  for (const [what, run] of KINDS) {
    it(`HTTP-183 ${what} go on side by side where there is room`, async () => {
      heapOf(() => 20)
      const log: string[] = []
      await Promise.all(['a', 'b'].map(name => asRequest(() => run(turning(name, log, 8)), name)))
      expect(log.indexOf('b')).to.be.lessThan(log.indexOf('a ends'))
    })

    it(`HTTP-183 ${what}: the oldest goes on where the heap is crowded, the others wait and all are done`, async () => {
      heapOf(() => 60)
      const log: string[] = []
      const done = await Promise.all(['a', 'b', 'c'].map(name => asRequest(() => run(turning(name, log, 8)), name)))
      expect(done).to.deep.equal(['a', 'b', 'c'])
      expect(log.filter(each => each.endsWith('ends'))).to.deep.equal(['a ends', 'b ends', 'c ends'])
      // What each had begun before it had to wait is little.
      const afterwards = log.slice(log.indexOf('a ends'))
      expect(afterwards.filter(each => each === 'c').length).to.be.at.least(7)
    })

    it(`HTTP-183 ${what}: the younger half gives back what it holds where there is no room for the oldest`, async () => {
      const log: string[] = []
      let ended = 0
      heapOf(() => (log.length > 8 && ended < 2 ? 95 : 60))
      const outcomes = await Promise.allSettled(
        ['a', 'b', 'c', 'd', 'e'].map(name =>
          asRequest(() => run(turning(name, log, 8)), name).finally(() => {
            ended++
          }),
        ),
      )
      expect(outcomes.map(({ status }) => status)).to.deep.equal([
        'fulfilled',
        'fulfilled',
        'fulfilled',
        'rejected',
        'rejected',
      ])
      for (const outcome of outcomes.slice(3)) {
        const { reason } = outcome as PromiseRejectedResult
        expect(reason).to.be.instanceOf(HeapError)
        expect(reason.reason).to.equal('outrun')
      }
    })
  }

  it('HTTP-183 what a request goes on with keeps its place before later ones', async () => {
    heapOf(() => 60)
    const log: string[] = []
    const both = async (name: string) => {
      await doing(turning(`${name}1`, log, 8))
      await inTurns(turning(`${name}2`, log, 8), LONG)
    }
    await Promise.all(['a', 'b', 'c'].map(name => asRequest(() => both(name), name)))
    expect(log.filter(each => each.endsWith('ends'))).to.deep.equal(
      ['a1', 'a2', 'b1', 'b2', 'c1', 'c2'].map(name => `${name} ends`),
    )
  })

  it('HTTP-183 who waits for what a later one makes lets it go on', async () => {
    heapOf(() => 60)
    const log: string[] = []
    const made = Promise.withResolvers<void>()
    function* waiting(): Work<string> {
      yield* turning('first', log)
      yield made.promise
      return 'first'
    }
    function* making(): Work<string> {
      yield* turning('second', log)
      made.resolve()
      return 'second'
    }
    const done = await Promise.all([waiting, making].map(work => asRequest(() => doing(work()))))
    expect(done).to.deep.equal(['first', 'second'])
  })

  it('HTTP-183 the oldest waits for none that gives back what it holds, and has begun to wait itself', async () => {
    heapOf(() => 95)
    const [oldest, later] = [new Precedence(), new Precedence()]
    oldest.begin()
    later.begin()
    const outcome = oldest.next()?.catch(error => error)
    later.rest()
    expect(await outcome).to.be.instanceOf(HeapError)
    oldest.end()
    later.end()
  })

  it('HTTP-183 works on little text wait for no large ones where the heap is crowded, as many as find room', async () => {
    heapOf(() => 60)
    const log: string[] = []
    const run = (name: string, length: number) => asRequest(() => inTurns(turning(name, log, 6), length), name)
    // Text of 80,000 code units may weigh a sixteenth of this heap.
    const works: [name: string, length: number][] = [
      ['large', LONG],
      ['little', 70_000],
      ['beyond', 70_000],
      ['unknown', 0],
    ]
    const done = await Promise.all(works.map(([name, length]) => run(name, length)))
    expect(done).to.deep.equal(['large', 'little', 'beyond', 'unknown'])
    const atLarge = log.indexOf('large ends')
    const before = log.slice(0, atLarge)
    const turnsOf = (name: string) => before.filter(each => each === name).length
    expect(turnsOf('little')).to.be.at.least(5)
    expect([turnsOf('beyond'), turnsOf('unknown')].every(turns => turns <= 4)).to.equal(true)

    // What has ended has given its room back.
    log.length = 0
    await Promise.all([run('large', LONG), run('little', 70_000)])
    expect(log.slice(0, log.indexOf('large ends')).filter(each => each === 'little').length).to.be.at.least(5)
  })

  it('HTTP-183 a page that takes no time is not held up by large ones', async () => {
    heapOf(() => 60)
    const log: string[] = []
    const large = asRequest(() => doing(turning('large', log, 8)))
    // biome-ignore lint/correctness/useYield: nothing is left to do
    const small = function* (): Work<string> {
      return 'small'
    }
    expect(asRequest(() => begun(small()))).to.equal('small')
    expect(log).not.to.contain('large ends')
    await large
  })

  it('HTTP-183 the last one is refused where there is no room, and what it has begun is taken back', async () => {
    heapOf(() => 95)
    const log: string[] = []
    const outcome = await asRequest(() => inTurns(turning('a', log), LONG)).catch(error => error)
    expect(outcome).to.be.instanceOf(HeapError)
    expect(outcome.reason).to.equal('busy')
  })

  const PROGRAM =
    'let l = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]; l.map(a => l.map(b => l.map(c => l.map(d => l.map(e => 1)))))'
  const PROGRAMS: [what: string, run: () => unknown][] = [
    ['an expression', () => evaluate(compile(PROGRAM), hostFor(), unhurried())],
    [
      'a template',
      () =>
        renderTemplate(
          compileTemplate('{% for a in (1..20000) %}{% for b in (1..20) %}{{ b }}{% endfor %}{% endfor %}', {
            kind: 'html',
            element: 'div',
          }),
          scopeOf({}),
          unhurried({ memory: 2 ** 40, steps: 2 ** 40 }),
        ),
    ],
  ]
  for (const [what, run] of PROGRAMS)
    it(`HTTP-183 ${what} that finds no room is refused`, async () => {
      heapOf(() => 95)
      const outcome = await asRequest(async () => run()).catch(error => error)
      expect(outcome).to.be.instanceOf(HeapError)
    })
})
