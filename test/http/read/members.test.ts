// biome-ignore-all lint/suspicious/noTemplateCurlyInString: rules look things up this way
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Principal } from '../../../pipeline/access/principal.ts'
import type { Answer } from '../../../pipeline/answer.ts'
import { NO_BODY } from '../../../pipeline/body.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { parseRange } from '../../../pipeline/http/range.ts'
import { perform } from '../../../pipeline/operation.ts'
import { readResource } from '../../../pipeline/read/read.ts'
import { rulesAuthority } from '../../../pipeline/site/rules-authority.ts'
import type { Site } from '../../../pipeline/site/site.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** Reads by somebody who is signed in, below the surface that signs people in. */
describe('reads by members', () => {
  let server: TestServer
  const member: Principal = { sub: 'u-1', email: 'm@example.org', emailVerified: true, roles: [], claims: {} }

  before(async () => {
    server = await startServer()
    await putAll(server, {
      '/team/index.html': page('<p class="open">x</p><p class="shut">y</p>'),
      '/team/style.css': 'p{}',
      '/team/data.json': '{}',
      '/open.html': page('<p>x</p>'),
      '/open.css': 'p{}',
      '/mine/u-1.css': 'p{}',
      '/long.html': page(
        '<ul xmlns:p="https://platform.example/ns/1.0" p:paginate="1"><li>1</li><li class="shut">2</li></ul>',
      ),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/team/*'],
        ['users', 'GET', 'Allow', '/team/*'],
        ['users', 'GET', 'Deny', '/team/*', '.shut'],
        ['*', 'GET', 'Deny', '/mine/*'],
        ['users', 'GET', 'Allow', '/mine/${request.auth.username}.css'],
        ['*', 'GET', 'Deny', '/long.html', '.shut'],
        ['users', 'GET', 'Allow', '/long.html'],
      ),
    })
  })
  after(() => server.close())

  async function read(
    requested: string,
    principal?: Principal,
    range?: string,
    { site }: { site: Site } = server,
    accept?: string,
  ): Promise<Answer | Fault> {
    const facts = { method: 'GET', path: requested, headers: () => undefined, queryString: '' }
    const authority = rulesAuthority(site, { facts, ...(principal && { principal }) })
    const path = requested.endsWith('/') ? `${requested}index.html` : requested
    try {
      const operation = readResource(
        site,
        {
          path,
          requested,
          head: false,
          range: parseRange(range),
          accept,
          acceptEncoding: undefined,
          conditions: undefined,
          ifRange: undefined,
          setsCookie: false,
          cors: false,
        },
        authority,
      )
      return await perform(operation, NO_BODY)
    } catch (error) {
      if (error instanceof Fault) return error
      throw error
    }
  }

  async function cacheOf(path: string, principal?: Principal): Promise<string | undefined> {
    const answer = await read(path, principal)
    return answer instanceof Fault ? String(answer.status) : answer.headers['Cache-Control']
  }

  it('HTTP-3 a refusal of somebody signed in is 403', async () => {
    expect((await read('/team/', undefined)).status).to.equal(401)
    expect((await read('/team/', member, 'selector=.shut')).status).to.equal(403)
    expect((await read('/mine/u-2.css', member)).status).to.equal(403)
  })

  it('members only: any signed-in user reads, tier 1 beats tier 0', async () => {
    expect((await read('/team/', member)).status).to.equal(200)
    expect((await read('/team', member)).status).to.equal(301)
  })

  const caches: [path: string, anonymous: string, signedIn: string][] = [
    ['/open.html', 'no-cache', 'no-cache'],
    ['/open.css', 'public, max-age=300', 'public, max-age=300'],
    ['/team/index.html', '401', 'private, no-cache'],
    ['/team/style.css', '401', 'private, max-age=300'],
    ['/team/data.json', '401', 'private, no-cache'],
    ['/mine/u-1.css', '401', 'private, max-age=300'],
  ]
  for (const [path, anonymous, signedIn] of caches) {
    it(`HTTP-150 PRIV-1 what rules grant only to some is private: ${path}`, async () => {
      expect(await cacheOf(path)).to.equal(anonymous)
      expect(await cacheOf(path, member)).to.equal(signedIn)
    })
  }

  it('HTTP-150 PRIV-1 so is an element', async () => {
    const answer = await read('/team/', member, 'selector=.open')
    expect(answer).not.to.be.instanceOf(Fault)
    if (!(answer instanceof Fault)) {
      expect(answer.status).to.equal(206)
      expect(answer.headers['Cache-Control']).to.equal('private, no-cache')
      expect(answer.headers.Vary).to.equal('Accept, Range, Cookie, Authorization')
    }
  })

  describe('where anonymous visitors may read a part only', () => {
    let closed: TestServer
    before(async () => {
      closed = await startServer({ site: { defaultGet: 'deny' } })
      await putAll(closed, {
        '/part.html': page('<h1 data-state="sold">x</h1><p class="open">y</p>'),
        '/all.html': page('<p class="open">y</p>'),
        '/rules.html': rulesPage(
          ['users', 'GET', 'Allow', '/part.html'],
          ['*', 'GET', 'Allow', '/part.html', '.open'],
          ['*', 'GET', 'Allow', '/all.html'],
        ),
      })
    })
    after(() => closed.close())

    const forms = [undefined, 'multipart/mixed', 'application/ld+json']
    const parts: [path: string, selector: string, anonymous: number, signedIn: string][] = [
      ['/part.html', '[data-state="sold"] + p', 401, 'private, no-cache'],
      ['/part.html', 'h1 + .open', 401, 'private, no-cache'],
      ['/part.html', '.open', 206, 'private, no-cache'],
      ['/part.html', 'h1', 401, 'private, no-cache'],
      ['/all.html', '.open', 206, 'no-cache'],
    ]
    for (const [path, selector, anonymous, signedIn] of parts) {
      it(`PRIV-1 SEC-6 what a selector tells members is not for caches of others: ${selector} of ${path}`, async () => {
        for (const accept of forms) {
          const range = `selector=${selector}`
          expect((await read(path, undefined, range, closed, accept)).status, `anonymous ${accept}`).to.equal(anonymous)
          const answer = await read(path, member, range, closed, accept)
          const caches = answer instanceof Fault ? undefined : answer.headers['Cache-Control']
          expect([answer.status, caches], `member ${accept}`).to.deep.equal([206, signedIn])
        }
      })
    }
  })

  it('PRIV-1 ALL-3 a page of a list is private where another page of it is refused to anonymous visitors', async () => {
    const range = 'selector=li'
    expect((await read('/long.html', undefined, range, server, 'multipart/mixed')).status).to.equal(401)
    const answer = await read('/long.html', member, range, server, 'multipart/mixed')
    expect(answer instanceof Fault ? answer.status : answer.headers['Cache-Control']).to.equal('private, no-cache')
  })

  it('nothing that depends on who asks may be repeated for others', async () => {
    for (const path of ['/team/', '/team/style.css', '/mine/u-1.css', '/open.html', '/open.css']) {
      const answer = await read(path, member)
      expect(answer instanceof Fault ? 'refused' : answer.reuse, path).to.equal(undefined)
    }
    const open = await read('/open.css')
    expect(open instanceof Fault ? 'refused' : open.reuse).to.not.equal(undefined)
  })
})
