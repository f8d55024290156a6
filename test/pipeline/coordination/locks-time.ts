/** When locks end by themselves, and what keeps them alive. */

import { expect } from 'chai'
import { type Opened, SITE, take, wish } from './locks-kept.ts'

export function locksOverTime(opened: Opened): void {
  it('DAV-83 an expired lock is gone at once, for its token, its path and for conflicts', async () => {
    const { locks, advance } = await opened()
    const lock = await take(locks, '/a/b', { seconds: 10 })
    advance(9_999)
    expect(await locks.find(SITE, lock.token)).to.deep.equal(lock)
    advance(1)
    expect(await locks.find(SITE, lock.token)).to.equal(undefined)
    expect(await locks.on(SITE, '/a/b')).to.deep.equal([])
    expect(await locks.onMembers(SITE, '/a/')).to.deep.equal([])
    expect(await locks.below(SITE, '/')).to.deep.equal([])
    expect(await locks.refresh(SITE, lock.token, 10)).to.equal(undefined)
    expect(await locks.end(SITE, lock.token)).to.equal(false)
    await take(locks, '/', { depth: 'infinity' })
  })

  it('DAV-84 a refresh restarts the timer, to longer or shorter', async () => {
    const { locks, advance, now } = await opened()
    const lock = await take(locks, '/a', { seconds: 10 })
    advance(9_000)
    const longer = await locks.refresh(SITE, lock.token, 20)
    expect(longer).to.deep.equal({ ...lock, expires: now() + 20_000 })
    advance(19_000)
    expect(await locks.find(SITE, lock.token)).to.deep.equal(longer)
    await locks.refresh(SITE, lock.token, 1)
    advance(1_000)
    expect(await locks.find(SITE, lock.token)).to.equal(undefined)
  })

  it('DAV-83 a request that holds the token keeps the lock alive until it ends', async () => {
    const { locks, advance } = await opened()
    const lock = await take(locks, '/a', { seconds: 10 })
    const hold = await locks.keepAlive(SITE, 'ann', [lock.token, 'opaquelocktoken:unknown'])
    advance(3_600_000)
    expect(await locks.on(SITE, '/a')).to.deep.equal([lock])
    expect(await locks.take(SITE, wish('/a', { user: 'bob' }))).to.deep.include({ reason: 'conflict', holder: lock })
    await hold.release()
    expect(await locks.on(SITE, '/a')).to.deep.equal([])
  })

  it('DAV-83 the last of several requests decides', async () => {
    const { locks, advance } = await opened()
    const lock = await take(locks, '/a', { seconds: 10 })
    const first = await locks.keepAlive(SITE, 'ann', [lock.token])
    const second = await locks.keepAlive(SITE, 'ann', [lock.token])
    advance(60_000)
    await first.release()
    await first.release()
    expect(await locks.find(SITE, lock.token)).to.deep.equal(lock)
    await second.release()
    expect(await locks.find(SITE, lock.token)).to.equal(undefined)
  })

  it('DAV-83 the timer goes on where a request ends in time', async () => {
    const { locks, advance } = await opened()
    const lock = await take(locks, '/a', { seconds: 10 })
    await (await locks.keepAlive(SITE, 'ann', [lock.token])).release()
    advance(9_999)
    expect(await locks.find(SITE, lock.token)).to.deep.equal(lock)
    advance(1)
    expect(await locks.find(SITE, lock.token)).to.equal(undefined)
  })

  it('DAV-83 a refresh under a request that outlived the timer counts', async () => {
    const { locks, advance } = await opened()
    const lock = await take(locks, '/a', { seconds: 10 })
    const hold = await locks.keepAlive(SITE, 'ann', [lock.token])
    advance(20_000)
    const fresh = await locks.refresh(SITE, lock.token, 30)
    await hold.release()
    advance(29_999)
    expect(await locks.find(SITE, lock.token)).to.deep.equal(fresh)
    advance(1)
    expect(await locks.find(SITE, lock.token)).to.equal(undefined)
  })

  it('DAV-86 the token of another credential keeps nothing alive', async () => {
    const { locks, advance } = await opened()
    const lock = await take(locks, '/a', { seconds: 10 })
    await locks.keepAlive(SITE, 'bob', [lock.token])
    advance(10_000)
    expect(await locks.find(SITE, lock.token)).to.equal(undefined)
  })

  it('a lock that is kept alive can be ended all the same', async () => {
    const { locks, advance } = await opened()
    const lock = await take(locks, '/a', { seconds: 10 })
    const hold = await locks.keepAlive(SITE, 'ann', [lock.token])
    advance(20_000)
    expect(await locks.end(SITE, lock.token)).to.equal(true)
    const next = await take(locks, '/a')
    await hold.release()
    expect(await locks.on(SITE, '/a')).to.deep.equal([next])
  })
}
