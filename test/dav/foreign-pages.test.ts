/** What pages of other origins get from a mount, and those of the site itself. */

import { expect } from 'chai'
import { after, describe, it } from 'mocha'
import { client } from '../support/http.ts'
import { basic, startWire, type Wire } from './wire.ts'

describe('the mount and pages', () => {
  const wires: Wire[] = []
  after(async () => {
    for (const { server } of wires) await server.close()
  })

  async function withMount(mount: Record<string, unknown>, more: Record<string, unknown> = {}): Promise<Wire> {
    const wire = await startWire({ settings: { mount, ...more } })
    wires.push(wire)
    return wire
  }

  it('DAV-40 no page of another origin may load or show what a browser reads with the author’s password', async () => {
    const { dav, stranger } = await withMount({ port: 0 })
    await dav('PUT', '/draft.js', {}, 'secret = 1')
    const { etag = '' } = (await dav('GET', '/draft.js')).headers
    const reads = [
      await dav('GET', '/draft.js'),
      await dav('GET', '/draft.js'),
      await dav('GET', '/draft.js', { Range: 'bytes=0-3' }),
      await dav('GET', '/draft.js', { 'If-None-Match': etag }),
      await dav('HEAD', '/draft.js'),
      await dav('GET', '/'),
      await dav('GET', '/none.js'),
      await stranger('GET', '/draft.js'),
    ]
    expect(reads.map(({ status }) => status)).to.deep.equal([200, 200, 206, 304, 200, 200, 404, 401])
    for (const { headers } of reads)
      expect(headers).to.include({
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'x-frame-options': 'DENY',
      })
  })

  const PREFLIGHT = { 'Access-Control-Request-Method': 'PUT' }

  it('DAV-5 with a host of its own, pages of the site are those of the site’s host', async () => {
    const { server, port } = await withMount({ host: 'dav.{host}' }, { sites: [{ host: '*' }] })
    for (const [Host, site, other] of [
      [`dav.www.example:${port}`, `http://www.example:${port}`, `http://dav.www.example:${port}`],
      ['DAV.www.example', 'http://www.example', 'http://other.example'],
    ] as const) {
      const dav = client(port, { Host, Authorization: basic(server.user, server.password) })
      const allowed = async (Origin: string) =>
        (await dav('OPTIONS', '/', { ...PREFLIGHT, Origin })).headers['access-control-allow-origin']
      expect(await allowed(site)).to.equal(site)
      expect(await allowed(other)).to.equal(undefined)
      await dav('PUT', '/a.html', {}, '<p>x')
      expect((await dav('GET', '/')).text).to.include(`href="${site}/a.html">View on site`)
    }
  })

  it('DAV-5 under a path, pages of the site are where the proxy says that the client came to', async () => {
    const { server, port } = await withMount({ path: '/drive' }, { trustProxy: true })
    const dav = client(port, {
      'X-Forwarded-Host': 'www.example',
      'X-Forwarded-Proto': 'https',
      Authorization: basic(server.user, server.password),
    })
    await dav('PUT', '/drive/a.html', {}, '<p>x')
    expect((await dav('GET', '/drive/')).text).to.include('href="https://www.example/a.html">View on site')
    const Origin = 'https://www.example'
    expect((await dav('OPTIONS', '/drive/', { ...PREFLIGHT, Origin })).headers).to.include({
      'access-control-allow-origin': Origin,
    })
  })
})
