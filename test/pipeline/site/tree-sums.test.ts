import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import type { Fault } from '../../../pipeline/fault.ts'
import { TreeSums } from '../../../pipeline/site/tree-sums.ts'
import { createUsage } from '../../../pipeline/site/usage.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import { ZERO } from '../../../pipeline/store/tags.ts'
import { atOnce } from '../../../pipeline/tree/steps.ts'
import { collect } from '../../support/collect.ts'
import { takesLess } from '../../support/cost.ts'
import { turnsOf } from '../../support/turns.ts'

const EMPTY = new Uint8Array()
const segment = fc.constantFrom('a', 'b', 'ab')
const paths = fc
  .tuple(fc.array(segment, { maxLength: 3 }), fc.boolean())
  .map(([segments, isFile]) => (segments.length === 0 ? '/' : `/${segments.join('/')}${isFile ? '' : '/'}`))

describe('sums of a tree', () => {
  it('are those of a list that is searched from end to end', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(paths, fc.nat(3)), { maxLength: 40 }), settings => {
        const [sums, plain] = [new TreeSums(), new Map<string, number>()]
        for (const [path, size] of settings) {
          sums.set(path, { size })
          plain.set(path, size)
          for (const [asked] of settings) {
            const within = [...plain].filter(([each, n]) => n > 0 && each.startsWith(asked))
            expect(sums.own(asked)).to.equal(plain.get(asked) ?? 0)
            if (!asked.endsWith('/')) expect(sums.sum(asked)).to.equal(plain.get(asked) ?? 0)
            else {
              expect(sums.sum(asked)).to.equal(within.reduce((sum, [, n]) => sum + n, 0))
              expect(sums.count(asked)).to.equal(within.length)
              for (const [each] of plain) expect(sums.has(each)).to.equal((plain.get(each) ?? 0) > 0)
            }
          }
        }
      }),
      { seed: 20311105 },
    )
  })

  it('count what has a number, be it 0, wherever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(paths, fc.nat(1), fc.boolean()), { maxLength: 40 }), settings => {
        const [sums, plain] = [new TreeSums(), new Set<string>()]
        for (const [path, size, isThere] of settings) {
          sums.set(path, { size: isThere ? size : 0, isThere })
          if (isThere) plain.add(path)
          else plain.delete(path)
          for (const [asked] of settings) {
            const within = [...plain].filter(each => each === asked || (asked.endsWith('/') && each.startsWith(asked)))
            expect(sums.has(asked)).to.equal(plain.has(asked))
            expect(sums.count(asked)).to.equal(within.length)
          }
        }
      }),
      { seed: 20311106 },
    )
  })

  it('count a path by its weight, and with it collections around it that nobody has named', () => {
    const weigh = (path: string) => path.length
    const [sums, one] = [new TreeSums(weigh), new TreeSums(weigh)]
    sums.set('/a/b/c/f', { size: 3, isWithin: true })
    for (const [path, size] of Object.entries({ '/a/': 0, '/a/b/': 0, '/a/b/c/': 0, '/a/b/c/f': 3 }))
      one.set(path, { size, isThere: true })
    for (const path of ['/', '/a/', '/a/b/', '/a/b/c/', '/a/b/c/f']) {
      expect([sums.count(path), sums.sum(path), sums.has(path)], path).to.deep.equal([
        one.count(path),
        one.sum(path),
        one.has(path),
      ])
    }
    expect(sums.count('/')).to.equal(3 + 5 + 7 + 8)
    sums.set('/a/b/c/f', {})
    expect(sums.count('/')).to.equal(3 + 5 + 7)
  })

  it('forget what is below a collection, and know the others afterwards however many came and went', () => {
    const sums = new TreeSums()
    const plain = new Map<string, number>()
    for (let i = 0; i < 3_000; i++) {
      const path = `/${i % 7}/${i % 90}/${i % 1_100}`
      const size = i % 5
      sums.set(path, { size })
      plain.set(path, size)
      if (i % 500 !== 499) continue
      for (const gone of [`/${i % 7}/`, `/${(i + 1) % 7}/${(i + 1) % 90}/`, '/none/', path]) {
        atOnce(sums.forgetting(gone))
        for (const each of plain.keys()) if (each.startsWith(gone)) plain.delete(each)
      }
      const wrong = [...plain].filter(([each, size]) => sums.own(each) !== size || sums.has(each) !== size > 0)
      expect(wrong).to.deep.equal([])
    }
    expect(sums.sum('/')).to.equal([...plain.values()].reduce((sum, size) => sum + size, 0))
    atOnce(sums.forgetting('/'))
    expect([sums.count('/'), sums.sum('/'), sums.count('/1/')]).to.deep.equal([0, 0, 0])
  })

  it('SEC-12 DAV-33 take less than 100 bytes for each of many files, with the properties of all', () => {
    const taken = () => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const before = taken()
    const sums = new TreeSums()
    for (let i = 0; i < 10_000; i++)
      sums.set(`/articles/${i % 100}/${i}.html`, { size: i, part: i, isThere: true, isWithin: true })
    expect((taken() - before) / 10_000).to.be.below(100)
    expect(sums.count('/')).to.equal(10_101)
  })

  it('SEC-12 DAV-33 long paths count as several: hundreds of folders around one short file', async () => {
    const usage = createUsage({ find: async () => undefined, async *walk() {}, properties: async () => [] }, 512 * 700)
    const put = (path: string): Change => ({
      op: 'put',
      path,
      kind: 'blob',
      type: 'a/b',
      content: { bytes: EMPTY, size: 0 },
    })
    const refused = (change: Change) =>
      usage.reserve([change]).then(
        () => false,
        (error: Fault) => error.status === 507,
      )
    expect(await refused(put(`/${'a/'.repeat(199)}f`))).to.equal(false)
    expect(await refused(put(`/b/${'a/'.repeat(494)}f`))).to.equal(true)
    expect(await refused(put('/short'))).to.equal(false)
  })

  for (const [op, count] of [
    ['move', 150],
    ['copy', 100],
  ] as const)
    it(`SEC-12 DAV-33 what comes under a long name counts by the paths that it has there: ${op}`, async () => {
      const store = {
        find: async () => undefined,
        async *walk() {
          for (let i = 0; i < count; i++) yield { path: `/d/${i}`, kind: 'blob', size: 0, properties: ZERO }
        },
        properties: async () => [],
      }
      const usage = createUsage(store as unknown as Parameters<typeof createUsage>[0], 0)
      const refused = (length: number) =>
        usage.reserve([{ op, from: '/d/', to: `/${'a'.repeat(length)}/`, deep: true, expectTo: 'absent' }]).then(
          leave => leave() ?? false,
          (error: Fault) => error.status === 507,
        )
      // There may be 256.
      expect([await refused(400), await refused(600)]).to.deep.equal([false, true])
    })

  it('SEC-12 DAV-33 a file in hundreds of new folders is counted by looking at each once', async () => {
    const files = Array.from({ length: 30 }, (_, i) => `/${i}/${'a/'.repeat(495)}f`)
    const store = {
      find: async () => undefined,
      async *walk() {
        for (const path of files) yield { path, kind: 'blob', size: 1, properties: ZERO }
      },
      properties: async () => [],
    }
    const usage = createUsage(store as unknown as Parameters<typeof createUsage>[0], 100_000_000)
    await takesLess(200, async () => {
      usage.changed(['/'])
      expect(await usage.used()).to.equal(files.length)
    })
  })

  it('SEC-12 DAV-33 files of a collection are forgotten and looked at in turns', async () => {
    const files = 4_000
    const folder = `/${'f/'.repeat(40)}`
    const store = {
      find: async () => undefined,
      async *walk() {
        for (let i = 0; i < files; i++) yield { path: folder + i, kind: 'blob', size: 1, properties: ZERO }
      },
      properties: async () => [],
    }
    const usage = createUsage(store as unknown as Parameters<typeof createUsage>[0], 100_000_000)
    const looking = async () => expect(await usage.used()).to.equal(files)
    expect(await turnsOf(looking), 'what is there').to.be.at.least(files / 200)
    usage.changed([folder])
    expect(await turnsOf(looking), 'forgotten, and looked at again').to.be.at.least((2 * files) / 200)
  })

  it('SEC-12 DAV-33 names of what others bring and take away while nobody asks are not remembered without end', async () => {
    let looks = 0
    const find = async () => void looks++
    const usage = createUsage({ find, async *walk() {}, properties: async () => [] }, 1000)
    await usage.used()
    for (let i = 0; i < 50_000; i++) usage.changed([`/${i}`])
    expect(await usage.used()).to.equal(0)
    expect(looks).to.be.below(20_001)
  })

  it('DAV-33 room for changes to a collection is found without a look at all other files', async () => {
    const times = { created: 0, modified: 0, shown: 0 }
    const file = (i: number) =>
      ({
        path: `/${i % 1000}/${i}`,
        kind: 'blob',
        version: 1,
        digest: '',
        size: 1,
        type: '',
        ...times,
        properties: ZERO,
      }) as const
    const store = {
      find: async () => undefined,
      async *walk(below: string) {
        if (below === '/') for (let i = 0; i < 100_000; i++) yield file(i)
      },
      properties: async () => [],
    }
    const usage = createUsage(store as unknown as Parameters<typeof createUsage>[0], 100_000_000)
    expect(await usage.used()).to.equal(100_000)
    await takesLess(20, async () => {
      for (let i = 0; i < 50; i++) {
        ;(await usage.reserve([{ op: 'copy', from: `/${i}/`, to: '/x/', deep: true }]))()
        ;(await usage.reserve([{ op: 'delete', path: '/none/' }]))()
        usage.changed(['/none/'])
      }
      expect(await usage.used()).to.equal(100_000)
    })
  })
})
