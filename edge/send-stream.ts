/** Event streams on sockets. */

import type { ServerResponse } from 'node:http'
import type { Sink } from '../pipeline/answer.ts'

/**
 * Sends the head of a stream, and has it begin: both leave together.
 *
 * @param start begins to write; the stream goes on until either side ends it
 */
export function sendStream(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  start: (sink: Sink) => void,
): void {
  endWithClient(response)
  response.writeHead(status, headers)
  start(sinkOf(response))
}

/** Ends a stream whose client has ended its side: nobody could tell it from one that has gone, and nothing else would end it. */
function endWithClient(response: ServerResponse): void {
  const { socket } = response
  const destroy = () => void response.destroy()
  if (socket?.readableEnded) destroy()
  else socket?.once('end', destroy)
}

function sinkOf(response: ServerResponse): Sink {
  const { socket } = response
  // Events are small and must not wait for one another.
  socket?.setNoDelay(true)
  return {
    write: (bytes, done) => void response.write(bytes, done),
    end() {
      // Nothing else is sent on this connection, so that clients and proxies notice the end at once.
      response.end(() => socket?.end())
    },
    destroy: () => void response.destroy(),
  }
}
