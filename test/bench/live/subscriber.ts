/** Subscribers of an event stream as bare sockets, so that two thousand of them cost the measuring side little. */

import { connect, type Socket } from 'node:net'

export interface Subscriber {
  /** Calls a function with everything that comes, decoded piece by piece. */
  onText(listener: (text: string) => void): void
  close(): void
}

/** Opens one stream; settles when its first event is there. */
export function subscribe(base: string, path: string): Promise<Subscriber> {
  const { hostname, port, host } = new URL(base)
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname === 'localhost' ? '127.0.0.1' : hostname)
    let head = ''
    let listener: ((text: string) => void) | undefined
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/event-stream\r\n\r\n`)
    socket.on('data', (text: unknown) => {
      if (listener) listener(String(text))
      if (head === 'done') return
      head += String(text)
      if (!head.includes('event: platform-connection')) {
        if (head.includes('\r\n\r\n') && !head.startsWith('HTTP/1.1 200')) reject(new Error(head.split('\r\n', 1)[0]))
        return
      }
      head = 'done'
      resolve({
        onText: told => {
          listener = told
        },
        close: () => socket.destroy(),
      })
    })
    socket.once('error', reject)
  })
}

/** Opens many, some at a time. */
export async function subscribeAll(base: string, path: (n: number) => string, count: number): Promise<Subscriber[]> {
  const open: Subscriber[] = []
  const AT_ONCE = 100
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => subscribe(base, path(from + i)))
    open.push(...(await Promise.all(some)))
  }
  return open
}
