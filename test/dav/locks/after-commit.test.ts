/** A write that is committed is answered as such, whatever can no longer be done afterwards (EVT-81, DAV-87, DAV-102). */

import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { afterCommit, endForgotten, endLeaving, endLocks } from '../../../dav/locks/after-commit.ts'
import { type Lock, LockError } from '../../../pipeline/coordination/locks.ts'
import { startRedis, type TestRedis } from '../../pipeline/coordination/redis-server.ts'
import { page, remove } from '../../support/content.ts'
import { startWire, type Wire } from '../wire.ts'
import { lockInfo, tokenOf } from './locking.ts'

describe('after the commit', () => {
  let redis: TestRedis
  let wire: Wire
  beforeEach(async () => {
    redis = await startRedis()
    wire = await startWire({ settings: { redis: redis.url } })
  })
  afterEach(async () => {
    await wire.server.close()
    await redis.stop()
  })

  /** Redis goes as soon as the next write is on disk. */
  function withoutRedisAfterCommit(): void {
    const { store } = wire.server.site
    const commit = store.commit
    store.commit = async order => {
      store.commit = commit
      const result = await commit.call(store, order)
      await redis.kill()
      return result
    }
  }

  for (const [method, path, destination, status] of [
    ['DELETE', '/c/', undefined, 204],
    ['DELETE', '/c/a.html', undefined, 204],
    ['MOVE', '/c/a.html', '/moved.html', 201],
    ['MOVE', '/c/', '/moved/', 201],
  ] as const) {
    it(`EVT-81 ${method} ${path} of something locked says that it is done when Redis goes after it was`, async () => {
      const { dav } = wire
      await dav('MKCOL', '/c/')
      await dav('PUT', '/c/a.html', {}, page('old'))
      const token = tokenOf(await dav('LOCK', '/c/a.html', { Depth: '0' }, lockInfo()))
      withoutRedisAfterCommit()
      const to = destination === undefined ? {} : { Destination: destination, Overwrite: 'T' }
      const answer = await dav(method, path, { If: `</c/a.html> (<${token}>)`, ...to })
      expect(answer.status).to.equal(status)
      expect(await wire.server.site.store.find(path)).to.equal(undefined)
    })
  }

  it('DAV-82 a lock that was taken and not given to anybody, because Redis hung behind it, is gone when it goes on', async () => {
    const { dav, server } = wire
    await dav('PUT', '/a.html', {}, page('old'))
    const { leases } = server.site
    const { outlast } = leases
    leases.outlast = async (...of) => {
      leases.outlast = outlast
      redis.hang()
      return outlast.apply(leases, of)
    }
    const refused = await dav('LOCK', '/a.html', { Depth: '0' }, lockInfo())
    expect(refused.status).to.equal(503)
    redis.goOn()
    for (let status = 503; status !== 200 && status !== 204; ) {
      ;({ status } = await dav('PUT', '/a.html', {}, page('new')))
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  })

  it('DAV-87 locks that could not be ended are ended by upkeep, by their tokens', async () => {
    const ended: string[] = []
    const failures: unknown[] = []
    let away = true
    const mount = {
      locks: {
        async endAll(_site: string, tokens: string[]) {
          if (away) throw new LockError('away')
          ended.push(...tokens)
        },
      },
      site: { store: { name: 'a.example' } },
      unended: new Set<string>(),
      failed: (error: unknown) => void failures.push(error),
    } as unknown as Parameters<typeof endLocks>[0]
    const lock = (token: string) => ({ token }) as Lock
    await endLocks(mount, [lock('one'), lock('two')])
    expect(failures).to.have.length(1)
    away = false
    await endForgotten(mount)
    expect(ended).to.deep.equal(['one', 'two'])
    await endForgotten(mount)
    expect(ended).to.have.length(2)
    expect(await afterCommit(mount, async () => undefined)).to.equal(true)
  })
})

describe('locks that leave while something else is committed', () => {
  it('SEC-12 DAV-87 each is held against the folders above it, and not against all paths of the commit', () => {
    let looked = 0
    const path = (text: string) => {
      const { endsWith, startsWith } = text
      const looking = (look: typeof endsWith) => (part: string) => {
        looked++
        return look.call(text, part)
      }
      return Object.assign(Object(text), { endsWith: looking(endsWith), startsWith: looking(startsWith) })
    }
    const numbers = Array.from({ length: 50 }, (_, i) => i)
    const ended: string[] = []
    const mount = {
      leaving: new Set([new Map(numbers.map(i => [`t${i}`, { path: path(`/a/${i}/b.txt`) }]))]),
      locks: { endAll: async (_site: string, tokens: string[]) => void ended.push(...tokens) },
      site: { store: { name: 'a.example' } },
    } as unknown as Parameters<typeof endLocks>[0]
    const others = numbers.map(i => `/b/${i}.txt`)
    endLeaving(mount, others)
    expect(ended).to.deep.equal([])
    expect(looked).to.be.at.most(2 * numbers.length)
    endLeaving(mount, [...others, '/a/7/'])
    expect(ended).to.deep.equal(['t7'])
    endLeaving(mount, [...others, '/'])
    expect(ended).to.have.length(numbers.length)
  })
})

describe('after a kill behind a commit', () => {
  it('DAV-87 a lock on what was removed keeps nobody from its name when the server is back, and others stay', async () => {
    const first = await startWire()
    const { dav, server } = first
    await dav('MKCOL', '/c/')
    for (const path of ['/gone.html', '/stays.html', '/._helper']) {
      await dav('PUT', path, {}, page('old'))
      expect((await dav('LOCK', path, { Depth: '0' }, lockInfo())).status).to.equal(200)
    }
    expect((await dav('LOCK', '/new.html', { Depth: '0' }, lockInfo())).status).to.equal(201)
    expect((await dav('LOCK', '/c/', { Depth: '0' }, lockInfo())).status).to.equal(200)
    await remove(server, '/gone.html')
    await server.stop()
    const second = await startWire({ data: server.data })
    try {
      const statuses: Record<string, number> = {}
      for (const path of ['/gone.html', '/stays.html', '/._helper', '/new.html', '/c/another.html'])
        statuses[path] = (await second.dav('PUT', path, {}, page('new'))).status
      expect(statuses).to.deep.equal({
        '/gone.html': 201,
        '/stays.html': 423,
        '/._helper': 423,
        '/new.html': 423,
        // The collection is locked, and new members with it.
        '/c/another.html': 423,
      })
    } finally {
      await second.server.close()
    }
  })
})
