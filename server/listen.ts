/** Listeners: HTTP and HTTPS servers with their limits, broken requests answered, and a graceful end. */

import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { KEEP_ALIVE, tryOnePiece } from '../edge/one-piece.ts'
import { expectContinue } from '../edge/request-body.ts'
import { Fault } from '../pipeline/fault.ts'
import { createServer } from '../pipeline/http/node-http.ts'
import { Unusable } from '../pipeline/store/errors.ts'
import { type AnswersByBytes, type BrokenDocument, connections, lastAnswer } from './connections.ts'
import { type ConnectionRoom, ENDLESS } from './descriptors.ts'

export interface ListenOptions {
  host: string
  port: number
  tls?: { cert: string; key: string } | undefined
  /** Other processes listen at the same address, and the system spreads connections over them. */
  reusePort?: boolean
  /** Bytes of a request's head (HTTP-181). */
  headers: number
  /** Milliseconds to wait for a head. */
  headerWait: number
  brokenDocument: BrokenDocument
  /** How a method is refused that no handler is asked about: CONNECT, or one that the parser does not know. */
  notOffered(method: string): Fault
  /** For connections of all listeners together. */
  room?: ConnectionRoom
  /** Absent, all requests are parsed. */
  byBytes?: AnswersByBytes | undefined
}

export interface Listener {
  /** Origin under which it answers, such as `http://localhost:8080`. */
  origin: string
  /**
   * Takes no more requests and ends when the running ones are answered, at the latest after the grace time.
   *
   * @param grace milliseconds
   */
  close(grace: number): Promise<void>
  /**
   * Reads certificate and key anew, for connections from now on.
   *
   * @throws the system's error, or that of the TLS library; then the old ones stay
   */
  renewCertificate(): void
}

/**
 * @param handler answers every request
 * @throws the system's error when the address cannot be had
 */
export async function listen(handler: RequestListener, options: ListenOptions): Promise<Listener> {
  const settings: ServerOptions & { handshakeTimeout: number } = {
    maxHeaderSize: options.headers,
    headersTimeout: options.headerWait,
    // Before both ends have agreed on keys nobody else watches: Node would wait two minutes.
    handshakeTimeout: options.headerWait,
    // Uploads may take as long as they keep moving; bodies have a watch of their own.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE,
    connectionsCheckingInterval: Math.min(5_000, options.headerWait),
    // Requests with a Host of their own are judged by the application, which can answer with a document.
    requireHostHeader: false,
    // Most requests have no body: what Node does to read its end takes a tenth of a repeated answer.
    optimizeEmptyRequests: true,
  }
  const { brokenDocument, room = ENDLESS, byBytes } = options
  const { handle, refused, watch, close } = connections({ handler, brokenDocument, room }, byBytes)
  const server: Server = options.tls
    ? createTlsServer({ ...settings, ...certified(options.tls) }, handle)
    : createServer(settings, handle)
  watch(server, options.tls !== undefined)
  // Whoever has sent all that there is to send may end its side, and is answered all the same; Node would end both. Over TLS it
  // does so anyway.
  if (!options.tls) Object.assign(server, { httpAllowHalfOpen: true })
  // The default cuts heads of more than 2,000 lines off without a word; the size is limited above.
  server.maxHeadersCount = 0
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    expectContinue(request)
    server.emit('request', request, response)
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { headers, body } = brokenDocument(new Fault(417, 'BadRequest', 'The expectation cannot be met.'), request)
    response.writeHead(417, headers).end(body)
  })
  /** Connections that end when an answer has left. */
  const ending = new WeakSet<Duplex>()
  /** Ends a connection behind the answer that it is still busy with. @param endOf makes what ends it */
  const endInTurn = (socket: Duplex, endOf: () => () => void) => {
    const before = refused(socket)
    // Told again of all that still comes.
    if (before && ending.has(socket)) return
    const end = endOf()
    if (!before) return end()
    ending.add(socket)
    before.once('close', end)
  }
  server.on('clientError', (error: BrokenRequest, socket) => {
    // Where it lies, what comes next will lie: of what was refused all is read now.
    endInTurn(socket, () => endOfBroken(error, socket, options))
  })
  server.on('connect', (_request, socket: Duplex) => {
    endInTurn(socket, () => () => endWith(options.notOffered('CONNECT'), socket, options))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: options.port, host: options.host, reusePort: options.reusePort ?? false }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  void tryOnePiece()
  const { port } = server.address() as AddressInfo
  return {
    origin: originOf(options, port),
    close: grace => close(server, grace),
    renewCertificate() {
      const { tls } = options
      if (tls && server instanceof TlsServer) server.setSecureContext(certified(tls))
    },
  }
}

function originOf(options: ListenOptions, port: number): string {
  const anywhere = ['127.0.0.1', '0.0.0.0', '::', '::1', 'localhost'].includes(options.host)
  const host = anywhere ? 'localhost' : options.host.includes(':') ? `[${options.host}]` : options.host
  const standard = options.tls ? 443 : 80
  return `${options.tls ? 'https' : 'http'}://${host}${port === standard ? '' : `:${port}`}`
}

/** What the parser tells of a request that it refused. */
interface BrokenRequest {
  code?: string
  /** What came last, and how much of it was understood. */
  rawPacket?: Buffer
  bytesParsed?: number
}

const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+(?= [^ \r\n]+ HTTP\/1\.[01]\r?\n)/

/** @returns the method of a request whose method alone the parser does not know; undefined for what is no request */
function methodOf({ rawPacket, bytesParsed = 0 }: BrokenRequest): string | undefined {
  const text = rawPacket?.toString('latin1') ?? ''
  const begin = text.lastIndexOf('\n', bytesParsed - 1) + 1
  return REQUEST_LINE.exec(text.slice(begin))?.[0]
}

/** What the first line of a request looks like, and how one begins whose answer has no content. */
const [FIRST_LINE, HEAD] = [/^\S+ .*HTTP\/\d/, 'HEAD ']

/** Whether a request is a HEAD, as far as what came last tells (HTTP-56). */
function isHead({ rawPacket, bytesParsed = 0 }: BrokenRequest): boolean {
  const lines = rawPacket?.toString('latin1', 0, bytesParsed).split('\n') ?? []
  const last = lines.pop() ?? ''
  const line = last.startsWith(HEAD) ? last : lines.findLast(each => FIRST_LINE.test(each))
  return line?.startsWith(HEAD) === true
}

/** What a client gets whose request the parser refused. */
function brokenFault(error: BrokenRequest, { notOffered }: ListenOptions): Fault {
  const { code } = error
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Fault(
      431,
      'HeaderTooLarge',
      'The head of the request is too large. Send fewer or shorter header fields.',
    )
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Fault(408, 'Timeout', 'The request did not arrive in time.')
  const method = code === 'HPE_INVALID_METHOD' ? methodOf(error) : undefined
  if (method !== undefined) return notOffered(method)
  return new Fault(400, 'BadRequest', 'The request is not valid HTTP.')
}

/** @returns what ends a connection whose request was refused */
function endOfBroken(error: BrokenRequest, socket: Duplex, options: ListenOptions): () => void {
  if (error.code === 'ECONNRESET') return () => socket.destroy()
  const [fault, isBare] = [brokenFault(error, options), isHead(error)]
  return () => endWith(fault, socket, options, isBare)
}

/**
 * The last answer on a connection, unless nobody can take it any more.
 *
 * @param isBare without its body
 */
function endWith(fault: Fault, socket: Duplex, { brokenDocument }: ListenOptions, isBare = false): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  // An answer that was begun cannot be followed by another one.
  if (((socket as { _httpMessage?: { headersSent: boolean } })._httpMessage ?? { headersSent: false }).headersSent) {
    socket.destroy()
    return
  }
  socket.end(lastAnswer(fault, brokenDocument, isBare))
  setTimeout(() => socket.destroy(), 1_000).unref()
}

/** @throws Unusable, with the name of the file that is not what it should be */
function certified(files: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  const read = (what: string, file: string) => {
    try {
      return readFileSync(file)
    } catch (error) {
      throw new Unusable(`the TLS ${what} ${file} cannot be read: ${error instanceof Error ? error.message : error}`)
    }
  }
  const [cert, key] = [read('certificate', files.cert), read('key', files.key)]
  const tried: [string, SecureContextOptions][] = [
    [`the TLS certificate ${files.cert} cannot be used`, { cert }],
    [`the TLS key ${files.key} cannot be used`, { key }],
    [`the TLS key ${files.key} does not belong to the certificate ${files.cert}`, { cert, key }],
  ]
  for (const [problem, options] of tried) {
    try {
      createSecureContext(options)
    } catch (error) {
      throw new Unusable(`${problem}: ${error instanceof Error ? error.message : error}`)
    }
  }
  return { cert, key }
}
