import { compare, hashSync } from 'bcryptjs'
import { expect } from 'chai'
import { Allowance, AllowanceSpent } from '../../../pipeline/language/allowance.ts'
import { bcrypt } from '../../../pipeline/language/bcrypt.ts'
import { compile, emptyHost, evaluate } from '../../../pipeline/language/sessel/sessel.ts'
import { worked } from '../../support/cost.ts'
import { unhurried } from '../../support/unhurried.ts'

describe('bcrypt aside', () => {
  it('SES-75 LIQ-46 each text gets its own hash, in a form that everybody knows', async () => {
    const texts = ['one', 'two', 'ü🍵']
    const hashes = await Promise.all(texts.map(text => bcrypt(text, 4, unhurried())))
    for (const [at, hash] of hashes.entries()) {
      expect(hash).to.match(/^\$2b\$04\$[./A-Za-z0-9]{53}$/)
      expect(await compare(texts[at] ?? '', hash)).to.equal(true)
    }
    expect(new Set(hashes).size).to.equal(3)
  })

  for (const [cost, steps] of [
    [4, 200],
    [7, 1_600],
    [8, 3_200],
  ] as const)
    it(`SES-75 SES-213 a program pays for the time of a hash: cost ${cost}`, async () => {
      const allowance = unhurried()
      const { stepsLeft } = allowance
      await evaluate(compile(`"x".bcrypt({ cost: ${cost} })`), emptyHost('https://a.example/ns'), allowance)
      expect(stepsLeft - allowance.stepsLeft).to.be.within(steps, steps + 50)
    })

  for (const [what, text, fits] of [
    ['72 bytes', 'a'.repeat(72), true],
    ['73 bytes', 'a'.repeat(73), false],
    ['37 characters of 74 bytes', 'ü'.repeat(37), false],
  ] as const)
    it(`SES-75 LIQ-46 a hash is that of the whole text: one of ${what} is ${fits ? 'hashed' : 'refused'}`, async () => {
      const program = compile(`"${text}".bcrypt({ cost: 4 })`)
      const outcome = await evaluate(program, emptyHost('https://a.example/ns'), unhurried())
      expect('value' in outcome ? outcome.value : outcome.failure.message).to.match(
        fits ? /^\$2b\$04\$/ : /at most 72 bytes/,
      )
    })

  it('SES-213 a hash for which no time is left when its turn comes is not computed', async () => {
    const party = {}
    const processor = async (work: () => Promise<unknown>) => {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    const one = await processor(() => bcrypt('x', 9, unhurried({}, party)))
    let now = 0
    const late = new Allowance({ time: 1_000 }, party, () => now)
    const program = compile('"x".bcrypt({ cost: 14 })')
    const all = await processor(async () => {
      const held = bcrypt('x', 9, unhurried({}, party))
      const outcome = Promise.resolve(evaluate(program, emptyHost('https://a.example/ns'), late)).catch(each => each)
      now = 2_000
      expect(await outcome).to.be.instanceOf(AllowanceSpent)
      await held
    })
    // That hash alone takes thirty-two of the others.
    expect(all / one).to.be.below(16)
  })

  it('SES-213 the main thread does none of the work', async () => {
    const before = worked()
    await bcrypt('secret', 10, unhurried())
    const awaited = worked()
    hashSync('secret', 10)
    expect((awaited - before) / (worked() - awaited)).to.be.below(0.5)
  })
})
