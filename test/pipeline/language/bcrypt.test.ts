import { compare, hashSync } from 'bcryptjs'
import { expect } from 'chai'
import { bcrypt } from '../../../pipeline/language/bcrypt.ts'
import { compile, emptyHost, evaluate } from '../../../pipeline/language/sessel/sessel.ts'
import { worked } from '../../support/cost.ts'
import { unhurried } from '../../support/unhurried.ts'

describe('bcrypt aside', () => {
  it('SES-75 LIQ-46 each text gets its own hash, in a form that everybody knows', async () => {
    const texts = ['one', 'two', 'ü🍵']
    const hashes = await Promise.all(texts.map(text => bcrypt(text, 4, texts)))
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

  it('SES-213 the main thread does none of the work', async () => {
    const before = worked()
    await bcrypt('secret', 10, {})
    const awaited = worked()
    hashSync('secret', 10)
    expect((awaited - before) / (worked() - awaited)).to.be.below(0.5)
  })
})
