/** Drafts that several servers look after at once (DAV-62). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startWire, type Wire } from '../dav/wire.ts'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { NS, OPEN, page, trigger } from '../pipeline/react/site.ts'

const DAY = 24 * 60 * 60_000

const SCHEMA = page(
  `<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:Note"><div itemprop="property" itemscope itemtype="${NS}/Property"><meta itemprop="name" content="of"></div></div>`,
)
const RECORDS = trigger({
  resource: '/draft*',
  action: `@schema Site url("${NS}/1.0"); @schema Note url("urn:Note");
    Site.PUT(new Note { of: Context.request.path }, "/records" + Context.request.path)`,
})

describe('drafts that two servers look after', () => {
  let redis: TestRedis
  const wires: Wire[] = []
  before(async () => {
    redis = await startRedis()
    for (let i = 0; i < 2; i++) {
      const data = wires[0]?.server.data
      const started = { site: { mountReactions: true }, settings: { redis: redis.url } }
      wires.push(await startWire({ ...started, ...(data !== undefined && { data }) }))
    }
  })
  after(async () => {
    for (const { server } of wires.toReversed()) await server.close()
    await redis.stop()
  })

  it('DAV-62 REA-6 are published by one of them, so that triggers do once what they do', async () => {
    const [wire] = wires
    for (const [path, content] of [
      ['/rules.html', OPEN],
      ['/schema.html', SCHEMA],
      ['/t.html', page(RECORDS)],
    ] as const)
      expect((await wire?.dav('PUT', path, {}, content))?.status).to.equal(201)
    const drafts = Array.from({ length: 5 }, (_, i) => `/draft-${i}.html`)
    for (const path of drafts) expect((await wire?.dav('PUT', path, {}, ''))?.status).to.equal(201)
    // A mount is looked after from its first request on.
    for (const { dav } of wires) expect((await dav('GET', '/t.html')).status).to.equal(200)
    await Promise.all(wires.map(({ server }) => server.running.mounts.tend(Date.now() + DAY)))
    for (const path of drafts)
      for (const { server } of wires) {
        expect(await server.site.store.events(`/records${path}`), path).to.have.length(1)
        expect(await server.site.store.events(path), path).to.have.length(1)
      }
  })
})
