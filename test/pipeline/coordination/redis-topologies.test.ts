import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseRedisAddress } from '../../../pipeline/coordination/redis/address.ts'
import {
  type ConnectionOptions,
  connectRedis,
  type RedisConnection,
} from '../../../pipeline/coordination/redis/connection.ts'
import { redisLeases } from '../../../pipeline/coordination/redis/leases.ts'
import { redisLocks } from '../../../pipeline/coordination/redis/locks.ts'
import { openRedisSessions } from '../../../pipeline/coordination/redis/sessions.ts'
import { freePort } from '../../support/ports.ts'
import { wish } from './locks-kept.ts'
import { startRedisCluster, type TestRedisCluster } from './redis-cluster.ts'
import { startRedisSentinel, type TestRedisSentinel } from './redis-sentinel.ts'
import { startRedis, type TestRedis } from './redis-server.ts'

const MINUTE = 60_000

async function connected(url: string, options: ConnectionOptions = {}): Promise<RedisConnection> {
  const address = parseRedisAddress(url)
  if (!address) throw new Error(`no address: ${url}`)
  const connection = await connectRedis(address, options)
  expect(connection.isUp(), url).to.equal(true)
  return connection
}

/** Everything that several processes share, on two connections to the same address. */
async function works(url: string): Promise<void> {
  const prefix = randomUUID()
  const [one, two] = [await connected(url), await connected(url)]
  const [mine, theirs] = [one, two].map(connection => redisLeases({ connection, prefix }))
  if (!mine || !theirs) throw new Error('no leases')
  for (const site of ['a.example', 'b.example']) {
    const order: string[] = []
    const work = (text: string) => async () => {
      order.push(text)
      await new Promise(setImmediate)
      order.push(text)
    }
    await Promise.all([mine.hold(site, ['/a', '/b'], work('mine')), theirs.hold(site, ['/b', '/a'], work('theirs'))])
    expect(order[0]).to.equal(order[1])
    const locks = [one, two].map(({ redis }) => redisLocks({ redis, prefix }))
    expect((await locks[0]?.take(site, wish('/plan.html')))?.ok).to.equal(true)
    expect((await locks[1]?.take(site, wish('/plan.html')))?.ok).to.equal(false)
  }
  const sessions = await Promise.all([one, two].map(connection => openRedisSessions({ connection, prefix })))
  const heard = new Promise<string>(resolve => sessions[1]?.onEnd((_site, id) => resolve(id)))
  const session = { signIn: { claims: { sub: 'ann' }, roles: [], at: 1 }, expires: Date.now() + MINUTE }
  await sessions[0]?.signIn('a.example', 'new', session, { id: 'old', until: Date.now() + MINUTE })
  expect(await sessions[1]?.find('a.example', 'new')).to.deep.equal(session)
  expect(await heard).to.equal('old')
  for (const leases of [mine, theirs]) leases.close()
  for (const connection of [one, two]) await connection.close()
}

describe('Redis in its different shapes', () => {
  const servers: TestRedis[] = []
  const started = async (...settings: Parameters<typeof startRedis>) => {
    const server = await startRedis(...settings)
    servers.push(server)
    return server
  }
  let port: number
  before(async () => {
    port = (await started()).port
  })
  after(async () => {
    for (const server of servers) await server.stop()
  })

  it('a server that is away: no connection is lost that never was, and nothing is looked up', async () => {
    const address = parseRedisAddress(`redis://127.0.0.1:${await freePort()}`)
    if (!address) throw new Error('no address')
    const connection = await connectRedis(address, { patience: 0 })
    const told: unknown[] = []
    connection.onLost(() => told.push('lost'))
    const sessions = await openRedisSessions({ connection, prefix: randomUUID(), failed: error => told.push(error) })
    await new Promise<void>(resolve => {
      let attempts = 0
      connection.redis.on('close', () => {
        if (++attempts === 3) resolve()
      })
    })
    expect(told).to.deep.equal([])
    const locks = redisLocks({ redis: connection.redis })
    for (const asked of [locks.on('a.example', '/'), sessions.find('a.example', 'new')])
      expect(await asked.catch((error: Error) => error.message)).to.equal('Redis is away')
    await sessions.close()
    await connection.close()
  })

  it('a server with a password', async () => {
    const { url } = await started({ password: 'p@ss word' })
    await works(url.replace('p@ss word', encodeURIComponent('p@ss word')))
  })

  it('HTTP-172 why a server is away is told, also where it shows only when it is asked again', async () => {
    const { port: own, admin } = await started()
    const told: string[] = []
    const report: ConnectionOptions['report'] = (_, message, details) =>
      told.push(`${message} ${JSON.stringify(details).slice(0, 18)}`)
    const connection = await connected(`redis://127.0.0.1:${own}`, { report })
    await admin.config('SET', 'requirepass', 'another one')
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal')
    while (told.length < 2) await new Promise(resolve => setTimeout(resolve, 10))
    expect(told).to.deep.equal(['Redis is away {}', 'Redis cannot be reached {"reason":"NOAUTH '])
    await connection.close()
  })

  for (const [calm, times, expected] of [
    [MINUTE, 4, ['Redis is away {"reason":"READONLY']],
    [0, 1, ['Redis is away {"reason":"READONLY', 'Redis is back {}']],
  ] as const)
    it(`EVT-81 a server that refused ${times} writes is told once, and as back when it has stayed ${calm} ms`, async () => {
      const { port: own, admin, stop } = await started()
      const told: string[] = []
      const report: ConnectionOptions['report'] = (_, message, details) =>
        told.push(`${message} ${JSON.stringify(details).slice(0, 19)}`)
      const connection = await connected(`redis://127.0.0.1:${own}`, { report, calm })
      const { redis } = connection
      await admin.replicaof('127.0.0.1', await freePort())
      for (let refused = 0; refused < times; refused++) {
        const again = Promise.all([once(redis, 'close'), once(redis, 'ready')])
        expect(await redis.set('a', 'b').catch(error => error.message)).to.match(/^READONLY/)
        await again
      }
      while (told.length < expected.length) await new Promise(resolve => setTimeout(resolve, 10))
      expect(told).to.deep.equal(expected)
      if (calm > 0) {
        // Where it is gone altogether, that is the reason from then on.
        await stop()
        while (told.length === expected.length) await new Promise(resolve => setTimeout(resolve, 10))
        await new Promise<void>(resolve => redis.once('close', resolve))
        expect(told.slice(expected.length)).to.deep.equal(['Redis cannot be reached {"reason":"connect '])
      }
      await connection.close()
    })

  it('a database of its own', () => works(`redis://127.0.0.1:${port}/3`))

  it('EVT-81 a server that lets nobody listen, as users without channels: told once, asked again, and heard', async () => {
    const { port: own, admin } = await started()
    await admin.call('ACL', 'SETUSER', 'default', 'resetchannels')
    const told: string[] = []
    const report: ConnectionOptions['report'] = (_, message, details) =>
      told.push(`${message} ${JSON.stringify(details).slice(0, 17)}`)
    const url = `redis://127.0.0.1:${own}`
    const [slow, quick] = [await connected(url, { report, deaf: MINUTE }), await connected(url, { deaf: 0 })]
    const heard = Promise.withResolvers<string>()
    const resumed = Promise.withResolvers<void>()
    for (const channel of ['a', 'b']) await slow.hear(channel, () => undefined)
    quick.onResume(resumed.resolve)
    await quick.hear('a', heard.resolve)
    await admin.call('ACL', 'SETUSER', 'default', 'allchannels')
    await resumed.promise
    await admin.publish('a', 'word')
    expect(await heard.promise).to.equal('word')
    expect(told.filter(line => line.startsWith('Redis lets'))).to.deep.equal([
      'Redis lets nobody listen to it {"reason":"NOPERM',
    ])
    for (const connection of [slow, quick]) await connection.close()
  })

  describe('a cluster', () => {
    let cluster: TestRedisCluster
    before(async () => {
      cluster = await startRedisCluster()
    })
    after(() => cluster?.stop())

    it('keeps all keys of a site together, and sites on several nodes', async () => {
      await works(cluster.url)
      const keys = await Promise.all(cluster.servers.map(({ admin }) => admin.dbsize()))
      expect(keys.filter(count => count > 0)).to.have.length.above(1)
    })

    it('EVT-81 a listener that was cut off is told, and hears again', async () => {
      const connection = await connected(cluster.url)
      const heard = listener(connection)
      await heard.speak('first')
      await Promise.all(cluster.servers.map(({ admin }) => admin.client('KILL', 'TYPE', 'PUBSUB')))
      await heard.until(() => heard.resumed > 0)
      await heard.speak('again')
      await connection.close()
    })

    it('EVT-81 when a node goes, the listener goes to another, and what the others keep goes on', async () => {
      const connection = await connected(cluster.url)
      const heard = listener(connection)
      await heard.speak('first')
      const [first] = cluster.servers
      if (!first) throw new Error('no nodes')
      await first.kill()
      await heard.until(() => heard.resumed > 0)
      await heard.speak('still')
      await first.start()
      await cluster.agreed()
      await connection.close()
      await works(cluster.url)
    })
  })

  describe('a set that a sentinel watches', () => {
    let set: TestRedisSentinel
    before(async () => {
      set = await startRedisSentinel()
    })
    after(() => set?.stop())

    it('its master is found', () => works(set.url))

    it('EVT-81 its master is found where the sentinel that is asked first takes connections and says nothing', async () => {
      const open = new Set<Socket>()
      const hung = createServer(socket => void open.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
      await once(hung, 'listening')
      const { port } = hung.address() as AddressInfo
      const first = set.url.replace('://', `://127.0.0.1:${port},`)
      const connection = await connected(first, { answer: 100, patience: MINUTE })
      expect(open.size).to.be.above(0)
      await connection.close()
      for (const socket of open) socket.destroy()
      hung.close()
    })

    it('EVT-81 when its replica becomes the master, everything goes on there', async () => {
      const connection = await connected(set.url)
      const heard = listener(connection)
      await heard.speak('first')
      await connection.redis.set('kept', 'before')
      while ((await connection.redis.wait(1, 1000)) < 1);
      await set.fail()
      await heard.until(() => heard.resumed > 0)
      await set.replica.until(connection)
      expect(await connection.redis.get('kept')).to.equal('before')
      await connection.close()
      await works(set.url)
    })
  })

  it('DAV-90 SSN-5 one that keeps a journal: killed and started again, it has the locks and sessions that it had', async () => {
    // Where a disk is slow Redis answers first and writes later, unless each answer is to wait for the disk.
    const server = await started({ arguments: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    const connection = await connected(server.url)
    const { redis } = connection
    const locks = redisLocks({ redis })
    const sessions = await openRedisSessions({ connection })
    const taken = await locks.take('a.example', wish('/plan.html'))
    const session = { signIn: { claims: { sub: 'ann' }, roles: [], at: 1 }, expires: Date.now() + MINUTE }
    await sessions.signIn('a.example', 'new', session, { id: 'old', until: Date.now() + MINUTE })
    await server.kill()
    expect(await locks.take('a.example', wish('/plan.html')).catch((error: Error) => error.name)).to.equal('LockError')
    expect(await sessions.find('a.example', 'new').catch((error: Error) => error.name)).to.equal('SessionError')
    await server.start()
    await server.until(connection)
    expect(await locks.take('a.example', wish('/plan.html'))).to.include({ ok: false, reason: 'conflict' })
    if (taken.ok) expect(await locks.end('a.example', taken.lock.token)).to.equal(true)
    expect((await locks.take('a.example', wish('/plan.html'))).ok).to.equal(true)
    expect(await sessions.find('a.example', 'new')).to.deep.equal(session)
    await connection.close()
  })

  it('EVT-81 a server that became a replica is left for the one that its address leads to now', async () => {
    const [old, next] = [await started(), await started()]
    const line = await openLine(old.port)
    const connection = await connected(`redis://127.0.0.1:${line.port}`)
    const leases = redisLeases({ connection })
    const work = () => leases.hold('a.example', ['/a'], async () => 'done').catch((error: Error) => error.name)
    expect(await work()).to.equal('done')
    await old.admin.replicaof('127.0.0.1', next.port)
    line.leadTo(next.port)
    expect(await work()).to.equal('LeaseError')
    await next.until(connection)
    while ((await work()) !== 'done') await new Promise(resolve => setTimeout(resolve, 10))
    leases.close()
    await connection.close()
    line.close()
  })

  it('EVT-81 a connection that is cut off without a word is noticed, and made anew', async () => {
    const line = await openLine(port)
    const connection = await connected(`redis://127.0.0.1:${line.port}`, { every: 300 })
    const heard = listener(connection)
    await heard.speak('first')
    line.silence()
    const outcome = await connection.redis.get('x').catch((error: unknown) => error)
    expect(outcome).to.be.instanceOf(Error)
    line.leadTo(port)
    await heard.until(() => heard.resumed > 0 && connection.isUp())
    await heard.speak('again')
    await connection.close()
    line.close()
  })
})

/** What comes on one channel, and how often listening began anew. */
function listener(connection: RedisConnection) {
  const found = {
    messages: [] as string[],
    resumed: 0,
    async until(isSo: () => boolean) {
      while (!isSo()) await new Promise(resolve => setTimeout(resolve, 10))
    },
    /** Says something until it is heard: somebody may be about to listen, or to take the word. */
    speak: (message: string) =>
      found.until(() => {
        connection.redis.publish('news', message).catch(() => undefined)
        return found.messages.includes(message)
      }),
  }
  connection.hear('news', message => void found.messages.push(message))
  connection.onResume(() => void found.resumed++)
  return found
}

/** A line to a server; its connections can stay open while nothing passes any more, until it leads somewhere again. */
async function openLine(port: number) {
  const sockets = new Set<Socket>()
  let target: number | undefined = port
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => undefined)
  }
  const server = createServer(near => {
    keep(near)
    if (target !== undefined) near.pipe(keep(connect(target, '127.0.0.1'))).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port: number) {
      target = port
    },
    silence() {
      target = undefined
      for (const socket of sockets) socket.unpipe().pause()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
