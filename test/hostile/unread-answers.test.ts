/** Clients that ask for much and do not read: what their answers take together (SEC-12). */

import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import { after, afterEach, before, describe, it } from 'mocha'
import { chunkFor } from '../../edge/send.ts'
import { bytesOfAnswers, holdAnswer, limitAnswers, requireRoom } from '../../edge/unread-answers.ts'
import { Fault } from '../../pipeline/fault.ts'
import { NS, page, put, putAll, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { type Client, type Connection, client, connect, requestBytes } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const MIB = 1024 * 1024
const MOST = 50 * MIB
const SIZE = 12 * MIB

describe('answers that nobody reads', () => {
  let server: TestServer
  let http: Client
  const clients: Connection[] = []

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await putAll(server, {
      '/rules.html': rulesPage(['*', 'GET', 'Allow', '/*']),
      '/large.html': `<html xmlns:p="${NS}/1.0"><title p:template="text/liquid">{{ request.query.x }}</title><pre>${'x'.repeat(SIZE)}</pre></html>`,
      '/small.html': page('<p>x</p>'),
    })
    limitAnswers({ most: MOST }, 0)
  })
  after(() => server.close())
  afterEach(async () => {
    for (const each of clients.splice(0)) each.close()
    await eventually(() => expect(bytesOfAnswers()).to.equal(0))
  })

  /** Bytes that the server keeps for clients. */
  const unsent = () =>
    (process as unknown as { _getActiveHandles(): unknown[] })
      ._getActiveHandles()
      .filter((handle): handle is Socket => handle instanceof Socket && handle.localPort === server.port)
      .reduce((sum, { writableLength }) => sum + writableLength, 0)

  it('SEC-12 composed pages: together they have a limit, and who reads gets the whole', async () => {
    const whole = await http('GET', '/large.html?x=0')
    expect(whole.body.length).to.be.above(SIZE)
    for (let i = 0; i < 8; i++) {
      const each = await connect(server.port)
      each.socket.pause()
      clients.push(each)
      each.send(requestBytes('GET', `/large.html?x=${i}`))
      await eventually(() => expect(each.socket.bytesRead + unsent()).to.be.above(0))
      expect((await http('GET', '/small.html')).status).to.equal(200)
    }
    const again = await http('GET', '/large.html?x=0')
    expect(again.text).to.equal(whole.text)
    expect(bytesOfAnswers()).to.be.within(1, MOST)
    expect(unsent()).to.be.below(MOST + MIB)
  })
})

describe('large answers beside others', () => {
  let server: TestServer
  const large = `<!doctype html><title>t</title><p>${'x'.repeat(200_000)}</p>`

  before(async () => {
    server = await startServer()
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT', 'Allow', '/*']))
    limitAnswers({ most: 100_000 }, 0)
  })
  after(async () => {
    await server.close()
    limitAnswers({})
  })

  it('SEC-12 a write is told to be stored, whoever else waits; a read is 503', async () => {
    const other = Object.assign(new EventEmitter(), { destroy: () => undefined })
    holdAnswer(other as unknown as ServerResponse, [new Uint8Array(90_000)])
    const http = client(server.port)
    const stored = await http('PUT', '/new.html', {}, large)
    expect([stored.status, stored.text]).to.deep.equal([201, large])
    // What is kept of the page is in memory beside others.
    limitAnswers({ most: 100_000 }, 0)
    holdAnswer(other as unknown as ServerResponse, [new Uint8Array(90_000)])
    const read = await http('GET', '/new.html')
    expect([read.status, read.headers['retry-after']]).to.deep.equal([503, '5'])
    other.emit('close')
    expect((await http('GET', '/new.html')).text).to.equal(large)
  })
})

describe('unread answers', () => {
  let now = 0
  let open: EventEmitter[] = []
  const begin = (size: number | Uint8Array) => {
    const response = Object.assign(new EventEmitter(), { destroyed: false })
    const destroy = () => {
      response.destroyed = true
      response.emit('close')
    }
    const pieces = [typeof size === 'number' ? new Uint8Array(size) : size]
    requireRoom(pieces)
    open.push(response)
    return { response, taken: holdAnswer(Object.assign(response, { destroy }) as unknown as ServerResponse, pieces) }
  }
  before(() => limitAnswers({ most: 10 * MIB, clock: () => now }, 0))
  after(() => limitAnswers({}))
  afterEach(() => {
    for (const each of open) each.emit('close')
    open = []
    expect(bytesOfAnswers()).to.equal(0)
  })

  it('those of which nothing was taken for longest go first', () => {
    const [first, second, third, fourth] = [begin(2 * MIB), begin(2 * MIB), begin(2 * MIB), begin(2 * MIB)]
    first.taken()
    third.taken()
    begin(2 * MIB)
    begin(2 * MIB)
    begin(2 * MIB)
    expect([first, second, third, fourth].map(({ response }) => response.destroyed)).to.deep.equal([
      false,
      true,
      false,
      true,
    ])
    expect(bytesOfAnswers()).to.equal(10 * MIB)
  })

  it('a large one is refused, rather than that others go who may be reading', () => {
    const others = [begin(2 * MIB), begin(2 * MIB)]
    now += 9_000
    others[1]?.taken()
    expect(() => begin(8 * MIB))
      .to.throw(Fault)
      .with.property('status', 503)
    now += 1_000
    begin(8 * MIB)
    expect(others.map(({ response }) => response.destroyed)).to.deep.equal([true, false])
  })

  it('one that is larger than all goes to whoever is alone', () => {
    const { response } = begin(12 * MIB)
    expect(response.destroyed).to.equal(false)
    response.emit('close')
  })

  it('SEC-12 readers of files take the less of them at a time the more there are, each in two buffers', () => {
    let together = 0
    for (let readers = 1; readers <= 7500; readers++) together += 2 * chunkFor(readers)
    expect(together).to.be.below(256 * MIB)
    expect([1, 64, 256, 7500].map(chunkFor)).to.deep.equal([MIB / 4, MIB / 4, MIB / 16, MIB / 128])
  })

  it('the same bytes count once, and short answers not at all', () => {
    const shared = new Uint8Array(6 * MIB)
    const readers = [begin(shared), begin(shared), begin(shared)]
    begin(1000)
    expect(bytesOfAnswers()).to.equal(6 * MIB)
    readers[0]?.response.emit('close')
    expect(bytesOfAnswers()).to.equal(6 * MIB)
  })
})
