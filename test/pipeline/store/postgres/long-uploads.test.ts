import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import pg from 'pg'
import { eventually } from '../../../support/eventually.ts'
import { done, put } from '../fixture.ts'
import { type OpenedSchema, openSchema } from './fixture.ts'

const MIB = 2 ** 20

describe('uploads that take a day', () => {
  const { now } = performance
  let opened: OpenedSchema
  let raw: pg.Client
  let body: PassThrough
  beforeEach(async () => {
    opened = await openSchema()
    raw = new pg.Client({ connectionString: opened.url })
    await raw.connect()
    await raw.query(`SET search_path = ${opened.schema}`)
    body = new PassThrough()
  })
  afterEach(async () => {
    performance.now = now
    await raw.end()
    await opened.close()
  })

  const count = async (what: string) => (await raw.query(`SELECT FROM ${what}`)).rowCount
  const arrive = async () => void (body.write(randomBytes(MIB)) || (await once(body, 'drain')))
  /** Uploads are older than that, and the cleaning comes. */
  async function pass(hours: number): Promise<void> {
    await raw.query(`UPDATE upload SET begun = begun - interval '${hours} hours' WHERE begun > '-infinity'`)
    opened.clock.now += 6_000
    await done(opened.store.site('a.example'), [put('/x.html', `${hours}`)])
  }

  it('what nobody takes for being on its way any more is no blob without bytes, but refused', async () => {
    const staged = opened.store.stage(body, { limit: 9 * MIB }).catch((error: unknown) => error)
    await arrive()
    await eventually(async () => expect(await count('chunk')).to.be.above(2))
    await pass(25)
    await eventually(async () => expect(await count('chunk')).to.equal(0))
    body.end(randomBytes(MIB))
    expect(await staged).to.include({ name: 'StoreError', reason: 'busy' })
    expect(await count('chunk')).to.equal(0)
  })

  it('as long as bytes arrive they stay', async () => {
    const staged = opened.store.stage(body, { limit: 9 * MIB })
    await arrive()
    await eventually(async () => expect(await count('chunk')).to.be.above(2))
    for (const hour of [1, 2]) {
      await pass(20)
      performance.now = () => now.call(performance) + hour * 61 * 60_000
      await arrive()
      await eventually(async () => expect(await count(`upload WHERE begun > now() - interval '1 minute'`)).to.equal(1))
    }
    body.end()
    expect(await staged).to.include({ size: 3 * MIB })
    await pass(1)
    expect(await count('chunk')).to.equal(12)
  })
})
