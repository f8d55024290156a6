/** Mounts of several sites, which one process looks after (DAV-62, DAV-72). */

import { expect } from 'chai'
import { describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { eventually } from '../../support/eventually.ts'
import { client } from '../../support/http.ts'
import { startServer } from '../../support/server.ts'
import { basic, shown, UNHURRIED } from '../wire.ts'

/** Time of `UNHURRIED`, in milliseconds. */
const SETTLE = 2 * 60 * 60_000

describe('upkeep of several mounts', () => {
  it('DAV-72 of one site does not wait for what takes long on another', async () => {
    const [one, other] = ['a.localhost', 'b.localhost']
    const credentials = [{ user: 'ann', password: 'a', scope: ['/*'], write: true }]
    const sites = ['localhost', one, other].map(host => ({ host, credentials, defaultGet: 'allow', ...UNHURRIED }))
    const server = await startServer({ settings: { sites } })
    const [mount, pages] = [Number(new URL(server.mountUrl).port), server.port]
    const on = (port: number, host: string) => client(port, { Host: host, Authorization: basic('ann', 'a') })
    const isDone = Promise.withResolvers<void>()
    const { commit } = Site.prototype
    try {
      for (const host of [one, other]) expect((await on(mount, host)('PUT', '/x.html', {}, '')).status).to.equal(201)
      Site.prototype.commit = async function (asked) {
        if (this.store.name === one) await isDone.promise
        return commit.call(this, asked)
      }
      const round = server.running.mounts.tend(Date.now() + SETTLE)
      await eventually(async () => expect(await shown(on(pages, other), '/x.html')).to.equal(''))
      expect(await shown(on(pages, one), '/x.html')).to.equal('404')
      isDone.resolve()
      await round
      expect(await shown(on(pages, one), '/x.html')).to.equal('')
    } finally {
      isDone.resolve()
      Site.prototype.commit = commit
      await server.close()
    }
  })
})
