import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { failureOf, leavesAlone, selecting } from '../http/write-checks.ts'
import { COOKIE, LOGIN, LOGOUT } from '../server/sign-in/fixture.ts'
import { type StubSite, startStubSite } from '../server/sign-in/stub-site.ts'
import { NS, page, put, putAll, rulesPage } from '../support/content.ts'
import { connect, type Fields, type Received, requestBytes } from '../support/http.ts'

const ANN = { sub: 'ann', email: 'ann@club.example', email_verified: true }
const CLUB = 'https://club.example/Club'

/** A group of those whose address ends as the item of the group says, or as a program does. */
const schema = (program: string) =>
  page(`<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${CLUB}"><meta itemprop="parent" content="${NS}/Group">
<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="includes">
<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="email"></div>
<div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">${program}</script></div></div></div>`)
const group = (suffix: string, before = '') =>
  page(
    `${before}<div itemscope itemtype="${CLUB}"><meta itemprop="name" content="club"><meta itemprop="suffix" content="${suffix}"></div>`,
  )
const rules = (actor: string, methods = 'PUT|POST|DELETE|MOVE') =>
  rulesPage([actor, methods, 'Allow', '/*'], ['*', 'GET', 'Allow', '/*'])

const FORMS: readonly (readonly [method: string, path: string, fields?: Fields])[] = [
  ['PUT', '/d.html'],
  ['PUT', '/x.css'],
  ['PUT', '/d.html', selecting('#a')],
  ['POST', '/d.html', selecting('#l')],
  ['POST', '/dir/'],
  ['POST', '/new.html'],
]

describe('a right that is withdrawn while a body is on its way', () => {
  let site: StubSite
  const url = (path: string) => site.url(path)

  before(async () => {
    site = await startStubSite({ defaultGet: 'allow' })
    await putAll(site.server, {
      '/d.html': page('<ul id="l"><li id="a">a</li></ul>'),
      '/new.html': page('<base href="/made.html">'),
      '/list.html': page('<p>ann@club.example</p>'),
    })
  })
  after(() => site.close())

  /** What becomes of a write of somebody signed in who does something else before the body is there. */
  async function meanwhile(
    [method, path, fields = {}]: (typeof FORMS)[number],
    change: (cookie: string) => Promise<unknown>,
  ): Promise<Received> {
    const browser = await site.as(ANN)
    const cookie = browser.cookie('localhost', COOKIE) ?? ''
    const body = '<li id="a">x</li>'
    const sent = { Cookie: `${COOKIE}=${cookie}`, 'Content-Length': String(body.length), Expect: '100-continue' }
    const connection = await connect(site.server.port)
    connection.send(requestBytes(method, path, { ...fields, ...sent }))
    expect((await connection.receive()).status, `${method} ${path}`).to.equal(100)
    await change(cookie)
    connection.send(body)
    const answer = await connection.receive()
    connection.close()
    return answer
  }

  const refused = async (form: (typeof FORMS)[number], change: (cookie: string) => Promise<unknown>) => {
    const paths = [form[1], '/made.html', '/x.css'].filter(path => !path.endsWith('/'))
    const answer = await leavesAlone(site.server, paths, () => meanwhile(form, change))
    expect(await site.server.site.store.list('/dir/')).to.deep.equal([])
    return failureOf(answer)
  }

  const signOut = (cookie: string) => fetch(url(LOGOUT), { headers: { Cookie: `${COOKIE}=${cookie}` } })

  for (const form of FORMS) {
    const name = form.join(' ').replace('[object Object]', 'of an element')

    it(`DEC-6 SSN-6 the session has been signed out: ${name}`, async () => {
      await put(site.server, '/rules.html', rules('users'))
      expect(await refused(form, signOut)).to.match(/^401 /)
    })

    it(`DEC-6 the method is allowed no more: ${name}`, async () => {
      await put(site.server, '/rules.html', rules('users'))
      const withdraw = () => put(site.server, '/rules.html', rules('users', form[0] === 'POST' ? 'PUT' : 'POST'))
      expect(await refused(form, withdraw)).to.match(/^403 /)
    })

    for (const [what, change] of [
      ['its item', () => put(site.server, '/group.html', group('@other.example'))],
      ['its type', () => put(site.server, '/schema.html', schema('1 == 2'))],
      ['a document that its type looks at', () => put(site.server, '/list.html', page('<p>nobody</p>'))],
    ] as const)
      it(`DEC-6 GRP-5 a group decides otherwise, by ${what}: ${name}`, async () => {
        await startOver()
        expect(await refused(form, change)).to.match(/^403 /)
      })
  }

  async function startOver(): Promise<void> {
    await putAll(site.server, {
      '/list.html': page('<p>ann@club.example</p>'),
      '/schema.html': schema(
        `email.endsWith(self.suffix) && (\${p} from "/list.html").any(each => each.text() == email)`,
      ),
      '/group.html': group('@club.example'),
      '/rules.html': rules('club'),
    })
  }

  it('GRP-5 a change that leaves the group as it is refuses nobody', async () => {
    for (const change of [
      () => put(site.server, '/group.html', group('@club.example', '<p>moved down</p>')),
      () => put(site.server, '/other.css', 'x'),
      () => put(site.server, '/rules.html', `${rules('club')}<!-- again -->`),
    ]) {
      await startOver()
      expect((await meanwhile(['PUT', '/d.html', selecting('#a')], change)).status).to.equal(206)
      expect((await meanwhile(['PUT', '/made.html'], change)).status).to.be.oneOf([200, 201])
    }
  })

  it('OIDC-10 whoever signs in again meanwhile has to save again: the old session is dead', async () => {
    await put(site.server, '/rules.html', rules('users'))
    const again = async (cookie: string) => {
      const sent = await fetch(url(LOGIN), { redirect: 'manual', headers: { Cookie: `${COOKIE}=${cookie}` } })
      site.stub.lies = { claims: ANN }
      const back = site.stub.callback(new URL(sent.headers.get('location') ?? ''))
      await fetch(back, { redirect: 'manual', headers: { Cookie: `${COOKIE}=${cookie}` } })
    }
    expect(await refused(['PUT', '/d.html'], again)).to.match(/^401 /)
  })
})
