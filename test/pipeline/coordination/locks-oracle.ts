/** Keepers of locks beside the simplest one that could be: a list that is searched from end to end. */

import { expect } from 'chai'
import fc from 'fast-check'
import { covers, type Lock } from '../../../pipeline/coordination/locks.ts'
import { type Opened, SITE, tokens, wish } from './locks-kept.ts'

export function answersLikeAList(opened: Opened): void {
  it('DAV-82 answers as a plain list of locks would, for any sequence of requests', async () => {
    const path = fc.constantFrom('/', '/a', '/a/', '/a/b', '/a/b/', '/a/b/c', '/a/c', '/ab', '/b/a', '/b')
    const step = fc.oneof(
      {
        arbitrary: fc.record({
          op: fc.constant('take' as const),
          path,
          scope: fc.constantFrom('shared' as const, 'exclusive' as const),
          depth: fc.constantFrom(0 as const, 'infinity' as const),
          seconds: fc.integer({ min: 1, max: 30 }),
        }),
        weight: 5,
      },
      { arbitrary: fc.record({ op: fc.constant('end' as const), nth: fc.nat(20) }), weight: 1 },
      {
        arbitrary: fc.record({
          op: fc.constant('refresh' as const),
          nth: fc.nat(20),
          seconds: fc.integer({ min: 1, max: 30 }),
        }),
        weight: 1,
      },
      {
        arbitrary: fc.record({
          op: fc.constant('endAll' as const),
          path,
        }),
        weight: 1,
      },
      { arbitrary: fc.record({ op: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 8_000 }) }), weight: 2 },
      { arbitrary: fc.record({ op: fc.constant('look' as const), path }), weight: 3 },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
        const { locks, advance, now } = await opened()
        let list: Lock[] = []
        const inEffect = () => (list = list.filter(lock => lock.expires > now()))
        const isBelow = (lock: Lock, at: string) =>
          covers({ path: at, depth: 'infinity' }, lock.path) && !covers({ path: at, depth: 0 }, lock.path)
        for (const each of steps) {
          inEffect()
          if (each.op === 'take') {
            const inTheWay = (lock: Lock) => lock.scope === 'exclusive' || each.scope === 'exclusive'
            const above = list.some(lock => inTheWay(lock) && covers(lock, each.path))
            const below = each.depth === 'infinity' && list.some(lock => inTheWay(lock) && isBelow(lock, each.path))
            const taken = await locks.take(SITE, wish(each.path, each))
            if (taken.ok) list.push(taken.lock)
            expect(taken.ok ? 'granted' : taken.reason === 'conflict' && (taken.below ? 'below' : 'held')).to.equal(
              above ? 'held' : below ? 'below' : 'granted',
            )
          } else if (each.op === 'end' || each.op === 'refresh') {
            const lock = list[each.nth]
            const token = lock?.token ?? 'opaquelocktoken:none'
            if (each.op === 'end') {
              expect(await locks.end(SITE, token)).to.equal(lock !== undefined)
              list = list.filter(other => other !== lock)
            } else {
              const fresh = await locks.refresh(SITE, token, each.seconds)
              expect(fresh).to.deep.equal(lock && { ...lock, expires: now() + each.seconds * 1000 })
              if (fresh) list = list.map(other => (other === lock ? fresh : other))
            }
          } else if (each.op === 'endAll') {
            const [gone, left] = [true, false].map(below => list.filter(lock => isBelow(lock, each.path) === below))
            await locks.endAll(SITE, tokens(gone ?? []))
            list = left ?? []
          } else if (each.op === 'wait') advance(each.ms)
          else {
            expect(tokens(await locks.on(SITE, each.path))).to.have.members(
              tokens(list.filter(lock => covers(lock, each.path))),
            )
            expect(tokens(await locks.below(SITE, each.path))).to.have.members(
              tokens(list.filter(lock => isBelow(lock, each.path))),
            )
          }
        }
      }),
      { numRuns: Number(process.env.FUZZ ?? 50), ...(process.env.FUZZ ? {} : { seed: 20260314 }) },
    )
  })
}
