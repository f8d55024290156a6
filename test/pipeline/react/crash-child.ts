/**
 * A server in a process of its own, which its parent kills: argument 1 is the folder of its data, 2 the address to
 * call, 3 the address of Redis where there are several processes.
 */

import { put } from '../../support/content.ts'
import { startServer } from '../../support/server.ts'
import { OPEN, page, request, sessel, trigger } from './site.ts'

const [data = '', url = '', redis] = process.argv.slice(2)
const server = await startServer({ data, site: { allowOutbound: true }, ...(redis && { settings: { redis } }) })
if (url !== '') {
  await put(server, '/rules.html', OPEN)
  const action = request('action', { body: 'x' }, sessel('url', `"${url}" + Context.request.path`))
  await put(server, '/t.html', page(trigger({ method: 'PUT', resource: '/d/*', action })))
}
process.stdout.write(`${server.url}\n`)
