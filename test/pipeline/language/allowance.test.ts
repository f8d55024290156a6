import { expect } from 'chai'
import { Allowance, AllowanceSpent } from '../../../pipeline/language/allowance.ts'

describe('The allowance of a request', () => {
  it('SES-213 steps end it, and stay spent', () => {
    const allowance = new Allowance({ steps: 10 })
    allowance.step(10)
    expect(() => allowance.step()).to.throw(AllowanceSpent)
    expect(allowance.spent).to.equal('steps')
    expect(() => allowance.take(1)).to.throw(AllowanceSpent)
  })

  it('SES-213 memory ends it before it is taken', () => {
    const allowance = new Allowance({ memory: 100 })
    allowance.take(100)
    expect(allowance.memoryLeft).to.equal(0)
    expect(() => allowance.take(1)).to.throw(AllowanceSpent, 'memory')
  })

  it('SES-213 the clock starts with the first metered work', () => {
    let now = 1_000
    const allowance = new Allowance({ time: 50 }, undefined, () => now)
    now = 5_000
    allowance.look()
    now = 5_049
    allowance.look()
    now = 5_050
    expect(() => allowance.look()).to.throw(AllowanceSpent, 'time')
  })

  it('SES-213 time before code could begin is given back, and no more than there was', () => {
    let now = 0
    const whole = new Allowance({ time: 50 }, undefined, () => now)
    const part = whole.part()
    whole.look()
    part.look()
    now = 60
    part.defer(30)
    expect([part.timeLeft, whole.timeLeft]).to.deep.equal([20, 20])
    part.defer(1_000)
    expect([part.timeLeft, whole.timeLeft]).to.deep.equal([50, 50])
  })

  it('SES-213 the clock stands still while somebody waits for others', () => {
    let now = 0
    const allowance = new Allowance({ time: 50 }, undefined, () => now)
    const early = allowance.pause()
    now = 100
    early()
    expect(allowance.timeLeft).to.equal(50)
    now = 110
    const goOn = allowance.pause()
    for (now of [150, 200]) {
      goOn()
      expect(allowance.timeLeft).to.equal(40)
    }
  })

  it('SEC-6 parts have an allowance each, and all together a few times as much', () => {
    let now = 0
    const whole = new Allowance({ steps: 10, time: 100 }, undefined, () => now)
    const spend = (steps: number, milliseconds = 0) => {
      const part = whole.part()
      try {
        part.look()
        now += milliseconds
        part.step(steps)
        part.look()
        return part.spent
      } catch {
        return part.spent
      } finally {
        whole.end(part)
      }
    }
    expect([spend(11), spend(10), spend(10), spend(9), spend(1)]).to.deep.equal([
      'steps',
      undefined,
      undefined,
      undefined,
      'steps',
    ])
    expect(whole.stepsTaken).to.equal(0)
    expect([spend(0, 100), spend(0, 99), spend(0, 99), spend(0, 99), spend(0, 4)]).to.deep.equal([
      'time',
      undefined,
      undefined,
      undefined,
      'time',
    ])
  })

  it('LIQ-44 what a part has read of the clock counts for the whole', () => {
    const whole = new Allowance()
    whole.part().readFleeting()
    expect(whole.hasReadFleeting).to.equal(true)
  })

  it('COMP-19 the dispatch after the last one ends it', () => {
    const allowance = new Allowance({ dispatches: 2 })
    allowance.dispatch()
    allowance.dispatch()
    expect(() => allowance.dispatch()).to.throw(AllowanceSpent)
    expect(allowance.spent).to.equal('dispatches')
  })
})
