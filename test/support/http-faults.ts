/** A proxy in front of a service that speaks HTTP, which breaks what tests tell it to break. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Transform } from 'node:stream'

/** What becomes of a request: each is carried out or not, and answered or not. */
export type Fault =
  /** Answered with this status and code, in place of the service. */
  | { status: number; code: string }
  /** The answer is cut off after so many bytes of its body; with none, before its head. */
  | { cut: number }
  /** One byte of what is sent becomes another. */
  | { corrupt: 'request' }
  /** Fields of the answer say something else. */
  | { fields: Readonly<Record<string, string>> }
  /** Never answered. */
  | { swallow: true }

export interface FaultProxy {
  port: number
  /** Methods and targets of all requests so far, and bytes of bodies that were sent back for them. */
  seen: { method: string; target: string; range: string | undefined; bytes: number }[]
  /** Breaks the next requests that match. @param times how many of them */
  break(what: RegExp, fault: Fault, times?: number): void
  /** Breaks nothing any more. */
  mend(): void
  close(): Promise<void>
}

/** Changes the first byte that goes through. */
function corrupting(): Transform {
  let isDone = false
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      const changed = Buffer.from(bytes)
      if (!isDone) changed[0] = (changed[0] ?? 0) ^ 1
      isDone = true
      done(null, changed)
    },
  })
}

export async function startFaultProxy(target: number): Promise<FaultProxy> {
  let faults: { what: RegExp; fault: Fault; times: number }[] = []
  const seen: FaultProxy['seen'] = []

  function faultFor(asked: string): Fault | undefined {
    const found = faults.find(({ what, times }) => times > 0 && what.test(asked))
    if (found === undefined) return undefined
    found.times--
    return found.fault
  }

  function answer(from: IncomingMessage, to: ServerResponse, fault: Fault | undefined, note: { bytes: number }): void {
    if (fault !== undefined && 'cut' in fault && fault.cut === 0) return void to.destroy()
    to.writeHead(from.statusCode ?? 500, { ...from.headers, ...(fault && 'fields' in fault && fault.fields) })
    let left = fault !== undefined && 'cut' in fault ? fault.cut : Number.POSITIVE_INFINITY
    from.on('data', (bytes: Buffer) => {
      const part = bytes.subarray(0, left)
      left -= part.length
      note.bytes += part.length
      if (!to.write(part)) {
        from.pause()
        to.once('drain', () => from.resume())
      }
      if (left === 0) to.destroy()
    })
    from.on('end', () => to.end())
    from.on('error', () => to.destroy())
    to.on('close', () => from.destroy())
  }

  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    const note = { method, target: url, range: headers.range, bytes: 0 }
    seen.push(note)
    const fault = faultFor(`${method} ${url}`)
    incoming.on('error', () => undefined)
    if (fault !== undefined && 'swallow' in fault) return void incoming.resume()
    if (fault !== undefined && 'status' in fault) {
      incoming.resume()
      const body = `<?xml version="1.0"?><Error><Code>${fault.code}</Code><Message>so it is said</Message></Error>`
      outgoing.writeHead(fault.status, { 'Content-Type': 'application/xml' }).end(body)
      return
    }
    const forwarded = request({ port: target, host: '127.0.0.1', method, path: url, headers, agent: false }, from =>
      answer(from, outgoing, fault, note),
    )
    // Some services end the head of an answer without body with what a parser does not expect.
    forwarded.on('error', () => {
      if (!outgoing.headersSent) outgoing.destroy()
    })
    if (fault !== undefined && 'corrupt' in fault) incoming.pipe(corrupting()).pipe(forwarded)
    else incoming.pipe(forwarded)
    outgoing.on('close', () => forwarded.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    break: (what, fault, times = 1) => void faults.push({ what, fault, times }),
    mend() {
      faults = []
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
