/** The protocol suite that every WebDAV server is held to, wherever the mount is. */

import { expect } from 'chai'
import { litmus, SUITES, type Suite } from '../support/litmus.ts'
import { startServer, type TestServer, type TestServerOptions } from '../support/server.ts'

const MOUNTS: [title: string, options: TestServerOptions][] = [
  ['on a port of its own', {}],
  ['under a path', { settings: { mount: { path: '/-platform/dav' } } }],
  ['under a path of several segments', { settings: { mount: { path: '/edit/the/site' } } }],
  ['that wants parents to exist', { site: { mountStrictParents: true } }],
  ['whose site is open to the public', { site: { defaultGet: 'allow', mountReactions: true } }],
]

for (const [title, options] of MOUNTS) {
  describe(`litmus against a mount ${title}`, () => {
    let server: TestServer
    before(async () => {
      server = await startServer(options)
    })
    after(() => server.close())

    for (const [suite, tests] of Object.entries(SUITES)) {
      it(`DAV-1 passes all ${tests} tests of ${suite}`, async () => {
        const { mountUrl, user, password } = server
        const result = await litmus(suite as Suite, { url: `${mountUrl}/`, user, password })
        expect(result).to.deep.equal({ run: tests, passed: tests, complaints: [] })
      })
    }
  })
}
