import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { createScope } from '../../../dav/access/scope.ts'
import { scopeAuthority } from '../../../dav/access/scope-authority.ts'
import type { Principal } from '../../../pipeline/access/principal.ts'
import { type Authority, fullAuthority } from '../../../pipeline/authority.ts'
import { memoryBody, NO_BODY } from '../../../pipeline/body.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { perform } from '../../../pipeline/operation.ts'
import { rulesAuthority } from '../../../pipeline/site/rules-authority.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { deleteDocument, putDocument } from '../../../pipeline/write/document.ts'
import { user } from '../../pipeline/access/site.ts'
import { page, putAll, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

describe('who reads and writes besides the requests of visitors', () => {
  let server: TestServer

  before(async () => {
    server = await startServer()
    await putAll(server, {
      '/page.html': page('x'),
      '/parts/menu.html': page('<nav>Start</nav>'),
      '/log/one.html': page('x'),
      '/rules.html': rulesPage(
        ['*', 'GET', 'Deny', '/parts/*'],
        ['ann', 'PUT|DELETE', 'Allow', '/log/*'],
        ['*', 'POST', 'Allow', '/page.html'],
      ),
    })
  })
  after(() => server.close())

  /** What a requester may do, whichever request it was that set something off. */
  const authorityOf = (principal: Principal | undefined) => {
    const facts = { method: 'POST', path: '/page.html', headers: () => undefined, queryString: '' }
    return rulesAuthority(server.site, { facts, ...(principal && { principal }) })
  }
  const statusOf = async (work: Promise<unknown>) =>
    work.then(
      () => 'done',
      error => (error instanceof Fault ? error.status : error),
    )
  const write = (path: string, authority: () => Authority) => {
    const operation = putDocument(server.site, { path, type: undefined, conditions: undefined, cause: {} }, authority)
    return statusOf(perform(operation, memoryBody(Buffer.from(page('written')))))
  }
  const remove = (path: string, authority: () => Authority) =>
    statusOf(perform(deleteDocument(server.site, { path, conditions: undefined, cause: {} }, authority), NO_BODY))

  it('IDC-3 what composition reads is read with the authority of the server; the page alone is asked for the visitor', async () => {
    const part = { ask: 'read', path: '/parts/menu.html', exists: true } as const
    expect((await client(server.port)('GET', part.path)).status).to.equal(401)
    expect(authorityOf(undefined)().admit(part)).to.equal('refuse')
    expect(fullAuthority.admit(part)).to.equal('allow')
    const element = { ...part, ask: 'read-elements', keys: [] } as const
    expect(fullAuthority.admit(element), 'what is not there is not there').to.equal('no-match')
    expect(fullAuthority.admit({ ...part, exists: false })).to.equal('not-found')
    // In steps it is the same, for an authority made of this one too.
    expect(atOnce(fullAuthority.admitting(element))).to.equal('no-match')
    const elsewhere = scopeAuthority(createScope(['/team/*'], true))
    expect(atOnce(elsewhere.admitting(element))).to.equal('not-found')
    // Nothing that is read like this goes to shared caches by itself.
    expect(fullAuthority.shareable(part.path)).to.equal(false)
  })

  it('IDC-4 a write of a reaction is decided as the principal of the request that fired it', async () => {
    for (const [who, principal, put, removed] of [
      ['nobody', undefined, 401, 401],
      ['bob', user('bob'), 403, 403],
      ['ann', user('ann'), 'done', 'done'],
    ] as const) {
      expect(await write('/log/one.html', authorityOf(principal)), `PUT by ${who}`).to.equal(put)
      expect(await remove('/log/one.html', authorityOf(principal)), `DELETE by ${who}`).to.equal(removed)
    }
    expect(await write('/elsewhere.html', authorityOf(user('ann')))).to.equal(403)
    expect(await write('/page.html', authorityOf(user('ann'))), 'POST was granted there, not PUT').to.equal(403)
    expect(await server.site.find('/elsewhere.html')).to.equal(undefined)
  })
})
