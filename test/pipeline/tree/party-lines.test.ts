import { AsyncResource } from 'node:async_hooks'
import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { Allowance } from '../../../pipeline/language/allowance.ts'
import { PartyLines } from '../../../pipeline/tree/party-lines.ts'
import { asRequest } from '../../../pipeline/tree/precedence.ts'
import { runs } from './samples.ts'

type Work = readonly [name: string, party: string, turns: number]

/** Works that come in this order and stand in line again until they have had their turns. @returns which had each turn */
function turnsOf(...works: readonly Work[]): string {
  const lines = new PartyLines<() => void>()
  const order: string[] = []
  for (const [name, party, turns] of works)
    asRequest(() => {
      let left = turns
      const stand = AsyncResource.bind(() => lines.add(turn))
      const turn = () => {
        order.push(name)
        if (--left > 0) stand()
      }
      stand()
    }, party)
  for (let turn = lines.take(); turn; turn = lines.take()) turn()
  return order.join('').replaceAll(/(.+?)\1{3,}/g, (all, part) => `${part}*${all.length / part.length} `)
}

const some = (turns: number, names: string, party = 'one') => [...names].map((name): Work => [name, party, turns])

describe('tree/party-lines', () => {
  const cases: [rule: string, works: Work[], order: string][] = [
    ['of works alike the first are done before the last have begun', some(3, 'abc'), 'aaabbbccc'],
    [
      'a long one leaves one turn of three to those that have had few',
      [...some(40, 'L'), ...some(3, 'ab')],
      'L*4 aLLaLLaLLbLLbLLbL*26 ',
    ],
    [
      'a long one goes on while those come that have had few',
      [...some(24, 'L'), ...some(2, 'abcdef')],
      'L*4 aLLaLLbLLbLLcLLcLLdLLdLLeLLeLLff',
    ],
    [
      'of long ones none waits for all of another',
      [...some(60, 'LM'), ...some(2, 'a')],
      'L*4 MLL*4 aMLaMLML*23 LM*31 ',
    ],
    ['each site has its turns', [...some(3, 'ab'), ...some(4, 'x', 'other')], 'axaxaxbxbb'],
  ]
  for (const [rule, works, order] of cases)
    it(`SEC-12 COMP-19 ${rule}`, () => {
      expect(turnsOf(...works)).to.equal(order)
    })

  it('SEC-12 COMP-19 the oldest request is first, in whatever order its works came into the line', () => {
    const requests = fc.array(fc.nat(), { maxLength: 200 })
    fc.assert(
      fc.property(requests, order => {
        const lines = new PartyLines<number>()
        const adding = order.map((_, age) => asRequest(() => AsyncResource.bind(() => lines.add(age))))
        const shuffled = order.map((key, age) => ({ key, age })).sort((a, b) => a.key - b.key)
        for (const { age } of shuffled) adding[age]?.()
        expect(order.map(() => lines.take())).to.deep.equal([...order.keys()])
        expect(lines.take()).to.equal(undefined)
      }),
      runs(50),
    )
  })

  it('SES-213 COMP-19 the clock of a request stands still while it stands in line, for ten seconds at most', () => {
    const { now } = performance
    let time = 0
    performance.now = () => time
    try {
      const lines = new PartyLines<string>()
      asRequest(() => {
        const allowance = new Allowance({ time: 5_000 })
        const left = [allowance.timeLeft]
        for (const [stands, works] of [
          [3_000, 1_000],
          [7_000, 1_000],
          [500, 500],
        ] as const) {
          lines.add('a')
          time += stands
          left.push(allowance.timeLeft)
          lines.take()
          time += works
          left.push(allowance.timeLeft)
        }
        expect(left).to.deep.equal([5_000, 5_000, 4_000, 4_000, 3_000, 2_500, 2_000])
      })
    } finally {
      performance.now = now
    }
  })
})
