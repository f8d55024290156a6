import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { explainRequest } from '../../pipeline/explain-request.ts'
import { schema } from '../pipeline/model/markup.ts'
import { NS, page, put, ruleMarkup, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const OPEN = rulesPage(['*', 'PUT', 'Allow', '/open.html'])
const TRIGGER = `<div itemscope itemtype="${NS}/Trigger"><b itemprop="method">PUT</b></div>`

describe('documents in which declarations count', () => {
  let server: TestServer
  let http: Client
  let author: Client
  let limited: Client

  before(async () => {
    const credentials = [
      { user: 'author', password: 'author' },
      { user: 'limited', password: 'limited', scope: ['/*'], configure: false },
    ]
    server = await startServer({ site: { declarationsIn: ['/_config/*'], credentials } })
    http = client(server.port)
    const port = Number(new URL(server.mountUrl).port)
    const as = (user: string) =>
      client(port, { Authorization: `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}` })
    author = as('author')
    limited = as('limited')
    await put(
      server,
      '/_config/rules.html',
      rulesPage(['*', 'POST', 'Allow', '/wall.html', '#w'], ['*', 'MOVE|DELETE', 'Allow', '/*']),
    )
    await put(server, '/wall.html', page('<ul id="w"></ul>'))
  })
  after(() => server.close())
  beforeEach(async () => {
    for (const path of ['/_config/moved.html', '/_config/in/', '/open.html']) await author('DELETE', path)
    await put(server, '/text.html', OPEN)
  })

  const isOpen = async () => (await http('PUT', '/open.html', {}, page('x'))).status !== 401
  const to = (path: string) => ({ Destination: server.mountUrl + path })

  it('SEC-10 rules elsewhere are text, and explain says so', async () => {
    expect(await isOpen()).to.equal(false)
    const answer = await explainRequest(server.site, { method: 'PUT', path: '/open.html', roles: [] })
    expect(answer.allowed).to.equal(false)
    expect(answer.findings).to.deep.equal([
      '/text.html: the setting `declarationsIn` leaves its path out, so what it declares is text',
    ])
  })

  it('SEC-10 rules begin and end to count as their document comes and goes', async () => {
    expect((await author('MOVE', '/text.html', to('/_config/moved.html'))).status).to.equal(201)
    expect(await isOpen()).to.equal(true)
    expect((await author('MOVE', '/_config/moved.html', to('/away.html'))).status).to.be.oneOf([201, 204])
    expect(await isOpen()).to.equal(false)
    await author('MKCOL', '/_config/in/')
    await put(server, '/text.html', OPEN)
    expect((await author('COPY', '/text.html', to('/_config/in/copy.html'))).status).to.equal(201)
    expect(await isOpen()).to.equal(true)
    expect((await author('DELETE', '/_config/in/')).status).to.equal(204)
    expect(await isOpen()).to.equal(false)
  })

  it('SEC-10 a collection with rules that is moved to where they count brings them', async () => {
    await put(server, '/out/deep/rules.html', OPEN)
    expect((await author('MOVE', '/out/', to('/_config/in/'))).status).to.equal(201)
    expect(await isOpen()).to.equal(true)
  })

  it('SEC-10 RULE-12 one with rules of a type that its own schema makes brings them as well, and takes them along', async () => {
    expect(await isOpen()).to.equal(false)
    await put(server, '/out/model.html', page(schema('x:Rule', { parent: `${NS}/AuthorizationRule` })))
    await put(server, '/out/rules.html', OPEN.replaceAll(`${NS}/AuthorizationRule`, 'x:Rule'))
    for (const [from, place, open] of [
      ['/out/', '/_config/in/', true],
      ['/_config/in/', '/out/', false],
    ] as const) {
      expect((await author('MOVE', from, to(place))).status).to.equal(201)
      expect(await isOpen(), place).to.equal(open)
    }
    expect((await author('COPY', '/out/', to('/_config/in/'))).status).to.equal(201)
    expect(await isOpen()).to.equal(true)
    expect((await author('DELETE', '/_config/in/')).status).to.equal(204)
    expect(await isOpen()).to.equal(false)
    expect((await author('DELETE', '/out/')).status).to.equal(204)
  })

  it('SEC-10 what is text may be written by whoever may write there', async () => {
    const item = `<li>${ruleMarkup(['*', 'PUT', 'Allow', '/open.html'])}${TRIGGER}</li>`
    expect((await http('POST', '/wall.html', { Range: 'selector=#w' }, item)).status).to.equal(206)
    expect((await limited('PUT', '/text.html', {}, OPEN.replace('PUT', 'POST'))).status).to.equal(204)
    expect(await isOpen()).to.equal(false)
  })

  it('SEC-10 text does not become configuration by a move of those who may not configure', async () => {
    expect((await http('MOVE', '/text.html', { Destination: '/_config/moved.html' })).status).to.equal(401)
    await put(server, '/trigger/t.html', page(TRIGGER))
    for (const [method, from, place] of [
      ['MOVE', '/text.html', '/_config/moved.html'],
      ['COPY', '/text.html', '/_config/moved.html'],
      ['MOVE', '/trigger/', '/_config/in/'],
      ['COPY', '/trigger/', '/_config/in/'],
      ['MOVE', '/_config/rules.html', '/away2.html'],
    ] as const) {
      const answer = await limited(method, from, to(place))
      expect(answer.status, `${method} ${from}`).to.equal(403)
    }
    expect((await limited('COPY', '/_config/rules.html', to('/text-copy.html'))).status).to.equal(201)
    expect(await isOpen()).to.equal(false)
  })
})
