import { expect } from 'chai'
import { describe, it } from 'mocha'
import { renewable } from '../../../../pipeline/store/sqlite/writer/renewable.ts'

describe('store/sqlite: a connection that is opened anew', () => {
  function connections() {
    const state = { now: 5_000, opened: 0, closed: [] as number[], fails: false }
    const open = () => {
      if (state.fails) throw new Error('read-only')
      const number = ++state.opened
      return { number, close: () => void state.closed.push(number) }
    }
    return { state, connection: renewable(open, () => state.now) }
  }

  it('takes the place of the one that took no writes, once in a while', () => {
    const { state, connection } = connections()
    connection.renew()
    expect([connection.current().number, state.closed]).to.deep.equal([2, [1]])
    connection.renew()
    expect(connection.current().number).to.equal(2)
    state.now += 1_000
    connection.renew()
    expect([connection.current().number, state.closed]).to.deep.equal([3, [1, 2]])
  })

  it('is kept where no other can be opened', () => {
    const { state, connection } = connections()
    state.fails = true
    connection.renew()
    expect([connection.current().number, state.closed]).to.deep.equal([1, []])
    state.fails = false
    state.now += 1_000
    connection.renew()
    expect(connection.current().number).to.equal(2)
  })
})
