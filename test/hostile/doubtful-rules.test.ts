/** Rules that are stored although the store said that it has failed, and then could not be read either (RULE-11). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { StoreError } from '../../pipeline/store/errors.ts'
import { page, put, rulesPage } from '../support/content.ts'
import { eventually } from '../support/eventually.ts'
import { client } from '../support/http.ts'
import { startServer } from '../support/server.ts'

describe('rules of a commit of which nobody knows', () => {
  it('RULE-11 count as soon as they can be read, and writes go on', async () => {
    const server = await startServer({ site: { defaultGet: 'allow' } })
    try {
      await put(server, '/page.html', page('x'))
      const http = client(server.port)
      expect((await http('GET', '/page.html')).status).to.equal(200)
      const { store } = server.site
      const [commit, counters] = [store.commit.bind(store), store.counters.bind(store)]
      Object.assign(store, {
        async commit(asked: Parameters<typeof commit>[0]) {
          await commit(asked)
          throw new StoreError('failed', 'the disk is away')
        },
        counters: () => Promise.reject(new StoreError('failed', 'the disk is away')),
      })
      const refused = put(server, '/rules.html', rulesPage(['*', 'GET', 'Deny', '/page.html'])).catch(error => error)
      expect(await refused).to.be.instanceOf(Error)
      Object.assign(store, { commit, counters })
      await eventually(async () => expect((await http('GET', '/page.html')).status).to.equal(401))
      await put(server, '/other.html', page('x'))
    } finally {
      await server.close()
    }
  })
})
