import { expect } from 'chai'
import { type GuardedChange, guardLocks, locksInListing, takenOn } from '../../../dav/locks/locks-in-force.ts'
import { openLocalLocks } from '../../../pipeline/coordination/local/locks.ts'
import type { Lock, LockRequest, Locks } from '../../../pipeline/coordination/locks.ts'
import { Fault } from '../../../pipeline/fault.ts'
import { takesLess } from '../../support/cost.ts'

const SITE = 'a.example'

async function take(locks: Locks, path: string, more: Partial<LockRequest> = {}): Promise<Lock> {
  const request: LockRequest = { path, scope: 'exclusive', depth: 0, owner: '', user: 'ann', seconds: 600, ...more }
  const taken = await locks.take(SITE, request)
  if (!taken.ok) throw new Error(taken.reason)
  return taken.lock
}

/** @returns the locked path that a refusal names, or `free` */
async function outcome(
  locks: Locks,
  change: Omit<GuardedChange, 'site' | 'user' | 'submitted'> & Partial<GuardedChange>,
): Promise<string> {
  try {
    await guardLocks(locks, { site: SITE, user: 'ann', submitted: new Set(), ...change })
    return 'free'
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { status, kind, details } = error
    expect({ status, kind, code: details.precondition?.code }).to.deep.equal({
      status: 423,
      kind: 'Locked',
      code: 'lock-token-submitted',
    })
    return details.precondition?.paths?.join() ?? 'no path'
  }
}

const deep = { depth: 'infinity' } as const
const shared = { scope: 'shared' } as const
type Kind = GuardedChange['kind']

describe('locks in the way of a change', () => {
  const cases: [held: [path: string, more?: Partial<LockRequest>], path: string, refused: readonly Kind[]][] = [
    [['/a/f'], '/a/f', ['content', 'properties', 'membership', 'subtree']],
    [['/a/f'], '/a/g', []],
    [['/a/f', shared], '/a/f', ['content', 'properties', 'membership', 'subtree']],
    // A lock on a collection guards its membership, of either depth; what is in it only with depth infinity.
    [['/a/'], '/a/f', ['membership', 'subtree']],
    [['/a/', deep], '/a/f', ['content', 'properties', 'membership', 'subtree']],
    [['/a/'], '/a/b/f', []],
    [['/a/', deep], '/a/b/f', ['content', 'properties', 'membership', 'subtree']],
    [['/'], '/f', ['membership', 'subtree']],
    [['/'], '/a/f', []],
    [['/', deep], '/a/f', ['content', 'properties', 'membership', 'subtree']],
    // Deleting or moving a collection needs the tokens of everything inside.
    [['/a/b/f'], '/a/', ['subtree']],
    [['/a/b/f', shared], '/a', ['subtree']],
    [['/a/b/f'], '/', ['subtree']],
    [['/ab'], '/a/', []],
    [['/a/'], '/a/', ['content', 'properties', 'membership', 'subtree']],
  ]
  for (const [[lockedPath, more], path, refused] of cases) {
    for (const kind of ['content', 'properties', 'membership', 'subtree'] as const) {
      const isRefused = refused.includes(kind)
      it(`DAV-86 ${lockedPath} locked ${more?.depth ?? 0}: ${kind} of ${path} ${isRefused ? 'needs its token' : 'is free'}`, async () => {
        const locks = await openLocalLocks()
        const { token } = await take(locks, lockedPath, more)
        expect(await outcome(locks, { path, kind })).to.equal(isRefused ? lockedPath : 'free')
        expect(await outcome(locks, { path, kind, submitted: new Set(['urn:other', token]) })).to.equal('free')
        if (isRefused) {
          const others = { path, kind, submitted: new Set([token]), user: 'bob' }
          expect(await outcome(locks, others), 'with the token of somebody else').to.equal(lockedPath)
        }
      })
    }
  }

  it('DAV-86 one token is enough for a resource with several shared locks', async () => {
    const locks = await openLocalLocks()
    const one = await take(locks, '/a/f', shared)
    await take(locks, '/a/f', { ...shared, user: 'bob' })
    await take(locks, '/a/', { ...shared, ...deep, user: 'bob' })
    const submitted = new Set([one.token])
    expect(await outcome(locks, { path: '/a/f', kind: 'content', submitted })).to.equal('free')
    // The collection is another resource.
    expect(await outcome(locks, { path: '/a/f', kind: 'membership', submitted })).to.equal('/a/')
  })

  it('DAV-86 every locked resource inside needs a token of its own', async () => {
    const locks = await openLocalLocks()
    const taken: Lock[] = []
    for (let i = 0; i < 12; i++) taken.push(await take(locks, `/a/${i % 3}/${i}`))
    const tokens = taken.map(({ token }) => token)
    for (let missing = 0; missing < tokens.length; missing++) {
      const submitted = new Set(tokens.filter((_, i) => i !== missing))
      expect(await outcome(locks, { path: '/a/', kind: 'subtree', submitted })).to.equal(taken[missing]?.path)
    }
    expect(await outcome(locks, { path: '/a/', kind: 'subtree', submitted: new Set(tokens) })).to.equal('free')
  })

  it('DAV-35 a lock of the same credential can pass without its token, that of another never', async () => {
    const locks = await openLocalLocks()
    await take(locks, '/f')
    const change = { path: '/f', kind: 'properties', ownLocksPass: true } as const
    expect(await outcome(locks, change)).to.equal('free')
    expect(await outcome(locks, { ...change, user: 'bob' })).to.equal('/f')
  })

  it('DAV-86 a change below many locks is judged without looking at all of them', async () => {
    const locks = await openLocalLocks()
    for (let i = 0; i < 20_000; i++) await take(locks, `/a/${i % 100}/${i}`)
    const submitted = new Set(['urn:x'])
    await takesLess(200, async () => {
      for (let i = 0; i < 200; i++)
        expect(await outcome(locks, { path: '/a/', kind: 'subtree', submitted })).to.match(/^\/a\//)
    })
  })
})

describe('locks in a listing', () => {
  it('DAV-88 members show inherited locks and their own', async () => {
    const locks = await openLocalLocks()
    const root = await take(locks, '/', { ...shared, ...deep })
    const flat = await take(locks, '/a/', shared)
    const file = await take(locks, '/a/f', shared)
    const folder = await take(locks, '/a/d/', { ...shared, ...deep })
    await take(locks, '/a/d/g', shared)
    const listing = await locksInListing(locks, SITE, '/a/')
    expect(listing.own).to.deep.equal([root, flat])
    expect(listing.inherited).to.deep.equal([root])
    expect(takenOn(listing, '/a/f')).to.deep.equal([file])
    expect(takenOn(listing, '/a/d/')).to.deep.equal([folder])
    expect(takenOn(listing, '/a/other')).to.deep.equal([])
  })
})
