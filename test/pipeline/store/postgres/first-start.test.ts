import { expect } from 'chai'
import { describe, it } from 'mocha'
import { openPostgresStore } from '../../../../pipeline/store/postgres/store.ts'
import { sharedCluster } from '../../../support/postgres.ts'

describe('an empty database', () => {
  it('is made ready once, however many servers start on it at the same moment', async () => {
    const { url, run } = await sharedCluster()
    for (let round = 0; round < 4; round++) {
      const database = `together_${process.pid}_${round}`
      await run(`CREATE DATABASE ${database}`)
      const opened = await Promise.allSettled(
        Array.from({ length: 6 }, () => openPostgresStore({ url: new URL(database, url).href, shared: true })),
      )
      for (const each of opened) if (each.status === 'fulfilled') await each.value.close()
      await run(`DROP DATABASE ${database}`)
      expect(opened.flatMap(each => (each.status === 'rejected' ? [String(each.reason)] : []))).to.deep.equal([])
    }
  })
})
