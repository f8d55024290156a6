import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { openStream } from '../pipeline/events/stream-client.ts'
import { page, rulesPage } from '../support/content.ts'
import { connect, type Received, requestBytes } from '../support/http.ts'
import { startProcess } from '../support/process.ts'
import { type Cluster, type Node, startCluster, workersOf } from './installation.ts'

const LIST = '/list.html'
const OPEN = rulesPage(['*', 'GET|PUT|POST|DELETE|MOVE', 'Allow', '/*'])

async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (isSo(value)) return value
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

describe('one server of several processes', () => {
  let cluster: Cluster
  let node: Node
  before(async () => {
    const files = { [LIST]: page('<ul id="l"></ul>'), '/rules.html': OPEN, '/page.html': page('<p>here</p>') }
    cluster = await startCluster({ count: 0, files })
    node = await cluster.start({ workers: 3 })
  })
  after(() => cluster.close())

  it('prints one line that begins with ready, when all workers are', async () => {
    const lines = node.server
      .output()
      .split('\n')
      .filter(line => line.startsWith('ready'))
    expect(lines).to.have.length(1)
    expect(await workersOf(node)).to.have.length(3)
  })

  it('RULE-11 whichever process answers, every request knows what was acknowledged before', async () => {
    for (let i = 0; i < 40; i++) {
      expect((await node.http('PUT', '/page.html', {}, page(`<p>${i}</p>`))).status).to.equal(200)
      expect((await node.http('GET', '/page.html')).text).to.include(`<p>${i}</p>`)
      expect((await node.dav('GET', '/page.html')).text).to.include(`<p>${i}</p>`)
    }
  })

  it('HTTP-4 EVT-80 appends of many connections are all there, and told once each in one order', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => openStream({ port: node.server.port }, LIST)))
    await Promise.all(streams.map(stream => stream.until(() => stream.events.length > 0)))
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, i) => node.http('POST', LIST, { Range: 'selector=#l' }, `<li>item ${i}</li>`)),
    )
    expect(new Set(outcomes.map(({ status }) => status))).to.deep.equal(new Set([206]))
    await Promise.all(streams.map(stream => stream.until(() => stream.mutations.length === 60)))
    const found = (await node.http('GET', LIST)).text.match(/item \d+/g) ?? []
    expect(new Set(found).size).to.equal(60)
    for (const stream of streams) {
      expect(stream.mutations.map(({ data }) => /item \d+/.exec(data)?.[0])).to.deep.equal(found)
      stream.close()
    }
  })

  it('metrics are those of all processes together', async () => {
    const count = async () => {
      const { text } = await node.http('GET', '/-platform/metrics')
      const counts = [...text.matchAll(/^scriptorium_requests_total\{[^}]*method="OPTIONS"[^}]*\} (\d+)/gm)]
      return counts.reduce((sum, [, digits]) => sum + Number(digits), 0)
    }
    const before = await count()
    await Promise.all(Array.from({ length: 30 }, () => node.http('OPTIONS', '/page.html')))
    // An answer is counted when it has left.
    expect((await until(count, now => now - before >= 30)) - before).to.equal(30)
  })

  it('a worker that dies is replaced; the others go on', async () => {
    const before = await workersOf(node)
    const [victim = 0] = before
    process.kill(victim, 'SIGKILL')
    const answers: Received[] = []
    while (answers.length < 50) {
      const answer = await node.http('GET', '/page.html').catch(() => undefined)
      if (answer) answers.push(answer)
    }
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]))
    const now = await until(
      () => workersOf(node),
      pids => pids.length === 3 && !pids.includes(victim),
    )
    expect(now.filter(pid => before.includes(pid))).to.have.length(2)
    await until(
      async () => node.server.output(),
      output => output.includes('starting another one'),
    )
    expect((await node.http('PUT', '/page.html', {}, page('after'))).status).to.equal(200)
  })

  it('workers end, having finished their work, when the process that watches over them is killed', async () => {
    const own = await cluster.start({ workers: 2 })
    const workers = await workersOf(own)
    own.server.child.kill('SIGKILL')
    await until(
      async () => workers.filter(isAlive),
      alive => alive.length === 0,
    )
  })

  it('SIGTERM lets running requests end, and then all processes', async () => {
    const own = await cluster.start({ workers: 2 })
    const workers = await workersOf(own)
    const connection = await connect(own.server.port)
    const body = page('late')
    const fields = { 'Content-Length': String(body.length), Expect: '100-continue' }
    connection.send(requestBytes('PUT', '/late.html', fields))
    // One of the processes has begun to take it in.
    expect((await connection.receive()).status).to.equal(100)
    connection.send(body.slice(0, 10))
    const ended = own.server.stop()
    connection.send(body.slice(10))
    expect((await connection.receive()).status).to.equal(201)
    expect(await ended).to.equal(0)
    expect(workers.filter(isAlive)).to.deep.equal([])
  })

  it('an address that is taken ends all of them with one message', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-taken-'))
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const settings = { data: join(folder, 'data'), redis: cluster.redis.url, workers: 2, listen: { port } }
    const outcome = await startProcess(folder, settings).catch((error: Error) => error.message)
    taken.close()
    await rm(folder, { recursive: true, force: true })
    expect(outcome)
      .to.include('ended with 1')
      .and.to.match(/is taken by another program/)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
