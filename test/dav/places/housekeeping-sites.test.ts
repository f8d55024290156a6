/** Mounts of several sites, which one process looks after (DAV-62, DAV-72). */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { Site } from '../../../pipeline/site/site.ts'
import { MOST_EMPTY_SITES } from '../../../server/hosting.ts'
import { eventually } from '../../support/eventually.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { basic, shown, UNHURRIED } from '../wire.ts'

/** Time of `UNHURRIED`, in milliseconds. */
const SETTLE = 2 * 60 * 60_000

const { commit } = Site.prototype
const [ONE, OTHER, NEW] = ['a.localhost', 'b.localhost', 'new.wild.localhost']

describe('upkeep of several mounts', () => {
  let server: TestServer
  before(async () => {
    const credentials = [{ user: 'ann', password: 'a', scope: ['/*'], write: true }]
    const sites = ['localhost', ONE, OTHER, '*.wild.localhost'].map(host => ({
      host,
      credentials,
      defaultGet: 'allow',
      ...UNHURRIED,
    }))
    server = await startServer({ settings: { sites } })
  })
  after(() => server.close())

  const on = (port: number, host: string) => client(port, { Host: host, Authorization: basic('ann', 'a') })
  const draft = async (host: string, path: string) => {
    const mount = Number(new URL(server.mountUrl).port)
    expect((await on(mount, host)('PUT', path, {}, '')).status).to.equal(201)
  }

  /** Does something while commits of one site wait for their end. @param begun is told of each */
  async function slowly(work: (end: () => void) => Promise<void>, begun: () => void = () => undefined): Promise<void> {
    const isDone = Promise.withResolvers<void>()
    Site.prototype.commit = async function (asked) {
      if (this.store.name === ONE) {
        begun()
        await isDone.promise
      }
      return commit.call(this, asked)
    }
    try {
      await work(isDone.resolve)
    } finally {
      isDone.resolve()
      Site.prototype.commit = commit
    }
  }

  it('DAV-72 of one site does not wait for what takes long on another', async () => {
    for (const host of [ONE, OTHER]) await draft(host, '/x.html')
    await slowly(async end => {
      const round = server.running.mounts.tend(Date.now() + SETTLE)
      await eventually(async () => expect(await shown(on(server.port, OTHER), '/x.html')).to.equal(''))
      expect(await shown(on(server.port, ONE), '/x.html')).to.equal('404')
      end()
      await round
    })
    expect(await shown(on(server.port, ONE), '/x.html')).to.equal('')
  })

  it('DAV-62 publishes a draft that is all that a site has, also when others have opened more of those than stay open', async () => {
    const { hosting, mounts } = server.running
    await draft(NEW, '/x.html')
    for (let i = 0; i <= MOST_EMPTY_SITES; i++) await hosting.open(`${i}.wild.localhost`)
    expect(hosting.opened(NEW)).to.equal(undefined)
    await mounts.tend(Date.now())
    await mounts.tend(Date.now() + SETTLE)
    expect(await shown(on(server.port, NEW), '/x.html')).to.equal('')
  })

  it('DAV-62 begins with no other draft when the server ends, which would wait for each of them', async () => {
    for (const path of ['/1.html', '/2.html', '/3.html']) await draft(ONE, path)
    const hasBegun = Promise.withResolvers<void>()
    let published = 0
    await slowly(
      async end => {
        const round = server.running.mounts.tend(Date.now() + SETTLE)
        await hasBegun.promise
        const closing = server.running.mounts.close()
        end()
        await Promise.all([round, closing])
      },
      () => {
        published++
        hasBegun.resolve()
      },
    )
    expect(published).to.equal(1)
  })
})
