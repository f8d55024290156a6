/**
 * A raw HTTP/1.1 client: sends exactly the bytes that a test says and shows exactly the bytes that came back, so that
 * spelling, duplicates, order and framing can be tested.
 */

import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** Field lines to send, in order; a list sends one line for each value, undefined sends none. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

/** A response as it came over the wire. */
export interface Received {
  /** `1.1` or `1.0`. */
  version: string
  status: number
  reason: string
  /** Field lines in order, names as spelled, one character per byte. */
  lines: readonly (readonly [name: string, value: string])[]
  /** By lower-case name; several lines of one name are joined by `, `. */
  headers: Readonly<Record<string, string>>
  /** Content, without the framing of chunks. */
  body: Buffer
  /** Content as UTF-8. */
  text: string
}

/** Where a client connects to. */
export interface Place {
  port: number
  /** Address; `127.0.0.1` if not given. */
  address?: string
  /** Address of this machine that the connection comes from. */
  from?: string
  /** Speak TLS and take whatever certificate comes. */
  tls?: boolean
  /** Host name to ask for by TLS, where it is not the address. */
  serverName?: string
  /** Send each request on a connection of its own: of several processes behind one address, any may answer it. */
  once?: boolean
}

/** One connection on which a test says what is sent, byte by byte if it wants. */
export interface Connection {
  readonly socket: Socket
  send(bytes: string | Uint8Array): void
  /**
   * The next response; interim ones (1xx) count.
   *
   * @param options.head it answers a HEAD, so it has no content whatever its fields say
   * @throws when the connection ends before a response is complete
   */
  receive(options?: { head?: boolean }): Promise<Received>
  /** Settles when the server has closed its side or the connection broke. */
  readonly ended: Promise<void>
  close(): void
  /** Whether it is as a new one: no side has ended it, all is sent, and nothing is left of what came. */
  isUnused(): boolean
}

/** Sends one request and resolves with the final response. */
export type Client = (method: string, target: string, fields?: Fields, body?: string | Uint8Array) => Promise<Received>

/**
 * A request that follows an answer at once goes on the same connection, unless the place says otherwise: to make one takes
 * longer than most requests. Later ones are sent on new ones.
 *
 * @param fields sent with every request unless a request has its own; a name in lower case stands for all spellings
 * @returns a client that sends `Host` and, with a body, `Content-Length` unless the test says something else
 */
export function client(place: Place | number, fields: Fields = {}): Client {
  const to = typeof place === 'number' ? { port: place } : place
  const kept: Connection[] = []
  return async (method, target, own = {}, body) => {
    const all = { ...without(fields, own), ...own }
    const connection = taken(kept) ?? (await connect(to))
    let goesOn = false
    try {
      connection.send(requestBytes(method, target, all, body, to))
      for (;;) {
        const received = await connection.receive({ head: method === 'HEAD' })
        if (received.status < 200) continue
        goesOn = !to.once && mayFollow(all, received) && connection.isUnused()
        return received
      }
    } finally {
      if (goesOn) keepForATurn(connection, kept)
      else connection.close()
    }
  }
}

/** Fields with which a test frames a request by hand, or ends its connection. */
const BY_HAND = /^(?:connection|content-length|expect|transfer-encoding|upgrade)$/i

/** @returns whether another request may follow on the connection, as far as a request and its answer tell */
function mayFollow(fields: Fields, { version, headers }: Received): boolean {
  if (Object.keys(fields).some(name => BY_HAND.test(name))) return false
  return version === '1.1' && !/close|upgrade/i.test(headers.connection ?? '')
}

/** @returns the connection that was kept last, if it is as a new one */
function taken(kept: Connection[]): Connection | undefined {
  const last = kept.pop()
  if (last?.isUnused()) return last
  last?.close()
  return undefined
}

/** Beyond the turn in which its answer came nobody has to count with a connection: neither the server's limits, nor its end. */
function keepForATurn(connection: Connection, kept: Connection[]): void {
  kept.push(connection)
  setImmediate(() => {
    const at = kept.indexOf(connection)
    if (at < 0) return
    kept.splice(at, 1)
    connection.close()
  })
}

function without(fields: Fields, own: Fields): Fields {
  const names = new Set(Object.keys(own).map(name => name.toLowerCase()))
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name.toLowerCase())))
}

/** The bytes of a request; what the caller does not say is what any client would send. */
export function requestBytes(
  method: string,
  target: string,
  fields: Fields = {},
  body?: string | Uint8Array,
  place?: Place,
): Buffer {
  const names = new Set(Object.keys(fields).map(name => name.toLowerCase()))
  const lines = [`${method} ${target} HTTP/1.1`]
  if (!names.has('host')) lines.push(`Host: localhost${place ? `:${place.port}` : ''}`)
  for (const [name, value] of Object.entries(fields)) {
    const values = value === undefined ? [] : typeof value === 'string' ? [value] : value
    for (const each of values) lines.push(`${name}: ${each}`)
  }
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(body)
  if (body !== undefined && !names.has('content-length') && !names.has('transfer-encoding'))
    lines.push(`Content-Length: ${content.length}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), content])
}

/** Opens a connection. */
export async function connect(place: Place | number): Promise<Connection> {
  const {
    port,
    address = '127.0.0.1',
    from: localAddress,
    tls,
    serverName,
  } = typeof place === 'number' ? { port: place } : place
  const socket = tls
    ? connectTls({ port, host: address, rejectUnauthorized: false, ...(serverName && { servername: serverName }) })
    : connectPlain({ port, host: address, localAddress })
  await new Promise<void>((resolve, reject) => {
    socket.once(tls ? 'secureConnect' : 'connect', resolve)
    socket.once('error', reject)
  })
  return reader(socket)
}

/** Sends bytes on a connection of their own. @returns the answer, or nothing where the connection just ends */
export async function exchange(
  { port }: { port: number },
  bytes: string | Uint8Array,
  end = false,
): Promise<Received | undefined> {
  const connection = await connect(port)
  connection.send(bytes)
  if (end) connection.socket.end()
  const answer = await connection.receive().catch(() => undefined)
  connection.close()
  return answer
}

/** What has come and was not taken yet; room grows by doubling, so that a long answer is not copied with every chunk. */
class Bytes {
  #room = Buffer.alloc(0)
  #start = 0
  #end = 0

  get all(): Buffer {
    return this.#room.subarray(this.#start, this.#end)
  }

  add(chunk: Buffer): void {
    const length = this.#end - this.#start + chunk.length
    if (this.#end + chunk.length > this.#room.length) this.hold(2 * length)
    chunk.copy(this.#room, this.#end)
    this.#end += chunk.length
  }

  /** Makes room for as many bytes in all. */
  hold(length: number): void {
    const { all } = this
    if (this.#start + length <= this.#room.length) return
    this.#room = Buffer.allocUnsafeSlow(Math.max(16_384, length))
    all.copy(this.#room)
    this.#start = 0
    this.#end = all.length
  }

  drop(length: number): void {
    this.#start += length
  }
}

function reader(socket: Socket): Connection {
  const received = new Bytes()
  let over = false
  let wake = () => {}
  const onOver = () => {
    over = true
    wake()
  }
  socket.on('data', chunk => {
    received.add(chunk)
    wake()
  })
  socket.on('error', onOver)
  socket.on('end', onOver)
  socket.on('close', onOver)
  const ended = new Promise<void>(resolve => {
    socket.once('end', resolve)
    socket.once('close', resolve)
  })
  return {
    socket,
    ended,
    send: bytes => void socket.write(bytes),
    async receive({ head = false } = {}) {
      for (;;) {
        const buffer = received.all
        const found = parseResponse(buffer, head, over)
        if (typeof found === 'number') received.hold(found)
        else {
          received.drop(found.length)
          return found.received
        }
        if (over)
          throw new Error(`the connection ended within a response: ${JSON.stringify(buffer.toString('latin1'))}`)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
    close: () => socket.destroy(),
    isUnused: () => !over && socket.writableLength === 0 && received.all.length === 0,
  }
}

/** Takes the first response off the buffer. @returns while it is incomplete, how many bytes it has at least */
function parseResponse(buffer: Buffer, head: boolean, over: boolean): { received: Received; length: number } | number {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return 0
  const [first = '', ...rest] = buffer.toString('latin1', 0, end).split('\r\n')
  const [, version = '', digits = '', reason = ''] = /^HTTP\/(\d\.\d) (\d{3}) ?(.*)$/.exec(first) ?? []
  if (version === '') throw new Error(`this is no status line: ${JSON.stringify(first)}`)
  const lines = rest.map((line): [string, string] => {
    const colon = line.indexOf(':')
    if (colon < 1) throw new Error(`this is no field line: ${JSON.stringify(line)}`)
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const headers: Record<string, string> = {}
  for (const [name, value] of lines) {
    const key = name.toLowerCase()
    headers[key] = Object.hasOwn(headers, key) ? `${headers[key]}, ${value}` : value
  }
  const status = Number(digits)
  const start = end + 4
  const bodiless = head || status < 200 || status === 204 || status === 304
  const content = bodiless ? { body: Buffer.alloc(0), length: 0 } : contentOf(buffer.subarray(start), headers, over)
  if (!content) return start + Number(headers['content-length'] ?? 0)
  const { body } = content
  let text: string | undefined
  const received = {
    version,
    status,
    reason,
    lines,
    headers,
    body,
    // A long body that nobody reads as text is not worth a turn of the event loop.
    get text() {
      text ??= body.toString('utf8')
      return text
    },
  }
  return { received, length: start + content.length }
}

function contentOf(
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
  over: boolean,
): { body: Buffer; length: number } | undefined {
  if (headers['transfer-encoding'] !== undefined) return chunksOf(bytes)
  const declared = headers['content-length']
  if (declared === undefined) return over ? { body: bytes, length: bytes.length } : undefined
  const length = Number(declared)
  return bytes.length < length ? undefined : { body: bytes.subarray(0, length), length }
}

function chunksOf(bytes: Buffer): { body: Buffer; length: number } | undefined {
  const chunks: Buffer[] = []
  let at = 0
  for (;;) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const start = line + 2
    if (bytes.length < start + size + 2) return undefined
    chunks.push(bytes.subarray(start, start + size))
    at = start + size + 2
    if (size === 0) return { body: Buffer.concat(chunks), length: at }
  }
}

/** The `ETag` of a response; a test that needs one fails without it. */
export function tagOf(received: Received): string {
  const { etag } = received.headers
  if (etag === undefined) throw new Error(`a ${received.status} came without ETag`)
  return etag
}
