import { expect } from 'chai'
import { it } from 'mocha'
import { onBothPlanes } from '../../pipeline/model/planes.ts'
import { expectIntegrity, PAGES, race, seeded, stationModel } from '../../pipeline/model/writers.ts'
import { putAll } from '../../support/content.ts'

onBothPlanes('Data model, 16 writers at once', on => {
  for (const cascade of ['restrict', 'true'] as const)
    it(`MOD-42 values stay unique and references whole: cascade ${cascade}`, async () => {
      await on.shelf.clear()
      await putAll(on.shelf.server, PAGES)
      await on.shelf.declare(stationModel(cascade))
      const outcomes = await race([on.shelf.http], 16, 12, seeded(20311104))
      for (const happened of ['add station 206', 'add station 422', 'add reading 206', 'add reading 422'])
        expect(outcomes.has(happened), happened).to.equal(true)
      if (cascade === 'restrict') expect([...outcomes.keys()].some(key => key.endsWith(' 409'))).to.equal(true)
      expect((await expectIntegrity(on.shelf.http)).stations).to.be.above(0)
    })
})
