import { hash, randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { selecting } from '../http/write-checks.ts'
import { composed } from '../pipeline/compose/composing.ts'
import { openStream } from '../pipeline/events/stream-client.ts'
import { newBrowser } from '../server/sign-in/browser.ts'
import { COOKIE, LOGIN, LOGOUT } from '../server/sign-in/fixture.ts'
import { type StubProvider, startStubProvider } from '../server/sign-in/stub-provider.ts'
import { signInAt } from '../server/sign-in/stub-site.ts'
import { NS, page, rulesPage } from '../support/content.ts'
import { connect, type Fields, requestBytes } from '../support/http.ts'
import { at, type Cluster, type Node, startCluster } from './installation.ts'

const CLUB = 'https://club.example/Club'
const ANN = { sub: 'ann', email: 'ann@club.example', email_verified: true }
const SCHEMA =
  page(`<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${CLUB}"><meta itemprop="parent" content="${NS}/Group">
<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="includes">
<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="email"></div>
<div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">email.endsWith(self.suffix)</script></div></div></div>`)
const club = (suffix: string) =>
  page(
    `<div itemscope itemtype="${CLUB}"><meta itemprop="name" content="club"><meta itemprop="suffix" content="${suffix}"></div>`,
  )
const WRITES_PER_MINUTE = 60
const FILES = {
  '/d.html': page('<ul id="l"><li id="a">a</li></ul>'),
  '/own.html': page('own'),
  '/basket.html': composed('<aside id="basket" p:transient>0</aside>'),
  '/one.html': composed('<p:include selector="#basket"/>'),
  '/two.html': composed('<div><p:include selector="#basket"/></div>'),
  '/schema.html': SCHEMA,
  '/club.html': club('@club.example'),
  '/rules.html': rulesPage(
    ['club', 'PUT|POST', 'Allow', '/*'],
    ['*', 'GET', 'Allow', '/*'],
    ['*', 'GET', 'Deny', '/own.html'],
    ['ann', 'GET', 'Allow', '/own.html'],
  ),
}

describe('sessions and their limits over two processes', () => {
  let cluster: Cluster
  let stub: StubProvider
  let one: Node
  let two: Node
  before(async () => {
    stub = await startStubProvider()
    const site = { oidc: { issuer: stub.issuer, clientId: 'site' }, sessionContentMax: 4096 }
    cluster = await startCluster({
      count: 2,
      files: FILES,
      site,
      settings: { limits: { writesPerMinute: WRITES_PER_MINUTE } },
    })
    one = at(cluster, 0)
    two = at(cluster, 1)
  })
  after(async () => {
    await cluster.close()
    await stub.stop()
  })

  async function signedIn(node: Node, cookie?: string): Promise<string> {
    const browser = newBrowser()
    if (cookie !== undefined) browser.setCookie('localhost', COOKIE, cookie)
    await signInAt(node.url, stub, browser, ANN)
    return `${COOKIE}=${browser.cookie('localhost', COOKIE)}`
  }

  /** What one answers to a write whose body comes after something was done at the other. */
  async function meanwhile(
    [method, path, fields]: readonly [string, string, Fields],
    Cookie: string,
    change: () => Promise<unknown>,
  ): Promise<number> {
    const body = '<li id="a">x</li>'
    const connection = await connect(one.server.port)
    const sent = { Cookie, 'Content-Length': String(body.length), Expect: '100-continue' }
    connection.send(requestBytes(method, path, { ...fields, ...sent }))
    expect((await connection.receive()).status).to.equal(100)
    await change()
    connection.send(body)
    const { status } = await connection.receive()
    connection.close()
    return status
  }

  const FORMS = [
    ['PUT', '/new.css', {}],
    ['PUT', '/d.html', selecting('#a')],
    ['POST', '/dir/', {}],
  ] as const

  for (const form of FORMS) {
    it(`DEC-6 SSN-6 who has signed out at one has nothing stored at the other that was on its way: ${form[0]} ${form[1]}`, async () => {
      const cookie = await signedIn(one)
      const signOut = async () => {
        const stream = await openStream({ port: one.server.port }, '/own.html', { Cookie: cookie })
        await stream.until(() => stream.events.length > 0)
        await two.http('GET', LOGOUT, { Cookie: cookie })
        await stream.ended
      }
      expect(await meanwhile(form, cookie, signOut)).to.equal(401)
    })

    it(`DEC-6 SSN-6 so it is before word of the sign-out has come there: ${form[0]} ${form[1]}`, async () => {
      const cookie = await signedIn(one)
      // What a sign-out at another process does, all but its word.
      const signOut = async () => {
        const id = hash('sha256', cookie.slice(COOKIE.length + 1), 'base64url')
        const { admin } = cluster.redis
        expect(await admin.del(...(await admin.keys(`*:sessions:{localhost}:signed:${id}`)))).to.equal(1)
      }
      expect(await meanwhile(form, cookie, signOut)).to.equal(401)
      const [method, path, fields] = form
      expect((await one.http(method, path, { Cookie: cookie, ...fields }, 'x')).status, 'a new write').to.equal(401)
      expect((await one.http('GET', '/own.html', { Cookie: cookie })).status, 'a new read').to.equal(401)
    })

    it(`DEC-6 GRP-5 so has who is in a group no more: ${form[0]} ${form[1]}`, async () => {
      const cookie = await signedIn(two)
      const end = async (suffix: string) =>
        expect((await two.dav('PUT', '/club.html', {}, club(suffix))).status).to.equal(204)
      expect(await meanwhile(form, cookie, () => end('@other.example'))).to.equal(403)
      await end('@club.example')
      expect(await meanwhile(form, cookie, async () => undefined)).to.be.oneOf([201, 200, 206])
    })
  }

  it('SSN-6 a session that has been followed at one is over at the other: it reads and keeps nothing', async () => {
    const first = await one.http('POST', '/one.html', selecting('#basket'), '<i>mine</i>')
    const old = /platform_session=([^;]*)/.exec(first.headers['set-cookie'] ?? '')?.[1] ?? ''
    const next = await signedIn(two, old)
    const stale = { Cookie: `${COOKIE}=${old}` }
    expect((await one.http('GET', '/one.html', { ...stale, ...selecting('#basket') })).text).not.to.include('mine')
    expect((await one.http('GET', '/one.html', { Cookie: next, ...selecting('#basket') })).text).to.include('mine')
    const kept = await one.http('POST', '/one.html', { ...stale, ...selecting('#basket') }, '<i>more</i>')
    if (kept.status !== 409) expect(kept.headers['set-cookie']).to.match(/^platform_session=/)
    expect((await two.http('GET', '/one.html', { Cookie: next, ...selecting('#basket') })).text).not.to.include('more')
  })

  it('COMP-82 a copy that is written at both, through several pages, loses nothing and stays within its size', async () => {
    const cookie = await signedIn(one)
    const pages = ['/one.html', '/two.html', '/basket.html']
    const write = (text: string) =>
      Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          (i % 2 === 0 ? one : two).http('POST', pages[i % 3] ?? '', { Cookie: cookie, ...selecting('#basket') }, text),
        ),
      )
    const text = async () => (await two.http('GET', '/one.html', { Cookie: cookie, ...selecting('#basket') })).text
    expect((await write('<u></u>')).map(({ status }) => status)).to.deep.equal(Array(8).fill(206))
    expect((await text()).match(/<u>/g)).to.have.length(8)
    const large = await write(`<b>${'x'.repeat(1000)}</b>`)
    expect(large.filter(({ status }) => status === 206)).to.have.length(3)
    expect((await text()).match(/<b>/g)).to.have.length(3)
  })

  it('SSN-2 guessed cookies of every length are nobody, at both', async () => {
    for (let i = 0; i < 100; i++)
      for (const bytes of [32, 38, 16]) {
        const Cookie = `${COOKIE}=${randomBytes(bytes).toString('base64url')}`
        const { status, headers } = await (i % 2 === 0 ? one : two).http('GET', '/own.html', { Cookie })
        expect([status, headers['set-cookie'] !== undefined]).to.deep.equal([401, true])
      }
  })

  it('OIDC-6 a login that is begun at one is finished at either, once', async () => {
    const sent = await one.http('GET', LOGIN)
    const cookie = sent.headers['set-cookie']?.split(';')[0]
    const back = stub.callback(new URL(sent.headers.location ?? ''))
    const path = back.pathname + back.search
    // The host is that of the request; both nodes have ports of their own.
    const finish = ({ http }: Node) => http('GET', path, { Cookie: cookie, Host: new URL(one.url).host })
    const all = await Promise.all([one, two, one, two].map(finish))
    expect(all.map(({ status }) => status).sort()).to.deep.equal([302, 400, 400, 400])
  })

  it('HTTP-181 changes of one visitor are counted together', async () => {
    const before = performance.now()
    const all = await Promise.all(
      Array.from({ length: 3 * WRITES_PER_MINUTE }, (_, i) =>
        (i % 2 === 0 ? one : two).http('POST', '/one.html', selecting('#basket'), '<i></i>'),
      ),
    )
    const done = all.filter(({ status }) => status === 206).length
    expect(all.filter(({ status }) => status === 429)).to.have.length(all.length - done)
    expect(done).to.be.at.most(WRITES_PER_MINUTE + Math.ceil((performance.now() - before) / 1000))
  })
})
