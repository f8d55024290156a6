import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { schema } from '../pipeline/compose/site-of-one-case.ts'
import { NS, page, put, rulesPage } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const part = (selector: string): Fields => ({ Range: `selector=${selector}` })
const answer = (id: string) => `<li id="${id}" itemscope itemtype="${NS}/PollResponse"><b itemprop="vote">yes</b></li>`

describe('every type below the vocabulary as configuration', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(
      server,
      '/rules.html',
      rulesPage(
        ['*', 'PUT|POST|DELETE', 'Allow', '/{poll,removable}.html', '*'],
        ['*', 'MOVE', 'Allow', '/poll.html'],
        ['*', 'DELETE', 'Allow', '/removable.html'],
      ),
    )
    await put(
      server,
      '/types.html',
      page(
        `<div itemscope itemtype="${NS}/Schema"><b itemprop="type">https://x.example/Hook</b>` +
          `<meta itemprop="parent" content="${NS}/Trigger"></div>`,
      ),
    )
    const includes = { name: 'includes', returns: `${NS}/Boolean`, sessel: 'true' }
    await put(server, '/hosts.html', schema('https://x.example/Hosts', [includes], `${NS}/Group`))
  })
  after(() => server.close())
  beforeEach(() =>
    put(
      server,
      '/poll.html',
      page(
        `<ul id="list">${answer('one')}</ul><ul id="two"></ul>` +
          `<div id="t" itemscope itemtype="${NS}/Other ${NS}/Trigger" itemref="far"><p id="in"><b id="field" itemprop="method">PUT</b></p></div>` +
          '<p id="far"><i id="value" itemprop="resource">/x.html</i></p>' +
          '<div id="hook" itemscope itemtype="https://x.example/Hook"><i id="h">x</i></div>' +
          '<ul id="hosts" itemscope itemtype="https://x.example/Hosts"></ul>',
      ),
    ),
  )

  const into = (selector: string, moved = '#one'): Fields => ({
    ...part(moved),
    Destination: '/poll.html',
    'Destination-Range': `selector=${selector}; placement=append`,
  })
  for (const [what, status, method, fields, body] of [
    ['posts', 206, 'POST', part('#list'), answer('new')],
    ['replaces', 206, 'PUT', part('#one'), answer('one')],
    ['changes a field of', 206, 'PUT', part('#one b'), '<b itemprop="vote">no</b>'],
    ['moves', 204, 'MOVE', into('#two'), undefined],
    ['deletes', 204, 'DELETE', part('#one'), undefined],
  ] as const)
    it(`SEC-8 a visitor whom the rules permit ${what} an item of the site's own type`, async () => {
      expect((await http(method, '/poll.html', fields, body)).status).to.equal(status)
    })

  for (const [what, status, method, fields, body] of [
    ['posts a trigger', 422, 'POST', part('#list'), `<li itemscope itemtype="${NS}/Trigger"></li>`],
    ['posts code', 422, 'POST', part('#list'), `<li itemscope itemtype="${NS}/Sessel"></li>`],
    ['posts an outbound request', 422, 'POST', part('#list'), `<li itemscope itemtype="${NS}/HttpRequest"></li>`],
    ['posts a type derived from one', 422, 'POST', part('#list'), '<li itemscope itemtype="https://x.example/Hook">'],
    ['changes a field inside a trigger', 422, 'PUT', part('#field'), '<b itemprop="method">GET</b>'],
    ['posts into a trigger', 422, 'POST', part('#in'), '<b itemprop="method">GET</b>'],
    ['changes a field inside a derived one', 422, 'PUT', part('#h'), '<b>y</b>'],
    ['changes what a trigger refers to', 422, 'PUT', part('#value'), '<i itemprop="resource">/y.html</i>'],
    ['takes the id that a trigger refers to', 401, 'DELETE', part('#far'), undefined],
    [
      'brings the id that a trigger refers to',
      422,
      'PUT',
      part('#list'),
      '<ul><li id="far" itemprop="resource">/y</ul>',
    ],
    ['deletes a trigger', 401, 'DELETE', part('#t'), undefined],
    ['moves something into a trigger', 401, 'MOVE', into('#in', '#one b'), undefined],
    ['posts into a group that decides by what it holds', 422, 'POST', part('#hosts'), '<li>a.example</li>'],
    ['moves something into one', 401, 'MOVE', into('#hosts'), undefined],
    ['posts an enumeration', 422, 'POST', part('#list'), '<li itemscope itemtype="https://schema.org/Enum"></li>'],
  ] as const)
    it(`SEC-8 a visitor who may write every part ${what}: refused`, async () => {
      const type = (await server.site.settings).schemaHost
      const sent = body?.replace('https://schema.org', type)
      expect((await http(method, '/poll.html', fields, sent)).status).to.equal(status)
    })

  it('SEC-8 the right to DELETE the whole is none to bring configuration', async () => {
    const trigger = `<li id="t" itemscope itemtype="${NS}/Trigger"></li>`
    await put(server, '/removable.html', page(`<ul id="list">${trigger}</ul>`))
    expect((await http('POST', '/removable.html', part('#list'), trigger)).status).to.equal(422)
    expect((await http('PUT', '/removable.html', part('#t'), trigger)).status).to.equal(422)
    expect((await http('DELETE', '/removable.html', part('#t'))).status).to.equal(204)
  })
})
