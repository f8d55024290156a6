/** Room on a site to which several servers write at once (DAV-33). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startWire, type Wire } from '../dav/wire.ts'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { sharedCluster } from '../support/postgres.ts'

const QUOTA = 12_000
const FILE = 'x'.repeat(5_000)
/** More of them than there is room for. */
const FILES = 6

describe('a quota that two servers share', () => {
  let redis: TestRedis
  const wires: Wire[] = []
  before(async () => {
    redis = await startRedis()
    const postgres = `${(await sharedCluster()).url}?search_path=shared_quota`
    for (let i = 0; i < 2; i++)
      wires.push(await startWire({ site: { quota: QUOTA }, settings: { postgres, redis: redis.url } }))
  })
  after(async () => {
    for (const { server } of wires) await server.close()
    await redis.stop()
  })

  const askOf = (i: number) => wires[i % wires.length] as Wire

  async function bytesOf({ server }: Wire): Promise<number> {
    let sum = 0
    for await (const { size } of server.site.store.walk('/', { collections: true })) sum += size
    return sum
  }

  it('DAV-33 is not passed by writes that come to both at once, and what there is room for is stored', async () => {
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        Array.from({ length: FILES }, (_, i) => askOf(i).dav('PUT', `/${i}.bin`, {}, FILE)),
      )
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 201, 507, 507, 507, 507])
      expect(await bytesOf(askOf(round))).to.equal(2 * FILE.length)
      for (const i of answers.keys()) {
        const { status } = await askOf(i + round).dav('DELETE', `/${i}.bin`)
        expect(status).to.equal(answers[i]?.status === 201 ? 204 : 404)
      }
    }
  })

  it('DAV-33 what another server has removed makes room', async () => {
    for (let round = 0; round < 10; round++) {
      for (let i = 0; i < 2; i++) expect((await askOf(round).dav('PUT', `/${i}.bin`, {}, FILE)).status).to.equal(201)
      for (let i = 0; i < 2; i++) expect((await askOf(round + 1).dav('DELETE', `/${i}.bin`)).status).to.equal(204)
    }
  })
})
