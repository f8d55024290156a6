import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { parseRedisAddress } from '../../pipeline/coordination/redis/address.ts'
import { connectRedis, type RedisConnection } from '../../pipeline/coordination/redis/connection.ts'
import { redisLeases } from '../../pipeline/coordination/redis/leases.ts'
import { redisLocks } from '../../pipeline/coordination/redis/locks.ts'
import { openRedisSessions } from '../../pipeline/coordination/redis/sessions.ts'
import { wish } from './locks-kept.ts'
import { freePort, startRedis, type TestRedis } from './redis-server.ts'

const MINUTE = 60_000

async function connected(url: string): Promise<RedisConnection> {
  const address = parseRedisAddress(url)
  if (!address) throw new Error(`no address: ${url}`)
  const connection = await connectRedis(address)
  expect(connection.isUp(), url).to.equal(true)
  return connection
}

/** Everything that several processes share, on two connections to the same address. */
async function works(url: string): Promise<void> {
  const [one, two] = [await connected(url), await connected(url)]
  const [mine, theirs] = [one, two].map(connection => redisLeases({ connection }))
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
    const locks = [one, two].map(({ redis }) => redisLocks({ redis }))
    expect((await locks[0]?.take(site, wish('/plan.html')))?.ok).to.equal(true)
    expect((await locks[1]?.take(site, wish('/plan.html')))?.ok).to.equal(false)
  }
  const sessions = await Promise.all([one, two].map(connection => openRedisSessions({ connection })))
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

  it('a server with a password', async () => {
    const { url } = await started({ password: 'p@ss word' })
    await works(url.replace('p@ss word', encodeURIComponent('p@ss word')))
  })

  it('a database of its own', () => works(`redis://127.0.0.1:${port}/3`))

  it('a cluster, in which all keys of a site lie together', async () => {
    const { admin, port } = await started({
      arguments: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    })
    await admin.cluster('ADDSLOTSRANGE', 0, 16_383)
    while (!String(await admin.cluster('INFO')).includes('cluster_state:ok'))
      await new Promise(resolve => setTimeout(resolve, 20))
    await works(`redis+cluster://127.0.0.1:${port}`)
  })

  it('a set that a sentinel watches', async () => {
    const sentinel = await freePort()
    const folder = await mkdtemp(join(tmpdir(), 'sentinel-'))
    const file = join(folder, 'sentinel.conf')
    await writeFile(
      file,
      `port ${sentinel}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${port} 1\n`,
    )
    const child = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const watching = new Promise<void>(resolve => {
      child.stdout.setEncoding('utf8').on('data', (text: string) => text.includes('+monitor') && resolve())
    })
    const ended = new Promise(resolve => child.once('exit', resolve))
    try {
      await watching
      await works(`redis+sentinel://127.0.0.1:${sentinel}/main`)
    } finally {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  })
})
