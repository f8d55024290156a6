import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Reads } from '../../../pipeline/compose/reads.ts'
import { composed } from '../../pipeline/compose/composing.ts'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { selecting } from '../write-checks.ts'

/** UTF-16 code units of each document that is included: together they are more than the memory keeps of documents. */
const LONG = 1024 * 1024

describe('pages of more documents than the memory keeps', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer({ settings: { limits: { memory: '16MiB', leaseWait: '5m' } } })
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
    const parts = [1, 2, 3, 4]
    for (const i of parts) await put(server, `/part-${i}.html`, page(`<div id="part">${'x'.repeat(LONG)}</div>`))
    const includes = parts.map(i => `<p:include selector="#part" resource="/part-${i}.html"/>`).join('')
    await put(server, '/page.html', composed(`<ul id="list"></ul>${includes}`))
  })
  after(() => server.close())

  /** Requests to the page, and how often its composition was begun for one. */
  const requests: [what: string, status: number, most: number, send: () => ReturnType<Client>][] = [
    ['SEC-12 COMP-4 GET', 200, 1, () => http('GET', '/page.html')],
    ['SEC-12 COMP-86 POST', 206, 2, () => http('POST', '/page.html', selecting('#list'), '<li>1</li>')],
    ['SEC-12 COMP-86 PUT', 206, 2, () => http('PUT', '/page.html', selecting('li'), '<li>2</li>')],
    ['SEC-12 COMP-86 DELETE', 204, 2, () => http('DELETE', '/page.html', selecting('li'))],
  ]
  for (const [what, status, most, send] of requests)
    it(`${what}: the page is put together ${most} times at most`, async () => {
      const { document } = Reads.prototype
      let begun = 0
      Reads.prototype.document = function (path, version) {
        if (path === '/part-1.html') begun++
        document.call(this, path, version)
      }
      try {
        expect((await send()).status).to.equal(status)
      } finally {
        Reads.prototype.document = document
      }
      // Each composition tells of a document that it reads twice.
      expect(begun / 2).to.be.within(1, most)
    })
})
