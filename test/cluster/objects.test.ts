import { createHash } from 'node:crypto'
import { DeleteObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import type { Received } from '../support/http.ts'
import { newObjectServer, type ObjectServer } from '../support/swift.ts'
import { type Relay, startRelay } from '../support/tcp-relay.ts'
import { faults, HANGS, until } from './faults.ts'
import { at, type Cluster, type Node } from './installation.ts'

const PREFIX = 'www/'
const FILE = Buffer.alloc(9 * 1024 * 1024 + 7, 'what a large file holds, ')

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('two servers with large files in an object store', function () {
  this.timeout(HANGS)
  const { atEnd, startDatabase, install } = faults(after)
  let objects: ObjectServer
  let relay: Relay
  let cluster: Cluster
  before(async () => {
    objects = await newObjectServer()
    atEnd(() => objects.remove())
    await objects.start()
    relay = await startRelay(objects.port)
    atEnd(() => relay.close())
    const database = await startDatabase()
    cluster = await install({ postgres: database.url, blobs: objects.url(PREFIX, relay.port) })
  })

  /** What a program that watches a server is told. */
  async function told({ http }: Node) {
    const ready = await http('GET', '/-platform/health/ready')
    const { text } = await http('GET', '/-platform/metrics')
    const reachable = /^scriptorium_service_reachable\{service="blobs"\} (\d)$/m.exec(text)?.[1]
    return { status: ready.status, ready: ready.text, reachable }
  }
  const WELL = { status: 200, ready: '{"status":"ok"}', reachable: '1' }
  const WITHOUT = { status: 200, ready: '{"status":"limited","missing":["blobs"]}', reachable: '0' }
  /** Settles when that is what it is told. */
  const untilTold = (node: Node, what: typeof WELL) =>
    until(async () => JSON.stringify(await told(node)) === JSON.stringify(what))

  const newest = (): Node => at(cluster, cluster.nodes.length - 1)
  async function put(node: Node, path: string, bytes: Uint8Array): Promise<Received> {
    return node.dav('PUT', path, { 'Content-Type': 'application/octet-stream' }, bytes)
  }
  /** The answer to a request, as soon as the object store gives one in the time that a server waits for it. */
  async function answered(ask: () => Promise<Received>): Promise<Received> {
    for (;;) {
      const answer = await ask()
      if (answer.status !== 503) return answer
      // Asked without a rest, the server would be kept from what is waited for.
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  const get = (node: Node, path: string, fields = {}) => answered(() => node.http('GET', path, fields))
  const stored = async (node: Node, path: string, bytes: Uint8Array) =>
    (await answered(() => put(node, path, bytes))).status

  it('HTTP-55 a file that one took the other gives, whole and in ranges, and nothing of it stays behind', async () => {
    expect(await stored(at(cluster, 0), '/large', FILE)).to.equal(201)
    const whole = await get(at(cluster, 1), '/large')
    expect(whole.status).to.equal(200)
    expect(digest(whole.body)).to.equal(digest(FILE))
    const part = await get(at(cluster, 1), '/large', { Range: 'bytes=-7' })
    expect(part.status).to.equal(206)
    expect(part.body.equals(FILE.subarray(-7))).to.equal(true)
    const names = await objects.names(PREFIX)
    expect(names.filter(name => !name.startsWith(`${PREFIX}owner/`))).to.have.length(1)
    expect(await objects.unfinished(PREFIX)).to.deep.equal([])
  })

  it('an idle server notices that the object store has gone away, and that it is back', async () => {
    relay.swallow('requests')
    relay.cut()
    await untilTold(at(cluster, 1), WITHOUT)
    relay.swallow(undefined)
    relay.cut()
    await untilTold(at(cluster, 1), WELL)
  })

  it('HTTP-4 while the object store answers nothing large files are 503 with Retry-After, and documents go on', async () => {
    for (const fail of [() => relay.swallow('requests'), () => relay.pointTo(1)]) {
      fail()
      relay.cut()
      const refused = await Promise.all([
        at(cluster, 0).http('GET', '/large'),
        at(cluster, 1).http('GET', '/large', { Range: 'bytes=0-9' }),
        put(at(cluster, 0), '/other', FILE.subarray(0, 300_000)),
      ])
      for (const { status, headers } of refused) {
        expect(status).to.equal(503)
        expect(headers).to.have.property('retry-after')
      }
      await untilTold(at(cluster, 0), WITHOUT)
      expect((await at(cluster, 1).http('PUT', '/new.html', {}, page('<p>new</p>'))).status).to.be.oneOf([200, 201])
      expect((await at(cluster, 0).http('GET', '/new.html')).status).to.equal(200)
      relay.swallow(undefined)
      relay.pointTo(objects.port)
      relay.cut()
      expect((await get(at(cluster, 0), '/large')).status).to.equal(200)
      await untilTold(at(cluster, 0), WELL)
    }
    expect((await at(cluster, 0).http('GET', '/other')).status).to.equal(404)
    expect(newest().server.everything()).to.include('The object store does not answer')
  })

  for (const [what, fail] of [
    ['swallows what is asked', () => relay.swallow('requests')],
    ['swallows its answers', () => relay.swallow('answers')],
    ['takes no connection', () => relay.pointTo(1)],
  ] as const)
    it(`HTTP-4 a server starts while the object store ${what}, says so, and is whole when it is back`, async () => {
      fail()
      relay.cut()
      const fresh = await cluster.start()
      const line = 'The object store does not answer: large files are 503 until it does'
      await eventually(() => expect(fresh.server.everything()).to.include(line))
      expect(await told(fresh)).to.deep.equal(WITHOUT)
      expect((await fresh.http('PUT', '/begun.html', {}, page('<p>begun</p>'))).status).to.be.oneOf([200, 201])
      expect((await fresh.http('GET', '/begun.html')).status).to.equal(200)
      for (const refused of [await fresh.http('GET', '/large'), await put(fresh, '/other', FILE)]) {
        expect(refused.status).to.equal(503)
        expect(refused.headers).to.have.property('retry-after')
      }
      relay.swallow(undefined)
      relay.pointTo(objects.port)
      relay.cut()
      await untilTold(fresh, WELL)
      expect(digest((await get(fresh, '/large')).body)).to.equal(digest(FILE))
      expect(await stored(fresh, '/begun', FILE.subarray(0, 300_000))).to.be.oneOf([200, 201, 204])
      await fresh.server.stop()
    })

  it('a server does not start where the object store answers, and says no', async () => {
    const wrong = objects.url(PREFIX, relay.port).replace(':testing@', ':wrong@')
    const error = await cluster.start({ blobs: wrong }).then(
      () => undefined,
      (failure: Error) => failure,
    )
    expect(error?.message).to.include('must be allowed to put, get and delete')
  })

  it('a file that was acknowledged is there after all servers and the object store were killed', async () => {
    expect(await stored(at(cluster, 1), '/acknowledged', FILE.subarray(0, 400_000))).to.equal(201)
    await Promise.all([...cluster.nodes.map(({ server }) => server.stop('SIGKILL')), objects.kill()])
    await objects.start()
    const fresh = await cluster.start()
    const { status, body } = await get(fresh, '/acknowledged')
    expect(status).to.equal(200)
    expect(body.equals(FILE.subarray(0, 400_000))).to.equal(true)
  })

  it('DAV-8 a file that is lost is told of with a line in the log, and no copy of it is made', async () => {
    for (const Key of await objects.names(PREFIX))
      await objects.client.send(new DeleteObjectCommand({ Bucket: objects.bucket, Key }))
    expect((await get(newest(), '/large')).status).to.equal(500)
    await until(async () => newest().server.everything().includes('"path":"/large"'))
    const copy = await newest().dav('COPY', '/large', { Destination: '/copy' })
    expect(copy.status).to.be.at.least(500)
    expect((await newest().http('GET', '/copy')).status).to.equal(404)
  })
})
