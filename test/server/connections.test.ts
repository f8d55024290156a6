/** Connections of clients that send and do not listen: what they make the server keep has an end. */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { after, describe, it } from 'mocha'
import { Fault } from '../../pipeline/fault.ts'
import { type ConnectionRoom, connectionRoom } from '../../server/descriptors.ts'
import { type Listener, listen } from '../../server/listen.ts'
import { collect } from '../support/collect.ts'
import { type Connection, connect } from '../support/http.ts'

const turn = () => new Promise(resolve => setImmediate(resolve))
const ONE = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

describe('a connection on which an answer has not ended', () => {
  const listeners: Listener[] = []
  const clients: Connection[] = []
  after(async () => {
    for (const each of clients) each.close()
    await Promise.all(listeners.map(each => each.close(0)))
  })

  /** A listener with a connection, and more of them. */
  async function opened(
    handler: RequestListener,
    room?: ConnectionRoom,
  ): Promise<{ client: Connection; another(): Promise<Connection> }> {
    const listener = await listen(handler, {
      host: '127.0.0.1',
      port: 0,
      headers: 32_768,
      headerWait: 60_000,
      brokenDocument: ({ message }) => ({ headers: {}, body: message }),
      notOffered: method => new Fault(501, 'NotImplemented', method),
      ...(room && { room }),
    })
    listeners.push(listener)
    const another = async () => {
      const client = await connect(Number(new URL(listener.origin).port))
      client.socket.setNoDelay(true)
      clients.push(client)
      return client
    }
    return { client: await another(), another }
  }

  it('has the requests behind it answered in their turn (RFC 9112 §9.3.2)', async () => {
    const asked: ServerResponse[] = []
    const { client } = await opened((_request, response) => asked.push(response))
    for (const count of [400, 2]) {
      const before = asked.length
      client.send(ONE.repeat(count))
      for (let i = before; i < before + count; i++) {
        while (asked.length === i) await turn()
        asked[i]?.end(String(i))
        expect((await client.receive()).text).to.equal(String(i))
      }
    }
  })

  it('is cut when more wait behind it than all connections together may have', async () => {
    const asked: ServerResponse[] = []
    const { client, another } = await opened((_request, response) => asked.push(response))
    const clients = [client, await another(), await another()]
    for (const each of clients) each.send(ONE.repeat(2100))
    await Promise.race(clients.map(({ ended }) => ended))
    expect(asked).to.have.length(3)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(clients.filter(({ socket }) => socket.destroyed || socket.readableEnded)).to.have.length(1)
    // There is room again when those that waited have gone; one that only ends its side has not.
    for (const { socket } of clients) socket.resetAndDestroy()
    while (!asked.every(({ destroyed }) => destroyed)) await turn()
    const late = await another()
    late.send(ONE.repeat(2100))
    while (asked.length < 4) await turn()
    asked[3]?.end('on')
    expect((await late.receive()).text).to.equal('on')
  })

  it('is refused, or cut, when the heads on all connections together have too many lines (SEC-12)', async () => {
    const asked: ServerResponse[] = []
    const { client, another } = await opened((_request, response) => asked.push(response))
    const many = ONE.replace('\r\n\r\n', `\r\n${'a:\r\n'.repeat(8000)}\r\n`)
    const long = ONE.replace('\r\n\r\n', `\r\n${'a:\r\n'.repeat(80)}\r\n`)
    const clients = [client, ...(await Promise.all(Array.from({ length: 15 }, another)))]
    for (const each of clients) each.send(each === client ? many : many.repeat(2))
    while (asked.length < clients.length) await turn()
    const [refused, cut, usual, late] = [await another(), await another(), await another(), await another()]
    refused.send(many)
    expect((await refused.receive()).status).to.equal(503)
    cut.send(ONE + many)
    await cut.ended
    usual.send(long.repeat(3))
    while (asked.length < clients.length + 2) await turn()
    asked.at(-1)?.end('on')
    expect((await usual.receive()).text).to.equal('on')
    // There is room again when those have gone.
    for (const { socket } of clients) socket.resetAndDestroy()
    while (!asked.slice(0, clients.length).every(({ destroyed }) => destroyed)) await turn()
    late.send(many)
    while (asked.at(-1)?.req.rawHeaders.length !== 2 * 8001) await turn()
    asked.at(-1)?.end('late')
    expect((await late.receive()).text).to.equal('late')
  })

  it('counts the lines of a head until its body has come, however early the answer was (SEC-12)', async () => {
    const { client, another } = await opened((request, response) => {
      response.once('finish', () => request.resume())
      response.end('no')
    })
    const many = ONE.replace('GET', 'POST').replace('\r\n\r\n', `\r\nContent-Length: 1\r\n${'a:\r\n'.repeat(8000)}\r\n`)
    const clients = [client, ...(await Promise.all(Array.from({ length: 30 }, another)))]
    const askedBy = async (each: Connection) => {
      each.send(many)
      return (await each.receive()).status
    }
    for (const each of clients) expect(await askedBy(each)).to.equal(200)
    expect(await askedBy(await another())).to.equal(503)
    // There is room again when a body has come, or its connection has gone.
    for (let i = 0; i < 12; i++) {
      client.send('x')
      expect(await askedBy(client)).to.equal(200)
    }
    expect(client.socket.destroyed).to.equal(false)
    clients[1]?.socket.resetAndDestroy()
    let late = 503
    while (late === 503) late = await askedBy(await another())
    expect(late).to.equal(200)
  })

  it('makes room for others once it has, whatever of a body is still to come, and not before (SEC-12)', async () => {
    const asked: ServerResponse[] = []
    const room = connectionRoom({ most: 3, spare: 2, full: () => undefined })
    const { client, another } = await opened((request, response) => {
      asked.push(response)
      if (request.method === 'POST') response.end('no')
    }, room)
    client.send(ONE)
    const left = [await another(), await another()]
    for (const each of left) {
      each.send(ONE.replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\nx'))
      expect((await each.receive()).text).to.equal('no')
    }
    const late = await another()
    await left[0]?.ended
    late.send(ONE)
    while (asked.length < 4) await turn()
    asked[3]?.end('on')
    expect((await late.receive()).text).to.equal('on')
    expect(left[1]?.socket.destroyed).to.equal(false)
    asked[0]?.end('first')
    expect((await client.receive()).text).to.equal('first')
  })

  it('keeps no head once it has, for as long as the connection stays open (SEC-12)', async () => {
    const heads: WeakRef<IncomingMessage>[] = []
    const { client, another } = await opened((request, response) => {
      heads.push(new WeakRef(request))
      response.end('x')
    })
    for (const [i, each] of [client, await another(), await another()].entries()) {
      each.send(ONE.repeat(i + 1))
      for (let answered = 0; answered <= i; answered++) await each.receive()
    }
    await turn()
    collect()
    expect(heads.filter(head => head.deref())).to.have.length(0)
    client.send(ONE)
    expect((await client.receive()).text).to.equal('x')
  })

  for (const [what, before] of [
    ['heads', ONE.slice(0, -2)],
    ['trailers', ONE.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n')],
  ] as const)
    it(`is one of those with the longest ${what} without an end that are cut when all have too many lines (SEC-12)`, async () => {
      const asked: ServerResponse[] = []
      const { client, another } = await opened((_request, response) => asked.push(response))
      client.send(`${before}${'a:\r\n'.repeat(4000)}`)
      const clients = await Promise.all(Array.from({ length: 33 }, another))
      for (const each of clients) each.send(`${before}${'a:\r\n'.repeat(7900)}`)
      await Promise.race(clients.map(({ ended }) => ended))
      await turn()
      expect(client.socket.destroyed).to.equal(false)
      expect(clients.filter(({ socket }) => !socket.destroyed && !socket.readableEnded)).to.have.length.within(28, 32)
      client.send('\r\n')
      while (!asked.some(({ req }) => req.socket.remotePort === client.socket.localPort && req.complete)) await turn()
    })

  it('keeps nothing of the trailers of a body that has come (SEC-12)', async () => {
    const asked: IncomingMessage[] = []
    const { client } = await opened(request => asked.push(request.resume()))
    const chunked = ONE.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n')
    client.send(`${chunked}0\r\n${'a:\r\n'.repeat(5000)}\r\n`)
    while (!asked[0]?.complete) await turn()
    expect(asked[0].rawTrailers).to.deep.equal([])
    expect(asked[0].trailers).to.deep.equal({})
  })

  it('gives a client that will send nothing more the answers to all that it has sent, and is closed behind them (RFC 9112 §9.6)', async () => {
    const asked: ServerResponse[] = []
    const { client, another } = await opened((request, response) => {
      request.resume()
      asked.push(response)
    })
    const put = 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok'
    for (const requests of [[ONE], [put], [ONE, put, ONE]]) {
      const before = asked.length
      const sender = requests[0] === ONE && requests.length === 1 ? client : await another()
      sender.send(requests.join(''))
      sender.socket.end()
      for (let i = before; i < before + requests.length; i++) {
        while (asked.length === i) await turn()
        // The end has come meanwhile.
        await new Promise(resolve => setTimeout(resolve, 10))
        asked[i]?.end(String(i))
        expect((await sender.receive()).text).to.equal(String(i))
      }
      await sender.ended
    }
  })

  it('is ended once, whatever comes behind a request that the parser has refused', async () => {
    const asked: ServerResponse[] = []
    const { client } = await opened((_request, response) => asked.push(response))
    client.send(ONE)
    while (asked.length === 0) await turn()
    const [answer] = asked
    const before = answer?.listenerCount('close') ?? 0
    for (let i = 0; i < 50; i++) {
      client.send('\x01')
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    expect(answer?.listenerCount('close')).to.equal(before + 1)
    answer?.end('first')
    expect((await client.receive()).text).to.equal('first')
    expect((await client.receive()).status).to.equal(400)
    await client.ended
  })

  it('comes before that to a request whose body the parser has refused, which is never begun', async () => {
    for (const between of [0, 1, 2]) {
      const asked: ServerResponse[] = []
      const { client } = await opened((_request, response) => asked.push(response))
      client.send(`${ONE.repeat(1 + between)}PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello`)
      for (let i = 0; i <= between; i++) {
        while (asked.length === i) await turn()
        for (let turns = 0; turns < 4; turns++) await turn()
        asked[i]?.end(String(i))
        expect((await client.receive()).text).to.equal(String(i))
      }
      expect((await client.receive()).status).to.equal(400)
      await client.ended
      expect(asked).to.have.length(1 + between)
    }
  })

  it('comes before that to CONNECT', async () => {
    const asked: ServerResponse[] = []
    const { client } = await opened((_request, response) => asked.push(response))
    client.send(`${ONE}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
    while (asked.length === 0) await turn()
    for (let i = 0; i < 4; i++) await turn()
    asked[0]?.end('first')
    expect((await client.receive()).text).to.equal('first')
    expect((await client.receive()).text).to.equal('CONNECT')
    await client.ended
  })
})
