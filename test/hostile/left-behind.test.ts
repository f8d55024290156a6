/** Clients that go away in the middle leave nothing behind: no open files, and no staged ones (SEC-12). */

import { once } from 'node:events'
import { readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { send } from '../../edge/send.ts'
import { put, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { connect, requestBytes } from '../support/http.ts'
import { startServer } from '../support/server.ts'

describe('what clients leave behind', () => {
  it('SEC-12 an upload that stops is 408, and its staged file goes', async () => {
    const server = await startServer({ settings: { limits: { bodyIdle: '80ms' } } })
    try {
      await put(server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/*']))
      const basic = Buffer.from(`${server.user}:${server.password}`).toString('base64')
      for (const port of [server.port, Number(new URL(server.mountUrl).port)]) {
        const connection = await connect(port)
        const fields = { Authorization: `Basic ${basic}`, 'Content-Length': '4000000' }
        connection.send(requestBytes('PUT', '/large.bin', fields, 'x'.repeat(600_000)))
        expect((await connection.receive()).status).to.equal(408)
        await connection.ended
        connection.close()
        await eventually(async () => expect(await readdir(join(server.data, 'staging'))).to.deep.equal([]))
      }
    } finally {
      await server.close()
    }
  })

  it('HTTP-181 what is left of a body whose reading failed does not hold up the next request of its connection', async () => {
    const server = await startServer()
    try {
      await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
      await rm(join(server.data, 'staging'), { recursive: true })
      const connection = await connect(server.port)
      const body = Buffer.alloc(1_000_000, 1)
      const head = requestBytes('PUT', '/large.bin', { 'Content-Length': String(body.length) })
      connection.send(Buffer.concat([Buffer.from(head), body.subarray(0, 400_000)]))
      expect((await connection.receive()).status).to.equal(500)
      connection.send(body.subarray(400_000))
      connection.send(requestBytes('GET', '/rules.html'))
      expect((await connection.receive()).status).to.equal(200)
      connection.close()
    } finally {
      await server.close()
    }
  })

  it('SEC-12 a download whose client has gone closes its file', async () => {
    const open = { now: 0, ever: 0 }
    const size = 64 * 1024 * 1024
    const blob = {
      size,
      open: async () => {
        open.now++
        open.ever++
        return {
          read: async (into: Uint8Array) => into.length,
          close: async () => void open.now--,
        }
      },
    }
    const body = { blob, start: 0, end: size }
    let waiting = () => 0
    const server = createServer((request, response) => {
      waiting = () => response.socket?.writableLength ?? 0
      void send(request, response, { status: 200, headers: {}, body })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      for (let i = 1; i <= 4; i++) {
        const connection = await connect(port)
        connection.socket.pause()
        connection.send(requestBytes('GET', '/'))
        await eventually(() => expect(open.ever).to.equal(i))
        // The socket takes nothing more, so that a piece waits when its client goes.
        await eventually(() => expect(waiting()).to.be.above(0))
        connection.socket.resetAndDestroy()
        await eventually(() => expect(open.now).to.equal(0))
      }
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })
})
