import { expect } from 'chai'
import { describe, it } from 'mocha'
import { page } from '../support/content.ts'
import { members } from './members.ts'

describe('writers of another process that were outlasted', () => {
  const { two, textOf } = members()

  it('DAV-44 DAV-82 whoever has waited for them, as a lock does, decides by what they have stored', async () => {
    const [one, other] = await two()
    await one.put('/a.html', page('before'))
    await other.coherence.inStep()
    expect(await textOf(other, '/a.html')).to.equal(page('before'))
    // What a request follows before it begins does not have this.
    const { outlast } = other.store
    other.store.outlast = async () => {
      await one.put('/a.html', page('after'))
      await outlast?.()
    }
    await other.site.leases.outlast('a.example', '/a.html')
    expect(await textOf(other, '/a.html')).to.equal(page('after'))
  })
})
