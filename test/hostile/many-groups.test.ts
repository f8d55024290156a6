/** Many groups that decide by themselves in one document (GRP-5): what one request of somebody signed in takes. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { sessel } from '../pipeline/react/site.ts'
import { NS, page, putAll, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { withEmail } from '../support/visitors.ts'

const GROUPS = 120

const group = (type: string, name: string) =>
  `<div itemscope itemtype="${type}"><meta itemprop="name" content="${name}"><i>x</i></div>`

describe('many groups that decide by themselves', () => {
  let server: TestServer
  let http: Client
  let copies = 0

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    const { site } = server
    const parsed = site.parsed.bind(site)
    site.parsed = file => {
      if (file.resource.path.startsWith('/groups')) copies++
      return parsed(file)
    }
    const parameter = `<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="email"></div>`
    const schema = (type: string, code: string) =>
      `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${type}"><meta itemprop="parent" content="${NS}/Group"><div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="includes">${parameter}${sessel('implementation', code)}</div></div>`
    const ten = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'
    const heavy = `${ten}.map(a => ${ten}.map(b => ${ten}.map(c => ${ten}.map(d => d)))).count() > 0`
    const named = (prefix: string) => Array.from({ length: GROUPS }, (_, i) => `${prefix}${i}`)
    await putAll(server, {
      '/schema.html': page(schema('urn:t:Club', 'email.endsWith("@club.example")') + schema('urn:t:Slow', heavy)),
      '/groups.html': page(
        named('c')
          .map(name => group('urn:t:Club', name))
          .join(''),
      ),
      '/groups-slow.html': page(
        named('s')
          .map(name => group('urn:t:Slow', name))
          .join(''),
      ),
      '/rules.html': rulesPage(
        [named('c').join('|'), 'GET', 'Allow', '/club.html'],
        [`c${GROUPS - 1}`, 'GET', 'Allow', '/last.html'],
        ['*', 'GET', 'Allow', '/kept.html'],
        ['s7', 'GET', 'Deny', '/kept.html'],
        [named('s').join('|'), 'GET', 'Allow', '/slow.html'],
        [`s${GROUPS - 1}`, 'GET', 'Deny', '/slow.html'],
        ['*', 'GET', 'Allow', '/open.html'],
      ),
      '/club.html': page('x'),
      '/last.html': page('x'),
      '/slow.html': page('x'),
      '/kept.html': page('x'),
      '/open.html': page('x'),
    })
    http = client(server.port)
  })
  after(() => server.close())

  const as = (email: string) => withEmail(server, email)

  it('GRP-5 share one copy of their document, and each is asked about its own place', async () => {
    let made = 0
    for (const [email, path, status] of [
      ['a@club.example', '/club.html', 200],
      ['a@x.example', '/club.html', 403],
      ['a@club.example', '/last.html', 200],
      ['a@x.example', '/last.html', 403],
    ] as const) {
      copies = 0
      expect((await http('GET', path, await as(email))).status, `${email} ${path}`).to.equal(status)
      expect(copies, 'copies of the document').to.be.at.most(2)
      made += copies
    }
    expect(made, 'copies of the document for all of them').to.be.at.least(1)
  })

  it('GRP-5 share one copy with those that other requests ask meanwhile, and a new one when it has changed', async () => {
    const [inside, outside] = [await as('a@club.example'), await as('a@x.example')]
    const asked = async (fields: { Cookie: string }, query: string) =>
      (await http('GET', `/club.html?${query}`, fields)).status
    copies = 0
    const many = Array.from({ length: 20 }, (_, i) => asked(i % 2 ? outside : inside, String(i)))
    expect(await Promise.all(many)).to.deep.equal(many.map((_, i) => (i % 2 ? 403 : 200)))
    expect(copies, 'copies of the document').to.be.below(10)
    const before = copies
    await putAll(server, { '/groups.html': page(group('urn:t:Club', 'c1')) })
    expect(await asked(inside, 'new')).to.equal(200)
    expect(copies).to.be.above(before)
  })

  it('GRP-5 DEC-5 refuse their members however many requests ask at once', async () => {
    const fields = await as('a@x.example')
    const many = Array.from({ length: 40 }, (_, i) => http('GET', `/kept.html?${i}`, fields))
    for (const { status } of await Promise.all(many)) expect(status).to.equal(403)
  })

  it('GRP-5 together spend no more than a request may, whatever each of them may', async () => {
    const fields = await as('a@x.example')
    // Those at the end are not asked any more. Whom they refuse is not let in for that.
    expect((await http('GET', '/slow.html', fields)).status).to.equal(403)
    expect((await http('GET', '/open.html', fields)).status, 'what no group decides').to.equal(200)
  })
})
