import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { movingBetween } from '../../support/between.ts'
import { page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const OPEN = rulesPage(['*', 'GET|QUERY', 'Allow', '/page.html'])

describe('Reads that fail on what was written after their rules', () => {
  let server: TestServer
  let http: Client
  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    http = client(server)
  })
  after(() => server.close())

  const css = { 'Content-Type': 'text/css-selector' }
  const READS: [what: string, read: () => Promise<Received>, status: number][] = [
    ['an element', () => http('GET', '/page.html', { Range: 'selector=b' }), 416],
    ['several', () => http('GET', '/page.html', { Range: 'selector=b', Accept: 'multipart/mixed' }), 416],
    ['a form of the query', () => http('QUERY', '/page.html', { ...css, Accept: 'text/plain' }, 'b'), 406],
  ]
  for (const [what, read] of READS)
    it(`RULE-11 SEC-6 ${what}: whoever was shut out before it was written is told nothing of it`, async () => {
      await putAll(server, { '/rules.html': OPEN, '/page.html': page('<b>1</b>') })
      const changed = movingBetween(server.site, '/page.html', async () => {
        await put(server, '/rules.html', rulesPage(['*', 'GET', 'Deny', '/page.html']))
        await put(server, '/page.html', page('<i>2</i>'))
      })
      expect((await read()).status).to.equal(401)
      await changed()
    })
  for (const [what, read, status] of READS)
    it(`RULE-11 ${what}: is told that by rules that stay`, async () => {
      await putAll(server, { '/rules.html': OPEN, '/page.html': page('<b>1</b>') })
      const changed = movingBetween(server.site, '/page.html', () => put(server, '/page.html', page('<i>2</i>')))
      expect((await read()).status).to.equal(status)
      await changed()
    })
})
