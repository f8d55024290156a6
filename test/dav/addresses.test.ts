/** Where a mount answers: on a port, on a host of its own, under a path, behind a proxy (DAV-1, DAV-2, DAV-10 to DAV-14, DAV-20). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page } from '../support/content.ts'
import { type Client, client, type Fields } from '../support/http.ts'
import { readMultistatus } from '../support/multistatus.ts'
import type { TestServerOptions } from '../support/server.ts'
import { basic, changesNothing, list, outcomeOf, shown, startWire, to, type Wire } from './wire.ts'

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'

const credentials = [{ user: 'ann', password: 'a', scope: ['/*'], write: true }]
const AUTHORIZED = { Authorization: basic('ann', 'a') }

interface Place {
  title: string
  options: TestServerOptions
  prefix: string
  /** Host of the mount and of the public surface, without port. */
  host: string
  site: string
}

const PLACES: Place[] = [
  { title: 'on a port', options: {}, prefix: '', host: 'localhost', site: 'localhost' },
  {
    title: 'under a path',
    options: { settings: { mount: { path: '/-platform/dav' } } },
    prefix: '/-platform/dav',
    host: 'localhost',
    site: 'localhost',
  },
  {
    title: 'under an ordinary path',
    options: { settings: { mount: { path: '/edit/our-files' } } },
    prefix: '/edit/our-files',
    host: 'localhost',
    site: 'localhost',
  },
  {
    title: 'on a host of its own',
    options: { settings: { mount: { host: 'dav-{host}' } } },
    prefix: '',
    host: 'dav-www.example.org',
    site: 'www.example.org',
  },
]

for (const { title, options, prefix, host, site } of PLACES)
  describe(`a mount ${title}`, () => {
    let wire: Wire
    let dav: Client
    let visitor: Client
    let authority: string
    before(async () => {
      wire = await startWire({ ...options, site: { credentials } })
      authority = `${host}:${wire.port}`
      dav = client(wire.port, { Host: authority, ...AUTHORIZED })
      visitor = client(wire.server.port, { Host: `${site}:${wire.server.port}` })
      await dav('PUT', `${prefix}/a.html`, {}, page('a'))
    })
    after(() => wire.server.close())

    it('DAV-1 what is written is what the public surface serves next', async () => {
      expect((await dav('PUT', `${prefix}/dir/live.html`, {}, page('one'))).status).to.equal(201)
      expect(await shown(visitor, '/dir/live.html')).to.equal(page('one'))
      expect((await dav('PUT', `${prefix}/dir/live.html`, {}, page('two'))).status).to.equal(204)
      expect(await shown(visitor, '/dir/live.html')).to.equal(page('two'))
      expect((await dav('DELETE', `${prefix}/dir/`)).status).to.equal(204)
      expect(await shown(visitor, '/dir/live.html')).to.equal('404')
    })

    it('SEC-13 no file is a service worker of the mount where pages of the site could ask for it', async () => {
      const { headers } = await dav('GET', `${prefix}/a.html`)
      expect(headers['service-worker-allowed']).to.equal(prefix === '' ? undefined : '/%2F')
    })

    it('DAV-1 hrefs are path-absolute and include the prefix', async () => {
      const { text } = await dav('PROPFIND', `${prefix}/`)
      expect(text).to.include(`<D:href>${prefix}/a.html</D:href>`).and.not.include('http://')
      expect((await dav('GET', `${prefix}/`)).text).to.include(`href="${prefix}/a.html"`)
      const locked = await dav('LOCK', `${prefix}/a.html`, {}, LOCK)
      expect(locked.text).to.include(`<D:lockroot><D:href>${prefix}/a.html</D:href></D:lockroot>`)
      const refused = await dav('PUT', `${prefix}/a.html`, {}, page('x'))
      expect(refused.text).to.include(`<D:lock-token-submitted><D:href>${prefix}/a.html</D:href>`)
      await dav('UNLOCK', `${prefix}/a.html`, { 'Lock-Token': locked.headers['lock-token'] })
    })

    it('DAV-48 knows itself in Destination, with any scheme', async () => {
      let at = '/a.html'
      const forms = (path: string): string[] => [
        `${prefix}${path}`,
        `http://${authority}${prefix}${path}`,
        `https://${authority}${prefix}${path}`,
        `HTTP://${authority.toUpperCase()}${prefix}${path}`,
      ]
      for (const [i] of forms('/').entries()) {
        const next = `/moved-${i}.html`
        expect((await dav('MOVE', prefix + at, to(forms(next)[i] ?? ''))).status, forms(next)[i]).to.equal(201)
        at = next
      }
      expect((await dav('MOVE', prefix + at, to(`${prefix}/a.html`))).status).to.equal(201)
    })

    const FOREIGN: [name: string, destination: () => string, outcome: string][] = [
      ['another host', () => `http://evil.example${prefix}/b.html`, '502 BadGateway'],
      ['another port', () => `http://${host}:1${prefix}/b.html`, '502 BadGateway'],
      ['user information', () => `http://${authority}@evil.example${prefix}/b.html`, '502 BadGateway'],
      ['user information before the host', () => `http://evil@${authority}${prefix}/b.html`, '502 BadGateway'],
      ['no authority', () => `//${authority}${prefix}/b.html`, '400 InvalidPath'],
      ['a relative path', () => 'b.html', '400 InvalidPath'],
      ['another scheme without path', () => 'mailto:x@y', '400 InvalidPath'],
      ['nothing', () => '', '400 InvalidPath'],
      ['dots', () => `${prefix}/x/../b.html`, '400 InvalidPath'],
      ['encoded dots', () => `${prefix}/%2e%2e/b.html`, '400 InvalidPath'],
      ['dots out of the mount', () => `${prefix}/../../b.html`, '400 InvalidPath'],
      ['a raw #', () => `${prefix}/b#c.html`, '400 InvalidPath'],
      ['an escaped slash', () => `${prefix}/b%2Fc.html`, '400 InvalidPath'],
      ['a backslash', () => `${prefix}/b\\c.html`, '400 InvalidPath'],
      ['a null byte', () => `${prefix}/b%00.html`, '400 InvalidPath'],
      ['a reserved path', () => `${prefix}/-platform/b.html`, '403 Reserved'],
      ['a hidden reserved path', () => `${prefix}/.platform/b.html`, '403 Reserved'],
      ['the root', () => `${prefix}/`, '403 Forbidden'],
      ['itself', () => `${prefix}/a.html`, '403 IllegalMove'],
      ['a missing parent', () => `${prefix}/no/b.html`, '409 ParentDirectoryMissing'],
    ]
    for (const [name, destination, outcome] of FOREIGN)
      it(`DAV-48 ${outcome} for a Destination with ${name}`, () =>
        changesNothing(wire.server, async () => {
          for (const method of ['COPY', 'MOVE'])
            expect(outcomeOf(await dav(method, `${prefix}/a.html`, to(destination()))), method).to.equal(outcome)
        }))

    it('DAV-48 400 without Destination', async () => {
      expect(outcomeOf(await dav('MOVE', `${prefix}/a.html`))).to.equal('400 BadRequest')
    })

    it('DAV-13 the root can be neither deleted, moved nor overwritten', () =>
      changesNothing(wire.server, async () => {
        for (const root of new Set([`${prefix}/`, prefix || '/'])) {
          expect((await dav('DELETE', root)).status).to.equal(403)
          expect((await dav('MOVE', root, to(`${prefix}/x/`))).status).to.equal(403)
          expect((await dav('COPY', `${prefix}/a.html`, to(root))).status).to.equal(403)
        }
      }))

    it('DAV-13 reserved paths are not there, and cannot be written', () =>
      changesNothing(wire.server, async () => {
        for (const reserved of ['/-platform', '/-platform/', '/-platform/x', '/.platform/', '/.platform/a/b']) {
          for (const method of ['GET', 'HEAD', 'PROPFIND', 'QUERY'])
            expect((await dav(method, prefix + reserved)).status, `${method} ${reserved}`).to.equal(404)
          const writes: [string, Fields?, string?][] = [
            ['PUT', {}, 'x'],
            ['POST', {}, 'x'],
            ['DELETE'],
            ['MKCOL'],
            ['PROPPATCH', {}, '<x/>'],
            ['LOCK', {}, LOCK],
            ['UNLOCK'],
            ['COPY', to(`${prefix}/x`)],
            ['MOVE', to(`${prefix}/x`)],
            ['REPORT', {}, '<x/>'],
          ]
          for (const [method, fields, body] of writes)
            expect((await dav(method, prefix + reserved, fields, body)).status, `${method} ${reserved}`).to.equal(403)
        }
        expect([...(await list(dav, `${prefix}/`)).keys()].filter(path => path.includes('platform'))).to.deep.equal(
          prefix.includes('-platform') ? [...(await list(dav, `${prefix}/`)).keys()] : [],
        )
      }))

    it('DAV-20 OPTIONS tells the same of any path', async () => {
      for (const path of ['/', '/a.html', '/none/at/all']) {
        const answer = await dav('OPTIONS', prefix + path)
        expect(answer.status).to.equal(200)
        expect(answer.headers).to.include({
          'content-length': '0',
          dav: '1, 2, 3, extended-mkcol',
          'ms-author-via': 'DAV',
          allow:
            'OPTIONS, GET, HEAD, PUT, POST, DELETE, PROPFIND, PROPPATCH, MKCOL, COPY, MOVE, LOCK, UNLOCK, QUERY, REPORT',
          'accept-query': 'text/css-selector, text/sessel',
          'accept-ranges': 'bytes',
        })
      }
    })

    it('DAV-20 other methods are 405 with the whole list, and every answer says DAV', async () => {
      for (const method of ['PATCH', 'TRACE', 'ACL', 'SEARCH', 'BIND', 'UNBIND', 'REBIND']) {
        const answer = await dav(method, `${prefix}/a.html`)
        expect(outcomeOf(answer), method).to.equal('405 MethodNotAllowed')
        expect(answer.headers.allow).to.match(/^OPTIONS, GET, .*, REPORT$/)
      }
      for (const [method, path] of [
        ['GET', '/a.html'],
        ['GET', '/none'],
        ['PUT', '/b.txt'],
        ['DELETE', '/b.txt'],
        ['PROPFIND', '/'],
        ['LOCK', '/a.html'],
        ['GET', '/%zz'],
      ] as const)
        expect((await dav(method, prefix + path)).headers, `${method} ${path}`).to.include({
          dav: '1, 2, 3, extended-mkcol',
          'ms-author-via': 'DAV',
        })
    })
  })

describe('the way down to a mount under a path', () => {
  let wire: Wire
  let dav: Client
  before(async () => {
    const site = { credentials, publicUrl: 'https://public.example' }
    wire = await startWire({ settings: { mount: { path: '/edit/our-files' } }, site })
    dav = client(wire.port, AUTHORIZED)
    await dav('PUT', '/edit/our-files/edit/a.html', {}, page('a'))
  })
  after(() => wire.server.close())

  const above = ['/', '/edit', '/edit/']
  for (const path of above)
    it(`DAV-2 ${path} is an empty collection`, async () => {
      const options = await dav('OPTIONS', path, { 'User-Agent': 'Microsoft-WebDAV-MiniRedir/10.0.19045' })
      expect(options.status).to.equal(200)
      expect(options.headers).to.include({ dav: '1, 2, 3, extended-mkcol', 'ms-author-via': 'DAV' })
      for (const target of [path, path.replace(/\/$/, '') || '/']) {
        const answer = await dav('PROPFIND', target, { Depth: '0' })
        expect(answer.status).to.equal(207)
        const told = readMultistatus(answer.text)
        expect([...told.keys()]).to.deep.equal([path.endsWith('/') ? path : `${path}/`])
        expect([...told.values()][0]?.get('resourcetype')?.value).to.equal('collection')
      }
    })

  it('DAV-2 DAV-31 nor is more listed there than one level', async () => {
    for (const path of above)
      expect(outcomeOf(await dav('PROPFIND', path, { Depth: 'Infinity' })), path).to.equal('403 FiniteDepthOnly')
  })

  it('DAV-2 strangers are asked who they are there, too', async () => {
    for (const path of above) expect((await wire.stranger('PROPFIND', path, { Depth: '0' })).status).to.equal(401)
  })

  it('DAV-2 the mount with and without slash, encoded as it likes', async () => {
    for (const path of ['/edit/our-files', '/edit/our-files/', '/%65dit/our%2Dfiles']) {
      const answer = await dav('PROPFIND', path, { Depth: '1' })
      expect(answer.status, path).to.equal(207)
      expect([...readMultistatus(answer.text).keys()]).to.deep.equal(['/edit/our-files/', '/edit/our-files/edit/'])
    }
  })

  it('DAV-2 beside it, and outside of it, there is no mount', async () => {
    expect((await dav('PROPFIND', '/edit/our-files2/')).status).to.be.oneOf([404, 405])
    expect((await dav('PROPFIND', '/other/')).status).to.be.oneOf([404, 405])
    expect((await wire.visitor('GET', '/edit/a.html')).text).to.equal(page('a'))
  })

  it('DAV-48 takes the configured address of the surface that it is under, whatever Host a proxy sends', async () => {
    const copyTo = (destination: string) => dav('COPY', '/edit/our-files/edit/a.html', to(destination))
    for (const scheme of ['https', 'http'])
      expect((await copyTo(`${scheme}://public.example/edit/our-files/named.html`)).status).to.be.oneOf([201, 204])
    expect((await dav('DELETE', '/edit/our-files/named.html')).status).to.equal(204)
    expect(outcomeOf(await copyTo('https://other.example/edit/our-files/named.html'))).to.equal('502 BadGateway')
  })

  it('DAV-48 400 for two Destinations: nothing is written anywhere', () =>
    changesNothing(wire.server, async () => {
      const fields = { Destination: ['/edit/our-files/x.html', 'y.html'] }
      expect(outcomeOf(await dav('COPY', '/edit/our-files/edit/a.html', fields))).to.equal('400 BadRequest')
    }))

  it('DAV-48 502 for a Destination outside of the prefix', () =>
    changesNothing(wire.server, async () => {
      for (const outside of ['/b.html', '/edit/b.html', '/edit/our-files2/b.html', '/'])
        expect(outcomeOf(await dav('COPY', '/edit/our-files/edit/a.html', to(outside))), outside).to.equal(
          '502 BadGateway',
        )
    }))
})

describe('a mount behind a proxy that ends TLS', () => {
  let trusting: Wire
  let wary: Wire
  const forwarded = {
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'www.example.org',
    Host: 'inner:9',
    ...AUTHORIZED,
  }
  before(async () => {
    const site = { credentials }
    const sites = [{ host: 'www.example.org' }, { host: '*' }]
    trusting = await startWire({ settings: { trustProxy: true, sites }, site })
    wary = await startWire({ settings: { sites }, site })
  })
  after(() => Promise.all([trusting.server.close(), wary.server.close()]))

  it('DAV-48 takes the name that the proxy forwards, whatever the scheme', async () => {
    const { stranger: send } = trusting
    expect((await send('PUT', '/a.txt', forwarded, 'a')).status).to.equal(201)
    for (const [from, destination] of [
      ['/a.txt', 'https://www.example.org/b.txt'],
      ['/b.txt', 'https://www.example.org:443/c.txt'],
      ['/c.txt', 'http://www.example.org/d.txt'],
      ['/d.txt', 'http://inner:9/e.txt'],
      ['/e.txt', '/a.txt'],
    ] as const)
      expect((await send('MOVE', from, { ...forwarded, ...to(destination) })).status, destination).to.equal(201)
    expect((await send('MOVE', '/a.txt', { ...forwarded, ...to('https://evil.example/b.txt') })).status).to.equal(502)
  })

  it('DAV-1 serves the site of the forwarded name', async () => {
    const { stranger: send } = trusting
    await send('PUT', '/only.txt', forwarded, 'here')
    expect((await send('GET', '/only.txt', { Host: 'www.example.org', ...AUTHORIZED })).text).to.equal('here')
    expect((await send('GET', '/only.txt', { Host: 'inner:9', ...AUTHORIZED })).status).to.equal(404)
  })

  it('believes nobody where no proxy is trusted', async () => {
    const { stranger: send } = wary
    expect((await send('PUT', '/a.txt', forwarded, 'a')).status).to.equal(201)
    expect((await send('GET', '/a.txt', { Host: 'inner:9', ...AUTHORIZED })).text).to.equal('a')
    expect((await send('GET', '/a.txt', { Host: 'www.example.org', ...AUTHORIZED })).status).to.equal(404)
    expect((await send('MOVE', '/a.txt', { ...forwarded, ...to('https://www.example.org/b.txt') })).status).to.equal(
      502,
    )
  })

  it('MNT-4 sites have credentials and files of their own', async () => {
    const wire = await startWire({
      settings: {
        sites: [
          { host: 'one.example', credentials: [{ user: 'a', password: 'one' }] },
          { host: 'two.example', credentials: [{ user: 'a', password: 'two' }] },
          { host: 'none.example' },
          { host: 'localhost' },
        ],
      },
    })
    try {
      const at = (Host: string, password: string, method = 'PUT') =>
        wire.stranger(
          method,
          '/x.txt',
          { Host, Authorization: basic('a', password) },
          method === 'PUT' ? Host : undefined,
        )
      expect((await at('one.example', 'one')).status).to.equal(201)
      expect((await at('two.example', 'one')).status).to.equal(401)
      expect((await at('two.example', 'two', 'GET')).status).to.equal(404)
      expect((await at('none.example', 'one')).status).to.equal(401)
      expect((await at('three.example', 'one')).status).to.equal(404)
    } finally {
      await wire.server.close()
    }
  })
})
