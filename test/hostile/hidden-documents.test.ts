/** Programs over a directory whose documents their sender may not read: how many of them are looked at (SES-126, HTTP-172). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { SiteReach } from '../../pipeline/evaluation/reach.ts'
import { Allowance } from '../../pipeline/language/allowance.ts'
import { putAll, rulesPage } from '../support/content.ts'
import { client } from '../support/http.ts'
import { byWork } from '../support/long-waits.ts'
import { startServer } from '../support/server.ts'

/** Documents of the site, more than anybody may have looked at. */
const DOCUMENTS = 1_000_000

describe('directories with many hidden documents', () => {
  it('HTTP-172 SES-126 a request looks at so many of them as it may spend steps on', async () => {
    const server = await startServer({ site: { defaultGet: 'deny' } })
    try {
      await putAll(server, {
        '/rules.html': rulesPage(['*', 'QUERY', 'Allow', '/'], ['*', 'GET', 'Allow', '/open.html']),
        '/d/a.html': '<p>x',
      })
      const { store } = server.site
      const [sample] = [await store.find('/d/a.html')]
      if (!sample) throw new Error('nothing is stored')
      let walked = 0
      let most = DOCUMENTS
      store.walk = async function* () {
        for (walked = 0; walked < most; walked++) yield { ...sample, path: `/d/${walked}.html` }
        yield { ...sample, path: '/open.html' }
      }
      const http = client(server.port)
      const asking = async (program: string) =>
        (await http('QUERY', '/', { 'Content-Type': 'text/sessel' }, program)).status
      expect(await asking('1')).to.equal(503)
      expect(walked).to.be.at.most(DOCUMENTS / 4)
      // They take nothing from the program, which would tell how many there are (SEC-6).
      most = 199_000
      const many = () => asking(`let a = [${'1,'.repeat(99)}1]; a.map(x => a.map(y => x)).count()`)
      expect(await byWork(many)).to.equal(200)
    } finally {
      await server.close()
    }
  })

  it('SEC-6 SES-126 what a search takes of the steps of a request is the same whatever hidden documents hold', async () => {
    const server = await startServer()
    try {
      await putAll(server, {
        '/open/a.html': '<p class="pub">x',
        '/hidden/x.html': '<p class="zebra">x<b class="pub">',
      })
      const taken = async (name: string, covers: (path: string) => boolean) => {
        const allowance = new Allowance()
        const reach = new SiteReach(server.site, allowance, { scope: '/', covers })
        const found = [await reach.everywhere([[name]]), await reach.matching('/*', [[name]])]
        return [allowance.stepsTaken, ...found]
      }
      const open = (path: string) => path.startsWith('/open/')
      expect(await taken('.zebra', open)).to.deep.equal([0, [], []])
      expect(await taken('.none', open)).to.deep.equal([0, [], []])
      expect(await taken('.pub', open)).to.deep.equal([2, ['/open/a.html'], ['/open/a.html']])
      expect(await taken('.pub', () => true)).to.have.property('0', 4)
      let asked = 0
      await taken('.zebra', () => ++asked < 0)
      expect(asked, 'a document is asked about once, however often it is found').to.equal(1)
    } finally {
      await server.close()
    }
  })
})
