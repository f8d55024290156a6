import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { type Allowance, AllowanceSpent, DEFAULT_LIMITS } from '../../../pipeline/language/allowance.ts'
import { noCode } from '../../../pipeline/model/code.ts'
import { page } from '../../support/content.ts'
import { code, type HostedSite, openHosted } from './hosted.ts'
import { instance, property, schema } from './markup.ts'

const THING = 'https://things.example/Thing'

describe('SES-213 the allowance of a request', () => {
  let site: HostedSite
  /** Of each piece of code that has run. */
  const drawnOn: Allowance[] = []

  before(async () => {
    site = await openHosted(allowance => ({
      ...noCode,
      async validateValues({ source }) {
        drawnOn.push(allowance)
        allowance.step(Number(source))
        return { value: true }
      },
    }))
    await site.put('/list.html', page('<ul id="list"></ul>'))
  })
  after(() => site.close())
  beforeEach(() => {
    drawnOn.length = 0
  })

  /** Declares validators of two properties that take some steps each. */
  const declare = (steps: number) =>
    site.put(
      '/model.html',
      page(
        schema(
          THING,
          {},
          ...['p', 'q'].map(name => property(name, { '@validate': { markup: code('@validate', String(steps)) } })),
        ),
      ),
    )
  const append = () => site.append('/list.html', instance(THING, { p: 'a', q: 'b' }))

  it('SES-213 all code of a request draws on one, that of another request on another', async () => {
    await declare(1)
    await append()
    await append()
    expect(drawnOn).to.have.length(4)
    expect(new Set(drawnOn).size).to.equal(2)
    expect(drawnOn[0]).to.equal(drawnOn[1])
    expect(drawnOn.map(({ stepsTaken }) => stepsTaken)).to.deep.equal([2, 2, 2, 2])
  })

  it('HTTP-172 what no piece of code alone spends, they spend together, and nothing is stored', async () => {
    await declare(Math.floor(DEFAULT_LIMITS.steps * 0.6))
    const before = await site.text('/list.html')
    const failed = await append().catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(AllowanceSpent)
    expect(drawnOn).to.have.length(2)
    expect(await site.text('/list.html')).to.equal(before)
  })
})
