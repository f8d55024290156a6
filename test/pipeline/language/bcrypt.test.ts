import { compare } from 'bcryptjs'
import { expect } from 'chai'
import { bcrypt } from '../../../pipeline/language/bcrypt.ts'

describe('bcrypt aside', () => {
  it('SES-75 LIQ-46 each text gets its own hash, in a form that everybody knows', async () => {
    const texts = ['one', 'two', 'ü🍵']
    const hashes = await Promise.all(texts.map(text => bcrypt(text, 4)))
    for (const [at, hash] of hashes.entries()) {
      expect(hash).to.match(/^\$2b\$04\$[./A-Za-z0-9]{53}$/)
      expect(await compare(texts[at] ?? '', hash)).to.equal(true)
    }
    expect(new Set(hashes).size).to.equal(3)
  })

  it('SES-213 the main thread does none of the work', async () => {
    const used = process.threadCpuUsage()
    await bcrypt('secret', 10)
    const { user } = process.threadCpuUsage(used)
    const start = process.threadCpuUsage()
    const { hashSync } = await import('bcryptjs')
    hashSync('secret', 10)
    const { user: own } = process.threadCpuUsage(start)
    expect(user / own).to.be.below(0.5)
  })
})
