/** Hosts that clients invent: what was asked of their sites keeps none of these in memory when they are closed (SEC-12). */

import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Site } from '../../pipeline/site/site.ts'
import { MOST_EMPTY_SITES } from '../../server/hosting.ts'
import { basic } from '../dav/wire.ts'
import { collect } from '../support/collect.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const ANN = { Authorization: basic('ann', 'a') }
const LIVE = '/.platform/live.mjs'
const LOCK = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`

/** Each is sent to a host of its own, twice: what is kept is found. */
const ASKED: [method: string, path: string, status: number, fields?: Fields, body?: string][] = [
  ['GET', '/', 404, { Range: "selector=:isa('x')" }],
  ['OPTIONS', '/', 200, { Range: "selector=:isa('x')" }],
  ['QUERY', '/', 404, { 'Content-Type': 'text/css-selector' }, ":isa('x')"],
  ['GET', LIVE, 200],
  ['HEAD', LIVE, 200],
  ['GET', '/', 401, { Accept: 'text/event-stream' }],
  ['PROPFIND', '/dav/', 401, { Depth: '1' }],
  ['PROPFIND', '/dav/', 207, { ...ANN, Depth: '1' }],
  ['PROPFIND', '/dav/', 207, { ...ANN, Depth: '0' }],
  ['GET', '/dav/', 200, ANN],
  ['HEAD', '/dav/', 200, ANN],
  ['GET', '/dav/-platform/explain?path=/', 200, ANN],
  ['QUERY', '/dav/', 404, { ...ANN, 'Content-Type': 'text/css-selector' }, ":isa('x')"],
  ['LOCK', '/dav/', 200, ANN, LOCK],
]

describe('sites of invented hosts', () => {
  let server: TestServer
  const open: [what: string, site: WeakRef<Site>][] = []

  /** Nothing of it stays on the stack. */
  async function ask(http: Client, i: number): Promise<void> {
    const [method, path, status, fields = {}, body] = ASKED[i] ?? ['GET', '/', 404]
    const Host = `asked-${i}.wild.localhost`
    const what = `${method} ${path} ${JSON.stringify(fields)}`
    for (let times = 0; times < 2; times++) {
      const answer = await http(method, path, { ...fields, Host }, body)
      if (times === 0) expect(answer.status, what).to.equal(status)
    }
    const site = server.running.hosting.opened(Host)?.site
    if (!site) throw new Error(`${Host} is not open`)
    open.push([what, new WeakRef(site)])
  }

  before(async () => {
    const credentials = [{ user: 'ann', password: 'a' }]
    const sites = [{ host: 'localhost' }, { host: '*.wild.localhost', credentials }]
    server = await startServer({ settings: { mount: { path: '/dav' }, sites } })
    const http = client(server.port)
    for (const i of ASKED.keys()) await ask(http, i)
    const { hosting, mounts } = server.running
    for (let i = 0; i <= MOST_EMPTY_SITES; i++) await hosting.open(`${i}.wild.localhost`)
    await mounts.tend(Date.now())
    await setImmediate()
    collect()
  })
  after(() => server.close())

  for (const [i, [method, path, status, fields = {}]] of ASKED.entries())
    it(`SEC-12 ${i}: ${method} ${path} ${fields.Range ?? fields.Depth ?? ''} ${status} keeps nothing of its site`, () => {
      const [what, site] = open[i] ?? []
      expect(site?.deref(), what).to.equal(undefined)
    })
})
