/** Which documents hold what selectors ask for, in the order of their paths, as documents come and go. */

import { expect } from 'chai'
import fc from 'fast-check'
import { describe, it } from 'mocha'
import { DocumentIndex, TOKENS } from '../../../pipeline/site/document-index.ts'
import { IndexRoom } from '../../../pipeline/site/index-room.ts'
import type { Change } from '../../../pipeline/store/commit.ts'
import type { Resource } from '../../../pipeline/store/resource.ts'
import type { SiteReader } from '../../../pipeline/store/store.ts'
import { turnsOf } from '../../support/turns.ts'

/** What an index asks of a store that holds nothing at first, and everything else only through commits. */
const reader = (stored: ReadonlyMap<string, string>) =>
  ({
    async *allDerived() {
      for (const [path, value] of stored) yield { path, version: 1, value }
    },
    derived: async (path: string) => stored.get(path),
  }) as unknown as SiteReader

const put = (path: string, tokens: string[]) =>
  ({ op: 'put', path, derived: { [TOKENS]: JSON.stringify(tokens) } }) as unknown as Change

describe('index of documents', () => {
  const path = fc.constantFrom('/a', '/b', '/ä', '/c/d', '/c/e', '/😀', '/￰')
  const tokens = fc.subarray(['x', 'y', 'type:u'])
  const deed = fc.oneof(
    fc.record({ deed: fc.constant('put' as const), path, tokens }),
    fc.record({ deed: fc.constant('delete' as const), path }),
    fc.record({
      deed: fc.constant('ask' as const),
      token: fc.constantFrom('x', 'y', undefined),
      below: fc.constantFrom('/', '/c/', '/d/'),
    }),
  )

  it('COMP-4 only what a document has got or lost has moved, as far as that is remembered', async () => {
    const index = new DocumentIndex(reader(new Map([['/a', '["x","y"]']])), type => [type, `${type}-below`])
    const NEEDS = [[['x']], [['y']], [['x', 'y']], [['x'], ['y']], [['isa t']], [[]], []]
    const write = (path: string, tokens: string[] | undefined): void => {
      index.changed([path])
      const changes = tokens ? [put(path, tokens)] : []
      index.take({ changes }, new Map([[path, tokens && ({} as Resource)]]))
    }
    expect(index.isUnmoved([['x']], 0), 'before anybody has asked').to.equal(false)
    await index.find([])
    for (const [path, tokens, moved] of [
      ['/a', ['y', 'x', 'z'], []],
      ['/a', ['x', 'z'], [[['y']], [['x', 'y']], [['x'], ['y']]]],
      ['/b', ['z'], [[[]]]],
      ['/b', ['z', 'type:t-below'], [[['isa t']]]],
      ['/b', undefined, [[['isa t']], [[]]]],
      ['/a', ['*'], NEEDS.slice(0, -2)],
      ['/a', ['x', 'l'.repeat(600)], NEEDS.slice(0, -1)],
      ['/a', Array.from({ length: 10_001 }, (_, i) => `n${i}`), NEEDS.slice(0, -1)],
    ] as const) {
      const { moves } = index
      write(path, tokens && [...tokens])
      const told = NEEDS.filter(needs => !index.isUnmoved(needs, moves))
      expect(told, `${path} ${tokens?.slice(0, 3)}`).to.deep.equal(moved)
      expect(NEEDS.every(needs => index.isUnmoved(needs, index.moves))).to.equal(true)
    }
    index.changed(['/c'])
    expect(index.isUnmoved([['x']], index.moves), 'not read yet').to.equal(false)
  })

  it('COMP-4 SES-120 documents are found in the order of their paths, whichever come and go, and where none has moved that is known', () =>
    fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 40 }), async deeds => {
        const stored = new Map<string, string>()
        const index = new DocumentIndex(reader(stored), type => [type, 'u'])
        await index.find([])
        const all = new Map<string, string[]>()
        const answers: { needs: string[][]; moves: number; found: readonly string[] }[] = []
        for (const each of deeds) {
          for (const { needs, moves, found } of answers)
            if (index.isUnmoved(needs, moves)) expect(await index.find(needs)).to.deep.equal(found)
          if (each.deed === 'ask') {
            const { token, below } = each
            const found = await index.find([token === undefined ? [] : [token]], below)
            const has = (tokens: string[]) => token === undefined || tokens.includes(token)
            const wanted = [...all].filter(([at, tokens]) => at.startsWith(below) && has(tokens)).map(([at]) => at)
            expect(found).to.deep.equal(wanted.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
            for (const needs of [[[]], [['x']], [['x', 'y']], [['x'], ['y']], [['isa t']]])
              answers.push({ needs, moves: index.moves, found: await index.find(needs) })
            continue
          }
          index.changed([each.path])
          const isPut = each.deed === 'put'
          if (isPut) all.set(each.path, each.tokens)
          else all.delete(each.path)
          const changes = isPut ? [put(each.path, each.tokens)] : []
          index.take({ changes }, new Map([[each.path, isPut ? ({} as Resource) : undefined]]))
        }
      }),
    ))

  it('COMP-4 who asks while changes are being read waits for them, too', async () => {
    const stored = new Map<string, string>()
    const index = new DocumentIndex(reader(stored), () => [])
    await index.find([])
    stored.set('/a', '["x"]')
    index.changed(['/a'])
    const both = [index.find([['x']]), index.find([['x']])]
    expect(await Promise.all(both)).to.deep.equal([['/a'], ['/a']])
  })

  it('COMP-4 changes that could not be read are read later', async () => {
    const stored = new Map<string, string>()
    let isAway = false
    const derived = async (path: string) => {
      if (isAway) throw new Error('away')
      return stored.get(path)
    }
    const index = new DocumentIndex({ ...reader(stored), derived } as SiteReader, () => [])
    await index.find([])
    stored.set('/a', '["x"]')
    index.changed(['/a'])
    isAway = true
    const refused = await Promise.resolve(index.find([['x']])).catch((error: Error) => error.message)
    expect(refused).to.equal('away')
    isAway = false
    expect(await index.find([['x']])).to.deep.equal(['/a'])
  })

  it('SEC-4 many documents are read in turns', async () => {
    const stored = new Map(Array.from({ length: 2_000 }, (_, i) => [`/${i}`, '["x"]']))
    let turns = 0
    let isReading = true
    const count = () => {
      turns++
      if (isReading) setImmediate(count)
    }
    setImmediate(count)
    expect(await new DocumentIndex(reader(stored), () => []).find([['x']])).to.have.length(2_000)
    isReading = false
    expect(turns).to.be.at.least(5)
  })

  const many = (documents: number, tokens: number) =>
    Array.from({ length: documents }, (_, i): [string, string[]] => [
      `/d${i}`,
      Array.from({ length: tokens }, (_, k) => `#${i}-${k}`),
    ])

  it('SEC-12 others have their turn while the tokens of documents are put in place, and taken away', async () => {
    const stored = new Map(many(50, 2000).map(([path, tokens]) => [path, JSON.stringify(tokens)]))
    const index = new DocumentIndex(reader(stored), () => [])
    expect(await turnsOf(() => index.find([['#3-7']]))).to.be.above(10)
    const changes = [...stored].map(([path]) => put(path, [path]))
    index.changed(stored.keys())
    for (const [path] of stored) stored.set(path, JSON.stringify([path]))
    index.take({ changes }, new Map([...stored].map(([path]) => [path, {} as Resource])))
    expect(await turnsOf(() => index.find([['#3-7']]))).to.be.above(10)
    expect(await index.find([['#3-7']])).to.deep.equal([])
    expect(await index.find([['/d49']])).to.deep.equal(['/d49'])
  })

  it('SEC-12 documents with many tokens hold anything where those of the site take too much memory', async () => {
    const stored = new Map(many(9, 1000).map(([path, tokens]) => [path, JSON.stringify(tokens)]))
    stored.set('/few', '["#few"]')
    const index = new DocumentIndex(reader(stored), () => [], new IndexRoom(6500))
    expect(await index.find([['#0-1']])).to.deep.equal(['/d0', '/d6', '/d7', '/d8'])
    expect(await index.find([['#few']])).to.deep.equal(['/d6', '/d7', '/d8', '/few'])
    index.changed(['/d1'])
    index.take({ changes: [] }, new Map([['/d1', undefined]]))
    index.changed(['/d8'])
    index.take({ changes: [put('/d8', JSON.parse(stored.get('/d8') ?? '[]'))] }, new Map([['/d8', {} as Resource]]))
    expect(await index.find([['#0-1']])).to.deep.equal(['/d0', '/d6', '/d7'])
  })

  describe('of several sites', () => {
    const stored = (site: string) =>
      new Map(many(3, 100).map(([path, tokens]) => [path, JSON.stringify(tokens.map(each => site + each))]))
    const asked = (site: string) => [[`${site}#0-1`]]
    const all = ['/d0', '/d1', '/d2']

    it('SEC-12 have room for the tokens of all together: one that nobody asks about gives way, and is read again', async () => {
      let now = 0
      const room = new IndexRoom(250, () => now)
      const sites = ['a', 'b', 'c'].map(name => new DocumentIndex(reader(stored(name)), () => [], room))
      const found = async () => {
        const all: (readonly string[] | undefined)[] = []
        for (const [i, name] of ['a', 'b', 'c'].entries()) all.push(await sites[i]?.find(asked(name)))
        return all
      }
      // Of 500 tokens there are 303, and one more document of the second site.
      expect(await found()).to.deep.equal([['/d0'], ['/d0', '/d1', '/d2'], all])
      now += 61_000
      expect(await sites[2]?.find(asked('c'))).to.deep.equal(all)
      const moves = sites[0]?.moves ?? 0
      sites[2]?.changed(all)
      const changes = [...stored('c')].map(([path, tokens]) => put(path, JSON.parse(tokens)))
      sites[2]?.take({ changes }, new Map(all.map(path => [path, {} as Resource])))
      expect(await sites[2]?.find(asked('c')), 'when the first gave way').to.deep.equal(['/d0'])
      expect(sites[0]?.isUnmoved(asked('a'), moves), 'what nobody follows').to.equal(false)
      expect((await sites[0]?.find(asked('a')))?.slice(0, 1), 'read again').to.deep.equal(['/d0'])
      expect(sites[0]?.isUnmoved(asked('a'), moves), 'it was away meanwhile').to.equal(false)
    })

    it('SEC-12 none gives way to a document of its own, whose other names would be left out', async () => {
      let now = 0
      const kept = new Map([['/a', '["x"]']])
      const index = new DocumentIndex(reader(kept), () => [], new IndexRoom(2, () => now))
      expect(await index.find([['x']])).to.deep.equal(['/a'])
      now += 61_000
      const longer = ['x', 'y', 'z', ...'abcdef']
      kept.set('/a', JSON.stringify(longer))
      index.changed(['/a'])
      index.take({ changes: [put('/a', longer)] }, new Map([['/a', {} as Resource]]))
      expect(await index.find([['x']])).to.deep.equal(['/a'])
    })

    it('SEC-12 leave some to a small one', async () => {
      const room = new IndexRoom(6_500, () => 0)
      const large = new Map(many(80, 200).map(([path, tokens]) => [path, JSON.stringify(tokens)]))
      for (let i = 0; i < 200; i++) large.set(`/filling/${i}`, '["y"]')
      expect(await new DocumentIndex(reader(large), () => [], room).find([['y']], '/filling/')).to.have.length(200)
      expect(await new DocumentIndex(reader(stored('b')), () => [], room).find([['y']])).to.deep.equal(all)
      const small = new Map(['x', 'y', 'z'].map(token => [`/${token}`, `["${token}"]`]))
      expect(await new DocumentIndex(reader(small), () => [], room).find([['x']])).to.deep.equal(['/x'])
    })

    it('SEC-12 remember no names without end of what comes and goes while nobody asks', async () => {
      let looks = 0
      const derived = async () => void looks++
      const index = new DocumentIndex({ ...reader(stored('a')), derived } as unknown as SiteReader, () => [])
      await index.find([])
      for (let i = 0; i < 50_000; i++) index.changed([`/${i}`])
      expect(await index.find(asked('a'))).to.deep.equal(['/d0'])
      expect(looks).to.be.below(20_001)
    })
  })

  it('COMP-4 changes that leave what a document says, or a part of it, are followed', async () => {
    const stored = new Map([['/a', '["x","y"]']])
    const index = new DocumentIndex(reader(stored), () => [], new IndexRoom(2))
    expect(await index.find([['x']])).to.deep.equal(['/a'])
    for (const [tokens, found] of [
      [['x', 'y'], []],
      [['x', 'z'], ['/a']],
      [['x'], []],
    ] as const) {
      index.changed(['/a'])
      index.take({ changes: [put('/a', [...tokens])] }, new Map([['/a', {} as Resource]]))
      expect(await index.find([['z']]), `${tokens}`).to.deep.equal(found)
      expect(await index.find([['x']]), `${tokens}`).to.deep.equal(['/a'])
    }
  })

  it('SEC-12 what is asked of a folder gathers nothing from beside it', async () => {
    const stored = new Map(['/few/a', ...many(2_000, 0).map(([path]) => path)].map(path => [path, '["b"]']))
    const index = new DocumentIndex(reader(stored), () => [])
    await index.find([])
    const { add } = Set.prototype
    let added = 0
    Set.prototype.add = function (this: Set<unknown>, value) {
      added++
      return add.call(this, value)
    }
    try {
      expect(await index.find([['b']], '/few/')).to.deep.equal(['/few/a'])
    } finally {
      Set.prototype.add = add
    }
    expect(added).to.equal(0)
  })

  const coming: [how: string, come: (index: DocumentIndex, paths: readonly string[]) => void][] = [
    ['at once', (index, paths) => index.changed(paths)],
    [
      'one by one',
      (index, paths) => {
        for (const path of paths) {
          index.changed([path])
          index.take({ changes: [put(path, ['x'])] }, new Map([[path, {} as Resource]]))
        }
      },
    ],
  ]
  for (const [how, changed] of coming)
    it(`SEC-12 SES-120 of many documents that come ${how} few are put in order without a pause, for whatever folder`, async () => {
      const stored = new Map<string, string>()
      const shuffled = (from: number) => Array.from({ length: 4_500 }, (_, i) => `/i/${from + ((i * 7919) % 4_500)}`)
      const index = new DocumentIndex(reader(stored), () => [])
      await index.find([])
      const { sort } = Array.prototype
      let most = 0
      Array.prototype.sort = function (this: unknown[], ...given) {
        if (`${this[0]}`.startsWith('/')) most = Math.max(most, this.length)
        return sort.apply(this, given)
      }
      try {
        for (const [gone, come] of [
          [[], shuffled(0)],
          [['/i/7', '/i/8', '/i/9'], shuffled(4_500)],
          [['/i/17'], [...shuffled(9_000), '/i/7', '/é', '/20', '/j/30', '/i']],
        ] as const) {
          for (const path of gone) stored.delete(path)
          index.changed(gone)
          for (const path of come) stored.set(path, '["x"]')
          changed(index, come)
          for (const below of ['/', '/i/', '/j/', '/k/'])
            for (const needs of [[['x']], [[]]]) {
              const paths = sort.call([...stored.keys()].filter(path => path.startsWith(below)))
              expect(await index.find(needs, below)).to.deep.equal(paths)
            }
        }
      } finally {
        Array.prototype.sort = sort
      }
      expect(most).to.be.below(4_500)
    })

  it('SEC-12 large tables of paths become larger one in a turn', async () => {
    const stored = new Map(Array.from({ length: 16_400 }, (_, i) => [`/${i}`, '["a","b","c"]']))
    const { add } = Set.prototype
    let grown = 0
    let most = 0
    Set.prototype.add = function (this: Set<unknown>, value) {
      if (this.size === 16_384 && `${value}`.startsWith('/')) {
        if (grown === 0) setImmediate(() => (grown = 0))
        most = Math.max(most, ++grown)
      }
      return add.call(this, value)
    }
    try {
      expect(await new DocumentIndex(reader(stored), () => []).find([['b']])).to.have.length(16_400)
    } finally {
      Set.prototype.add = add
    }
    // That of all documents is one of them.
    expect(most).to.equal(2)
  })

  for (const [what, tokens, rest, kept] of [
    ['few', 200, '', 5],
    ['long ones', 40, 'x'.repeat(500), 4],
  ] as const)
    it(`SEC-12 the memory of documents with ${what} is bounded, however many there are`, async () => {
      const values = many(9, tokens).map(([path, list]): [string, string[]] => [path, list.map(each => each + rest)])
      const stored = new Map(values.map(([path, list]) => [path, JSON.stringify(list)]))
      const index = new DocumentIndex(reader(stored), () => [], new IndexRoom(600))
      const asked = [[`#0-1${rest}`]]
      const beyond = [...stored.keys()].slice(kept)
      expect(await index.find(asked)).to.deep.equal(['/d0', ...beyond])
      index.changed(['/d1', '/d2', '/d8'])
      const gone = ['/d1', '/d2'].map((path): [string, undefined] => [path, undefined])
      index.take({ changes: [put('/d8', values[8]?.[1] ?? [])] }, new Map([...gone, ['/d8', {} as Resource]]))
      expect(await index.find(asked)).to.deep.equal(['/d0', ...beyond.slice(0, -1)])
    })
})
