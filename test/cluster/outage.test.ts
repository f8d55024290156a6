import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openStream } from '../pipeline/events/stream-client.ts'
import { page, rulesPage } from '../support/content.ts'
import { at, type Cluster, type Node, startCluster } from './installation.ts'
import { type Turns, watchTurns } from './turns.ts'

const LIST = '/list.html'
const OPEN = rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*'])

const LOCK = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
const AWAY = /<D:prop><D:lockdiscovery\/><\/D:prop><D:status>HTTP\/1\.1 503 Service Unavailable</

async function found(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setTimeout(resolve, 20))
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise(resolve => setTimeout(resolve, 1))
}

describe('a Redis that goes away and comes back', () => {
  let cluster: Cluster
  let one: Node
  let two: Node
  let turns: Turns
  before(async () => {
    const files = { [LIST]: page('<ul id="l"></ul>'), '/rules.html': OPEN, '/page.html': page('<p>here</p>') }
    cluster = await startCluster({ count: 2, files })
    one = at(cluster, 0)
    two = at(cluster, 1)
    turns = watchTurns([one, two])
  })
  after(async () => {
    await turns.end()
    await cluster.close()
  })

  /** Processes come back by themselves, each at its time. */
  const recovered = ({ dav }: Node) =>
    found(async () => (await dav('PUT', '/page.html', {}, page('<p>here</p>'))).status === 204)

  it('EVT-81 keeps reads going, refuses writes in time, and loses and doubles nothing', async () => {
    const ready = async ({ http }: Node) => (await http('GET', '/-platform/health/ready')).text
    expect(await ready(one)).to.equal('{"status":"ok"}')
    const streams = await Promise.all([one, two].map(({ server }) => openStream({ port: server.port }, LIST)))
    await Promise.all(streams.map(stream => stream.until(() => stream.events.length > 0)))
    const acknowledged = new Set<string>()
    const refused = new Set<string>()
    let heard = 0
    let isOver = false
    async function write(writer: number): Promise<void> {
      const { http } = writer % 2 === 0 ? one : two
      for (let i = 0; !isOver; i++) {
        const text = `w${writer}-${i}.`
        const begun = performance.now()
        const answer = await http('POST', LIST, { Range: 'selector=#l' }, `<li>${text}</li>`)
        if (answer.status === 206) {
          acknowledged.add(text)
          heard = performance.now()
        } else {
          expect(answer.status, answer.text).to.equal(503)
          expect(answer.headers['retry-after']).to.match(/^\d+$/)
          refused.add(text)
          turns.requireSoon(Math.max(begun, heard), answer.text)
          await new Promise(resolve => setTimeout(resolve, 10))
        }
      }
    }
    const writers = Array.from({ length: 8 }, (_, i) => write(i))
    await until(() => acknowledged.size > 50)
    await cluster.redis.kill()
    const atOutage = acknowledged.size
    await until(() => refused.size > 40)
    for (const node of [one, two]) {
      const { http } = node
      expect(await ready(node)).to.equal('{"status":"unavailable","missing":["redis"]}')
      expect((await http('GET', '/-platform/health/live')).status).to.equal(200)
      expect((await http('GET', '/page.html')).text).to.include('here')
      expect((await http('GET', LIST, { Range: 'selector=#l' })).status).to.equal(206)
    }
    for (const [method, path] of [
      ['PUT', '/page.html'],
      ['DELETE', '/page.html'],
      ['MKCOL', '/new/'],
    ] as const) {
      const refusal = await one.dav(method, path, {}, method === 'PUT' ? page('no') : undefined)
      expect(refusal.status, method).to.equal(503)
      expect(refusal.headers['retry-after'], method).to.match(/^\d+$/)
    }
    const meanwhile = await openStream({ port: two.server.port }, LIST)
    await meanwhile.until(() => meanwhile.events.length > 0)
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
    await meanwhile.until(() => meanwhile.mutations.length >= acknowledged.size - before)
    meanwhile.close()
    for (const stream of streams) {
      await stream.until(() => stream.mutations.length >= found.length)
      const told = stream.mutations.map(({ data }) => /<li>(w\d+-\d+\.)<\/li>/.exec(data)?.[1])
      expect(told).to.deep.equal(found)
      expect(stream.text).to.not.include('reset')
      stream.close()
    }
    for (const node of [one, two]) await recovered(node)
  })

  it('HTTP-172 a Redis that refuses writes is told by health, once in the log, until it takes one', async () => {
    const { admin } = cluster.redis
    const ready = async ({ http }: Node) => {
      const { status, text } = await http('GET', '/-platform/health/ready')
      return `${status} ${text}`
    }
    const told = () => one.server.output().match(/Redis takes [\w ]+/g) ?? []
    const save = () => one.dav('PUT', '/page.html', {}, page('<p>here</p>'))
    const [ok, limited] = ['200 {"status":"ok"}', '200 {"status":"limited","missing":["writes"]}']
    for (const [refuse, allow] of [
      ['CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0'],
      ['CONFIG SET min-replicas-to-write 1', 'CONFIG SET min-replicas-to-write 0'],
      ['ACL SETUSER default -@write', 'ACL SETUSER default +@all'],
    ] as const) {
      const run = (line: string) => admin.call(...(line.split(' ') as [string]))
      await run(refuse)
      for (let attempt = 0; attempt < 2; attempt++) expect((await save()).status, refuse).to.equal(503)
      expect([await ready(one), await ready(two)], refuse).to.deep.equal([limited, ok])
      await run(allow)
      expect(await ready(one)).to.equal(limited)
      expect((await save()).status).to.equal(204)
      expect(await ready(one)).to.equal(ok)
    }
    await found(async () => told().length >= 3)
    expect(told()).to.deep.equal(Array(3).fill('Redis takes no writes'))
  })

  it('DAV-88 EVT-81 listings go on without Redis, and say of locks that they cannot be told now', async () => {
    const taken = await one.dav('LOCK', '/page.html', { Depth: '0' }, LOCK)
    expect(taken.status).to.equal(200)
    const find = ({ dav }: Node, path: string, depth: string, props = '') => {
      const asked = props && `<propfind xmlns="DAV:"><prop>${props}</prop></propfind>`
      return dav('PROPFIND', path, { Depth: depth }, asked)
    }
    const before = await find(two, '/', '1')
    await cluster.redis.kill()
    for (const node of [one, two]) {
      const listing = await find(node, '/', '1')
      expect(listing.status).to.equal(207)
      expect(listing.headers).to.not.have.property('etag')
      const hrefs = (text: string) => text.match(/<D:response><D:href>[^<]*/g)
      expect(hrefs(listing.text)).to.deep.equal(hrefs(before.text))
      expect(listing.text.split(AWAY)).to.have.length((hrefs(before.text)?.length ?? 0) + 1)
      expect(listing.text).to.include('getetag').and.not.include('404 Not Found')
      const named = await find(node, '/page.html', '0', '<lockdiscovery/><getcontenttype/><nothing/>')
      expect(named.status).to.equal(207)
      expect(named.text)
        .to.match(AWAY)
        .and.match(/<D:nothing\/>.*404 Not Found/)
      expect((await find(node, '/page.html', '0', '<lockdiscovery/>')).text.match(/<D:propstat>/g)).to.have.length(1)
      expect((await find(node, '/', '1', '<getetag/>')).text).to.not.include('Service Unavailable')
      expect((await node.dav('LOCK', '/page.html', { Depth: '0' }, LOCK)).status).to.equal(503)
      expect((await node.dav('GET', '/page.html')).status).to.equal(200)
    }
    await cluster.redis.start()
    for (const node of [one, two]) await recovered(node)
    const after = await find(two, '/', '1')
    expect(after.text).to.include('<D:lockdiscovery/>').and.not.match(AWAY)
  })

  it('EVT-81 lets a server start that does not find it', async () => {
    await cluster.redis.kill()
    const late = await cluster.start()
    expect((await late.http('GET', '/page.html')).status).to.equal(200)
    expect((await late.http('PUT', '/page.html', {}, page('no'))).status).to.equal(503)
    const stream = await openStream({ port: late.server.port }, LIST)
    await stream.until(() => stream.events.length > 0)
    await cluster.redis.start()
    const append = () => one.http('POST', LIST, { Range: 'selector=#l' }, '<li>back</li>')
    await found(async () => (await append()).status === 206)
    await stream.until(() => stream.mutations.length > 0)
    stream.close()
    for (const node of cluster.nodes) await recovered(node)
  })
})
