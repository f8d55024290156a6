/** Writes stay inside the place they were granted for, whatever their markup does to the page. */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { leavesAlone, selecting } from '../write-checks.ts'

const PAGE = page('<main><div id="open"></div><p id="note">a note <b>here</b></p></main>\n<footer>the end</footer>')
const RULES = rulesPage(
  ['*', 'POST', 'Allow', '/open.html', '#open, #note'],
  ['*', 'POST', 'Allow', '/own.html', '#open, #note'],
  ['*', 'PUT', 'Allow', '/own.html'],
)

describe('A write is granted for its place (HTTP-24, KEY-1)', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer()
    send = client(server)
    await put(server, '/rules.html', RULES)
  })
  beforeEach(async () => {
    await put(server, '/open.html', PAGE)
    await put(server, '/own.html', PAGE)
  })
  after(() => server.close())

  const beyond: [name: string, selector: string, fragment: string][] = [
    ['markup that swallows the rest of the page', '#open', '<plaintext>'],
    ['a block that ends the paragraph around it', '#note', '<div>block</div>'],
  ]
  for (const [name, selector, fragment] of beyond) {
    it(`${name} is 422 for those who may only add there`, () =>
      leavesAlone(server, ['/open.html'], async () => {
        const answer = await send('POST', '/open.html', selecting(selector), fragment)
        expect(answer.status).to.equal(422)
      }))
    it(`${name} is stored for those who may write the whole page`, async () => {
      expect((await send('POST', '/own.html', selecting(selector), fragment)).status).to.equal(206)
    })
  }

  it('other markup that needs its tags written anew stays possible', async () => {
    const answer = await send('POST', '/open.html', selecting('#open'), '<p>one<p>two <b>open')
    expect(answer.status).to.equal(206)
    expect((await send('GET', '/open.html')).text).to.contain('<footer>the end</footer>')
  })
})
