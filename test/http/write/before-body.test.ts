/** What is settled before a body is read, and events that never come. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, connect, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { eventsOf, leavesAlone, selecting } from '../write-checks.ts'

describe('HTTP-6 elements are found and decided on before anything else happens', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer()
    send = client(server)
    await put(
      server,
      '/rules.html',
      rulesPage(['*', 'PUT', 'Allow', '/a.html', '#mine'], ['*', 'PUT', 'Deny', '/a.html', '#theirs']),
    )
    await put(server, '/a.html', page('<p id="mine">m</p><p id="theirs">t</p>'))
  })
  after(() => server.close())

  const refused: [name: string, selector: string, status: number][] = [
    ['an element that a rule denies', '#theirs', 401],
    ['an element that no rule grants', 'body', 401],
    ['no element', '#nobody', 416],
  ]
  for (const [name, selector, status] of refused) {
    it(`${name}: ${status} instead of the invitation to send the body`, () =>
      leavesAlone(server, ['/a.html'], async () => {
        const connection = await connect({ port: server.port })
        try {
          const fields = { ...selecting(selector), Expect: '100-continue', 'Content-Length': '20' }
          connection.send(requestBytes('PUT', '/a.html', fields, undefined, { port: server.port }))
          expect((await connection.receive()).status).to.equal(status)
        } finally {
          connection.close()
        }
      }))
  }

  it('HTTP-84 a write is announced by its mutation alone, never as a change of a collaborative document', async () => {
    const answer = await send('PUT', '/a.html', selecting('#mine'), '<p id="mine">new</p>')
    expect(answer.status).to.equal(206)
    const events = await eventsOf(server, '/a.html')
    expect(events.map(event => /itemtype="[^"]*\/(\w+)"/.exec(event.payload)?.[1])).to.deep.equal([
      'Mutation',
      'Mutation',
    ])
  })
})
