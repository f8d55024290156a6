import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { findTogether } from '../../../../pipeline/store/postgres/read/find-together.ts'
import type { Parameter, Session } from '../../../../pipeline/store/postgres/session.ts'
import { done, put } from '../fixture.ts'
import { openSchema } from './fixture.ts'

/** Answers statements from a table of places, and counts them. */
function tableOf(names: readonly string[]) {
  const asked: (readonly Parameter[])[] = []
  let failure: Error | undefined
  const rowOf = (name: string) => ({ folder: '/', name, id: names.indexOf(name) + 1 })
  const session: Session = {
    async rows<R>(_sql: string, ...values: Parameter[]) {
      asked.push(values)
      if (failure) throw failure
      const wanted = values[2] as readonly string[]
      // In whatever order the database finds them.
      return wanted
        .flatMap((name, i) => (names.includes(name) ? [{ ...rowOf(name), place: i + 1 }] : []))
        .reverse() as R[]
    },
    async row<R>(_sql: string, ...values: Parameter[]) {
      asked.push(values)
      if (failure) throw failure
      return names.includes(String(values[2])) ? (rowOf(String(values[2])) as R) : undefined
    },
    run: async () => 0,
    copy: async () => undefined,
  }
  return { session, asked, fail: (error: Error | undefined) => void (failure = error) }
}

describe('look-ups in PostgreSQL that come together', () => {
  const all = Array.from({ length: 600 }, (_, i) => `n${i}`)

  it('share a statement, and each gets what is at its place', async () => {
    const { session, asked } = tableOf(['a', 'b', 'c'])
    const find = findTogether(session, async () => 7)
    const found = await Promise.all(['c', 'none', 'a', 'c'].map(name => find('/', name)))
    expect(found.map(row => row?.name)).to.deep.equal(['c', undefined, 'a', 'c'])
    expect(asked).to.deep.equal([[7, ['/', '/', '/', '/'], ['c', 'none', 'a', 'c']]])
    expect((await find('/', 'b'))?.name).to.equal('b')
    expect(asked.at(-1)).to.deep.equal([7, '/', 'b'])
  })

  it('share the next statement when one is under way', async () => {
    const { session, asked } = tableOf(['a', 'b', 'c'])
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const slow = findTogether({ ...session, row: (...of) => answered.then(() => session.row(...of)) }, async () => 7)
    const first = slow('/', 'a')
    await setImmediate()
    const others = [slow('/', 'b')]
    await setImmediate()
    others.push(slow('/', 'c'))
    answer()
    expect((await Promise.all([first, ...others])).map(row => row?.name)).to.deep.equal(['a', 'b', 'c'])
    expect(asked.slice(1)).to.deep.equal([[7, ['/', '/'], ['b', 'c']]])
  })

  it('a crowd takes several statements', async () => {
    const { session, asked } = tableOf(all)
    const find = findTogether(session, async () => 7)
    const found = await Promise.all(all.map(name => find('/', name)))
    expect(found.map(row => row?.name)).to.deep.equal(all)
    expect(asked).to.have.length(3)
  })

  it('fail together, and those that come later do not', async () => {
    const { session, fail } = tableOf(['a', 'b'])
    const find = findTogether(session, async () => 7)
    fail(new Error('away'))
    const ends = await Promise.allSettled([find('/', 'a'), find('/', 'b')])
    expect(ends.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    fail(undefined)
    expect((await find('/', 'a'))?.name).to.equal('a')
  })
})

describe('files that are loaded from PostgreSQL', () => {
  it('come with their short bytes and their profile, in one statement', async () => {
    const opened = await openSchema()
    try {
      const site = opened.store.site('a.example')
      const long = 'x'.repeat(64 * 1024 + 1)
      await done(site, [
        put('/d/short.html', 'short', { derived: { profile: '{"a":"\0"}', other: '1' } }),
        put('/d/long.html', long, { derived: { profile: '{}' } }),
        put('/d/bare.html', ''),
      ])
      const load = async (path: string) => {
        const { resource, body, ...more } = (await site.load?.(path)) ?? {}
        expect(resource).to.deep.equal(await site.find(path))
        return { ...more, text: body && Buffer.from(body.bytes).toString() }
      }
      const paths = ['/d/short.html', '/d/long.html', '/d/bare.html', '/d/', '/d', '/none']
      expect(await Promise.all(paths.map(load))).to.deep.equal([
        { text: 'short', profile: '{"a":"\0"}' },
        { text: undefined, profile: '{}' },
        { text: '' },
        { text: undefined },
        { text: undefined },
        { text: undefined },
      ])
    } finally {
      await opened.close()
    }
  })
})
