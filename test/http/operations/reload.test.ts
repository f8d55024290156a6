/** What a running server takes when it gets SIGHUP. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { startRedis } from '../../pipeline/coordination/redis-server.ts'
import { eventually } from '../../support/eventually.ts'
import { type Client, client, connect, type Fields, requestBytes } from '../../support/http.ts'
import { type ServerProcess, startProcess } from '../../support/process.ts'
import { startRelay } from '../../support/tcp-relay.ts'

const LAUNCHER = fileURLToPath(new URL('../../../server/launch.mjs', import.meta.url))

/** Makes a certificate with a name of its own. */
function certify(folder: string, name: string): void {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', `/CN=${name}`]
  execFileSync('openssl', ['req', '-x509', ...kind, ...files], { stdio: 'ignore' })
}

/** The name in the certificate that a port shows. */
function nameAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

describe('SIGHUP', () => {
  let folder: string
  let server: ServerProcess
  let mount: Client
  let mountPort: number
  const settings = (credentials: object[], more: object = {}) => ({
    data: join(folder, 'data'),
    log: { format: 'json', audit: join(folder, 'changes.jsonl') },
    tls: { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') },
    sites: [{ host: 'localhost', credentials }],
    ...more,
  })
  const ADA = { user: 'ada', password: 'ada’s' }
  const BO = { user: 'bo', password: 'bo’s', scope: ['/b/*'] }
  const status = async ({ user, password }: typeof ADA, path = '/') => {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    return (await mount('PROPFIND', path, { authorization, Depth: '0' })).status
  }
  const write = (written: object) =>
    writeFile(join(folder, 'settings.json'), JSON.stringify({ listen: { port: 0 }, mount: { port: 0 }, ...written }))
  /** Changes the settings file and has the server read it. */
  async function reload(written: object, told: RegExp): Promise<void> {
    const before = server.output().length
    await write(written)
    server.child.kill('SIGHUP')
    await eventually(() => expect(server.output().slice(before)).to.match(told))
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-reload-'))
    certify(folder, 'first')
    server = await startProcess(folder, settings([ADA]))
    mountPort = Number(/ mount https:\/\/[^:]+:(\d+)\//.exec(server.output())?.[1])
    mount = client({ port: mountPort, tls: true })
  })
  after(async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('MNT-1 credentials come and go', async () => {
    expect([await status(ADA), await status(BO, '/b/')]).to.deep.equal([207, 401])
    await reload(settings([BO]), /were read again/)
    expect([await status(ADA), (await status(BO, '/b/')) < 405, await status(BO, '/')]).to.deep.equal([401, true, 207])
    await reload(settings([ADA, { ...BO, password: 'another' }]), /were read again/)
    expect([await status(ADA), await status(BO, '/b/')]).to.deep.equal([207, 401])
  })

  it('MNT-1 whose credential is withdrawn while the body of a read is on its way reads nothing', async () => {
    await reload(settings([ADA]), /were read again/)
    const reads: [method: string, fields: Fields, body: string][] = [
      ['QUERY', { 'Content-Type': 'text/css-selector' }, 'html'],
      ['QUERY', { 'Content-Type': 'text/sessel' }, '1 + 1'],
      ['PROPFIND', { Depth: '0' }, '<propfind xmlns="DAV:"><propname/></propfind>'],
    ]
    const place = { port: mountPort, tls: true }
    const authorization = `Basic ${Buffer.from(`${ADA.user}:${ADA.password}`).toString('base64')}`
    await mount('PUT', '/read.html', { authorization }, '<p>1</p>')
    const begun = await Promise.all(
      reads.map(async ([method, fields, body]) => {
        const connection = await connect(place)
        const bytes = Buffer.from(
          requestBytes(method, '/read.html', { ...fields, authorization, Expect: '100-continue' }, body, place),
        )
        connection.send(bytes.subarray(0, bytes.length - body.length))
        // Asked for by who knows the credential.
        expect((await connection.receive()).status).to.equal(100)
        return { connection, rest: bytes.subarray(bytes.length - body.length) }
      }),
    )
    await reload(settings([]), /were read again/)
    for (const { connection, rest } of begun) {
      connection.send(rest)
      expect((await connection.receive()).status).to.equal(401)
      connection.close()
    }
    await reload(settings([ADA]), /were read again/)
  })

  it('a new certificate is shown to new connections, on both ports', async () => {
    certify(folder, 'second')
    expect(await nameAt(server.port)).to.equal('first')
    await reload(settings([ADA]), /were read again/)
    expect([await nameAt(server.port), await nameAt(mountPort)]).to.deep.equal(['second', 'second'])
  })

  it('settings that cannot be used, and a torn certificate, leave all as it was', async () => {
    await reload({ ...settings([]), listen: { port: -1 } }, /stay as they were/)
    expect(await status(ADA)).to.equal(207)
    await writeFile(join(folder, 'cert.pem'), 'torn')
    await reload(settings([ADA]), /stay as they were/)
    expect([await nameAt(server.port), await status(ADA)]).to.deep.equal(['second', 207])
    certify(folder, 'third')
  })

  it('the record of changes goes on in a new file after the old one was moved away', async () => {
    const file = join(folder, 'changes.jsonl')
    const authorization = `Basic ${Buffer.from(`${ADA.user}:${ADA.password}`).toString('base64')}`
    await mount('PUT', '/one.css', { authorization }, 'x')
    await rename(file, `${file}.1`)
    await reload(settings([ADA]), /were read again/)
    await mount('PUT', '/two.css', { authorization }, 'x')
    const paths = async (name: string) => (await readFile(name, 'utf8')).match(/"path":"\/\w+\.css"/g)
    expect(await paths(`${file}.1`)).to.include('"path":"/one.css"')
    expect(await paths(file)).to.include('"path":"/two.css"')
  })

  it('MNT-1 credentials that are withdrawn while the server starts are not those that it goes on with', async () => {
    await server.stop()
    const redis = await startRedis()
    const relay = await startRelay(redis.port)
    relay.swallow('answers')
    const connected = relay.connected()
    let begun: ChildProcess | undefined
    const common = { redis: `redis://127.0.0.1:${relay.port}` }
    const starting = startProcess(folder, settings([ADA, BO], common), {}, undefined, child => {
      begun = child
    })
    // Who connects knows the settings.
    await connected
    await write(settings([ADA], common))
    begun?.kill('SIGHUP')
    relay.swallow(undefined)
    relay.cut()
    server = await starting
    await eventually(() => expect(server.output()).to.match(/were read again/))
    mount = client({ port: Number(/ mount https:\/\/[^:]+:(\d+)\//.exec(server.output())?.[1]), tls: true })
    expect([await status(ADA), await status(BO, '/b/')]).to.deep.equal([207, 401])
    await server.stop()
    await relay.close()
    await redis.stop()
  })

  it('that comes before the settings have been read ends no server: it reads them once more when it is ready', async () => {
    const own = await mkdtemp(join(tmpdir(), 'scriptorium-reload-'))
    const file = join(own, 'settings.json')
    execFileSync('mkfifo', [file])
    const text = JSON.stringify({ data: join(own, 'data'), listen: { port: 0 }, mount: { port: 0 } })
    const child = spawn(process.execPath, [LAUNCHER, 'serve', '--config', file], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', piece => {
      output += piece
    })
    const ended = once(child, 'close')
    // Whoever opens a pipe waits for the one who reads.
    const settings = await open(file, 'w')
    child.kill('SIGHUP')
    await settings.writeFile(text)
    await settings.close()
    await eventually(() => expect(output).to.match(/^ready: site/m))
    await Promise.race([writeFile(file, text), ended])
    await eventually(() => expect(output).to.match(/were read again/))
    child.kill('SIGTERM')
    expect(await ended).to.deep.equal([0, null])
    await rm(own, { recursive: true })
  })
})
