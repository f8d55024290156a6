/** A server that does nothing but answer: what Node itself can do with the same bytes. Runs in a process of its own. */

import { createServer } from 'node:http'

/** What it answers, from the environment: bytes of the body and status. */
const size = Number(process.env.BARE_SIZE ?? 0)
const status = Number(process.env.BARE_STATUS ?? 200)
const body = Buffer.alloc(size, 'x')

const server = createServer((request, response) => {
  const answer = () => {
    response.writeHead(status, status === 304 ? {} : { 'Content-Type': 'text/html', 'Content-Length': size })
    response.end(status === 304 ? undefined : body)
  }
  if (request.method === 'GET') answer()
  else {
    request.on('end', answer)
    request.resume()
  }
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(`ready http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
