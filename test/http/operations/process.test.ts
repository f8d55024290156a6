import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { delay } from '../../support/cost.ts'
import { eventually } from '../../support/eventually.ts'
import { client, connect, requestBytes } from '../../support/http.ts'
import { type ServerProcess, startProcess } from '../../support/process.ts'
import { startServer } from '../../support/server.ts'

const LARGE = Buffer.alloc(24 * 1024 * 1024, 'large')

describe('the server as a process', () => {
  let folder: string
  let settings: Record<string, unknown>
  let server: ServerProcess

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scriptorium-process-'))
    settings = {
      data: join(folder, 'data'),
      log: { level: 'info', format: 'json' },
      limits: { shutdown: '40s' },
    }
    const prepared = await startServer({ settings })
    await putAll(prepared, {
      '/index.html': page('<p>x</p>'),
      '/large.bin': LARGE,
      '/rules.html': rulesPage(['*', 'PUT', 'Allow', '/w/*'], ['*', 'GET', 'Deny', '/shut/*']),
    })
    await prepared.close()
    // As from a shell: the launcher has to see to it.
    server = await startProcess(folder, settings, { MALLOC_ARENA_MAX: undefined })
  })
  after(async () => {
    server.child.kill('SIGKILL')
    await server.ended
    await rm(folder, { recursive: true, force: true })
  })

  /** Log entries of requests, once there are as many as wanted. */
  const requestLog = (wanted: number) =>
    eventually(() => {
      // The last line may not have come as a whole.
      const lines = server.output().split('\n').slice(0, -1)
      const entries = lines
        .filter(line => line.startsWith('{'))
        .map(line => JSON.parse(line) as Record<string, unknown>)
        .filter(entry => entry.msg === 'request')
      expect(entries.length, server.everything()).to.be.at.least(wanted)
      return entries
    })

  it('keeps one heap of the C library for all its threads', () => {
    const environment = readFileSync(`/proc/${server.child.pid}/environ`, 'utf8').split('\0')
    expect(environment).to.include('MALLOC_ARENA_MAX=1')
    expect(server.everything()).to.not.contain('Experimental')
  })

  it('REA-95 has threads that ask for names of hosts beside those that calls may take', () => {
    const threads = `/proc/${server.child.pid}/task`
    const names = readdirSync(threads).map(id => readFileSync(join(threads, id, 'comm'), 'latin1'))
    expect(names.filter(name => name === 'libuv-worker\n')).to.have.length(8)
  })

  it('prints one line that begins with ready and names the addresses', () => {
    const lines = server
      .output()
      .split('\n')
      .filter(line => line.startsWith('ready'))
    expect(lines).to.have.length(1)
    expect(lines[0]).to.match(/^ready: site http:\/\/localhost:\d+\/ mount http:\/\/localhost:\d+\/$/)
  })

  it('logs one line for each request, with duration and outcome, without query, cookies and credentials', async () => {
    const http = client(server.port)
    const secrets = {
      Cookie: 'platform_session=secret-cookie',
      Authorization: 'Basic secret-word',
      Referer: 'http://secret-page',
    }
    await http('GET', '/index.html?token=secret-query', secrets)
    await http('GET', '/index.html?token=secret-query', secrets)
    await http('PUT', '/w/logged.txt', secrets, 'secret-body')
    await http('HEAD', '/shut/x.html', secrets)
    await http('GET', '/%zz?secret-broken', secrets)
    const entries = await requestLog(5)
    expect(
      entries.map(({ face, host, method, path, status, level }) => [face, host, method, path, status, level]),
    ).to.deep.equal([
      ['public', `localhost:${server.port}`, 'GET', '/index.html', 200, 30],
      ['public', `localhost:${server.port}`, 'GET', '/index.html', 200, 30],
      ['public', `localhost:${server.port}`, 'PUT', '/w/logged.txt', 201, 30],
      ['public', `localhost:${server.port}`, 'HEAD', '/shut/x.html', 401, 30],
      ['public', `localhost:${server.port}`, 'GET', '/%zz', 400, 30],
    ])
    for (const entry of entries) {
      expect(entry.ms).to.be.a('number').and.to.be.within(0, 20_000)
      expect(entry.time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
    expect(server.everything()).not.to.include('secret')
  })

  it('SIGTERM lets running downloads and uploads finish, takes no more requests, and ends with 0', async () => {
    const http = client(server.port)
    const session = /^[^;]+/.exec((await http('GET', '/')).headers['set-cookie'] ?? '')?.[0]

    const idle = await connect(server.port)
    idle.send(requestBytes('GET', '/'))
    await idle.receive()

    const upload = await connect(server.port)
    upload.send(requestBytes('PUT', '/w/late.txt', { 'Content-Length': '6' }))
    upload.send('abc')

    const download = await connect(server.port)
    const arrived: Buffer[] = []
    download.socket.removeAllListeners('data')
    const begun = new Promise<void>(resolve =>
      download.socket.once('data', chunk => {
        arrived.push(chunk)
        download.socket.pause()
        resolve()
      }),
    )
    download.send(requestBytes('GET', '/large.bin', { Connection: 'close' }))
    await begun

    server.child.kill('SIGTERM')
    await idle.ended
    let refused = false
    for (let i = 0; i < 100 && !refused; i++) {
      refused = await http('GET', '/').then(
        () => false,
        () => true,
      )
    }
    expect(refused, 'new connections are refused').to.equal(true)

    upload.send('def')
    const stored = await upload.receive()
    expect(stored.status).to.equal(201)
    expect(stored.headers.connection).to.equal('close')

    download.socket.on('data', chunk => arrived.push(chunk))
    download.socket.resume()
    await download.ended
    const bytes = Buffer.concat(arrived)
    expect(bytes.length - bytes.indexOf('\r\n\r\n') - 4).to.equal(LARGE.length)
    expect(await server.ended, server.everything()).to.equal(0)

    server = await startProcess(folder, settings)
    const again = client(server.port)
    expect((await again('GET', '/w/late.txt')).text).to.equal('abcdef')
    const { headers } = await again('GET', '/', { Cookie: session })
    expect(headers, 'SSN-5 sessions survive a restart').not.to.have.property('set-cookie')
  })

  it('SIGTERM cuts what does not end within the time that is set', async () => {
    await server.stop()
    server = await startProcess(folder, { ...settings, limits: { shutdown: '300ms' } })
    const stuck = await connect(server.port)
    stuck.send(requestBytes('PUT', '/w/stuck.txt', { 'Content-Length': '6' }))
    stuck.send('abc')
    // Its text comes to the parser in two pieces for each word: seconds of work.
    const http = client(server.port)
    const list = { 'Content-Type': 'text/html' }
    await http('PUT', '/w/list.html', list, page('<ul></ul>'))
    const working = await connect(server.port)
    const long = `<ul><li>${'& '.repeat(1_500_000)}</ul>`
    const fields = { ...list, Range: 'selector=ul', 'Content-Length': String(long.length) }
    working.send(requestBytes('PUT', '/w/list.html', fields))
    working.send(long)
    await http('GET', '/')
    const started = performance.now()
    expect(await server.stop(), server.everything()).to.equal(0)
    expect(performance.now() - started, 'the default is 10 s').to.be.within(250, 9500 * delay())
    await Promise.all([stuck.ended, working.ended])
    const answered = server
      .output()
      .split('\n')
      .filter(line => line.includes('"path":"/w/list.html"'))
    expect(answered.length, 'the work is left, not ended behind the store').to.equal(1)
    server = await startProcess(folder, settings)
    expect((await client(server.port)('GET', '/w/stuck.txt')).status).to.equal(404)
  })

  it('SIGINT ends it as well, and connections that never said anything are no reason to wait', async () => {
    const silent = await connect(server.port)
    const halfway = await connect(server.port)
    halfway.send('GET / HTTP/1.1\r\nHost: local')
    const asking = await connect(server.port)
    asking.send(requestBytes('GET', '/'))
    await asking.receive()
    asking.send('GET /-platform/health HTTP/1.1\r\nHost: local')
    await client(server.port)('GET', '/')
    server.child.kill('SIGINT')
    await silent.ended
    asking.send('host\r\n\r\n')
    const health = await asking.receive()
    expect(health.status, 'what is asked now learns that it ends').to.equal(503)
    expect(health.headers).to.include({ connection: 'close', 'retry-after': '5' })
    expect(await server.ended, server.everything()).to.equal(0)
    await Promise.all([silent.ended, halfway.ended])
  })
})
