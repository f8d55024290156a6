/** What all keepers of write leases must do, run against each of them. */

import { expect } from 'chai'
import { afterEach, beforeEach, it } from 'mocha'
import { type Leases, LeaseTimeout } from '../../../pipeline/coordination/leases.ts'

/** Leases to be tested; every test has some of its own. */
export interface KeptLeases {
  leases: Leases
  end(): Promise<void>
}

const SITE = 'a.example'

/** Work that ends when the test says so. */
export function held(
  leases: Leases,
  ...paths: string[]
): { begun: Promise<void>; end: () => void; ended: Promise<void> } {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const ended = leases.hold(SITE, paths, () => {
    begun.resolve()
    return end.promise
  })
  ended.catch(begun.reject)
  return { begun: begun.promise, end: end.resolve, ended }
}

/** @param open makes leases that nobody holds; `patience` in milliseconds */
export function leasesContract(open: (options: { patience?: number }) => Promise<KeptLeases>): void {
  let kept: KeptLeases
  let leases: Leases
  beforeEach(async () => {
    kept = await open({})
    leases = kept.leases
  })
  afterEach(() => kept.end())

  const turns = async (count: number, paths: (i: number) => string[]): Promise<{ most: number; order: number[] }> => {
    let running = 0
    let most = 0
    const order: number[] = []
    await Promise.all(
      Array.from({ length: count }, (_, i) =>
        leases.hold(SITE, paths(i), async () => {
          most = Math.max(most, ++running)
          order.push(i)
          await new Promise(setImmediate)
          running--
        }),
      ),
    )
    return { most, order }
  }

  it('HTTP-4 writers of one path come one at a time, in the order of their arrival', async () => {
    const { most, order } = await turns(50, () => ['/a'])
    expect(most).to.equal(1)
    expect(order).to.deep.equal(Array.from({ length: 50 }, (_, i) => i))
  })

  it('HTTP-4 writers of different paths and sites do not wait for each other', async () => {
    const first = held(leases, '/a')
    await first.begun
    const second = held(leases, '/b')
    await second.begun
    await leases.hold('b.example', ['/a'], async () => undefined)
    first.end()
    second.end()
    await Promise.all([first.ended, second.ended])
  })

  for (const [locked, writer, waits] of [
    ['/a', '/a', true],
    ['/a/b', '/a/', true],
    ['/a/b', '/', true],
    ['/a/', '/a/b/c', true],
    ['/a', '/a/', true],
    ['/a/', '/a', true],
    ['/a', '/ab', false],
    ['/ab', '/a', false],
    ['/a/', '/ab/c', false],
  ] as const) {
    it(`DAV-82 outlasting the writers at ${locked} ${waits ? 'waits' : 'does not wait'} for one of ${writer}`, async () => {
      const first = held(leases, writer)
      await first.begun
      let outlasted = false
      const wait = leases.outlast(SITE, locked).then(() => {
        outlasted = true
      })
      await leases.outlast('b.example', locked)
      if (!waits) await wait
      expect(outlasted).to.equal(!waits)
      first.end()
      await Promise.all([first.ended, wait])
    })
  }

  it('DAV-82 a writer that fails is outlasted as well', async () => {
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const failing = leases.hold(SITE, ['/a'], () => {
      begun.resolve()
      return end.promise
    })
    await begun.promise
    const wait = leases.outlast(SITE, '/a')
    end.reject(new Error('on purpose'))
    await failing.catch(() => undefined)
    await wait
  })

  it('DAV-8 several paths are held together, in whatever order they are named', async () => {
    const pairs = [
      ['/a', '/b'],
      ['/b', '/a'],
      ['/a', '/b', '/a'],
    ]
    const { most } = await turns(30, i => pairs[i % 3] ?? [])
    expect(most).to.equal(1)
  })

  it('gives back what the work returns or throws, and the lease with it', async () => {
    expect(await leases.hold(SITE, ['/a'], async () => 'done')).to.equal('done')
    const error = new Error('on purpose')
    const outcome = await leases.hold(SITE, ['/a'], () => Promise.reject(error)).catch((thrown: unknown) => thrown)
    expect(outcome).to.equal(error)
    expect(await leases.hold(SITE, ['/a'], async () => 'again')).to.equal('again')
  })

  it('DAV-8 somebody who waits too long is told, and the others go on', async () => {
    const impatient = await open({ patience: 20 })
    const first = held(impatient.leases, '/a')
    await first.begun
    const outcome = await impatient.leases.hold(SITE, ['/b', '/a'], async () => 'never').catch((e: unknown) => e)
    expect(outcome).to.be.instanceOf(LeaseTimeout).and.to.have.property('path', '/a')
    expect(await impatient.leases.hold(SITE, ['/b'], async () => 'free')).to.equal('free')
    first.end()
    await first.ended
    expect(await impatient.leases.hold(SITE, ['/a'], async () => 'free')).to.equal('free')
    await impatient.end()
  })

  it('paths are any text', async () => {
    for (const path of ['/', '/a b', '/{x}', '/ä😀', '/a:queue', '/a\nb', `/${'long'.repeat(500)}`])
      expect(await leases.hold(SITE, [path], async () => path), path).to.equal(path)
  })
}
