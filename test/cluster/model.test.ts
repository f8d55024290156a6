import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { expectIntegrity, PAGES, race, seeded, stationModel } from '../pipeline/model/writers.ts'
import { page, rulesPage } from '../support/content.ts'
import { type Cluster, startCluster } from './installation.ts'

describe('two processes with one data model', () => {
  for (const cascade of ['restrict', 'true'] as const)
    describe(`cascade ${cascade}`, () => {
      let cluster: Cluster
      before(async () => {
        const files = { ...PAGES, '/rules.html': rulesPage(['*', '*', 'Allow', '/*']) }
        cluster = await startCluster({ count: 2, files })
      })
      after(() => cluster.close())

      it('MOD-42 values stay unique and references whole with 16 writers, half at each, half on the mount', async () => {
        const [one, two] = cluster.nodes
        if (!one || !two) throw new Error('no processes')
        // MOD-4 what one process has stored binds at the other.
        expect((await one.http('PUT', '/model.html', {}, page(stationModel(cascade)))).status).to.equal(201)
        const outcomes = await race([one.http, two.http, one.dav, two.dav], 16, 12, seeded(20311104))
        for (const happened of ['add station 206', 'add station 422', 'add reading 206', 'add reading 422'])
          expect(outcomes.get(happened), happened).to.be.above(0)
        expect(await expectIntegrity(one.http)).to.deep.equal(await expectIntegrity(two.http))
      })
    })
})
