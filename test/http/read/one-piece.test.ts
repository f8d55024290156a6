/** Answers that leave in one piece: the same bytes as the usual way, and only where that can be. */

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { goesOn, headText, KEEP_ALIVE, sendInOnePiece, tryOnePiece } from '../../../edge/one-piece.ts'
import { send } from '../../../edge/send.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { connections } from '../../../server/connections.ts'
import { ENDLESS } from '../../../server/descriptors.ts'

const FIELDS = ['ETag', '"t"', 'Content-Type', 'text/plain']

describe('answers in one piece', () => {
  let server: Server
  /** How each request was answered. */
  let ways: boolean[] = []
  /** Bytes that the system had not taken at once. */
  let pending = 0

  /** As the response caches do it: `/a/64/cookie` is 64 times that letter, with that cookie. */
  function repeat(request: IncomingMessage, response: ServerResponse): void {
    const [, letter = 'x', size = '0', told] = (request.url ?? '').split('/')
    const cookie = told === undefined ? undefined : decodeURIComponent(told)
    const body = [Buffer.alloc(Number(size), letter)]
    const fields = [...FIELDS, 'Content-Length', size]
    const head = headText(200, fields)
    const way = head !== undefined && sendInOnePiece(request, response, head, body, Number(size), cookie)
    ways.push(way)
    pending = Math.max(pending, request.socket.writableLength)
    if (way) return
    response.writeHead(200, cookie === undefined ? fields : [...fields, 'Set-Cookie', cookie])
    response.end(body[0])
  }

  let answer = repeat
  beforeEach(() => {
    answer = repeat
  })

  before(async () => {
    expect(await tryOnePiece(), 'with this version of Node').to.equal(true)
    const handler: RequestListener = (request, response) => answer(request, response)
    const { handle } = connections(
      { handler, brokenDocument: () => ({ headers: {}, body: '' }), room: ENDLESS },
      undefined,
    )
    server = createServer({ keepAliveTimeout: KEEP_ALIVE }, handle)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  function open(): Socket {
    return connect((server.address() as AddressInfo).port, '127.0.0.1')
  }

  /** Everything that comes back until the server closes the connection. */
  function ask(requests: string): Promise<string> {
    ways = []
    return new Promise((resolve, reject) => {
      let text = ''
      open()
        .setEncoding('latin1')
        .on('data', more => {
          text += more
        })
        .once('end', () => resolve(text))
        .once('error', reject)
        .write(requests)
    })
  }

  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
  const LAST = get('/z/1', 'Connection: close\r\n')
  const withoutDate = (text: string) => text.replaceAll(/Date: [^\r]+/g, 'Date: then')

  for (const path of ['/a/0', '/a/5', '/a/40000', '/a/5/name=value;%20Path=%2F'])
    it(`are byte for byte what Node would write: ${path}`, async () => {
      const quick = await ask(get(path) + LAST)
      expect(ways).to.deep.equal([true, false])
      // As much waits before it as makes it go the usual way.
      const usual = await ask(
        get(path, 'Connection: keep-alive\r\nX-Usual: 1\r\n').replace('HTTP/1.1', 'HTTP/1.0') + LAST,
      )
      expect(ways).to.deep.equal([false, false])
      expect(withoutDate(quick)).to.equal(withoutDate(usual))
      expect(quick).to.match(
        /\r\nDate: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\r\nConnection: keep-alive\r\n/,
      )
    })

  it('are as many as requests came in one go, in their order', async () => {
    const text = await ask(get('/a/3') + get('/b/3') + get('/c/3') + LAST)
    expect(ways).to.deep.equal([true, true, true, false])
    expect(text.match(/\r\n\r\n[a-z]+/g)).to.deep.equal(['aaa', 'bbb', 'ccc', 'z'].map(body => `\r\n\r\n${body}`))
  })

  const USUAL: [name: string, requests: string][] = [
    ['a connection that is to end', LAST],
    ['an HTTP/1.0 client', 'GET /a/3 HTTP/1.0\r\n\r\n'],
    ['much content', get('/a/70000') + LAST],
    ['a cookie that no field can hold', get('/a/3/%C3%A4') + LAST],
    ['a long cookie', get(`/a/3/${'c'.repeat(3000)}`) + LAST],
  ]
  for (const [name, requests] of USUAL)
    it(`go the usual way for ${name}`, async () => {
      const text = await ask(requests)
      expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n/)
      expect(ways[0]).to.equal(false)
    })

  const HEADS: [name: string, status: number, fields: string[]][] = [
    ['a line end in a value', 200, ['A', 'b\r\nC: d']],
    ['a character beyond Latin-1', 200, ['A', '\u0100']],
    ['a name that is none', 200, ['A b', 'c']],
    ['a field of the connection', 200, ['Connection', 'close']],
    ['a coding', 200, ['transfer-encoding', 'chunked']],
    ['a date of its own', 200, ['Date', 'then']],
    ['a status without a name', 799, []],
    ['very many fields', 200, new Array(4000).fill('abcdefghij')],
  ]
  for (const [name, status, fields] of HEADS)
    it(`have no head with ${name}`, () => {
      expect(headText(status, fields)).to.equal(undefined)
    })

  it('stay what they were while a slow client takes them, whoever is answered meanwhile', async () => {
    pending = 0
    const [size, count] = [50_000, 400]
    const slow = open()
    slow.pause()
    slow.write(get(`/Q/${size}`).repeat(count))
    // Until the system takes no more for it.
    while (pending === 0) await ask(get(`/#/${size}`) + LAST)
    for (let i = 0; i < 5; i++) await ask(get(`/#/${size}`) + LAST)
    const seen = new Array<number>(256).fill(0)
    await new Promise<void>(resolve => {
      slow.on('data', chunk => {
        for (const byte of chunk) seen[byte] = (seen[byte] ?? 0) + 1
        if ((seen[0x51] ?? 0) + (seen[0x23] ?? 0) >= size * count) resolve()
      })
      slow.resume()
    })
    slow.destroy()
    expect(seen[0x23], 'of the others').to.equal(0)
  })

  describe('of one request alone', () => {
    const ANSWERS: [name: string, method: string, answer: Answer][] = [
      ['content', 'GET', { status: 200, headers: { ETag: '"t"' }, body: Buffer.from('äöü') }],
      ['a text', 'GET', { status: 404, headers: { 'Content-Type': 'text/plain' }, body: 'ä' }],
      ['one of several pieces', 'GET', { status: 200, headers: {}, body: { pieces: [Buffer.from('a')], size: 1 } }],
      ['bytes beyond ASCII in a field', 'GET', { status: 200, headers: { A: '\u00c3\u00a4' }, body: 'a' }],
      [
        'two fields of one name',
        'GET',
        {
          status: 200,
          headers: {},
          body: 'a',
          repeated: [
            ['A', '1'],
            ['A', '2'],
          ],
        },
      ],
    ]
    for (const [name, method, made] of ANSWERS)
      it(`are byte for byte what Node would write: ${name}`, async () => {
        answer = (request, response) => {
          void send(request, response, { ...made, headers: { ...made.headers } })
          ways.push(!response.headersSent)
        }
        const asked = (version: string, more: string) => `${method} / HTTP/${version}\r\nHost: a\r\n${more}\r\n`
        const quick = await ask(asked('1.1', '') + LAST)
        expect(ways).to.deep.equal([true, false])
        const usual = await ask(asked('1.0', 'Connection: keep-alive\r\n') + LAST)
        expect(ways).to.deep.equal([false, false])
        expect(withoutDate(quick)).to.equal(withoutDate(usual))
      })

    it('go the usual way where there is no content: they leave as one piece anyway', async () => {
      answer = (request, response) => {
        void send(request, response, { status: 204, headers: {} })
        ways.push(!response.headersSent)
      }
      await ask(get('/') + LAST)
      expect(ways).to.deep.equal([false, false])
    })

    const USUAL: [name: string, requests: string][] = [
      ['of which not all has come', `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na`],
      ['that waits for 100 Continue', 'PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n'],
    ]
    for (const [name, requests] of USUAL)
      it(`go the usual way before a body ${name}`, async () => {
        answer = (request, response) => {
          void send(request, response, { status: 401, headers: {}, body: 'a' })
          ways.push(!response.headersSent)
          request.socket.end()
        }
        await ask(requests)
        expect(ways).to.deep.equal([false])
      })
  })

  describe('are tried first, and left alone where Node', () => {
    const WRONG: [name: string, hand: Parameters<typeof goesOn>[0]][] = [
      [
        'writes something else',
        (response, socket) => {
          response.finished = true
          socket.write('HTTP/1.1 200 OK\r\n\r\n', () => response.emit('finish'))
        },
      ],
      [
        'writes something more',
        (response, socket, bytes) => {
          response.finished = true
          socket.write(Buffer.concat([bytes, Buffer.from('x')]), () => response.emit('finish'))
        },
      ],
      [
        'does not take it for ended',
        (response, socket, bytes) => {
          socket.write(bytes, () => response.emit('finish'))
        },
      ],
      ['closes the connection', (_response, socket, bytes) => void socket.end(bytes)],
    ]
    for (const [name, hand] of WRONG)
      it(name, async () => {
        expect(await goesOn(hand)).to.equal(false)
      })
  })
})
