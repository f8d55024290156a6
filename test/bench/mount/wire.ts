/** A client that costs as little as can be: prepared bytes out, status, head and content back, on one kept connection. */

import { connect, type Socket } from 'node:net'

export interface Answer {
  status: number
  /** Status line and field lines. */
  head: string
  content: Buffer
}

export interface Wire {
  ask(request: Buffer): Promise<Answer>
  close(): void
}

const END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** @param origin such as `http://127.0.0.1:8080` */
export async function openWire(origin: string): Promise<Wire> {
  const { hostname, port } = new URL(origin)
  const socket: Socket = connect(Number(port), hostname)
  socket.setNoDelay(true)
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let buffer: Buffer = Buffer.alloc(0)
  let chunks: Buffer[] = []
  let missing = 0
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  const fail = () => {
    waiting?.reject(new Error('the connection ended'))
    waiting = undefined
  }
  socket.on('error', fail)
  socket.on('close', fail)
  socket.on('data', (data: Buffer) => {
    // A long answer is put together once, when all of it is there.
    if (missing > data.length) {
      chunks.push(data)
      missing -= data.length
      return
    }
    buffer = buffer.length === 0 && chunks.length === 0 ? data : Buffer.concat([buffer, ...chunks, data])
    chunks = []
    missing = 0
    const found = parse(buffer)
    if (typeof found === 'number') {
      missing = found
      return
    }
    buffer = buffer.subarray(found.length)
    waiting?.resolve(found.answer)
  })
  return {
    ask: request =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) reject(new Error('the connection ended'))
        waiting = { resolve, reject }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

/** @returns the first answer, or how many bytes are known to be missing */
function parse(bytes: Buffer): { answer: Answer; length: number } | number {
  const end = bytes.indexOf(END)
  if (end < 0) return 0
  const head = bytes.toString('latin1', 0, end)
  const start = end + END.length
  const status = Number(head.slice(9, 12))
  if (status === 204 || status === 304) return { answer: { status, head, content: Buffer.alloc(0) }, length: start }
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (declared !== undefined) {
    const length = start + Number(declared)
    if (bytes.length < length) return length - bytes.length
    return { answer: { status, head, content: bytes.subarray(start, length) }, length }
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head))
    return { answer: { status, head, content: Buffer.alloc(0) }, length: start }
  const last = bytes.indexOf(LAST_CHUNK, start)
  if (last < 0) return 0
  return { answer: { status, head, content: bytes.subarray(start, last) }, length: last + LAST_CHUNK.length }
}

/** The bytes of a request. @param headers with `Host` where the server compares it with a `Destination` */
export function request(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer = '',
): Buffer {
  const content = typeof body === 'string' ? Buffer.from(body) : body
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: ${content.length}\r\n\r\n`),
    content,
  ])
}
