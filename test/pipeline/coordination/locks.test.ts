import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { MOST_SITES, openLocalLocks } from '../../../pipeline/coordination/local/locks.ts'
import { turnsOf } from '../../support/turns.ts'
import { locksContract } from './locks-contract.ts'

/** A time that is no whole second. */
const START = Date.UTC(2026, 2, 14, 9, 26, 53, 589)

describe('locks in memory', () => {
  locksContract(
    async ({ most } = {}) => {
      let now = START
      const locks = await openLocalLocks({ clock: () => now, most })
      return { locks, advance: ms => (now += ms), now: () => now, end: () => locks.close() }
    },
    { lasting: false },
  )
})

describe('locks that take much', () => {
  for (const [what, { path, owner }] of Object.entries({
    'far down': { path: (i: number) => `/${i}${'/a'.repeat(500)}`, owner: '' },
    'with a long owner': { path: (i: number) => `/${i}`, owner: 'o'.repeat(8_000) },
  }))
    it(`DAV-82 SEC-12 count as several where a site holds no more than it may: ${what}`, async () => {
      const locks = await openLocalLocks({ most: 100 })
      const lock = { scope: 'exclusive', depth: 0, user: 'ada', seconds: 60 } as const
      const take = (i: number) => locks.take('a.example', { path: path(i), owner, ...lock })
      let [taken] = await Promise.all([take(0), take(1)])
      for (let i = 2; taken?.ok && i < 100; i++) taken = await take(i)
      expect(taken).to.deep.equal({ ok: false, reason: 'full' })
      // What has ended counts no more.
      for (const { token } of await locks.below('a.example', '/')) await locks.end('a.example', token)
      for (let i = 0; i < 5; i++) {
        const again = await take(i)
        expect(again.ok).to.equal(i < 2 || owner !== '')
      }
    })
})

describe('locks with a journal', () => {
  locksContract(
    async ({ most } = {}) => {
      let now = START
      const clock = () => now
      const folder = await mkdtemp(join(tmpdir(), 'locks-'))
      const open = () => openLocalLocks({ folder, clock, most })
      const locks = await open()
      const opened = [locks]
      return {
        locks,
        advance: ms => (now += ms),
        now: clock,
        async restart() {
          await locks.close()
          const later = await open()
          opened.push(later)
          return later
        },
        async end() {
          for (const each of opened) await each.close()
          await rm(folder, { recursive: true })
        },
      }
    },
    { lasting: true },
  )
})

describe('locks of many sites', () => {
  it('SEC-12 DAV-82 each has room, and all together have no more than twice what one may hold', async () => {
    const locks = await openLocalLocks({ clock: () => START, most: 64 })
    const lock = { scope: 'exclusive', depth: 0, owner: '', user: 'ada', seconds: 60 } as const
    const held: number[] = []
    for (let site = 0; site < 10; site++) {
      let taken = 0
      while ((await locks.take(`${site}.example`, { path: `/${taken}`, ...lock })).ok) taken++
      held.push(taken)
    }
    expect(held).to.deep.equal([64, 32, 16, 8, 4, 2, 1, 1, 1, 1])
    await locks.close()
  })
})

describe('many locks that expire at once', () => {
  it('SEC-12 DAV-83 are dropped in turns, by whoever asks first', async () => {
    let now = START
    const locks = await openLocalLocks({ clock: () => now })
    const request = { scope: 'exclusive', depth: 0, owner: '', user: 'ann' } as const
    const take = (path: string, seconds: number) => locks.take('a.example', { ...request, path, seconds })
    for (let i = 0; i < 9_000; i++) await take(`/in/${i}`, 60)
    await take('/in/kept', 120)
    now += 60_000
    let below: string[] = []
    const looking = async () => {
      below = (await locks.below('a.example', '/in/')).map(({ path }) => path)
    }
    expect(await turnsOf(() => Promise.all([looking(), take('/in/7', 60)]))).to.be.above(1)
    expect(below).to.deep.equal(['/in/kept'])
    expect(await locks.on('a.example', '/in/7')).to.have.length(1)
    await locks.close()
  })
})

describe('locks that were taken while the clock was ahead', () => {
  const HOUR = 3_600_000
  const request = { path: '/a', scope: 'exclusive', depth: 0, owner: '', user: 'ann', seconds: 3600 } as const

  for (const isRestarted of [false, true]) {
    it(`DAV-83 last an hour at most when it is set right${isRestarted ? ', in another process as well' : ''}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'locks-'))
      let now = START + 400 * 24 * HOUR
      const open = () => openLocalLocks({ folder, clock: () => now })
      let locks = await open()
      expect((await locks.take('one', request)).ok).to.equal(true)
      now = START
      if (isRestarted) {
        await locks.close()
        locks = await open()
      }
      expect((await locks.on('one', '/a')).map(({ expires }) => expires)).to.deep.equal([START + HOUR])
      now += HOUR
      expect(await locks.on('one', '/a')).to.deep.equal([])
      await locks.close()
      await rm(folder, { recursive: true })
    })
  }

  it('DAV-82 leave none beside them that had expired by then', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'locks-'))
    let now = START
    const open = () => openLocalLocks({ folder, clock: () => now })
    let locks = await open()
    await locks.take('one', request)
    now += 2 * HOUR
    const later = await locks.take('one', request)
    await locks.close()
    now = START
    locks = await open()
    expect((await locks.on('one', '/a')).map(({ token }) => token)).to.deep.equal([later.ok && later.lock.token])
    await locks.close()
    await rm(folder, { recursive: true })
  })
})

describe('locks that a process took', () => {
  it('EVT-81 are counted by site at once: as long as the number stands, there is none that was not before', async () => {
    const locks = await openLocalLocks()
    const request = { path: '/a', scope: 'exclusive', depth: 0, owner: '', user: 'ann', seconds: 60 } as const
    expect(locks.taken?.('one')).to.equal(0)
    const taking = locks.take('one', request)
    expect(locks.taken?.('one'), 'before anybody is told of it').to.equal(1)
    const taken = await taking
    expect((await locks.take('one', request)).ok, 'a conflict takes none').to.equal(false)
    if (taken.ok) await locks.end('one', taken.lock.token)
    expect(locks.taken?.('one')).to.equal(1)
    expect(locks.taken?.('two')).to.equal(0)
    await locks.close()
  })

  it('SEC-12 EVT-81 are forgotten of the sites before when those of very many have come, which counts as one more', async () => {
    const locks = await openLocalLocks()
    const request = { path: '/a', scope: 'exclusive', depth: 0, owner: '', user: 'ann', seconds: 60 } as const
    const take = async (site: string) => {
      const taken = await locks.take(site, request)
      if (taken.ok) await locks.end(site, taken.lock.token)
    }
    await take('one')
    const number = locks.taken?.('one')
    for (let i = 2; i <= MOST_SITES; i++) await take(`invented-${i}`)
    expect(locks.taken?.('one'), 'as many as are known').to.equal(number)
    await take('another')
    const later = locks.taken?.('one')
    expect(later).not.to.equal(number)
    await take('two')
    expect(locks.taken?.('one'), 'with none of its own').to.equal(later)
    await take('one')
    expect(locks.taken?.('one')).not.to.equal(later)
    await locks.close()
  })
})
