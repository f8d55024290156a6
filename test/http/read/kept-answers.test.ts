/** Answers that are kept, and what they keep in memory. */

import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import type { StoredFile } from '../../../pipeline/site/stored-file.ts'
import { composed } from '../../pipeline/compose/composing.ts'
import { collect } from '../../support/collect.ts'
import { page, put } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** More than the share of documents holds. */
const OTHERS = 40

describe('Answers that are kept', () => {
  let server: TestServer
  let visitor: Client
  let author: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' }, settings: { limits: { memory: '16 MiB' } } })
    visitor = client(server)
    const credentials = Buffer.from(`${server.user}:${server.password}`).toString('base64')
    author = client(Number(new URL(server.mountUrl).port), { Authorization: `Basic ${credentials}` })
    for (let i = 0; i < OTHERS; i++) await put(server, `/other/${i}.html`, page('<p>x</p>'.repeat(10_000)))
    await put(server, '/parts.html', page('<nav id="nav">x</nav>'))
    await put(server, '/including.html', composed('<p:include selector="#nav" resource="/parts.html"/>'))
    await put(server, '/others.html', page('<nav id="nav">x</nav>'))
    await put(server, '/including-others.html', composed('<p:include selector="#nav" resource="/others.html"/>'))
    await put(server, '/routed/:name.html', composed('<p:include selector="#nav" resource="/parts.html"/>'))
    await put(server, '/page.html', page('<p>x</p>'))
    await put(server, '/blob.txt', 'x')
  })
  after(() => server.close())

  const cases: [what: string, path: string, ask: () => Promise<{ status: number }>, status?: number][] = [
    ['a page', '/page.html', () => visitor('GET', '/page.html')],
    ['an element', '/page.html', () => visitor('GET', '/page.html', { Range: 'selector=p' }), 206],
    ['a blob', '/blob.txt', () => visitor('GET', '/blob.txt')],
    ['a page that was put together', '/including.html', () => visitor('GET', '/including.html')],
    ['what went into one', '/others.html', () => visitor('GET', '/including-others.html')],
    ['a route', '/routed/:name.html', () => visitor('GET', '/routed/a.html')],
    ['a file on the mount', '/page.html', () => author('GET', '/page.html')],
    ['its head', '/page.html', () => author('HEAD', '/page.html')],
    ['its properties', '/page.html', () => author('PROPFIND', '/page.html', { Depth: '0' }), 207],
    ['a listing', '/page.html', () => author('PROPFIND', '/', { Depth: '1' }), 207],
  ]
  for (const [what, path, ask, status = 200] of cases)
    it(`let go of the file that has left the memory: ${what}`, async () => {
      for (let i = 0; i < 2; i++) expect((await ask()).status).to.equal(status)
      await server.site.find(path)
      const held = fileAt(path)
      for (let i = 0; i < OTHERS; i++) await server.site.find(`/other/${i}.html`)
      expect(server.site.inMemory(path)).to.equal(undefined)
      await setImmediate()
      collect()
      expect(held.deref()).to.equal(undefined)
    })

  function fileAt(path: string): WeakRef<StoredFile> {
    const file = server.site.inMemory(path)
    if (!file) throw new Error('the file is not in memory')
    return new WeakRef(file)
  }
})
