/** Directives that end with their start tag are inside of each other for HTML, whose depth is limited (COMP-7, HTTP-181). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { composed } from './composing.ts'

describe('Many directives that end with their start tag', () => {
  let server: TestServer
  let send: Client
  before(async () => {
    server = await startServer()
    send = client(server)
    await put(server, '/rules.html', rulesPage(['*', 'GET|PUT', 'Allow', '*']))
  })
  after(() => server.close())
  const store = (body: string) => send('PUT', '/page.html', { 'Content-Type': 'text/html' }, composed(body))

  it('COMP-7 450 in one parent are composed, each by itself', async () => {
    expect((await store(`<main e:x="1">${'<p:stamp x/>'.repeat(450)}</main>`)).status).to.equal(201)
    expect((await send('GET', '/page.html')).text).to.contain(`<main>${'1'.repeat(450)}</main>`)
  })

  it('COMP-7 HTTP-181 600 are refused, and the refusal says how they are written', async () => {
    const { status, text } = await store(`<main e:x="1">${'<p:stamp x/>'.repeat(600)}</main>`)
    expect(status).to.equal(422)
    const said = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>')
    expect(said).to.contain('HTML does not end <p:stamp/> there: write <p:stamp></p:stamp>.')
    const closed = await store(`<main>${'<p:stamp x></p:stamp>'.repeat(600)}</main>`)
    expect(closed.status).to.be.within(200, 204)
  })

  it('HTTP-181 what is nested for another reason is not told of prefixes, whatever stands behind it', async () => {
    for (const behind of ['', '<p:stamp x/>']) {
      const { status, text } = await store(`${'<div>'.repeat(600)}${behind}`)
      expect([status, text.includes('HTML does not end')], behind).to.deep.equal([422, false])
    }
  })
})
