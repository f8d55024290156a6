import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { composeEnvironment, DOCKER } from '../support/compose.ts'
import { page, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { type Client, client, connect, requestBytes, tagOf } from '../support/http.ts'
import { freePort } from '../support/ports.ts'
import { type Cluster, newCluster } from '../support/postgres.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'

const PASSWORD = 'a known password'

/** A database whose user has to say the password, as in the image of PostgreSQL. */
async function startDatabase(): Promise<Cluster> {
  const database = await newCluster()
  await database.start()
  await database.run(`CREATE ROLE scriptorium LOGIN PASSWORD '${PASSWORD}'`)
  await database.run('CREATE DATABASE scriptorium OWNER scriptorium')
  const file = join(database.folder, 'data', 'pg_hba.conf')
  await writeFile(file, `host scriptorium scriptorium all scram-sha-256\n${await readFile(file, 'utf8')}`)
  await database.run('SELECT pg_reload_conf()')
  return database
}

/** The services of compose.yaml with its settings; what is changed is where they find each other on one machine. */
describe('docker: the services of compose.yaml', () => {
  let folder: string
  let database: Cluster
  let redis: TestRedis
  let proxy: ChildProcess
  const servers: ServerProcess[] = []
  let site: Client
  let mount: Client
  let httpsPort: number

  async function startServer(name: string): Promise<ServerProcess> {
    const own = join(folder, name)
    const env = await composeEnvironment({ EDITOR_PASSWORD: PASSWORD }, name)
    const put = (variable: string, from: string, to: string) => {
      expect(env[variable]).to.include(from)
      env[variable] = env[variable]?.replace(from, to) ?? ''
    }
    put('SCRIPTORIUM_POSTGRES', 'postgres:5432', `127.0.0.1:${database.port}`)
    put('SCRIPTORIUM_POSTGRES', '/run/secrets/postgres', join(folder, 'password'))
    put('SCRIPTORIUM_REDIS', 'redis:6379', `127.0.0.1:${redis.port}`)
    return startProcess(folder, { data: own, mount: undefined }, env)
  }

  async function startProxy(): Promise<ChildProcess> {
    httpsPort = await freePort()
    const options = ['admin off', `http_port ${await freePort()}`, `https_port ${httpsPort}`, 'skip_install_trust']
    const written = await readFile(new URL('Caddyfile', DOCKER), 'utf8')
    const [first, second] = servers.map(({ port }) => `127.0.0.1:${port}`)
    const config = written.replaceAll('server:8080 server-2:8080', `${first} ${second}`)
    expect(config).not.to.equal(written)
    const file = join(folder, 'Caddyfile')
    await writeFile(file, `{\n${options.join('\n')}\n}\n${config}`)
    const env = { ...process.env, SITE_HOST: 'localhost', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
    return spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'ignore' })
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-compose-'))
    await writeFile(join(folder, 'password'), PASSWORD)
    database = await startDatabase()
    redis = await startRedis({ arguments: ['--appendonly', 'yes'] })
    for (const name of ['server', 'server-2']) servers.push(await startServer(name))
    proxy = await startProxy()
    const authorization = `Basic ${Buffer.from(`editor:${PASSWORD}`).toString('base64')}`
    const place = { port: httpsPort, tls: true, once: true }
    site = client({ ...place, serverName: 'localhost' })
    mount = client({ ...place, serverName: 'dav.localhost' }, { Host: 'dav.localhost', Authorization: authorization })
    await eventually(async () => {
      const answer = await mount('OPTIONS', '/').catch(() => undefined)
      expect(answer?.status).to.equal(200)
    })
  })
  after(async () => {
    proxy?.kill('SIGKILL')
    for (const server of servers) await server.stop('SIGKILL')
    await redis?.stop()
    await database?.remove()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  it('what is saved on the mount is on both servers, and behind the proxy', async () => {
    const saved = await mount('PUT', '/page.html', {}, page('<p id=it>one</p>'))
    expect(saved.status).to.equal(201)
    for (const http of [...servers.map(({ port }) => client(port, { Host: 'localhost' })), site]) {
      const read = await http('GET', '/page.html')
      expect([read.status, read.text.includes('one'), tagOf(read)]).to.deep.equal([200, true, tagOf(saved)])
    }
  })

  it('a lock that one server has given holds on the other one', async () => {
    const info = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
    const locked = await mount('LOCK', '/locked.txt', { 'Content-Type': 'application/xml' }, info)
    expect(locked.status).to.equal(201)
    const headers = { Host: 'dav.localhost', 'X-Forwarded-Proto': 'https' }
    const authorization = `Basic ${Buffer.from(`editor:${PASSWORD}`).toString('base64')}`
    for (const { port } of servers) {
      const direct = client(port, { ...headers, Authorization: authorization })
      expect((await direct('PUT', '/locked.txt', {}, 'x')).status).to.equal(423)
      const If = `(${locked.headers['lock-token']})`
      expect((await direct('PUT', '/locked.txt', { If }, 'x')).status).to.be.oneOf([200, 201, 204])
    }
  })

  it('events come through the proxy as they happen', async () => {
    await mount('PUT', '/rules.html', {}, rulesPage(['*', 'GET', 'Allow', '/page.html']))
    const stream = await connect({ port: httpsPort, tls: true, serverName: 'localhost' })
    let told = ''
    stream.socket.on('data', bytes => {
      told += bytes.toString()
    })
    stream.send(requestBytes('GET', '/page.html', { Host: 'localhost', Accept: 'text/event-stream' }))
    await eventually(() => expect(told).to.include('text/event-stream'))
    await mount('PUT', '/page.html', {}, page('<p id=it>two</p>'))
    await eventually(() => expect(told).to.include('event: mutation'))
    stream.close()
  })

  it('reads go on while one server is gone, and so do writes a moment later', async () => {
    await servers.shift()?.stop('SIGKILL')
    for (let reads = 0; reads < 20; reads++) expect((await site('GET', '/page.html')).status).to.equal(200)
    await eventually(async () => {
      expect((await mount('PUT', '/after.html', {}, page('<p>x</p>'))).status).to.be.oneOf([200, 201, 204])
    })
    expect((await site('GET', '/after.html')).status).to.equal(200)
  })
})
