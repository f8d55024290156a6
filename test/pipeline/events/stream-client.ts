/** A client of event streams over HTTP that shows everything as it comes. */

import { type IncomingHttpHeaders, request } from 'node:http'
import { PATIENCE } from '../../support/eventually.ts'
import { type Block, blocksOf, eventsOf, type ReceivedEvent } from './event-source.ts'

export interface OpenStream {
  status: number
  headers: IncomingHttpHeaders
  /** Everything that came so far. */
  readonly text: string
  readonly blocks: Block[]
  readonly events: ReceivedEvent[]
  readonly mutations: ReceivedEvent[]
  /** Connection token; fails before the first event. */
  readonly token: string
  /** Settles when a condition holds after something came. @throws when the stream ends before, or nothing comes for 30 s */
  until(isSo: () => boolean): Promise<void>
  /** Settles when the server has ended the stream, with `true` if it was ended in an orderly way. */
  readonly ended: Promise<boolean>
  /** Stops reading, and reads on. */
  pause(): void
  resume(): void
  close(): void
}

/** @param headers sent beside `Accept: text/event-stream`, or instead of it */
export function openStream(
  place: { port: number; address?: string },
  path: string,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const fields = { Accept: 'text/event-stream', Host: 'localhost', ...headers }
    const call = request({ port: place.port, host: place.address ?? '127.0.0.1', path, headers: fields, agent: false })
    call.once('error', reject)
    call.end()
    call.once('response', response => {
      let text = ''
      let isOver = false
      let wake: () => void = () => undefined
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        wake()
      })
      response.on('error', () => undefined)
      const ended = new Promise<boolean>(settle =>
        response.once('close', () => {
          isOver = true
          wake()
          settle(response.complete)
        }),
      )
      const stream: OpenStream = {
        status: response.statusCode ?? 0,
        headers: response.headers,
        get text() {
          return text
        },
        get blocks() {
          return blocksOf(text)
        },
        get events() {
          return eventsOf(text)
        },
        get mutations() {
          return eventsOf(text).filter(({ event }) => event === 'mutation')
        },
        get token() {
          const [first] = eventsOf(text)
          if (!first) throw new Error('there is no token yet')
          return first.data
        },
        async until(isSo) {
          while (!isSo()) {
            if (isOver) throw new Error(`the stream ended: ${JSON.stringify(text)}`)
            await new Promise<void>((come, fail) => {
              const tooLate = () => fail(new Error(`it did not come: ${JSON.stringify(text)}`))
              const timer = setTimeout(tooLate, PATIENCE).unref()
              wake = () => {
                clearTimeout(timer)
                come()
              }
            })
          }
        },
        ended,
        pause: () => void response.pause(),
        resume: () => void response.resume(),
        close: () => call.destroy(),
      }
      resolve(stream)
    })
  })
}

/** Opens a stream and waits for its first event. */
export async function listen(...request: Parameters<typeof openStream>): Promise<OpenStream> {
  const stream = await openStream(...request)
  await stream.until(() => stream.events.length > 0)
  return stream
}
