/** Locks of the mount and writes on the public surface (HTTP-85, DAV-80). */

import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { leavesAlone, selecting } from '../write-checks.ts'

const PATHS = ['/docs/locked.html', '/docs/free.html', '/docs/new.html']
const LOCKINFO =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'

/** Takes a lock on the mount for 100 seconds. */
async function lock(server: TestServer, path: string, depth: string): Promise<void> {
  const Authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
  const headers = { Authorization, Depth: depth, Timeout: 'Second-100' }
  const answer = await fetch(server.mountUrl + path, { method: 'LOCK', headers, body: LOCKINFO })
  expect(answer.status).to.equal(200)
  await answer.arrayBuffer()
}

for (const binds of [true, false]) {
  describe(`HTTP-85 locks ${binds ? 'bind public writes where the site wants it' : 'do not bind public writes'}`, () => {
    let server: TestServer
    let send: Client

    before(async () => {
      server = await startServer({ site: { locksBindPublicWrites: binds } })
      send = client(server)
      await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
      await put(server, '/docs/locked.html', page('<p id="a">a</p>'))
      await put(server, '/tree/inside.html', page(''))
      await lock(server, '/docs/locked.html', '0')
      await lock(server, '/tree/', 'infinity')
    })
    beforeEach(async () => {
      await put(server, '/docs/locked.html', page('<p id="a">a</p>'))
      await put(server, '/docs/free.html', page('<p id="a">a</p>'))
    })
    after(() => server.close())

    const writes: [name: string, method: string, path: string, fields: Record<string, string>, body?: string][] = [
      ['PUT', 'PUT', '/docs/locked.html', {}, page('new')],
      ['a PUT below a locked collection', 'PUT', '/tree/new.html', {}, page('new')],
      ['a creation by POST below a locked collection', 'POST', '/tree/', { 'Content-Type': 'text/html' }, page('new')],
      ['a MOVE from there', 'MOVE', '/docs/locked.html', { Destination: '/docs/new.html' }],
      ['a MOVE to there', 'MOVE', '/docs/free.html', { Destination: '/docs/locked.html' }],
      ['DELETE', 'DELETE', '/docs/locked.html', {}],
    ]
    for (const [name, method, path, fields, body] of writes) {
      if (binds) {
        it(`${name}: 423 with the seconds that are left, and nothing changes`, () =>
          leavesAlone(server, PATHS, async () => {
            const answer = await send(method, path, fields, body)
            expect(answer.status).to.equal(423)
            expect(answer.text).to.contain('content="Locked"')
            expect(Number(answer.headers['retry-after'])).to.be.within(1, 100)
          }))
      } else {
        it(`${name} succeeds`, async () => {
          expect((await send(method, path, fields, body)).status).to.be.within(200, 204)
        })
      }
    }

    it('selector writes are never held up', async () => {
      expect((await send('PUT', '/docs/locked.html', selecting('#a'), '<p id="a">b</p>')).status).to.equal(206)
    })
    it('other paths are free', async () => {
      expect((await send('PUT', '/docs/free.html', {}, page('new'))).status).to.equal(200)
    })
  })
}
