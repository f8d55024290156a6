import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { MOST_EMPTY_SITES, mostSites } from '../../../server/hosting.ts'
import { page, put, rulesPage, type Shelf } from '../../support/content.ts'
import { type Client, client, connect, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('addresses: hosts', () => {
  let server: TestServer
  let http: Client
  const at = (host: string, target = '/', fields: Fields = {}) => http('GET', target, { ...fields, Host: host })

  /** The site of a host, to put files into. */
  async function shelf(host: string): Promise<Shelf> {
    const hosted = await server.running.hosting.open(host)
    if (!hosted) throw new Error(`no site for ${host}`)
    return { running: server.running, site: hosted.site }
  }

  before(async () => {
    server = await startServer({
      settings: {
        sites: [
          { host: 'localhost' },
          { host: 'a.example', brand: 'first' },
          { host: ['b.example', 'www.b.example'], name: 'b.example', defaultGet: 'deny' },
          { host: '*.wild.example' },
          { host: '[::1]' },
        ],
      },
    })
    http = client(server.port)
    await put(await shelf('a.example'), '/index.html', page('site A'))
    await put(await shelf('a.example'), '/only-a.txt', 'A')
    await put(await shelf('a.example'), '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/*']))
    await put(await shelf('b.example'), '/index.html', page('site B'))
    await put(await shelf('b.example'), '/rules.html', rulesPage(['*', 'GET', 'Allow', '/']))
    await put(await shelf('one.wild.example'), '/index.html', page('wild one'))
    await put(await shelf('two.wild.example'), '/index.html', page('wild two'))
    await put(await shelf('[::1]'), '/index.html', page('by address'))
  })
  after(() => server.close())

  it('sites are kept apart by Host: documents', async () => {
    expect((await at('a.example')).text).to.include('site A')
    expect((await at('b.example')).text).to.include('site B')
    expect((await at('a.example', '/only-a.txt')).text).to.equal('A')
    expect((await at('b.example', '/only-a.txt')).status).to.equal(401)
    expect((await at('localhost', '/only-a.txt')).status).to.equal(404)
  })

  it('sites are kept apart by Host: rules', async () => {
    const write = (host: string) => http('PUT', '/new.txt', { Host: host }, 'x')
    expect((await write('a.example')).status).to.equal(201)
    expect((await write('b.example')).status).to.equal(401)
    expect((await write('localhost')).status).to.equal(401)
  })

  it('sites are kept apart by Host: sessions', async () => {
    const cookie = /^[^;]+/.exec((await at('localhost')).headers['set-cookie'] ?? '')?.[0]
    expect((await at('localhost', '/', { Cookie: cookie })).headers).not.to.have.property('set-cookie')
    expect((await at('one.wild.example', '/', { Cookie: cookie })).headers['set-cookie']).to.match(/^platform_session=/)
    const a = /^[^;]+/.exec((await at('a.example')).headers['set-cookie'] ?? '')?.[0] ?? ''
    expect(a).to.match(/^first_session=/)
    const renamed = a.replace('first_', 'platform_')
    expect((await at('localhost', '/', { Cookie: renamed })).headers['set-cookie']).to.match(/^platform_session=/)
  })

  it('sites are kept apart by Host: brands', async () => {
    expect((await http('PUT', '/.first/x', { Host: 'a.example' }, 'x')).status).to.equal(403)
    expect((await http('PUT', '/.platform/x', { Host: 'a.example' }, 'x')).status).to.equal(201)
    expect((await http('PUT', '/.platform/x', { Host: 'localhost' }, 'x')).status).to.equal(403)
  })

  it('SEC-12 hosts that clients invent leave those sites open that have files, and few others', async () => {
    const { hosting } = server.running
    const kept = await hosting.open('one.wild.example')
    const filled = await hosting.open('filled.wild.example')
    const invented = Array.from({ length: MOST_EMPTY_SITES + 20 }, (_, i) => `invented-${i}.wild.example`)
    const { running } = server
    for (const [i, host] of invented.entries()) {
      const hosted = await hosting.open(host)
      if (i === 0 && filled) await put({ running, site: filled.site }, '/index.html', page('filled'))
      expect(hosting.opened(host)).to.equal(hosted)
    }
    const open = invented.filter(host => hosting.opened(host))
    expect(open).to.deep.equal(invented.slice(-MOST_EMPTY_SITES))
    expect(hosting.opened('one.wild.example')).to.equal(kept)
    expect(hosting.opened('filled.wild.example')).to.equal(filled)
    expect((await at('invented-0.wild.example')).status).to.equal(404)
  })

  it('SEC-12 sites that have files stay open as far as a quarter of the heap holds them', () => {
    const mebibyte = 1024 * 1024
    expect([64, 512, 1024, 4096].map(megabytes => mostSites(megabytes * mebibyte))).to.deep.equal([
      256, 2048, 4096, 10_000,
    ])
  })

  it('a site answers again and again for its own host only', async () => {
    for (let i = 0; i < 3; i++) {
      expect((await at('one.wild.example')).text).to.include('wild one')
      expect((await at('two.wild.example')).text).to.include('wild two')
      expect((await at('three.wild.example')).status).to.equal(404)
    }
  })

  const spellings: [host: string, content: string][] = [
    ['A.EXAMPLE', 'site A'],
    ['a.example:8080', 'site A'],
    ['a.example.', 'site A'],
    ['www.b.example', 'site B'],
    ['ONE.Wild.Example:1', 'wild one'],
    ['[::1]:8080', 'by address'],
    ['[0:0:0:0:0:0:0:1]', 'by address'],
  ]
  for (const [host, content] of spellings) {
    it(`${host} is a spelling of a host`, async () => {
      const { status, text } = await at(host)
      expect(status).to.equal(200)
      expect(text).to.include(content)
    })
  }

  for (const host of ['c.example', 'wild.example', 'xwild.example', 'a.example.evil.example', '127.0.0.1']) {
    it(`no site answers for ${host}`, async () => {
      const { status, headers } = await at(host)
      expect(status).to.equal(404)
      expect(headers).not.to.have.property('set-cookie')
    })
  }

  for (const host of ['', 'a b', 'a.example/../b', 'a.example@b.example', 'a..example', '-', '*.wild.example', 'a,b']) {
    it(`RFC 9112 §3.2 "${host}" is no host`, async () => {
      expect((await at(host)).status).to.equal(400)
    })
  }

  it('RFC 9112 §3.2 a malformed Host is 400 whatever the target is', async () => {
    const hosts = [
      'a b',
      'a/b',
      'a@b',
      'a?',
      'a#',
      '[a]b',
      '[::1',
      'a]',
      'a:x',
      'a:80:80',
      '::1',
      '%',
      '%4',
      '"',
      'ä',
      '<a>',
      'a\\b',
    ]
    for (const host of hosts)
      for (const target of ['http://a.example/', '/-platform/health', '/'])
        expect((await at(host, target)).status, `${host} ${target}`).to.equal(400)
  })

  it('RFC 9112 §3.2.2 beside an absolute target, any other Host is ignored', async () => {
    for (const host of [
      '',
      'a,b',
      '*.wild.example',
      '%41',
      '[::1]:80',
      '[fe80::1%25eth0]',
      '[v1.x]',
      'a:',
      ':80',
      'A_b.',
    ])
      expect((await at(host, 'http://a.example/')).text, host).to.include('site A')
  })

  it('RFC 9112 §3.2 a request without Host, or with two, is 400', async () => {
    for (const fields of ['', 'Host: a.example\r\nHost: b.example\r\n', 'Host: a.example\r\nhost: a.example\r\n']) {
      const connection = await connect(server.port)
      connection.send(`GET / HTTP/1.1\r\n${fields}\r\n`)
      const { status, headers } = await connection.receive()
      expect(status, fields).to.equal(400)
      expect(headers.connection, fields).to.equal('close')
      connection.close()
    }
  })

  describe('HTTP-10 absolute-form targets', () => {
    it('the target tells the site, whatever Host says', async () => {
      expect((await at('b.example', 'http://a.example/')).text).to.include('site A')
      expect((await at('a.example', 'http://b.example/')).text).to.include('site B')
      expect((await at('a.example', 'http://A.EXAMPLE:81/only-a.txt')).text).to.equal('A')
      expect((await at('a.example', 'http://c.example/')).status).to.equal(404)
    })

    it('whatever was answered before under the same Host', async () => {
      for (let i = 0; i < 3; i++) {
        expect((await at('a.example', 'http://one.wild.example/')).text).to.include('wild one')
        expect((await at('a.example', 'http://two.wild.example/')).text).to.include('wild two')
        expect((await at('a.example', '/')).text).to.include('site A')
      }
    })

    it('SSN-1 a visitor without a session of that site gets one, also from a kept answer', async () => {
      const target = 'http://one.wild.example/'
      const first = await at('a.example', target)
      const cookie = /^[^;]+/.exec(first.headers['set-cookie'] ?? '')?.[0]
      for (let i = 0; i < 2; i++) {
        expect((await at('a.example', target, { Cookie: cookie })).headers).not.to.have.property('set-cookie')
      }
      for (let i = 0; i < 2; i++) {
        expect((await at('a.example', target)).headers['set-cookie']).to.match(/^platform_session=/)
      }
    })

    it('other schemes and no authority are 400', async () => {
      for (const target of [
        'http://user@a.example/',
        'http://a.example:x/',
        'ftp://a.example/',
        'http:///',
        'http://',
        'a.example:80',
        'x',
      ])
        expect((await at('a.example', target)).status, target).to.equal(400)
    })
  })

  it('health answers without any host', async () => {
    const connection = await connect(server.port)
    connection.send('GET /-platform/health HTTP/1.0\r\n\r\n')
    expect((await connection.receive()).status).to.equal(200)
    connection.close()
  })

  it('errors speak the vocabulary of the site they happen on', async () => {
    expect((await http('PUT', '/x.html', { Host: 'b.example' }, 'x')).text).to.include('"/-platform/oidc/login"')
    expect((await http('DELETE', '/x.html', { Host: 'a.example' })).text).to.include('"/-first/oidc/login"')
  })
})

describe('addresses: one site for every host', () => {
  let server: TestServer

  before(async () => {
    server = await startServer()
    await put(server, '/index.html', page('everywhere'))
  })
  after(() => server.close())

  it('the demo site answers for every host name', async () => {
    const http = client(server.port)
    for (const Host of ['localhost', '127.0.0.1:8080', 'anything.example', 'x'])
      expect((await http('GET', '/', { Host })).text).to.include('everywhere')
  })
})
