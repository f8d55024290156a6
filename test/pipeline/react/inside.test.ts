/** Calls to sites of this server, which go through no network, are bound by the same limits as others (REA-85, REA-88). */

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { sendStream } from '../../../edge/send-stream.ts'
import { insideCaller } from '../../../server/outbound/inside.ts'

const CALL = { authority: 'a', secure: false, target: '/', method: 'GET', fields: [], body: '', depth: 1 }
const TIMEOUT = 30

/** Calls what answers in its own way. */
const calling = (answer: (response: ServerResponse, request: IncomingMessage) => void, target = '/') =>
  insideCaller((request, response) => answer(response, request), TIMEOUT)({ ...CALL, target })

describe('Calls inside of the process', () => {
  it('REA-85 one that is not answered in time has failed, and its request is over', async () => {
    let over: Promise<unknown> | undefined
    const failure = await calling(response => void (over = once(response, 'close'))).catch((error: Error) => error)
    expect(failure).to.be.instanceOf(Error).and.to.include({ message: 'no answer in time' })
    await over
  })

  it('REA-85 of an answer no more than 64 KiB are read, and one that does not end is not waited for', async () => {
    let left = 64 * 1024 * 1024
    let over: Promise<unknown> | undefined
    const piece = Buffer.alloc(16 * 1024)
    const sent = await calling(response => {
      over = once(response, 'close')
      const write = () => {
        while (left > 0 && !response.destroyed && response.write(piece)) left -= piece.length
      }
      response.writeHead(201).on('drain', write)
      write()
    })
    await over
    expect(sent).to.equal(201)
    expect(left).to.be.above(63 * 1024 * 1024)
    expect(
      await calling(response =>
        sendStream(response, 202, {}, sink => sink.write(Buffer.from(': ping'), () => undefined)),
      ),
    ).to.equal(202)
  })

  it('REA-80 what cannot stand in an address is escaped, as it is for other servers', async () => {
    for (const [target, url] of [
      ['/a b/bü?日=\u{1f600}', '/a%20b/b%C3%BC?%E6%97%A5=%F0%9F%98%80'],
      ['/%20/%zz?a=%C3%BC&b', '/%20/%zz?a=%C3%BC&b'],
      ['/\ud800\r\nX: 1', '/%EF%BF%BD%0D%0AX:%201'],
    ] as const)
      await calling((response, request) => {
        expect(request.url).to.equal(url)
        response.end()
      }, target)
  })
})
