import { expect } from 'chai'
import { describe, it } from 'mocha'
import { localFanOut } from '../../../pipeline/coordination/local/fan-out.ts'
import { openTemporary } from '../store/fixture.ts'
import { fanOutContract } from './fan-out-contract.ts'

describe('fan-out within one process', () => {
  fanOutContract(
    async () => {
      const opened = await openTemporary()
      const { store, clock } = opened
      const fanOut = localFanOut({ store })
      return {
        fanOut,
        store,
        arrived: async () => undefined,
        advance: ms => {
          clock.now += ms
        },
        disturb: async () => undefined,
        async end() {
          await fanOut.close()
          await opened.close()
        },
      }
    },
    { connected: false },
  )

  it('tells of watchers that throw', async () => {
    const opened = await openTemporary()
    const errors: unknown[] = []
    const fanOut = localFanOut({ store: opened.store, failed: error => void errors.push(error) })
    const error = new Error('on purpose')
    const fail = () => {
      throw error
    }
    fanOut.watch('a', '/', { published: fail, interrupted: fail })
    await fanOut.begin('a', [{ path: '/', payload: '' }]).finish({ version: 1, events: ['1-0'] })
    await fanOut.begin('a', [{ path: '/', payload: '' }]).finish('unknown')
    expect(errors).to.deep.equal([error, error])
    await opened.close()
  })

  it('keeps nothing of paths that nobody watches', async () => {
    const opened = await openTemporary()
    const fanOut = localFanOut({ store: opened.store })
    const drafts = Array.from({ length: 10_000 }, (_, i) => ({ path: `/${i}`, payload: 'x' }))
    const events = drafts.map((_, i) => `1-${i}`)
    const told: string[] = []
    fanOut.watch('a', '/77', { published: ({ id }) => void told.push(id), interrupted: () => undefined })
    await fanOut.begin('a', drafts).finish({ version: 1, events })
    expect(told).to.deep.equal(['1-77'])
    await opened.close()
  })
})
