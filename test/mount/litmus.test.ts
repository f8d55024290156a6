/** The protocol suite that every WebDAV server is held to, wherever the mount is and however the site is set. */

import { expect } from 'chai'
import { litmus, SUITES, type Suite } from '../support/litmus.ts'
import type { TestServerOptions } from '../support/server.ts'
import { ADDRESSES, type AddressedMount } from './addresses.ts'

const [first] = ADDRESSES

/** The stores of several machines, which are asked in a second pass, do not see by which address a mount is reached. */
const REACHED = process.env.TEST_POSTGRES === undefined ? ADDRESSES : ADDRESSES.slice(0, 1)

const MOUNTS: [title: string, start: () => Promise<AddressedMount>][] = REACHED.map(({ title, start }) => [
  title,
  start,
])
const SITES: [title: string, options: TestServerOptions][] = [
  ['that wants parents to exist', { site: { mountStrictParents: true } }],
  ['whose site is open to the public', { site: { defaultGet: 'allow', mountReactions: true } }],
]
if (first) for (const [title, options] of SITES) MOUNTS.push([title, () => first.start(options)])

for (const [title, start] of MOUNTS) {
  describe(`litmus against a mount ${title}`, () => {
    let mount: AddressedMount
    before(async () => {
      mount = await start()
    })
    after(() => mount.close())

    for (const [suite, tests] of Object.entries(SUITES)) {
      it(`DAV-1 passes all ${tests} tests of ${suite}`, async () => {
        const { user, password } = mount.server
        const { run, passed, complaints } = await litmus(suite as Suite, { url: `${mount.url}/`, user, password })
        // It does not wait for `100 Continue` on TLS.
        const skipped = complaints.filter(line => /expect100\W+SKIPPED/.test(line) && mount.url.startsWith('https:'))
        expect(complaints).to.deep.equal(skipped)
        expect({ run, passed }).to.deep.equal({ run: tests - skipped.length, passed: tests - skipped.length })
      })
    }
  })
}
