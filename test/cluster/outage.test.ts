import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openStream } from '../events/stream-client.ts'
import { page, rulesPage } from '../support/content.ts'
import { at, type Cluster, type Node, startCluster } from './installation.ts'

const LIST = '/list.html'
const OPEN = rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*'])

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise(resolve => setTimeout(resolve, 1))
}

describe('a Redis that goes away and comes back', () => {
  let cluster: Cluster
  let one: Node
  let two: Node
  before(async function () {
    this.timeout(60_000)
    const files = { [LIST]: page('<ul id="l"></ul>'), '/rules.html': OPEN, '/page.html': page('<p>here</p>') }
    cluster = await startCluster({ count: 2, files })
    one = at(cluster, 0)
    two = at(cluster, 1)
  })
  after(() => cluster.close())

  it('EVT-81 keeps reads going, refuses writes in time, and loses and doubles nothing', async () => {
    const streams = await Promise.all([one, two].map(({ server }) => openStream({ port: server.port }, LIST)))
    await Promise.all(streams.map(stream => stream.until(() => stream.events.length > 0)))
    const acknowledged = new Set<string>()
    const refused = new Set<string>()
    let slowest = 0
    let isOver = false
    async function write(writer: number): Promise<void> {
      const { http } = writer % 2 === 0 ? one : two
      for (let i = 0; !isOver; i++) {
        const text = `w${writer}-${i}.`
        const begun = performance.now()
        const answer = await http('POST', LIST, { Range: 'selector=#l' }, `<li>${text}</li>`)
        if (answer.status === 206) acknowledged.add(text)
        else {
          expect(answer.status, answer.text).to.equal(503)
          expect(answer.headers['retry-after']).to.match(/^\d+$/)
          refused.add(text)
          slowest = Math.max(slowest, performance.now() - begun)
          await new Promise(resolve => setTimeout(resolve, 10))
        }
      }
    }
    const writers = Array.from({ length: 8 }, (_, i) => write(i))
    await until(() => acknowledged.size > 50)
    await cluster.redis.kill()
    const atOutage = acknowledged.size
    await until(() => refused.size > 40)
    for (const { http } of [one, two]) {
      expect((await http('GET', '/page.html')).text).to.include('here')
      expect((await http('GET', LIST, { Range: 'selector=#l' })).status).to.equal(206)
    }
    expect((await one.dav('PUT', '/page.html', {}, page('no'))).status).to.equal(503)
    expect((await one.dav('GET', '/page.html')).status).to.equal(200)
    // What was on its way when Redis went was still carried out.
    expect(acknowledged.size - atOutage).to.be.below(40)
    await cluster.redis.start()
    const before = acknowledged.size
    await until(() => acknowledged.size > before + 50)
    isOver = true
    await Promise.all(writers)

    const { text } = await two.http('GET', LIST)
    const found = [...text.matchAll(/<li>(w\d+-\d+\.)<\/li>/g)].map(([, item = '']) => item)
    expect(new Set(found).size).to.equal(found.length)
    expect([...found].sort()).to.deep.equal([...acknowledged].sort())
    expect(slowest).to.be.below(5000)
    for (const stream of streams) {
      await stream.until(() => stream.mutations.length >= found.length)
      const told = stream.mutations.map(({ data }) => /<li>(w\d+-\d+\.)<\/li>/.exec(data)?.[1])
      expect(told).to.deep.equal(found)
      expect(stream.text).to.not.include('reset')
      stream.close()
    }
    expect((await one.dav('PUT', '/page.html', {}, page('yes'))).status).to.equal(204)
  })

  it('EVT-81 lets a server start that does not find it', async function () {
    this.timeout(30_000)
    await cluster.redis.kill()
    const late = await cluster.start()
    expect((await late.http('GET', '/page.html')).status).to.equal(200)
    expect((await late.http('PUT', '/page.html', {}, page('no'))).status).to.equal(503)
    const stream = await openStream({ port: late.server.port }, LIST)
    await stream.until(() => stream.events.length > 0)
    await cluster.redis.start()
    const append = () => one.http('POST', LIST, { Range: 'selector=#l' }, '<li>back</li>')
    while ((await append()).status !== 206) await new Promise(resolve => setTimeout(resolve, 20))
    await stream.until(() => stream.mutations.length > 0)
    stream.close()
    while ((await late.http('PUT', '/page.html', {}, page('again'))).status !== 200)
      await new Promise(resolve => setTimeout(resolve, 20))
  })
})
