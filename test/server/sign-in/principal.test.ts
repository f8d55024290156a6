import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { NS, page, put, putAll, rulesPage } from '../../support/content.ts'
import type { Browser } from './browser.ts'
import { newBrowser } from './browser.ts'
import { type StubSite, startStubSite } from './stub-site.ts'

const ALICE = { sub: 'u-7', email: 'alice@example.com', email_verified: true, name: 'Alice' }

function group(name: string, ...members: string[]): string {
  const metas = members.map(member => `<meta itemprop="member" content="${member}">`).join('')
  return `<div hidden itemscope itemtype="${NS}/Group"><meta itemprop="name" content="${name}">${metas}</div>`
}

describe('principals', () => {
  let site: StubSite

  before(async () => {
    site = await startStubSite()
    await putAll(site.server, {
      '/groups.html': page(group('staff', 'alice@example.com', 'carol@example.com') + group('users', 'x@example.com')),
    })
  })
  after(() => site.close())

  let number = 0
  /** A page that only those may read whom the actor names. */
  async function pageFor(actor: string): Promise<string> {
    const path = `/for-${++number}.html`
    await putAll(site.server, {
      [path]: page('<p>secret</p>'),
      [`/rules${path}`]: rulesPage(['*', 'GET', 'Deny', path], [actor, 'GET', 'Allow', path]),
    })
    return site.url(path)
  }
  const status = async (browser: Browser, url: string) => (await browser.get(url)).status

  describe('ACT-2 ACT-3 who matches what', () => {
    const cases: [actor: string, claims: Record<string, unknown>, allowed: boolean][] = [
      ['u-7', ALICE, true],
      ['u-8', ALICE, false],
      ['U-7', ALICE, false],
      ['alice@example.com', ALICE, true],
      ['Alice@example.com', ALICE, false],
      ['alice@example.com', { ...ALICE, email_verified: 'true' }, true],
      ['alice@example.com', { ...ALICE, email_verified: false }, false],
      ['alice@example.com', { ...ALICE, email_verified: 'True' }, false],
      ['alice@example.com', { ...ALICE, email_verified: 1 }, false],
      ['alice@example.com', { ...ALICE, email_verified: undefined }, false],
      ['Alice', ALICE, false],
      ['alice', { ...ALICE, preferred_username: 'alice' }, false],
      ['users', { sub: 'x' }, true],
      ['authenticated', { sub: 'x' }, true],
      [':username', { sub: 'x' }, true],
      ['staff', ALICE, true],
      ['staff', { ...ALICE, email_verified: false }, false],
      ['staff', { sub: 'x', roles: ['staff'] }, true],
      ['role:staff', ALICE, true],
      ['role:u-7', ALICE, false],
      ['editors', { sub: 'x', roles: ['editors', 'writers'] }, true],
      ['role:writers', { sub: 'x', roles: ['editors', 'writers'] }, true],
      ['editors', { sub: 'x', roles: 'editors writers' }, true],
      ['editors', { sub: 'x', roles: { editors: true } }, false],
      ['editors', { sub: 'x', roles: [['editors']] }, false],
      ['editors', { sub: 'x', roles: 'editors,writers' }, false],
      ['editors', { sub: 'x', groups: ['editors'] }, false],
    ]
    for (const [actor, claims, allowed] of cases) {
      it(`OIDC-5 ${actor} ${allowed ? 'is' : 'is not'} ${JSON.stringify(claims)}`, async () => {
        const url = await pageFor(actor)
        expect(await status(await site.as(claims), url)).to.equal(allowed ? 200 : 403)
        expect(await status(newBrowser(), url)).to.equal(401)
      })
    }
  })

  it('OIDC-5 roles from another claim, also a nested or a namespaced one', async () => {
    const claims: [rolesClaim: string, claims: Record<string, unknown>][] = [
      ['groups', { groups: ['boss'] }],
      ['realm_access.roles', { realm_access: { roles: ['boss'] } }],
      ['https://example.com/roles', { 'https://example.com/roles': ['boss'] }],
    ]
    for (const [rolesClaim, more] of claims) {
      const own = await startStubSite({}, { rolesClaim })
      try {
        await putAll(own.server, {
          '/boss.html': page('x'),
          '/rules.html': rulesPage(['*', 'GET', 'Deny', '/boss.html'], ['boss', 'GET', 'Allow', '/boss.html']),
        })
        const boss = await own.as({ sub: 'x', ...more })
        expect(await status(boss, own.url('/boss.html')), rolesClaim).to.equal(200)
        const other = await own.as({ sub: 'x', roles: ['boss'] })
        expect(await status(other, own.url('/boss.html')), rolesClaim).to.equal(403)
      } finally {
        await own.close()
      }
    }
  })

  describe('refusals', () => {
    it('DENY-1 401 for anonymous, 403 for signed-in visitors, whatever the method', async () => {
      const url = await pageFor('somebody-else')
      const alice = await site.as(ALICE)
      const requests: [method: string, headers: Record<string, string>, body?: string][] = [
        ['GET', {}],
        ['HEAD', {}],
        ['GET', { Range: 'selector=p' }],
        ['GET', { Range: 'selector=#none' }],
        ['GET', { Accept: 'text/event-stream' }],
        ['PUT', {}, 'x'],
        ['PUT', { Range: 'selector=p' }, '<p>y</p>'],
        ['POST', { Range: 'selector=body' }, '<p>y</p>'],
        ['DELETE', {}],
        ['DELETE', { Range: 'selector=p' }],
        ['MOVE', { Destination: '/elsewhere.html' }],
        ['PATCH', {}, 'x'],
        ['QUERY', { 'Content-Type': 'text/css-selector' }, 'p'],
      ]
      for (const [method, headers, body] of requests) {
        const name = `${method} ${JSON.stringify(headers)}`
        expect((await newBrowser().send(method, url, headers, body)).status, name).to.equal(401)
        expect((await alice.send(method, url, headers, body)).status, name).to.equal(403)
      }
    })

    it('DENY-3 the document: same shape, no login link, never stored', async () => {
      const url = await pageFor('somebody-else')
      const { text, headers } = await (await site.as(ALICE)).get(url)
      expect(text).to.include(`<body itemscope itemtype="${NS}/1.0/Error">`)
      expect(text).to.include('<h1>403 Forbidden</h1>')
      expect(text).to.match(/<p itemprop="message">[^<]*permission/)
      expect(text).to.include(`<dd itemprop="resource">${new URL(url).pathname}</dd>`)
      expect(text).to.include('oidc/logout?redirect-post=').and.not.include('oidc/login')
      expect(headers.get('cache-control')).to.equal('no-store')
      for (const name of ['etag', 'last-modified', 'www-authenticate']) expect(headers.get(name), name).to.equal(null)
    })

    it('DENY-4 it does not depend on whether the target exists', async () => {
      await put(site.server, '/hidden-rules.html', rulesPage(['*', 'GET', 'Deny', '/hidden/*']))
      await put(site.server, '/hidden/present.html', page('x'))
      const alice = await site.as(ALICE)
      const there = await alice.get(site.url('/hidden/present.html'))
      const absent = await alice.get(site.url('/hidden/absent.html'))
      expect(there.status).to.equal(403)
      expect(there.text).to.equal(absent.text.replaceAll('absent.html', 'present.html'))
    })

    it('DENY-1 a stale cookie gives 401, not 403', async () => {
      const url = await pageFor('somebody-else')
      const alice = await site.as(ALICE)
      const cookie = alice.cookie('localhost', 'platform_session') ?? ''
      await alice.get(site.url('/-platform/oidc/logout'))
      const stale = newBrowser()
      stale.setCookie('localhost', 'platform_session', cookie)
      const refused = await stale.get(url)
      expect(refused.status).to.equal(401)
      expect(refused.headers.getSetCookie()).to.have.length(1)
    })
  })

  describe('groups', () => {
    it('GRP-6 membership counts from the next request, roles from the next sign-in', async () => {
      const url = await pageFor('club')
      const alice = await site.as({ ...ALICE, roles: ['other'] })
      expect(await status(alice, url)).to.equal(403)
      await put(site.server, '/club.html', page(group('club', 'alice@example.com')))
      expect(await status(alice, url)).to.equal(200)
      await put(site.server, '/club.html', page(group('club', 'bob@example.com')))
      expect(await status(alice, url)).to.equal(403)
      await site.as({ ...ALICE, roles: ['club'] }, alice)
      expect(await status(alice, url)).to.equal(200)
    })
  })

  describe('lookups', () => {
    it('LOOK-2 an own area by user name', async () => {
      await put(
        site.server,
        '/own-rules.html',
        rulesPage(['users', 'PUT', 'Allow', `/users/\${request.auth.username}/*`]),
      )
      const star = await site.as({ sub: 'a*' })
      expect((await star.send('PUT', site.url('/users/a*/x.txt'), {}, 'x')).status).to.equal(201)
      expect((await star.send('PUT', site.url('/users/ab/x.txt'), {}, 'x')).status).to.equal(403)
      expect((await newBrowser().send('PUT', site.url('/users//x.txt'), {}, 'x')).status).to.equal(400)
    })

    it('LOOK-3 LOOK-7 own elements by email', async () => {
      const path = '/board.html'
      await putAll(site.server, {
        [path]: page('<p data-owner="alice@example.com">a</p><p data-owner="bob@example.com">b</p>'),
        '/board-rules.html': rulesPage(['users', 'DELETE', 'Allow', path, `[data-owner="\${request.auth.email}"]`]),
      })
      const alice = await site.as(ALICE)
      const remove = (owner: string) =>
        alice.send('DELETE', site.url(path), { Range: `selector=[data-owner="${owner}"]` })
      expect((await remove('bob@example.com')).status).to.equal(403)
      expect((await remove('alice@example.com')).status).to.equal(204)
    })
  })

  describe('OPTIONS', () => {
    it('CAP-1 tells each visitor what they may do', async () => {
      const path = '/cap.html'
      await putAll(site.server, { [path]: page('x'), '/cap-rules.html': rulesPage(['staff', 'PUT', 'Allow', path]) })
      const allow = async (browser: Browser) => (await browser.send('OPTIONS', site.url(path))).headers.get('allow')
      expect(await allow(newBrowser())).to.equal('GET, HEAD, OPTIONS')
      expect(await allow(await site.as(ALICE))).to.equal('GET, HEAD, PUT, OPTIONS')
      expect(await allow(await site.as({ sub: 'x' }))).to.equal('GET, HEAD, OPTIONS')
    })
  })

  describe('other planes and pages', () => {
    it('MNT-3 an Authorization header changes nothing for who is signed in', async () => {
      const url = await pageFor('u-7')
      const alice = await site.as(ALICE)
      for (const value of ['Basic ZWRpdG9yOng=', 'Bearer x', 'Nonsense', 'Basic !!!'])
        expect((await alice.get(url, { Authorization: value })).status, value).to.equal(200)
    })

    it('MNT-4 the mount takes no session cookie, and gives none', async () => {
      const alice = await site.as(ALICE)
      const { status, headers } = await alice.get(`${site.server.mountUrl}/groups.html`)
      expect(status).to.equal(401)
      expect(headers.get('www-authenticate')).to.match(/^Basic realm=/)
      expect(headers.getSetCookie()).to.deep.equal([])
    })

    it('SEC-3 HTTP-167 a write from a foreign page is decided as anonymous, and the session stays', async () => {
      await put(site.server, '/mine-rules.html', rulesPage(['u-7', 'PUT', 'Allow', '/mine/*']))
      const alice = await site.as(ALICE)
      const write = (headers: Record<string, string>) => alice.send('PUT', site.url('/mine/x.txt'), headers, 'x')
      expect((await write({ Origin: 'https://evil.example' })).status).to.equal(401)
      expect((await write({ 'Sec-Fetch-Site': 'cross-site' })).status).to.equal(401)
      expect((await write({ Origin: site.server.url, 'Sec-Fetch-Site': 'same-origin' })).status).to.equal(201)
      expect((await write({})).status).to.equal(200)
    })
  })
})

describe('what is kept for repetition, and who signed in', () => {
  let site: StubSite

  before(async () => {
    site = await startStubSite()
    await putAll(site.server, {
      '/open.html': page('open'),
      '/members.html': page('<p>members</p>'),
      '/not-for-users.html': page('x'),
      '/asset.css': 'p{}',
      '/members.css': 'p{}',
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/members.*'],
        ['users', 'GET', 'Allow', '/members.*'],
        ['users', 'GET', 'Deny', '/not-for-users.html'],
      ),
    })
  })
  after(() => site.close())

  it('PRIV-1 a signed-in visitor never gets what was kept for anonymous ones, nor the other way round', async () => {
    const alice = await site.as({ sub: 'alice' })
    const nobody = newBrowser()
    for (let i = 0; i < 4; i++) {
      expect((await nobody.get(site.url('/members.html'))).status).to.equal(401)
      expect((await alice.get(site.url('/members.html'))).status).to.equal(200)
      expect((await nobody.get(site.url('/not-for-users.html'))).status).to.equal(200)
      expect((await alice.get(site.url('/not-for-users.html'))).status).to.equal(403)
      expect((await alice.get(site.url('/open.html'))).status).to.equal(200)
      expect((await nobody.get(site.url('/open.html'))).headers.getSetCookie()).to.have.length(0)
    }
  })

  it('PRIV-1 what only members may read is private, blobs included; what everybody may read is not', async () => {
    const alice = await site.as({ sub: 'alice' })
    for (let i = 0; i < 3; i++) {
      const control = async (path: string) => (await alice.get(site.url(path))).headers.get('cache-control')
      expect(await control('/members.css')).to.equal('private, max-age=300')
      expect(await control('/members.html')).to.equal('private, no-cache')
      expect(await control('/asset.css')).to.equal('public, max-age=300')
      expect(await control('/open.html')).to.equal('no-cache')
    }
  })

  it('PRIV-3 who lost the right gets the refusal, not 304', async () => {
    await put(site.server, '/lost.html', page('x'))
    const alice = await site.as({ sub: 'alice' })
    const { headers } = await alice.get(site.url('/lost.html'))
    const condition = { 'If-None-Match': headers.get('etag') ?? '' }
    expect((await alice.get(site.url('/lost.html'), condition)).status).to.equal(304)
    await put(site.server, '/lost-rules.html', rulesPage(['alice', 'GET', 'Deny', '/lost.html']))
    expect((await alice.get(site.url('/lost.html'), condition)).status).to.equal(403)
  })

  it('SSN-6 signing out counts from the next request on, however hot the page is', async () => {
    const alice = await site.as({ sub: 'alice' })
    for (let i = 0; i < 3; i++) expect((await alice.get(site.url('/members.html'))).status).to.equal(200)
    await alice.get(site.url('/-platform/oidc/logout'))
    expect((await alice.get(site.url('/members.html'))).status).to.equal(401)
  })

  it('SSN-5 hot pages of anonymous visitors do not touch where sessions are kept', async () => {
    const { store } = site.server.running
    const nobody = newBrowser()
    await nobody.get(site.url('/open.html'))
    const touched: string[] = []
    const { note, notes, changeNotes } = store
    const spied = <A extends unknown[], R>(name: string, call: (...given: A) => R) => {
      return (...given: A) => {
        touched.push(name)
        return call(...given)
      }
    }
    Object.assign(store, {
      note: spied('note', note),
      notes: spied('notes', notes),
      changeNotes: spied('changeNotes', changeNotes),
    })
    try {
      for (let i = 0; i < 5; i++) {
        await nobody.get(site.url('/open.html'))
        await newBrowser().get(site.url('/open.html'))
        await nobody.get(site.url('/members.html'))
        await nobody.send('PUT', site.url('/open.html'), {}, 'x')
      }
      expect(touched).to.deep.equal([])
    } finally {
      Object.assign(store, { note, notes, changeNotes })
    }
  })

  it('SSN-4 when sessions cannot be reached, reads go on as anonymous, and changes of the signed-in are 409', async () => {
    const alice = await site.as({ sub: 'alice' })
    const cookie = alice.cookie('localhost', 'platform_session')
    const { store } = site.server.running
    const { note } = store
    Object.assign(store, {
      note: () => {
        throw new Error('the disk is gone')
      },
    })
    try {
      for (let i = 0; i < 2; i++) {
        const open = await alice.get(site.url('/open.html'))
        expect([open.status, open.headers.getSetCookie().length]).to.deep.equal([200, 0])
        expect((await alice.get(site.url('/members.html'))).status).to.equal(401)
        expect((await alice.send('OPTIONS', site.url('/open.html'))).status).to.equal(200)
        for (const method of ['PUT', 'POST', 'DELETE', 'MOVE', 'PATCH']) {
          const { status, text } = await alice.send(method, site.url('/open.html'), {}, 'x')
          expect(status, method).to.equal(409)
          expect(text).to.include('NoSession')
        }
        expect((await alice.get(site.url('/-platform/oidc/login'))).status).to.equal(503)
        expect((await newBrowser().send('PUT', site.url('/open.html'), {}, 'x')).status).to.equal(401)
      }
    } finally {
      Object.assign(store, { note })
    }
    expect((await alice.get(site.url('/members.html'))).status, 'the sign-in is still there').to.equal(200)
    expect(alice.cookie('localhost', 'platform_session')).to.equal(cookie)
  })
})
