/** What pages are told of somebody who is signed in. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, putAll } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { withEmail } from '../../support/visitors.ts'
import { property, schema } from '../model/markup.ts'
import { composed, served } from './composing.ts'

const CLUB = 'urn:t:Club'

describe('Pages and who is signed in', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    const parameter = `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="email"></div>`
    const includes = `<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="includes">${parameter}<script itemprop="implementation" type="text/sessel">email.endsWith("@club.example")</script></div>`
    const group = (type: string, name: string, member = '') =>
      `<div itemscope itemtype="${type}"><meta itemprop="name" content="${name}">${member && `<meta itemprop="member" content="${member}">`}</div>`
    await putAll(server, {
      '/schema.html': page(schema(CLUB, { parent: `${NS}/Group` }, property('name'), includes)),
      '/groups.html': page(group(CLUB, 'club') + group(`${NS}/Group`, 'listed', 'ann@club.example')),
      '/page.html': composed(`<p e:roles="request.auth.roles.join(',')"><p:stamp roles></p:stamp></p>`),
      '/fields.html': composed(
        `<p e:a="request.headers['X-Word']" e:b="request.headers['x-word']"><p:stamp a></p:stamp><p:stamp b></p:stamp></p>`,
      ),
      '/found.html': composed('<p:include selector="[itemprop=auth] > [itemprop=role][content=club]"/>'),
    })
  })
  after(() => server.close())

  const as = (email: string, ...roles: string[]) => withEmail(server, email, ...roles)

  for (const [email, roles] of [
    ['ann@club.example', 'ann@club.example,club,listed,editor,users'],
    ['bob@club.example', 'bob@club.example,club,editor,users'],
    ['eve@x.example', 'eve@x.example,editor,users'],
  ] as const)
    it(`IDC-1 COMP-22 groups that decide by themselves are asked before a page reads them: ${email}`, async () => {
      const { status, text } = await send('GET', '/page.html', await as(email, 'editor'))
      expect([status, text]).to.deep.equal([200, served(`<p>${roles}</p>`)])
    })

  it('IDC-1 COMP-114 the Request document has them, too', async () => {
    expect((await send('GET', '/found.html', await as('bob@club.example'))).status).to.equal(200)
    expect((await send('GET', '/found.html', await as('eve@x.example'))).status).to.equal(404)
    expect((await send('GET', '/page.html')).text).to.equal(served('<p></p>'))
  })

  it('COMP-22 REA-41 fields of the request have names in whatever case', async () => {
    expect((await send('GET', '/fields.html', { 'x-WORD': 'tea' })).text).to.equal(served('<p>teatea</p>'))
  })
})
