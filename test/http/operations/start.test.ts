/** The first start of a site of one's own: addresses that work, and a page that says how to go on. */

import { expect } from 'chai'
import { addressesOf, tryAddress } from '../../../server/addresses.ts'
import { banner } from '../../../server/cli/banner.ts'
import { loadText } from '../../config/loading.ts'
import { page, put } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer } from '../../support/server.ts'
import { startTlsProxy } from '../../support/tls-proxy.ts'

describe('addresses of sites', () => {
  const listening = { publicOrigin: 'http://localhost:8080', mountOrigin: 'http://localhost:8081' }
  const CASES: [settings: object, expected: [site: string, mount: string][]][] = [
    [{ sites: [{ host: 'a.example' }] }, [['http://a.example:8080/', 'http://a.example:8081/']]],
    [
      { sites: [{ host: ['www.a.example', 'a.example'] }, { host: '*.b.example' }] },
      [
        ['http://www.a.example:8080/', 'http://www.a.example:8081/'],
        ['http://a.example:8080/', 'http://a.example:8081/'],
      ],
    ],
    [
      { mount: { host: 'dav.{host}' }, sites: [{ host: 'a.example', publicUrl: 'https://a.example' }] },
      [['https://a.example/', 'https://dav.a.example/']],
    ],
    [
      { mount: { path: '/-platform/dav' }, sites: [{ host: 'a.example', publicUrl: 'https://a.example:444' }] },
      [['https://a.example:444/', 'https://a.example:444/-platform/dav/']],
    ],
    [
      { sites: [{ host: 'a.example', publicUrl: 'https://a.example' }] },
      [['https://a.example/', 'http://a.example:8081/']],
    ],
    [{ sites: [{ host: '*.b.example' }] }, []],
  ]
  for (const [written, expected] of CASES)
    it(JSON.stringify(written), async () => {
      const { settings } = await loadText(JSON.stringify(written), {}, 'a.json')
      expect(addressesOf(settings, listening).map(({ site, mount }) => [site, mount])).to.deep.equal(expected)
    })

  it('are said one line a site, with what was tried', async () => {
    const { settings } = await loadText('{"data":"/srv"}', {}, 'a.json')
    const sites = [
      { site: 'https://a.example/', mount: 'https://dav.a.example/' },
      { site: 'https://long.example/', mount: 'https://dav.long.example/', missing: 'no such host here' },
    ]
    const lines = banner({ settings, ...listening, firstStart: false, sites })
    expect(lines.slice(1, 3)).to.deep.equal([
      '  Site    https://a.example/     Mount  https://dav.a.example/',
      '  Site    https://long.example/  Mount  https://dav.long.example/  (tried, no such host here)',
    ])
    expect(lines.join('\n')).to.include('Map network drive: https://dav.a.example/')
    expect(lines.at(-1)).to.match(/^ready: site http:\/\/localhost:8080\/ mount /)
    const [first] = sites
    const one = banner({ settings, ...listening, firstStart: false, sites: first ? [first] : [] })
    expect(one.slice(1, 3)).to.deep.equal(['  Site    https://a.example/', '  Mount   https://dav.a.example/'])
    const many = Array.from({ length: 25 }, () => ({ site: 'x', mount: 'y' }))
    expect(banner({ settings, ...listening, firstStart: false, sites: many }).join('\n')).to.include('and 5 more')
  })

  it('are tried', async () => {
    const server = await startServer()
    const at = (site: string, brand = 'platform') => tryAddress({ name: '', mount: '', site, brand }, true)
    try {
      expect(await at(`${server.url}/`)).to.equal(undefined)
      expect(await at(`${server.url}/`, 'other')).to.equal('answers 404')
      const proxy = await startTlsProxy(server.port)
      const said = await at(`https://localhost:${proxy.port}/`).finally(() => proxy.close())
      expect(said).to.equal('its certificate is not trusted here')
      expect(await tryAddress({ name: '', mount: '', site: `${server.url}/`, brand: 'other' }, false)).to.equal(
        undefined,
      )
    } finally {
      await server.close()
    }
    expect(await at(`${server.url}/`)).to.equal('ECONNREFUSED')
  })
})

describe('a site without documents', () => {
  it('says so to its operator where nobody may read what no rule allows', async () => {
    const server = await startServer({ site: { defaultGet: 'deny' } })
    try {
      const http = client(server.port)
      const empty = await http('GET', '/')
      expect(empty.status).to.equal(401)
      expect(empty.text).to.include('This site is empty').and.to.include(`${server.mountUrl}/`)
      expect(empty.text).to.include('<p itemprop="message">Authentication required to read this resource.</p>')
      expect((await http('GET', '/x.html')).text).to.not.include('This site is empty')
      await put(server, '/notes/page.html', page('x'))
      expect((await http('GET', '/')).text).to.not.include('This site is empty')
    } finally {
      await server.close()
    }
  })

  it('says how to fill it, until there is one', async () => {
    const server = await startServer()
    try {
      const http = client(server.port)
      const empty = await http('GET', '/')
      expect(empty.status).to.equal(404)
      expect(empty.text).to.include('This site is empty').and.to.include(`${server.mountUrl}/`)
      expect(empty.text).to.include('<title>Nothing is here yet</title>').and.to.include('<h1>Nothing is here yet</h1>')
      expect(empty.text).not.to.include('404 Not Found')
      expect(empty.text).to.include('<meta itemprop="status" content="404">')
      expect((await http('GET', '/x.html')).text).to.not.include('This site is empty')
      expect((await http('PUT', '/', {}, 'x')).text).to.not.include('This site is empty')
      await put(server, '/notes/page.html', page('x'))
      const begun = await http('GET', '/')
      expect([begun.status, begun.text.includes('This site is empty')]).to.deep.equal([404, false])
    } finally {
      await server.close()
    }
  })
})
