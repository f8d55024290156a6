/** Programs over a directory whose documents their sender may not read: how many of them are looked at (SES-126, HTTP-172). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { putAll, rulesPage } from '../support/content.ts'
import { client } from '../support/http.ts'
import { startServer } from '../support/server.ts'

/** Documents of the site, more than anybody may have looked at. */
const DOCUMENTS = 1_000_000

describe('directories with many hidden documents', () => {
  it('HTTP-172 SES-126 a request looks at so many of them as it may spend steps on', async () => {
    const server = await startServer({ site: { defaultGet: 'deny' } })
    try {
      await putAll(server, { '/rules.html': rulesPage(['*', 'QUERY', 'Allow', '/']), '/d/a.html': '<p>x' })
      const { store } = server.site
      const [sample] = [await store.find('/d/a.html')]
      if (!sample) throw new Error('nothing is stored')
      let walked = 0
      store.walk = async function* () {
        for (; walked < DOCUMENTS; walked++) yield { ...sample, path: `/d/${walked}.html` }
      }
      const http = client(server.port)
      const { status } = await http('QUERY', '/', { 'Content-Type': 'text/sessel' }, '1')
      expect(status).to.equal(503)
      expect(walked).to.be.at.most(DOCUMENTS / 4)
    } finally {
      await server.close()
    }
  })
})
