import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { NS, page, put, type RuleLine, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { openSession } from '../../support/visitors.ts'
import { failureOf, leavesAlone, moving, selecting } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li><li id="b">b</li></ul>')

/** Who may come: user name, and what the provider says of them. */
interface Person {
  sub: string
  email?: string
  verified?: boolean
  roles?: string[]
}

describe('rules and who is signed in', () => {
  let server: TestServer
  let http: Client
  const cookies = new Map<string, string>()

  before(async () => {
    server = await startServer()
    http = client(server.port)
  })
  after(() => server.close())
  beforeEach(() => put(server, '/doc.html', DOC))

  /** The fields of a request by somebody; nobody in particular without. */
  async function as(person: Person | undefined): Promise<Fields> {
    if (!person) return {}
    const known = cookies.get(JSON.stringify(person))
    if (known !== undefined) return { Cookie: known }
    const { sub, email, verified = true, roles = [] } = person
    const claims = { sub, ...(email !== undefined && { email, email_verified: verified }) }
    const cookie = await openSession(server, claims, roles)
    cookies.set(JSON.stringify(person), cookie)
    return { Cookie: cookie }
  }

  const rules = (...lines: RuleLine[]) => put(server, '/rules.html', rulesPage(...lines))
  const writes: [name: string, method: string, fields: Fields][] = [
    ['PUT', 'PUT', {}],
    ['PUT of an element', 'PUT', selecting('#a')],
    ['PUT of nothing', 'PUT', selecting('#x')],
    ['POST of an element', 'POST', selecting('#l')],
    ['POST beside nothing', 'POST', selecting('#x', 'before')],
    ['DELETE', 'DELETE', {}],
    ['DELETE of an element', 'DELETE', selecting('#a')],
    ['PATCH', 'PATCH', {}],
    ['MOVE', 'MOVE', { Destination: '/other.html' }],
    ['MOVE of an element', 'MOVE', moving('/doc.html', '#a', '#b', 'after')],
  ]
  for (const [name, method, fields] of writes) {
    it(`DENY-1 ${name}: 401 for anonymous visitors, 403 for those signed in`, async () => {
      await rules()
      for (const [person, failure] of [
        [undefined, '401 /doc.html'],
        [{ sub: 'u-1' }, '403 /doc.html'],
      ] as const) {
        const visitor = await as(person)
        const answer = await leavesAlone(server, ['/doc.html'], () =>
          http(method, '/doc.html', { ...fields, ...visitor }, DOC),
        )
        expect(failureOf(answer)).to.equal(failure)
      }
    })
  }

  describe('tiers (worked example)', () => {
    const lines: RuleLine[] = [
      ['editors', 'PUT', 'Allow', '/doc.html'],
      ['suspended', 'PUT', 'Deny', '/doc.html'],
      ['u-7', 'PUT', 'Allow', '/doc.html'],
      ['*', 'PUT', 'Deny', '/doc.html'],
    ]
    const people: [name: string, person: Person | undefined, status: number][] = [
      ['a member of editors', { sub: 'u-1', roles: ['editors'] }, 200],
      ['a member of editors and suspended', { sub: 'u-2', roles: ['editors', 'suspended'] }, 403],
      ['u-7, a member of suspended', { sub: 'u-7', roles: ['suspended'] }, 200],
      ['signed in, no group', { sub: 'u-3' }, 403],
      ['anonymous', undefined, 401],
    ]
    for (const [name, person, status] of people) {
      it(`DEC-1 ${name}: ${status}`, async () => {
        await rules(...lines)
        expect((await http('PUT', '/doc.html', await as(person), DOC)).status).to.equal(status)
      })
    }
  })

  it('ACT-3 a verified email counts, one that is not verified does not', async () => {
    await rules(['e@x.example', 'PUT', 'Allow', '/doc.html'])
    const put200 = async (person: Person) => (await http('PUT', '/doc.html', await as(person), DOC)).status
    expect(await put200({ sub: 'u-1', email: 'e@x.example' })).to.equal(200)
    expect(await put200({ sub: 'u-2', email: 'e@x.example', verified: false })).to.equal(403)
    expect(await put200({ sub: 'e' })).to.equal(403)
  })

  it('LOOK-1 own area: a name is taken literally, whatever it looks like', async () => {
    await rules(['users', 'PUT', 'Allow', `/users/\${request.auth.username}/*`])
    const visitor = await as({ sub: 'a*' })
    expect((await http('PUT', '/users/a*/x.html', visitor, DOC)).status).to.equal(201)
    expect(failureOf(await http('PUT', '/users/ab/x.html', visitor, DOC))).to.equal('403 /users/ab/x.html')
    expect(failureOf(await http('PUT', '/users/a*/x.html', {}, DOC))).to.equal('401 /users/a*/x.html')
    expect((await http('PUT', '/users/b/x.html', await as({ sub: 'b' }), DOC)).status).to.equal(201)
    expect((await http('MOVE', '/users/b/x.html', { ...visitor, Destination: '/users/a*/y.html' })).status).to.equal(
      403,
    )
  })

  it('RULE-11 membership of a group counts from the next request on, both ways', async () => {
    const group = (...members: string[]) =>
      page(
        `<div itemscope itemtype="${NS}/Group"><meta itemprop="name" content="staff">${members
          .map(member => `<meta itemprop="member" content="${member}">`)
          .join('')}</div>`,
      )
    await rules(['staff', 'POST', 'Allow', '/doc.html', '#l'])
    const visitor = await as({ sub: 'u-9', email: 'nine@x.example' })
    const append = async () =>
      (await http('POST', '/doc.html', { ...selecting('#l'), ...visitor }, '<li>x</li>')).status
    await put(server, '/group.html', group('other@x.example'))
    expect(await append()).to.equal(403)
    await put(server, '/group.html', group('other@x.example', 'nine@x.example'))
    expect(await append()).to.equal(206)
    await put(server, '/group.html', group())
    expect(await append()).to.equal(403)
  })

  it('ACT-1 nothing but the session makes a principal', async () => {
    await rules(['u-7', 'PUT', 'Allow', '/doc.html'])
    const basic = `Basic ${Buffer.from('u-7:x').toString('base64')}`
    for (const fields of [
      { Authorization: basic },
      { Authorization: 'Bearer u-7' },
      { 'X-Remote-User': 'u-7' },
      { Cookie: 'platform_session=u-7' },
      { Cookie: 'user=u-7; platform_session=' },
    ]) {
      expect(failureOf(await http('PUT', '/doc.html', fields, DOC))).to.equal('401 /doc.html')
    }
  })

  it('HTTP-167 a write from a foreign page is nobody’s, whatever cookie it brings', async () => {
    await rules(['u-7', 'PUT|POST|DELETE|MOVE', 'Allow', '/doc.html'])
    const visitor = await as({ sub: 'u-7' })
    const foreign: Fields[] = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://localhost:1' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ]
    for (const fields of foreign) {
      for (const [method, more] of [
        ['PUT', {}],
        ['POST', selecting('#l')],
        ['DELETE', selecting('#a')],
        ['MOVE', { Destination: '/x.html' }],
      ] as const) {
        const answer = await leavesAlone(server, ['/doc.html'], () =>
          http(method, '/doc.html', { ...visitor, ...fields, ...more }, DOC),
        )
        expect(failureOf(answer), JSON.stringify(fields)).to.equal('401 /doc.html')
      }
    }
    const own = { Origin: server.url, 'Sec-Fetch-Site': 'same-origin' }
    expect(
      (await http('PUT', '/doc.html', { ...visitor, ...own, Host: new URL(server.url).host }, DOC)).status,
    ).to.equal(200)
  })

  it('COMP-147 the right to PUT the whole is that of the requester', async () => {
    await rules(['*', 'POST', 'Allow', '/doc.html', '#l'], ['editors', 'PUT', 'Allow', '/doc.html'])
    const rule = `<li itemscope itemtype="${NS}/AuthorizationRule"></li>`
    const append = (visitor: Fields) => http('POST', '/doc.html', { ...selecting('#l'), ...visitor }, rule)
    expect(failureOf(await append({}))).to.equal('422 InvalidFragment')
    expect(failureOf(await append(await as({ sub: 'u-1' })))).to.equal('422 InvalidFragment')
    expect((await append(await as({ sub: 'u-1', roles: ['editors'] }))).status).to.equal(206)
  })
})
