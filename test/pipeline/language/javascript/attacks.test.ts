import { expect } from 'chai'
import { Allowance } from '../../../../pipeline/language/allowance.ts'
import {
  createJavaScript,
  type ScriptJob,
  type ScriptOutcome,
} from '../../../../pipeline/language/javascript/javascript.ts'
import { ElementValue, type Value } from '../../../../pipeline/language/values.ts'
import { slowness } from '../../../support/cost.ts'
import { LONGEST_TURN, longestTurn } from '../../../support/loop-hold.ts'
import { ESCAPES, EXHAUSTIONS, LEFTOVERS } from './attacks.ts'
import { find, html, Noted, NS, plain, variant } from './programs.ts'

/** Milliseconds of processor time for one program here, more on a slow machine: what never ends takes as long. */
const TIME = Math.ceil(50 * slowness())

/** Part of its memory that the process may keep after one more round of all of it. */
const KEPT = 0.1

describe('language: JavaScript: attacks', () => {
  const javascript = createJavaScript({ workers: 2, limits: { time: TIME } })
  /** For what is not done in that time on a machine that is busy. */
  const patient = createJavaScript({ workers: 1, limits: { time: 2_000 * TIME } })
  after(() => Promise.all([javascript.close(), patient.close()]))

  const run = (source: string, more: Partial<ScriptJob> = {}, by = javascript): Promise<ScriptOutcome> => {
    const document = html('<main><p id="a" class="k">x<b id="b">y</b></p></main>')
    const other = html('<i id="i">z</i>')
    const self = new ElementValue(find(document, 'a'), { path: '/', document })
    const element = new ElementValue(find(other, 'i'), { path: '/other', document: other })
    const dictionary = new Map<string, Value>([
      ['__proto__', 'p'],
      ['e', element],
    ])
    const job: ScriptJob = {
      site: 'attacker.example',
      ns: NS,
      place: 'method',
      source,
      this: self,
      arguments: [[1n], dictionary, element],
      document: { document, scope: self.node },
      context: new Map<string, Value>([
        ['dictionary', dictionary],
        ['element', element],
      ]),
      request: new Noted({ method: 'GET', headers: new Noted({ accept: '*/*' }) }),
      ...more,
    }
    return by.evaluate(job, new Allowance({ steps: 100_000_000, time: 600_000 }))
  }

  const usual = async (site = 'other.example') => {
    const source = 'export default (a, b) => a + b + [1, 2].map(n => n * 2).join("") + JSON.stringify({ a })'
    expect(plain(await run(source, { site, arguments: ['x', 'y'] }))).to.equal('xy24{"a":"x"}')
  }

  for (const { title, source, expected } of ESCAPES)
    it(`JS-37 ${title}`, async () => {
      const isExpected = (given: unknown) => (typeof expected === 'function' ? expected(given) : given === expected)
      let given = variant(await run(source))
      if (given === 'timeout' && !isExpected(given)) given = variant(await run(source, {}, patient))
      if (typeof expected === 'function') expect(isExpected(given), String(given)).to.equal(true)
      else expect(given).to.deep.equal(expected)
    })

  for (const left of LEFTOVERS)
    it(`JS-4, JS-38 nothing is left by ${left}`, async () => {
      await Promise.all([run(`export default () => { ${left} }`), run(`export default () => { ${left} }`)])
      await Promise.all([usual('attacker.example'), usual()])
      const seen = await run(
        'export default () => [typeof left, typeof DOMParser, Object.isFrozen(Object.prototype), document.querySelector("b").id]',
      )
      expect(plain(seen)).to.deep.equal(['undefined', 'function', false, 'b'])
    })

  for (const { title, source, expected } of EXHAUSTIONS)
    it(`JS-33, JS-34 ${title}`, async () => {
      let given: unknown
      // Others are served meanwhile, by this thread and by the pool.
      const longest = await longestTurn(async () => {
        const done = run(source).then(outcome => {
          given = variant(outcome)
        })
        await usual()
        await done
      })
      if (given === 'timeout' && !expected.includes('timeout')) given = variant(await run(source, {}, patient))
      expect(expected).to.include(String(given))
      expect(longest).to.be.below(LONGEST_TURN)
      await usual('attacker.example')
    }).timeout(600_000)

  it('JS-34 memory comes back', async () => {
    const greedy = EXHAUSTIONS.filter(({ expected }) => expected.includes('out-of-memory')).slice(0, 12)
    const round = async () => {
      for (const { source } of greedy) await run(source)
      await Promise.all([usual(), usual()])
    }
    await round()
    let [before, after] = [0, process.memoryUsage().rss]
    // What is kept is kept by each round; the first ones may still fill rooms of the allocator.
    for (let rounds = 0; rounds < 4 && after >= before * (1 + KEPT); rounds++) {
      before = after
      await round()
      after = process.memoryUsage().rss
    }
    expect(after).to.be.below(before * (1 + KEPT))
  })

  it('JS-34 one site that never ends does not keep others waiting', async () => {
    await Promise.all(['a.example', 'b.example', 'c.example'].map(usual))
    const attacks = Array.from({ length: 8 }, () => run('export default () => { for (;;); }'))
    let left = attacks.length
    for (const attack of attacks) void attack.then(() => left--)
    await usual()
    expect(left).to.be.at.least(attacks.length - 2)
    await Promise.all(attacks)
  })
})
