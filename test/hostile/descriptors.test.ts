import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect as connectTo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { asFault } from '../../pipeline/failures.ts'
import { Fault } from '../../pipeline/fault.ts'
import { StoreError } from '../../pipeline/store/errors.ts'
import { connections } from '../../server/connections.ts'
import { connectionRoom, descriptors, type Refused, sharedOut } from '../../server/descriptors.ts'
import { endSilent, endStalled, networkOf } from '../../server/stalled.ts'
import { openTemporary } from '../pipeline/store/fixture.ts'
import { eventually } from '../support/eventually.ts'
import { client } from '../support/http.ts'
import { startProcess } from '../support/process.ts'

let port = 0

/** A connection that is only counted. */
function counted() {
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress: '127.0.0.1',
    remotePort: ++port,
    localPort: 80,
    isClosed: false,
    destroy() {
      socket.isClosed = true
      socket.emit('close')
    },
  })
  return socket as unknown as Socket & { isClosed: boolean }
}

/** What comes on a connection of one's own that stays open after its request, until something has come or it is closed. */
function answerOn(to: number, path = '/'): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const socket = connectTo(to, '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`))
  socket.once('data', bytes => resolve(String(bytes))).on('error', error => resolve(error.message))
  socket.once('close', () => resolve('closed'))
  return promise.finally(() => setTimeout(() => socket.destroy(), 100))
}

const credentials = [{ user: 'editor', password: 'a known password' }]
const AUTHORIZATION = `Basic ${Buffer.from('editor:a known password').toString('base64')}`

describe('more connections than the system has descriptors for', () => {
  it('a part stays free for files, however few there are', () => {
    expect(sharedOut({ limit: 64, used: 31 })).to.deep.equal({ most: 17, spare: 8 })
    expect(sharedOut({ limit: 1024, used: 31 })).to.deep.equal({ most: 745, spare: 124 })
    expect(sharedOut({ limit: 20, used: 31 })).to.deep.equal({ most: 4, spare: 8 })
    expect(descriptors()?.limit).to.be.greaterThan(descriptors()?.used ?? 0)
  })

  it('SEC-12 who finds no room is told, unless there is room by the time of its first request', () => {
    const words: number[] = []
    const room = connectionRoom({ most: 2, spare: 2, full: connections => words.push(connections), now: () => 0 })
    let idle: Socket | undefined
    room.onFull(() => idle?.destroy())
    const all = Array.from({ length: 5 }, counted)
    expect(
      all.map(socket => room.take(socket, false)),
      'there is room to wait',
    ).to.deep.equal([true, true, true, true, false])
    const [first, second, third, fourth, fifth] = all
    if (!first || !second || !third || !fourth || !fifth) throw new Error('no connections')
    fifth.destroy()
    expect([first, second, third, fourth].map(room.mayAsk)).to.deep.equal([true, true, false, false])
    expect(words, 'one line for all').to.deep.equal([5])
    expect(room.refused).to.deep.equal({ answered: 3, closed: 0 })
    expect(room.hasRoom()).to.equal(false)
    fourth.destroy()
    first.destroy()
    expect(room.mayAsk(third)).to.equal(true)
    second.destroy()
    third.destroy()
    expect(room.hasRoom()).to.equal(true)
  })

  it('SEC-12 who cannot be told, over TLS, is counted and logged as closed', () => {
    const words: Refused[] = []
    const room = connectionRoom({ most: 1, spare: 0, full: (_, refused) => words.push({ ...refused }), now: () => 0 })
    const all = Array.from({ length: 3 }, counted)
    expect(all.map(socket => room.take(socket, true))).to.deep.equal([true, false, false])
    expect(words).to.deep.equal([{ answered: 0, closed: 1 }])
    expect(room.refused).to.deep.equal({ answered: 0, closed: 2 })
  })

  it('connections that nobody uses make room for others', () => {
    const room = connectionRoom({ most: 1, spare: 1, full: () => undefined })
    const idle = counted()
    room.onFull(() => idle.destroy())
    room.take(idle, false)
    const next = counted()
    room.take(next, false)
    expect([idle.isClosed, room.mayAsk(next)]).to.deep.equal([true, true])
    next.destroy()
  })

  it('SEC-12 while there is no room, those go who have taken nothing of their answers for a minute, the longest first', () => {
    let now = 0
    const ended: string[] = []
    const sending = (name: string) => ({
      name,
      bytesWritten: 1000,
      writableLength: 500,
      _handle: { writeQueueSize: 500 },
      destroy() {
        ended.push(name)
        return this
      },
    })
    const [late, first, slow, slower, idle] = ['late', 'first', 'slow', 'slower', 'idle'].map(sending)
    if (!late || !first || !slow || !slower || !idle) throw new Error('no connections')
    Object.assign(idle, { writableLength: 0, _handle: null })
    const end = endStalled(() => now)
    end([first, slow, slower, idle], 9)
    now = 30_000
    slow.bytesWritten += 1
    // Of what was written once, the system has taken some.
    slower._handle.writeQueueSize -= 1
    end([late, first, slow, slower, idle], 9)
    now = 59_999
    end([late, first, slow, slower, idle], 9)
    expect(ended).to.deep.equal([])
    now = 60_000
    end([late, first, slow, slower, idle], 0)
    expect(ended).to.deep.equal([])
    end([late, first, slow, slower, idle], 9)
    expect(ended).to.deep.equal(['first'])
    now = 90_000
    slow.bytesWritten += 1
    end([slow, slower, late, idle], 1)
    expect(ended).to.have.length(2)
  })

  it('SEC-12 while there is no room, those go who have asked nothing for five seconds, the oldest first', () => {
    const ended: string[] = []
    const came = (name: string, at: number) => [{ name, destroy: () => ended.push(name) }, at] as const
    const all = [came('asked', 0), came('silent', 1), came('later', 2), came('fresh', 4)]
    const end = (most: number, now: number) =>
      endSilent(all, { hasAsked: ({ name }) => name === 'asked', networkOf: () => 'one', most, ofCrowd: 0, now })
    end(9, 5000)
    expect(ended).to.deep.equal([])
    end(1, 5003)
    expect(ended).to.deep.equal(['silent'])
    end(9, 5003)
    expect(ended).to.deep.equal(['silent', 'silent', 'later'])
  })

  it('SEC-12 of those who have just come, the largest crowd makes room, unless it comes by a proxy', () => {
    const ended: string[] = []
    const from = (network: string, count: number, at: number) =>
      Array.from({ length: count }, (_, i) => {
        const name = `${network}${i}`
        return [{ network, name, destroy: () => ended.push(name) }, at] as const
      })
    const all = [...from('a', 20, 0), ...from('old', 1, -5000), ...from('b', 40, 1), ...from('proxy', 90, 1)]
    const end = (ofCrowd: number) => {
      ended.length = 0
      const networkOf = ({ network }: { network: string }) => (network === 'proxy' ? undefined : network)
      endSilent(all, { hasAsked: ({ name }) => name === 'b0', networkOf, most: 1, ofCrowd, now: 10 })
      return ended.join()
    }
    expect(end(1)).to.equal('old0')
    expect(end(3)).to.equal('old0,b1,b2')
    expect(end(99)).to.equal('old0,b1,b2,b3,b4,b5,b6,b7,b8')
  })

  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::9', '2001:db8:0:0'],
    ['2001:db8:1:2::', '2001:db8:1:2'],
    ['::1', '0:0:0:0'],
    ['', ''],
  ] as const)
    it(`SEC-12 "${address}" is of the network "${network}"`, () => expect(networkOf(address)).to.equal(network))

  it('SEC-12 a listener without room ends a connection that says nothing, and none that has asked', async () => {
    const { now } = performance
    const waiting: ServerResponse[] = []
    const room = connectionRoom({ most: 2, spare: 2, full: () => undefined })
    const answer: RequestListener = (request, response) =>
      void (request.url === '/wait' ? waiting.push(response) : response.end('x'))
    const own = connections({ handler: answer, brokenDocument: () => ({ headers: {}, body: '' }), room }, undefined)
    const server = createServer(own.handle)
    own.watch(server, false)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port: to } = server.address() as AddressInfo
    const asking = answerOn(to, '/wait')
    await eventually(() => expect(waiting).to.have.length(1))
    const silent = connectTo(to, '127.0.0.1')
    const closed = new Promise(resolve => silent.once('close', resolve))
    await eventually(() => expect(room.hasRoom()).to.equal(false))
    try {
      performance.now = () => now.call(performance) + 5000
      expect(await answerOn(to)).to.match(/^HTTP\/1\.1 200 /)
      await closed
      waiting[0]?.end('y')
      expect(await asking).to.match(/^HTTP\/1\.1 200 /)
    } finally {
      performance.now = now
      silent.destroy()
      await own.close(server, 0)
    }
  })

  it('SEC-12 whoever needs room has so many closed as are too many, and at least one', () => {
    const asked: number[] = []
    const ofCrowds: number[] = []
    let now = 0
    const room = connectionRoom({ most: 1, spare: 2, full: () => undefined, now: () => (now += 10) })
    room.onFull((most, ofCrowd) => {
      asked.push(most)
      ofCrowds.push(ofCrowd)
    })
    const all = Array.from({ length: 3 }, counted)
    for (const socket of all) room.take(socket, false)
    room.mayOpen()
    for (const socket of all) socket.destroy()
    room.mayOpen()
    expect(asked).to.deep.equal([1, 2, 2])
    expect(ofCrowds).to.deep.equal([2, 3, 3])
  })

  it('SEC-12 files of running answers take room, and are opened as long as there is some', () => {
    const files = { count: 0 }
    const room = connectionRoom({ most: 4, spare: 2, full: () => undefined, beside: files, now: () => 0 })
    const idle = counted()
    room.onFull(() => idle.destroy())
    const [first, second] = [counted(), counted()]
    for (const socket of [idle, first]) expect(room.take(socket, false)).to.equal(true)
    files.count = 1
    expect([room.mayOpen(), idle.isClosed, room.hasRoom()]).to.deep.equal([true, false, true])
    files.count = 3
    expect([room.mayOpen(), idle.isClosed, room.hasRoom()]).to.deep.equal([true, true, false])
    expect([room.take(second, false), room.mayAsk(second)]).to.deep.equal([true, false])
    files.count = 4
    expect([room.mayOpen(), room.take(counted(), false)]).to.deep.equal([false, false])
    first.destroy()
    second.destroy()
  })

  it('SEC-12 with 64 descriptors, downloads that nobody reads, and uploads that do not end, leave room to tell everybody else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-descriptors-'))
    const sites = [{ host: 'localhost', credentials, defaultGet: 'allow' }]
    const settings = {
      data: join(folder, 'data'),
      log: { level: 'warn', format: 'json' },
      mount: { path: '/dav' },
      sites,
    }
    const server = await startProcess(folder, settings, {}, 64)
    const held: Socket[] = []
    try {
      const http = client(server.port)
      const put = await http('PUT', '/dav/large.bin', { Authorization: AUTHORIZATION }, Buffer.alloc(24 * 1024 * 1024))
      expect(put.status).to.equal(201)
      const answers: string[] = []
      for (let i = 0; i < 40; i++) {
        const socket = connectTo(server.port, '127.0.0.1')
        held.push(socket.on('error', () => undefined))
        socket.write('GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n')
        const { promise, resolve } = Promise.withResolvers<string>()
        socket.once('data', bytes => resolve(bytes.toString('latin1', 9, 12)))
        socket.once('close', () => resolve('closed'))
        answers.push(await promise)
        socket.pause()
      }
      expect(new Set(answers)).to.deep.equal(new Set(['200', '503']))
      expect(server.everything()).not.to.include('EMFILE')
      for (const socket of held.splice(0)) socket.destroy()
      await eventually(async () => expect((await http('HEAD', '/large.bin')).status).to.equal(200))
      const head = `Host: localhost\r\nAuthorization: ${AUTHORIZATION}\r\nContent-Length: 400000\r\n\r\n`
      for (let i = 0; i < 40; i++) {
        const socket = connectTo(server.port, '127.0.0.1')
        held.push(socket.on('error', () => undefined))
        await once(socket, 'connect')
        socket.write(`PUT /dav/${i}.bin HTTP/1.1\r\n${head}`)
        socket.write(Buffer.alloc(300_000))
        expect((await http('HEAD', '/large.bin')).status).to.be.oneOf([200, 503])
      }
      expect((await http('HEAD', '/large.bin')).status).to.equal(503)
      expect(server.everything()).not.to.include('EMFILE')
      for (const socket of held) socket.destroy()
      await eventually(async () => expect((await http('HEAD', '/large.bin')).status).to.equal(200))
    } finally {
      for (const socket of held) socket.destroy()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('SEC-12 what arrives takes room while its file is open, and is 503 where there is none', async () => {
    const { store, close } = await openTemporary({ inlineLimit: 10 })
    const files = { count: 0, mayOpen: () => files.count < 2 }
    const stage = (body: Readable) => store.stage(body, { limit: 1e7, files })
    const [short, long] = [new PassThrough(), new PassThrough()]
    const staged = [stage(long), stage(short)]
    long.write(Buffer.alloc(20))
    await eventually(() => expect(files.count).to.equal(1))
    short.end('short')
    await staged[1]
    expect(files.count).to.equal(1)
    // A thread reads what is long.
    for (let i = 0; i < 40; i++) long.write(Buffer.alloc(128 * 1024))
    await eventually(() => expect(files.count).to.equal(2))
    const refused = await stage(Readable.from([Buffer.alloc(20)])).catch(asFault)
    expect(refused).to.be.instanceOf(Fault).and.to.have.property('status', 503)
    const broken = new PassThrough()
    files.mayOpen = () => true
    staged.push(stage(broken))
    broken.write(Buffer.alloc(20))
    await eventually(() => expect(files.count).to.equal(3))
    broken.destroy(new Error('its client has gone'))
    long.end()
    await Promise.allSettled(staged)
    expect(files.count).to.equal(0)
    await close()
  })

  it('HTTP-4 a file that cannot be opened for lack of descriptors is 503 with Retry-After', () => {
    const cause = Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' })
    for (const error of [cause, new StoreError('failed', 'no', { cause })]) {
      const fault = asFault(error)
      if (!(fault instanceof Fault)) throw new Error('no fault')
      expect([fault.status, fault.details.headers]).to.deep.equal([503, { 'Retry-After': '2' }])
    }
  })

  it('SEC-12 with 64 descriptors, of 80 connections none that sends a request stays unanswered, and health says why', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-descriptors-'))
    const settings = {
      data: join(folder, 'data'),
      log: { level: 'warn', format: 'json' },
      health: { public: true },
      metrics: { public: true },
    }
    const server = await startProcess(
      folder,
      { ...settings, sites: [{ host: 'localhost', credentials }], mount: { path: '/dav' } },
      {},
      64,
    )
    const held: Socket[] = []
    try {
      const { most } = sharedOut({ limit: 64, used: 31 })
      // Each is about to send a file, so that none of them is idle.
      const head = `PUT /dav/file HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${AUTHORIZATION}\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n`
      for (let i = 0; i < most; i++) {
        const socket = connectTo(server.port, '127.0.0.1')
        socket.write(head)
        held.push(socket.on('error', () => undefined))
        await once(socket, 'data')
      }
      const http = client(server.port)
      const refused = await eventually(async () => {
        const answer = await http('GET', '/-platform/health/ready', { Connection: 'close' })
        expect(answer.status).to.equal(503)
        return answer
      })
      expect(refused.headers['retry-after'] ?? refused.text).to.match(/2|descriptors/)
      const statuses: number[] = []
      for (let i = held.length; i < 80; i++) {
        const { status } = await http('GET', '/', { Connection: 'close' })
        statuses.push(status)
      }
      expect(new Set(statuses)).to.deep.equal(new Set([503]))
      await eventually(() => expect(server.everything()).to.include('too few descriptors for more connections'))
      for (const socket of held) socket.destroy()
      await eventually(async () => expect((await http('GET', '/-platform/health/ready')).status).to.equal(200))
      const { text } = await http('GET', '/-platform/metrics')
      expect(Number(/^scriptorium_connections_refused_total{how="answered"} (\d+)/m.exec(text)?.[1])).to.be.at.least(1)
      const answers = await Promise.all(Array.from({ length: 80 }, () => answerOn(server.port)))
      expect(answers.filter(answer => !/^HTTP\/1\.1 [2-5]\d\d /.test(answer))).to.deep.equal([])
    } finally {
      for (const socket of held) socket.destroy()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
})
