/** What is limited for each visitor is limited, however one visitor spells addresses, hosts and paths. */

import { once } from 'node:events'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, putAll, rulesPage } from '../support/content.ts'
import { type Client, type Connection, client, connect, type Fields, requestBytes } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const MOST = 3

/** A table of visitors: all spellings of a row are one of them. */
const VISITORS: readonly (readonly string[])[] = [
  [
    '2001:db8:1:2::1',
    '2001:db8:1:2::2',
    '2001:DB8:1:2:ffff:ffff:ffff:ffff',
    '2001:db8:0001:0002:a::',
    '[2001:db8:1:2::9]:1',
  ],
  ['192.0.2.1', '192.0.2.1:50123', '::ffff:192.0.2.1', '192.0.2.1:1', '::FFFF:192.0.2.1'],
  ['2001:db8:1:3::1', '2001:db8:1:3::', '2001:db8:1:3::3', '2001:db8:1:3:4::', '2001:db8:1:3::5'],
]

describe('one visitor', () => {
  let server: TestServer
  let http: Client
  const open: Connection[] = []

  before(async () => {
    const settings = {
      trustProxy: true,
      limits: { writesPerMinute: MOST },
      sites: [{ host: ['localhost', '*.example'], name: 'localhost', events: { streamsPerAddress: MOST } }],
    }
    server = await startServer({ settings })
    http = client(server.port)
    await putAll(server, {
      '/page.html': page('<ul id="l"></ul>'),
      '/rules.html': rulesPage(['*', '*', 'Allow', '/*.html'], ['*', 'GET|PUT', 'Deny', '/rules.html']),
    })
  })
  after(() => {
    for (const connection of open) connection.close()
    return server.close()
  })

  /** Status of a stream, which stays open. */
  async function stream(fields: Fields): Promise<number> {
    const connection = await connect(server.port)
    open.push(connection)
    connection.send(requestBytes('GET', '/page.html', { Accept: 'text/event-stream', ...fields }))
    const [chunk] = await once(connection.socket, 'data')
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(String(chunk))?.[1])
  }

  /** Spellings of host, path and method that make no difference to who asks. */
  const WRITES: readonly (readonly [method: string, target: string, fields: Fields, body?: string])[] = [
    ['POST', '/page.html', { Range: 'selector=#l' }, '<li>x</li>'],
    ['PUT', '/%70age.html', { Range: 'selector=#l' }, '<ul id="l"></ul>'],
    ['DELETE', '/none.html?x', { Host: 'a.example' }],
    ['PUT', '/PAGE.HTML', { Host: 'B.EXAMPLE:80' }, 'x'],
    ['MOVE', '/page.html', { Destination: '/a/page.html', Host: 'c.example' }],
    ['PATCH', '/page.html', {}, 'x'],
  ]

  for (const [i, addresses] of VISITORS.entries()) {
    it(`EVT-38 has ${MOST} streams of an address, not one more: ${addresses[0]}`, async () => {
      const statuses: number[] = []
      for (const address of addresses) statuses.push(await stream({ 'X-Forwarded-For': `203.0.113.${i}, ${address}` }))
      expect(statuses).to.deep.equal(addresses.map((_, i) => (i < MOST ? 200 : 503)))
    })

    it(`HTTP-181 makes ${MOST} changes in a minute, not one more: ${addresses[0]}`, async () => {
      const statuses: boolean[] = []
      for (const [at, [method, target, fields, body]] of WRITES.entries()) {
        const address = addresses[at % addresses.length]
        const { status } = await http(
          method,
          target,
          { 'X-Forwarded-For': `203.0.113.${at}, ${address}`, ...fields },
          body,
        )
        statuses.push(status === 429)
      }
      expect(statuses).to.deep.equal(WRITES.map((_, at) => at >= MOST))
    })
  }
})
