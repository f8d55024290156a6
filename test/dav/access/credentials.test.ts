/** Who may use a mount, for what, and what strangers learn (webdav.md section 1, authorization.md section 16). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { Credential } from '../../../config/site-schema.ts'
import { createGatekeeper } from '../../../dav/access/credentials.ts'
import { createLoginThrottles, type LoginThrottle } from '../../../dav/access/login-throttle.ts'
import { localRateLimits } from '../../../pipeline/coordination/local/rate-limits.ts'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { basic, changesNothing, list, outcomeOf, propertyUpdate, startWire, to, type Wire } from '../wire.ts'

const KEY = 'a2V5LWZvci1kZXBsb3ltZW50cw'
const credentials = [
  { user: 'chief', password: 'colon:in:it', scope: ['/*'], write: true },
  { user: 'Zoë', password: 'pässwörd', scope: ['/*'], write: true },
  { user: 'reader', password: 'reading', scope: ['/*'], write: false },
  { user: 'blogger', password: 'blogging', scope: ['/blog/*'], write: true },
  { user: 'deeper', password: 'digging', scope: ['/shop/a/*', '/notes.txt'], write: true },
  { user: 'robot', key: KEY, scope: ['/*'], write: true },
]
const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'

const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64')

describe('credentials over the wire', () => {
  let wire: Wire
  let as: (user: string) => Client
  before(async () => {
    wire = await startWire({ site: { credentials } })
    as = user =>
      client(wire.port, { Authorization: basic(user, credentials.find(each => each.user === user)?.password ?? '') })
    await put(wire.server, '/rules.html', rulesPage(['*', '*', 'Deny', '/*']))
    await put(wire.server, '/doc.html', page('<p id="p">p</p>'))
    for (const path of ['/blog/a.html', '/shop/a/x.html', '/shop/b/y.html', '/shop/z.html'])
      await put(wire.server, path, page(path))
    await put(wire.server, '/notes.txt', 'notes')
    await put(wire.server, '/secret/plan.txt', 'plan')
  })
  after(() => wire.server.close())

  const ALLOWED: [name: string, authorization: string][] = [
    ['Basic with colons in the password', basic('chief', 'colon:in:it')],
    ['the scheme in any case', `bAsIC ${encoded('chief:colon:in:it')}`],
    ['UTF-8', basic('Zoë', 'pässwörd')],
    ['Latin-1 of clients that know no UTF-8', `Basic ${encoded(Buffer.from('Zoë:pässwörd', 'latin1'))}`],
    ['decomposed letters', basic('Zoë'.normalize('NFD'), 'pässwörd')],
    ['without padding', `Basic ${encoded('chief:colon:in:it').replace(/=+$/, '')}`],
    ['a Windows domain', basic('DOMAIN\\chief', 'colon:in:it')],
    ['a Windows domain with two backslashes', basic('DOMAIN\\\\chief', 'colon:in:it')],
    ['Bearer with a password', 'Bearer colon:in:it'],
    ['Bearer with a key', `Bearer ${KEY}`],
    ['bearer in lower case', `bearer ${KEY}`],
    ['a key as password', basic('robot', KEY)],
  ]
  for (const [name, Authorization] of ALLOWED)
    it(`DAV-3 MNT-1 lets in ${name}`, async () => {
      expect((await wire.stranger('GET', '/doc.html', { Authorization })).status).to.equal(200)
    })

  const REFUSED: [name: string, authorization: string | undefined][] = [
    ['nothing', undefined],
    ['an empty field', ''],
    ['a wrong password', basic('chief', 'wrong')],
    ['an unknown user', basic('nobody', 'colon:in:it')],
    ['a password of somebody else', basic('blogger', 'reading')],
    ['a user without password', `Basic ${encoded('chief:')}`],
    ['no colon', `Basic ${encoded('chief')}`],
    ['base64 that is none', 'Basic !!!!'],
    ['Basic with nothing', 'Basic '],
    ['Bearer with nothing', 'Bearer'],
    ['Bearer with nothing but a space', 'Bearer '],
    ['a wrong key', `Bearer ${KEY.slice(0, -1)}x`],
    ['an unknown scheme', `Digest username="chief"`],
    ['Negotiate as Windows tries it', 'Negotiate TlRMTVNTUAABAAAA'],
    ['a session cookie alone', undefined],
  ]
  for (const [name, Authorization] of REFUSED)
    it(`DAV-3 MNT-1 401 with a challenge for ${name}`, async () => {
      const fields = { Authorization, Cookie: 'session=abc' }
      const [there, gone] = [
        await wire.stranger('GET', '/doc.html', fields),
        await wire.stranger('GET', '/none.html', fields),
      ]
      expect(outcomeOf(there)).to.equal('401 Unauthorized')
      expect(there.headers).to.include({
        'www-authenticate': 'Basic realm="WebDAV", charset="UTF-8"',
        dav: '1, 2, 3, extended-mkcol',
        'ms-author-via': 'DAV',
      })
      expect(there.text, 'nothing is revealed').to.equal(gone.text)
      expect(there.headers).not.to.have.any.keys('etag', 'last-modified', 'set-cookie')
    })

  it('DAV-3 401 for every method, existing or not, reserved or malformed alike', async () => {
    for (const method of ['OPTIONS', 'GET', 'PUT', 'DELETE', 'PROPFIND', 'LOCK', 'MKCOL', 'QUERY', 'PATCH'])
      for (const path of ['/doc.html', '/none', '/-platform/x', '/a/../b', '/%zz'])
        expect((await wire.stranger(method, path)).status, `${method} ${path}`).to.equal(401)
  })

  it('DAV-4 Office is not asked for a password when it looks around', async () => {
    const office = { 'User-Agent': 'Microsoft Office Word 2019' }
    const options = await wire.stranger('OPTIONS', '/doc.html', office)
    expect(options.status).to.equal(200)
    expect(options.headers).to.include({
      'content-length': '0',
      dav: '1, 2, 3, extended-mkcol',
      'ms-author-via': 'DAV',
    })
    for (const path of ['/doc.html', '/none.html']) {
      const head = await wire.stranger('HEAD', path, office)
      expect(head.status, path).to.equal(200)
      expect(head.headers).not.to.have.any.keys('etag', 'content-type', 'last-modified')
    }
    expect((await wire.stranger('GET', '/doc.html', office)).status).to.equal(401)
    expect((await wire.stranger('PROPFIND', '/', office)).status).to.equal(401)
    expect((await wire.stranger('OPTIONS', '/', { 'User-Agent': 'Word, Microsoft Office' })).status).to.equal(401)
  })

  describe('DAV-5 pages of the site publish from the browser', () => {
    const own = () => ({ Origin: `http://localhost:${wire.server.port}` })

    it('a preflight needs no credentials', async () => {
      const answer = await wire.stranger('OPTIONS', '/doc.html', { ...own(), 'Access-Control-Request-Method': 'PUT' })
      expect(answer.status).to.equal(204)
      expect(answer.headers).to.include({
        'access-control-allow-origin': own().Origin,
        'access-control-max-age': '600',
        'access-control-allow-methods':
          'OPTIONS, GET, HEAD, PUT, POST, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, QUERY, REPORT',
      })
      expect(answer.headers['access-control-allow-headers']).to.include('If-None-Match').and.include('Lock-Token')
      expect(answer.headers).not.to.have.property('access-control-allow-credentials')
    })

    it('answers, failures too, carry the origin', async () => {
      for (const author of [as('chief'), wire.stranger]) {
        const { headers } = await author('GET', '/doc.html', own())
        expect(headers['access-control-allow-origin']).to.equal(own().Origin)
        expect(headers).not.to.have.property('access-control-allow-credentials')
      }
    })

    for (const Origin of ['https://evil.example', 'null', 'http://localhost', undefined])
      it(`nothing for ${Origin ?? 'no origin'}`, async () => {
        const fields: Fields = { Origin, 'Access-Control-Request-Method': 'PUT' }
        const preflight = await wire.stranger('OPTIONS', '/doc.html', fields)
        const read = await as('chief')('GET', '/doc.html', { Origin })
        for (const { headers } of [preflight, read])
          expect(Object.keys(headers).filter(name => name.startsWith('access-control'))).to.deep.equal([])
      })
  })

  describe('MNT-2 rules do not apply', () => {
    it('what is denied to everybody is read and repaired', async () => {
      expect((await wire.visitor('GET', '/doc.html')).status).to.equal(401)
      const dav = as('chief')
      expect((await dav('GET', '/doc.html')).status).to.equal(200)
      expect((await dav('PUT', '/rules.html', {}, rulesPage(['*', 'GET', 'Allow', '/open/*']))).status).to.equal(204)
      expect((await dav('PUT', '/open/hello.txt', {}, 'hi')).status).to.equal(201)
      expect((await wire.visitor('GET', '/open/hello.txt')).text).to.equal('hi')
    })

    it('no cookie comes back', async () => {
      const { headers } = await as('chief')('GET', '/doc.html', { Cookie: 'session=x' })
      expect(headers).not.to.have.property('set-cookie')
    })

    it('METH-5 reserved paths stay closed', async () => {
      expect(outcomeOf(await as('chief')('PUT', '/-platform/x', {}, 'x'))).to.equal('403 Reserved')
    })
  })

  const CHANGES: [method: string, path: string, fields: Fields, body?: string][] = [
    ['PUT', '/notes.txt', {}, 'x'],
    ['PUT', '/new.html', {}, 'x'],
    ['PUT', '/new.html', {}, ''],
    ['PUT', '/._new', {}, 'x'],
    ['PUT', '/doc.html', { Range: 'selector=#p' }, '<p>x</p>'],
    ['POST', '/doc.html', {}, 'x'],
    ['POST', '/doc.html', { Range: 'selector=body' }, '<p>x</p>'],
    ['DELETE', '/doc.html', { Range: 'selector=#p' }],
    ['DELETE', '/notes.txt', {}],
    ['DELETE', '/secret/', {}],
    ['DELETE', '/none', {}],
    ['MKCOL', '/made/', {}],
    ['PROPPATCH', '/notes.txt', {}, propertyUpdate(['{urn:x}a', '1'])],
    ['COPY', '/notes.txt', to('/copy.txt')],
    ['MOVE', '/notes.txt', to('/moved.txt')],
    [
      'MOVE',
      '/doc.html',
      to('/doc.html', { Range: 'selector=#p', 'Destination-Range': 'selector=body; placement=append' }),
    ],
    ['LOCK', '/notes.txt', {}, LOCK],
    ['LOCK', '/free.txt', {}, LOCK],
  ]
  for (const [method, path, fields, body] of CHANGES)
    it(`DAV-3 a reader gets 403 for ${method} ${path} ${Object.keys(fields).join(' ')}`, () =>
      changesNothing(wire.server, async () => {
        expect(outcomeOf(await as('reader')(method, path, fields, body))).to.equal('403 Forbidden')
        expect(
          (await as('chief')('PROPFIND', path.replace('/new.html', '/doc.html'), { Depth: '0' })).text,
        ).not.to.include('activelock')
      }))

  it('DAV-3 a reader reads everything', async () => {
    expect((await as('reader')('GET', '/secret/plan.txt')).text).to.equal('plan')
    expect((await list(as('reader'), '/')).size).to.be.above(4)
    const query = await as('reader')('QUERY', '/', { 'Content-Type': 'text/css-selector' }, '#p')
    expect(query.status).to.equal(201)
  })

  describe('DAV-3 outside of its scope a credential', () => {
    const READS: [method: string, path: string, fields?: Fields, body?: string][] = [
      ['GET', '/doc.html'],
      ['HEAD', '/doc.html'],
      ['GET', '/secret/'],
      ['GET', '/secret/plan.txt'],
      ['GET', '/doc.html', { Range: 'selector=p' }],
      ['PROPFIND', '/doc.html'],
      ['PROPFIND', '/secret/'],
      ['QUERY', '/doc.html', { 'Content-Type': 'text/css-selector' }, 'p'],
      ['QUERY', '/secret/', { 'Content-Type': 'text/css-selector' }, 'p'],
    ]
    for (const [method, path, fields, body] of READS)
      it(`sees 404 for ${method} ${path} ${Object.keys(fields ?? {}).join(' ')}`, async () => {
        const answer = await as('blogger')(method, path, fields, body)
        const none = await as('blogger')(method, '/none/none', fields, body)
        expect(answer.status).to.equal(404)
        if (method !== 'HEAD')
          expect(answer.text.replaceAll(path, ''), 'like nothing').to.equal(none.text.replaceAll('/none/none', ''))
      })

    for (const [method, path, fields, body] of CHANGES)
      it(`sees 403 for ${method} ${path} ${Object.keys(fields).join(' ')}`, () =>
        changesNothing(wire.server, async () => {
          expect(outcomeOf(await as('blogger')(method, path, fields, body))).to.equal('403 Forbidden')
        }))

    it('neither copies out of nor into it', () =>
      changesNothing(wire.server, async () => {
        const blogger = as('blogger')
        expect(outcomeOf(await blogger('COPY', '/secret/plan.txt', to('/blog/plan.txt')))).to.equal('404 NotFound')
        expect(outcomeOf(await blogger('COPY', '/blog/a.html', to('/a.html')))).to.equal('403 Forbidden')
        expect(outcomeOf(await blogger('MOVE', '/blog/a.html', to('/a.html')))).to.equal('403 Forbidden')
        expect(outcomeOf(await blogger('MOVE', '/secret/plan.txt', to('/blog/plan.txt')))).to.equal('403 Forbidden')
      }))

    it('writes inside as ever', async () => {
      const blogger = as('blogger')
      expect((await blogger('PUT', '/blog/b.html', {}, page('b'))).status).to.equal(201)
      expect((await blogger('MOVE', '/blog/b.html', to('/blog/c.html'))).status).to.equal(201)
      expect((await blogger('DELETE', '/blog/c.html')).status).to.equal(204)
    })

    it('sees the way down to what is open, and nothing else', async () => {
      const deeper = as('deeper')
      expect([...(await list(deeper, '/')).keys()]).to.deep.equal(['/', '/notes.txt', '/shop/'])
      expect([...(await list(deeper, '/shop/')).keys()]).to.deep.equal(['/shop/', '/shop/a/'])
      expect((await deeper('GET', '/shop/')).text)
        .to.include('/shop/a/')
        .and.not.include('z.html')
      expect((await deeper('PROPFIND', '/shop/b/')).status).to.equal(404)
    })

    it('DAV-85 may not break the locks of others', async () => {
      const { headers } = await as('chief')('LOCK', '/blog/a.html', {}, LOCK)
      const unlock = (user: string) => as(user)('UNLOCK', '/blog/a.html', { 'Lock-Token': headers['lock-token'] })
      expect((await unlock('blogger')).status).to.equal(403)
      expect((await unlock('reader')).status).to.equal(403)
      expect((await unlock('chief')).status).to.equal(204)
    })
  })
})

it('DAV-3 failed attempts with the spellings of one name are those of one user', async () => {
  const { attempt } = createLoginThrottles({ rateLimits: localRateLimits() }).of('')
  const users = new Set<string>()
  const throttle: LoginThrottle = {
    attempt(address, user, check) {
      users.add(user)
      return attempt(address, user, check)
    },
  }
  const { author } = createGatekeeper(credentials, throttle)
  for (const form of ['NFC', 'NFD']) await author(basic('Zoë'.normalize(form), `wrong ${form}`), '127.0.0.1')
  expect([...users]).to.deep.equal(['Zoë'])
})

it('DAV-3 SEC-12 a thousand proved fields are remembered, however many domains somebody puts before a name', async () => {
  let attempts = 0
  const throttle: LoginThrottle = {
    attempt(_address, _user, check) {
      attempts++
      return check()
    },
  }
  const gatekeeper = createGatekeeper([credentials[0] as Credential], throttle)
  const field = (i: number) => basic(`D${i}\\chief`, 'colon:in:it')
  for (let i = 0; i <= 1000; i++) await gatekeeper.author(field(i), '127.0.0.1')
  expect(attempts).to.equal(1001)
  for (const i of [1000, 1, 0]) await gatekeeper.author(field(i), '127.0.0.1')
  expect(attempts, 'the first is proved anew').to.equal(1002)
})

describe('DAV-3 failed attempts over the wire', () => {
  let wire: Wire
  before(async () => {
    wire = await startWire()
  })
  after(() => wire.server.close())

  it('slow down whoever guesses, and nobody else', async () => {
    const guess = async (from: string, password: string) => {
      const { user } = wire.server
      const { status } = await client({ port: wire.port, from }, { Authorization: basic(user, password) })('GET', '/')
      return { status, at: performance.now() }
    }
    const { password } = wire.server
    for (let i = 0; i < 4; i++) expect((await guess('127.0.0.2', `wrong ${i}`)).status).to.equal(401)
    const start = performance.now()
    const fifth = await guess('127.0.0.2', 'wrong again')
    expect(fifth.status).to.equal(401)
    expect(fifth.at - start, 'waits').to.be.at.least(240)
    // Whoever guesses waits twice as long every time: somebody else is answered before, sooner or later on a busy machine.
    let isBefore = false
    for (let i = 0; i < 6 && !isBefore; i++) {
      const guessing = guess('127.0.0.2', `wrong again ${i}`)
      const other = await guess('127.0.0.3', password)
      expect(other.status).to.equal(200)
      isBefore = other.at < (await guessing).at
    }
    expect(isBefore, 'others do not wait').to.equal(true)
    expect((await guess('127.0.0.2', password)).status, 'the right one gets in').to.equal(200)
    const many = await Promise.all(Array.from({ length: 14 }, (_, i) => guess('127.0.0.4', `w ${i}`)))
    const refused = many.map(({ status }) => status)
    expect(refused.every(status => status === 401 || status === 503)).to.equal(true)
  })
})
