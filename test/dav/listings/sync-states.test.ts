/** What a large collection was like is noted, and compared, with pauses (DAV-38, SEC-12). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { syncStates, syncToken } from '../../../dav/listings/sync-states.ts'
import { KeptTogether } from '../../../pipeline/kept-together.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { stepsOf } from '../../support/steps.ts'

const MEMBERS = 20_000

const resource = (path: string, digest: string): Resource => ({
  path,
  kind: 'blob',
  version: 1,
  digest: digest.repeat(64),
  size: 1,
  type: 'text/plain',
  created: 0,
  modified: 0,
  properties: '',
  members: '',
  sameSecond: false,
})

describe('states of large collections', () => {
  const states = syncStates(new KeptTogether<object>(10_000_000))
  const folder: Resource = { ...resource('/a/', 'a'), kind: 'collection', members: 'x' }
  const now: Resource = { ...folder, members: 'y' }
  const members = Array.from({ length: MEMBERS }, (_, i) => resource(`/a/${i}`, 'a'))
  const [first, ...rest] = members
  const other = resource('/a/1', 'b')
  const later = [other, ...rest.slice(1)]

  it('DAV-38 SEC-12 are noted in steps', () => {
    expect(stepsOf(states.keep('', folder, members))).to.be.at.least(40)
  })

  it('DAV-38 SEC-12 take as much as the paths in them', () => {
    const bytesOf = (folder: string) => {
      const all = new KeptTogether<object>(10_000_000)
      const collection: Resource = { ...resource(folder, 'a'), kind: 'collection', members: 'x' }
      atOnce(
        syncStates(all).keep(
          '',
          collection,
          members.slice(0, 100).map(({ path }) => resource(folder + path.slice(3), 'a')),
        ),
      )
      return all.bytes
    }
    const long = `/${'n'.repeat(200)}/${'n'.repeat(200)}/`
    expect(bytesOf(long) - bytesOf('/')).to.equal(100 * (long.length - 1))
  })

  it('DAV-38 SEC-12 are compared in steps, and say what became of members', () => {
    atOnce(states.keep('', folder, members))
    expect(stepsOf(states.since('', now, syncToken(folder), later))).to.be.at.least(39)
    expect(atOnce(states.since('', now, syncToken(folder), later))).to.deep.equal({
      changed: new Set([other]),
      gone: [first?.path],
    })
  })
})
