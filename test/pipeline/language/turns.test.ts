import { expect } from 'chai'
import { Allowance, AllowanceSpent } from '../../../pipeline/language/allowance.ts'
import { bcrypt } from '../../../pipeline/language/bcrypt.ts'
import { Turns } from '../../../pipeline/language/turns.ts'
import { unhurried } from '../../support/unhurried.ts'

describe('turns of parties', () => {
  it('SES-213 whoever asks for much holds others up by one piece of work, however much waits', async () => {
    const turns = new Turns()
    const [busy, other, third] = [{}, {}, {}]
    const order: string[] = []
    const work = (name: string) => async () => void order.push(name)
    const asked = Array.from({ length: 80 }, () => turns.take(busy, work('busy')))
    for (let i = 0; i < 3; i++) asked.push(turns.take(other, work('other')), turns.take(third, work('third')))
    await Promise.all(asked)
    expect(order.slice(0, 10).join(' ')).to.equal('busy busy other third busy other third busy other third')
    expect(order).to.have.length(86)
  })

  it('SES-213 past a bound a party is told at once, and others are not', async () => {
    const turns = new Turns(10)
    const [busy, other] = [{}, {}]
    const first = Promise.withResolvers<void>()
    const asked = Array.from({ length: 11 }, () => turns.take(busy, () => first.promise))
    const refused = await turns.take(busy, () => first.promise).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(AllowanceSpent).and.to.have.property('spent', 'turns')
    const had = turns.take(other, async () => 'had')
    first.resolve()
    expect(await had).to.equal('had')
    await Promise.all(asked)
    expect(await turns.take(busy, async () => 'again')).to.equal('again')
  })

  it('SES-213 a piece of work that fails does not keep its turn', async () => {
    const turns = new Turns()
    const failed = turns.take({}, async () => {
      throw new Error('no')
    })
    expect(await failed.catch((error: Error) => error.message)).to.equal('no')
    expect(await turns.take({}, async () => 'next')).to.equal('next')
  })

  it('SES-213 nothing is done for those who have no time left when their turn comes, and the next has it', async () => {
    const turns = new Turns()
    const party = {}
    const first = Promise.withResolvers<void>()
    const done: string[] = []
    let now = 0
    const asked = [6_000, 9_000]
      .map(time => new Allowance({ time }, party, () => now))
      .map(allowance => {
        allowance.look()
        return allowance
      })
    const held = turns.take(party, () => first.promise)
    const waiting = asked.map((allowance, at) =>
      turns
        .take(
          party,
          async () => void done.push(`${at}`),
          () => allowance.look(),
        )
        .catch((error: AllowanceSpent) => error.spent),
    )
    now = 7_000
    first.resolve()
    expect(await Promise.all(waiting)).to.deep.equal(['time', undefined])
    expect(done).to.deep.equal(['1'])
    await held
  })

  it('SES-75 a site that wants many hashes delays those of another by one or two', async () => {
    const [busy, other] = [{}, {}]
    let done = 0
    const asked = Array.from({ length: 40 }, () => bcrypt('x', 4, unhurried({}, busy)).then(() => done++))
    await bcrypt('y', 4, unhurried({}, other))
    expect(done).to.be.at.most(2)
    await Promise.all(asked)
  })
})
