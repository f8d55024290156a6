import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { schema } from '../pipeline/model/markup.ts'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openSession } from '../support/visitors.ts'

const DESK = 'urn:t:Desk'

const method = (name: string, type: string, source: string) =>
  `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="${name}"><meta itemprop="static" content="true">` +
  `<div itemprop="implementation" itemscope itemtype="${NS}/${type}"><script itemprop="source">${source}</script></div></div>`

describe('What stored code learns of the request that calls it', () => {
  let server: TestServer
  let send: Client
  let Cookie = ''

  before(async () => {
    server = await startServer()
    send = client(server)
    const told = '[request.auth.username, request.auth.claims.email, request.query.a, Context.request.auth.username]'
    const script = 'export default () => [Context.request.auth?.username ?? null, Context.request.query.a ?? null]'
    const methods = [method('told', 'Sessel', told), method('shown', 'JavaScript/Module', script)]
    await put(server, '/schema.html', page(schema(DESK, {}, ...methods)))
    await put(server, '/rules.html', rulesPage(['*', 'GET|QUERY', 'Allow', '/*']))
    Cookie = await openSession(server, { sub: 'ann', email: 'ann@example.org' })
  })
  after(() => server.close())

  const ask = (program: string) =>
    send('QUERY', '/?a=1', { Cookie, 'Content-Type': 'text/sessel' }, `@schema D url("${DESK}"); ${program}`)

  it('SES-182 is the request', async () => {
    expect((await ask('[D.told(), D.shown()]')).text).to.equal('[["ann","ann@example.org","1","ann"],["ann","1"]]')
  })

  for (const forged of [
    'request.auth.username = "boss"',
    'request.auth.claims.email = "boss@example.org"',
    'request["auth"]["roles"] = ["admin"]',
    'request.query.a = 2',
    'request.params.a = 2',
    'Context.request = { auth: { username: "boss" }, query: {} }',
    'Context["request"] = null',
    'Context.request.auth.username = "boss"',
  ])
    it(`SES-43 SES-182 a program that is sent does not say what it is: ${forged}`, async () => {
      const refused = await ask(`${forged}; [D.told(), D.shown()]`)
      expect(refused.status).to.equal(400)
      const caught = await ask(`try { ${forged} } catch (e) { null }; [D.told(), D.shown()]`)
      expect(caught.text).to.equal('[["ann","ann@example.org","1","ann"],["ann","1"]]')
    })

  it('SES-43 what else it notes in Context, and in copies, is its own', async () => {
    const program =
      'Context.note = 1; let own = request.auth.merge({ username: "me" }); own.a = 2; [Context.note, own.username, own.a]'
    expect((await ask(program)).text).to.equal('[1,"me",2]')
  })
})
