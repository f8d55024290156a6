import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { NS, page, put, ruleMarkup, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const OPEN = ruleMarkup(['*', '*', 'Allow', '/*'])

describe('rules smuggled by a MOVE that changes the kind', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'POST', 'Allow', '/feed', 'feed'],
        ['*', 'MOVE', 'Allow', '/*'],
        ['*', 'PUT', 'Allow', '/up/*'],
        ['*', 'PUT', 'Allow', '/free.html'],
      ),
    )
  })
  after(() => server.close())
  beforeEach(() => put(server, '/feed', '<feed><entry>a</entry></feed>', 'application/xml'))

  const isShut = async () => expect((await http('PUT', '/secret.html', {}, page('x'))).status).to.equal(401)

  for (const [what, entry] of [
    ['CDATA', `<entry><![CDATA[>${OPEN}]]></entry>`],
    ['a comment', `<entry><!-- > --><!-->${OPEN}--></entry>`],
    ['a processing instruction', `<entry><?x >${OPEN}?></entry>`],
  ] as const)
    it(`SEC-9 hidden from the XML parser in ${what}`, async () => {
      const posted = await http('POST', '/feed', { Range: 'selector=feed' }, entry)
      expect(posted.status).to.be.oneOf([206, 422])
      await http('MOVE', '/feed', { Destination: '/feed.html' })
      await isShut()
      const moved = await http('MOVE', '/feed', { Destination: '/feed.htm' })
      if (posted.status === 206) expect(moved.status).to.equal(401)
      await isShut()
    })

  for (const around of ['<?x >|?>', '<!-->|-->', '<![CDATA[>|]]>'])
    for (const declared of ['on it', 'around it'])
      it(`COMP-147 SEC-9 nor do directives come to life by it: ${around}, declared ${declared}`, async () => {
        await put(server, '/secret.html', page('<b id="secret">TOPSECRET</b>'))
        const prefix = `xmlns:p="${NS}/1.0"`
        const include = `<p:include ${declared === 'on it' ? prefix : ''} selector="#secret"></p:include>`
        await put(server, '/feed', `<feed ${declared === 'on it' ? '' : prefix}></feed>`, 'application/xml')
        const entry = `<entry>${around.replace('|', include)}</entry>`
        expect((await http('POST', '/feed', { Range: 'selector=feed' }, entry)).status).to.equal(206)
        expect((await http('MOVE', '/feed', { Destination: '/feed.html' })).status).to.equal(401)
        expect((await http('MOVE', '/feed', { Destination: '/other.xml' })).status).to.equal(204)
        expect((await http('MOVE', '/other.xml', { Destination: '/free.html' })).status, 'who may PUT').to.equal(204)
      })

  it('SEC-9 in a blob that becomes a page', async () => {
    expect((await http('PUT', '/up/a.txt', { 'Content-Type': 'text/plain' }, page(OPEN))).status).to.equal(201)
    expect((await http('MOVE', '/up/a.txt', { Destination: '/a.html' })).status).to.equal(401)
    await isShut()
  })

  it('SEC-9 nor are rules undone by another name or kind', async () => {
    await put(server, '/kept.html', page('x'))
    await put(server, '/deny.html', rulesPage(['*', 'MOVE', 'Deny', '/kept.html']))
    await http('MOVE', '/deny.html', { Destination: '/deny.txt' })
    const rule = `<r xmlns="http://www.w3.org/1999/xhtml">${ruleMarkup(['*', 'MOVE', 'Deny', '/kept.html'])}</r>`
    await put(
      server,
      '/deny.xml',
      rule.replaceAll(/(<meta [^>]*)>/g, '$1/>').replaceAll(/ (hidden|itemscope)/g, ' $1=""'),
    )
    expect((await http('MOVE', '/deny.xml', { Destination: '/x/<>.html' })).status).to.be.oneOf([400, 401])
    expect((await http('MOVE', '/deny.xml', { Destination: '/deny2.html' })).status).to.equal(401)
    expect((await http('MOVE', '/kept.html', { Destination: '/x.html' })).status).to.equal(401)
  })

  it('SEC-9 whoever may PUT the destination as a whole may bring what it declares', async () => {
    await put(server, '/b.txt', page(ruleMarkup(['*', 'PUT', 'Allow', '/b-open.html'])), 'text/plain')
    expect((await http('MOVE', '/b.txt', { Destination: '/free.html' })).status).to.equal(204)
    expect((await http('PUT', '/b-open.html', {}, page('x'))).status).to.equal(201)
  })

  it('SEC-9 a change of kind that brings no configuration, and another name alone, need no more than before', async () => {
    await put(server, '/plain.txt', page('<p>x</p>'), 'text/plain')
    expect((await http('MOVE', '/plain.txt', { Destination: '/plain.html' })).status).to.equal(204)
    await put(server, '/old.html', rulesPage(['*', 'GET', 'Allow', '/old.html']))
    expect((await http('MOVE', '/old.html', { Destination: '/new.html' })).status).to.equal(204)
  })
})
