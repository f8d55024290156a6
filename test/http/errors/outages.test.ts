import { expect } from 'chai'
import { describe, it } from 'mocha'
import { faultFor } from '../../../edge/conclusion.ts'
import { Fault } from '../../../pipeline/fault.ts'

describe('errors: what is recorded of failures', () => {
  it('of an outage that fails any number of requests, once a second', () => {
    const told: string[] = []
    const begun = performance.now()
    const away = new Fault(503, 'Unavailable', 'A service of this test is away.', { cause: new Error('away') })
    for (let requests = 0; requests < 1000; requests++)
      expect(faultFor(away, (_, message) => told.push(message)).status).to.equal(503)
    expect(told).to.have.lengthOf.within(1, 1 + Math.ceil((performance.now() - begun) / 1000))
    expect(told[0]).to.equal(away.message)
  })

  it('of what is wrong with one file or with the program, each time', () => {
    const told: string[] = []
    const lost = () => new Fault(500, 'Internal', 'The bytes of /a are lost.', { cause: new Error('lost') })
    for (const failure of [lost(), lost(), new Error('broken'), new Error('broken')])
      faultFor(failure, (_, message) => told.push(message))
    expect(told).to.deep.equal([lost().message, lost().message, 'unexpected failure', 'unexpected failure'])
  })
})
