/** What a visitor does to a transient element never becomes part of the stored page. */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { leavesAlone, selecting, textOf } from '../http/write-checks.ts'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const SHOP =
  page(`<main xmlns:p="${NS}/1.0"><ul id="cart" p:transient><li id="none">Empty</li></ul><p id="text">text</p></main>
<ul id="unbound" p:transient></ul><section xmlns:p="urn:other"><ul id="other" p:transient></ul></section>`)
const RULES = rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/shop.html'])
const XML = `<shop xmlns:p="${NS}/1.0"><cart p:transient=""><item/></cart><rest/></shop>`

describe('Writes to transient elements', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer()
    send = client(server)
    await put(server, '/rules.html', RULES)
  })
  beforeEach(() => put(server, '/shop.html', SHOP))
  after(() => server.close())

  const moving = (selector: string, destination: string, placement: string): Fields => ({
    ...selecting(selector),
    Destination: '/shop.html',
    'Destination-Range': `selector=${destination}; placement=${placement}`,
  })
  const refused: [what: string, method: string, fields: Fields, status: number, body?: string][] = [
    ['PUT on the element', 'PUT', selecting('#cart'), 501, '<ul id="cart"><li>Pen</li></ul>'],
    ['PUT inside', 'PUT', selecting('#none'), 501, '<li>Pen</li>'],
    ['POST into it', 'POST', selecting('#cart'), 501, '<li>Pen</li>'],
    ['POST beside something inside', 'POST', { Range: 'selector=#none; placement=before' }, 501, '<li>Pen</li>'],
    ['DELETE of the element', 'DELETE', selecting('#cart'), 501],
    ['DELETE inside', 'DELETE', selecting('#none'), 501],
    ['MOVE of the element', 'MOVE', moving('#cart', '#text', 'before'), 405],
    ['MOVE out of it', 'MOVE', moving('#none', '#text', 'before'), 405],
    ['MOVE into it', 'MOVE', moving('#text', '#cart', 'append'), 405],
  ]
  for (const [what, method, fields, status, body] of refused)
    it(`COMP-74 COMP-76 ${what} does not change the stored page`, () =>
      leavesAlone(server, ['/shop.html'], async () => {
        expect((await send(method, '/shop.html', fields, body)).status).to.equal(status)
      }))

  it('COMP-74 before and after the element itself are ordinary writes', async () => {
    const fields = { Range: 'selector=#cart; placement=after' }
    expect((await send('POST', '/shop.html', fields, '<p>beside</p>')).status).to.equal(206)
    expect(await textOf(server, '/shop.html')).to.contain('</ul><p>beside</p>')
  })

  it('COMP-12 COMP-14 a prefix that is not bound to the vocabulary marks nothing', async () => {
    for (const selector of ['#unbound', '#other'])
      expect((await send('POST', '/shop.html', selecting(selector), '<li>x</li>')).status, selector).to.equal(206)
  })

  it('COMP-118 XML documents have transient elements, too', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'POST', 'Allow', '/*']))
    await put(server, '/shop.xml', XML)
    await leavesAlone(server, ['/shop.xml'], async () => {
      expect((await send('POST', '/shop.xml', selecting('item'), '<x/>')).status).to.equal(501)
    })
    expect((await send('POST', '/shop.xml', selecting('rest'), '<x/>')).status).to.equal(206)
  })
})
