/** COPY and MOVE to a place that is taken or given up by others after the request has looked there (RFC 4918 §9.8.5, DAV-48). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { startWire, to, type Wire } from '../wire.ts'

const { commit } = Site.prototype

describe('a destination that changes while something is copied or moved there', () => {
  let wire: Wire
  let count = 0
  before(async () => {
    wire = await startWire()
  })
  after(() => wire.server.close())

  for (const method of ['COPY', 'MOVE'] as const)
    for (const kind of ['file', 'collection'] as const)
      for (const status of [201, 204] as const)
        it(`DAV-48 ${method} of a ${kind} says ${status} as it was carried out`, async () => {
          const { dav, server } = wire
          const at = `/${++count}/`
          for (const name of ['a', 'b', 'c']) await dav('PUT', `${at}${name}/x.txt`, {}, name)
          const [from, other, target] = ['a', 'b', 'c'].map(name => `${at}${name}/${kind === 'file' ? 'x.txt' : ''}`)
          if (from === undefined || other === undefined || target === undefined) throw new Error('there are three')
          if (status === 204) await dav('DELETE', target)
          Site.prototype.commit = async function (...order) {
            Site.prototype.commit = commit
            const change = { from: other, to: target, expectTo: 'absent' } as const
            await server.site.commit({
              changes: [
                status === 201
                  ? { op: 'delete', path: target }
                  : { op: 'copy', deep: true, ...change, expect: undefined },
              ],
            })
            return commit.apply(this, order)
          }
          expect((await dav(method, from, to(target))).status).to.equal(status)
          expect((await dav('GET', `${at}c/x.txt`)).text).to.equal('a')
        })
})
