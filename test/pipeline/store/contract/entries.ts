import { expect } from 'chai'
import type { Change, Guard } from '../../../../pipeline/store/commit.ts'
import type { Entry } from '../../../../pipeline/store/resource.ts'
import type { SiteStore } from '../../../../pipeline/store/store.ts'
import { turnsOf } from '../../../support/turns.ts'
import { done, type Open, type Opened, put, there } from '../fixture.ts'

/** What can be found by its keys, and what commits may require of it. */
export function describeEntries(open: Open): void {
  let opened: Opened
  let site: SiteStore
  beforeEach(async () => {
    opened = await open()
    site = opened.store.site('example.org')
  })
  afterEach(() => opened.close())

  const entry = (item: string, ...keys: string[]): Entry => ({ item, keys })
  const found = async (...keys: string[]) =>
    (await site.lookup(keys)).map(({ path, item }) => `${path} ${item}`).sort((a, b) => (a < b ? -1 : 1))
  const holding = (path: string, ...entries: Entry[]) => put(path, path, { entries })

  describe('look-up', () => {
    it('finds entries by one key or several, in all documents', async () => {
      await done(site, [holding('/a.html', entry('1', 'x', 'y'), entry('2', 'x'))])
      await done(site, [holding('/b.html', entry('1', 'y', 'x'), entry('2', 'z'))])
      expect(await found('x')).to.deep.equal(['/a.html 1', '/a.html 2', '/b.html 1'])
      expect(await found('x', 'y')).to.deep.equal(['/a.html 1', '/b.html 1'])
      expect(await found('x', 'y', 'z')).to.deep.equal([])
      expect(await found('none')).to.deep.equal([])
      expect(await found()).to.deep.equal([])
      expect(await site.lookup(['x'], 2)).to.have.length(2)
    })

    it('finds all of many that carry several keys, and no more than are wanted', async () => {
      const entries = Array.from({ length: 700 }, (_, i) => ({
        item: `${i}`,
        keys: ['all', 'each', ...(i % 100 === 99 ? ['some'] : [])],
      }))
      await done(site, [put('/many.html', 'x', { entries })])
      expect(await site.lookup(['all', 'each'])).to.have.length(700)
      expect(await site.lookup(['all', 'each'], 300)).to.have.length(300)
      const some = await site.lookup(['all', 'each', 'some'])
      expect(some.map(({ item }) => item)).to.have.members(['99', '199', '299', '399', '499', '599', '699'])
      expect(await site.lookup(['each', 'some'], 5)).to.have.length(5)
      expect(await site.lookup(['all', 'each', 'none'])).to.deep.equal([])
    })

    it('SEC-12 leaves others their turn while it finds many, each of them once', async () => {
      const entries = Array.from({ length: 9000 }, (_, i) => entry(`${i}`, 'all', 'each'))
      await done(site, [put('/a.html', 'x', { entries }), holding('/b.html', ...entries.slice(0, 7))])
      for (const keys of [['all'], ['all', 'each']]) {
        let told: string[] = []
        const turns = await turnsOf(async () => {
          told = await found(...keys)
        })
        expect(turns, `${keys}`).to.be.above(1)
        expect([told.length, new Set(told).size]).to.deep.equal([9007, 9007])
        expect(await site.lookup(keys, 8192)).to.have.length(8192)
      }
    })

    for (const many of [1, 7, 8, 9, 16, 17, 300])
      it(`finds each of ${many} entries that one document has, and none that have gone`, async () => {
        const entries = Array.from({ length: many }, (_, i) => entry(`${i}`, 'all', `own ${i}`))
        await done(site, [put('/a.html', 'x', { entries })])
        expect(await site.lookup(['all'])).to.have.length(many)
        for (const i of entries.keys()) expect(await found(`own ${i}`)).to.deep.equal([`/a.html ${i}`])
        await opened.intact()
        await done(site, [put('/a.html', 'y', { entries: entries.slice(0, 1) })])
        expect(await found('all')).to.deep.equal(['/a.html 0'])
        for (const i of entries.keys()) expect(await found(`own ${i}`)).to.have.length(i === 0 ? 1 : 0)
        await opened.intact()
      })

    it('keeps sites apart', async () => {
      await done(site, [holding('/a.html', entry('1', 'x'))])
      expect(await opened.store.site('example.net').lookup(['x'])).to.deep.equal([])
    })

    it('takes keys and items of any text and length', async () => {
      const keys = ['', ' \n"\t\\', 'æ\u{1f600}', 'k'.repeat(100_000)]
      await done(site, [holding('/a.html', entry('é"\n', ...keys))])
      for (const key of keys) expect(await site.lookup([key])).to.deep.equal([{ path: '/a.html', item: 'é"\n' }])
    })
  })

  describe('versions', () => {
    const ladder = (...items: string[]) => items.map(item => entry(item, `key ${item}`, 'all'))
    for (const [from, to] of [
      [[], ['a']],
      [['a'], []],
      [
        ['a', 'b', 'c'],
        ['a', 'c'],
      ],
      [
        ['a', 'c'],
        ['a', 'b', 'c'],
      ],
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      [
        ['aa', 'ab'],
        ['aa', 'ab', 'abb'],
      ],
      [['b', 'ab'], ['ab']],
      [
        ['a', 'b', 'c', 'd'],
        ['x', 'b', 'y', 'd'],
      ],
    ] as const) {
      it(`go from ${from.join() || 'nothing'} to ${to.join() || 'nothing'}`, async () => {
        await done(site, [holding('/a.html', ...ladder(...from))])
        await done(site, [holding('/a.html', ...ladder(...to))])
        expect(await found('all')).to.deep.equal([...to].sort().map(item => `/a.html ${item}`))
        for (const item of new Set([...from, ...to]))
          expect(await found(`key ${item}`)).to.have.length((to as readonly string[]).includes(item) ? 1 : 0)
      })
    }

    it('lose keys that an entry no longer has', async () => {
      await done(site, [holding('/a.html', entry('1', 'x', 'y'))])
      await done(site, [holding('/a.html', entry('1', 'y', 'z'))])
      expect([await found('x'), await found('y'), await found('z')]).to.deep.equal([[], ['/a.html 1'], ['/a.html 1']])
    })

    it('without entries have none', async () => {
      await done(site, [holding('/a.html', entry('1', 'x'))])
      await done(site, [put('/a.html', 'plain')])
      expect(await found('x')).to.deep.equal([])
    })

    it('get entries later, unless another version came between', async () => {
      await done(site, [put('/a.html', 'first')])
      const first = await there(site, '/a.html')
      await site.derive(first, {}, [entry('1', 'x')])
      expect(await found('x')).to.deep.equal(['/a.html 1'])
      await done(site, [put('/a.html', 'second')])
      await site.derive(first, {}, [entry('1', 'x')])
      expect(await found('x')).to.deep.equal([])
    })
  })

  describe('places', () => {
    beforeEach(async () => {
      await done(site, [holding('/from/a.html', entry('1', 'x')), holding('/from/deep/b.html', entry('1', 'x', 'y'))])
    })
    const everywhere = () => found('x')

    it('entries go with a file that moves', async () => {
      await done(site, [{ op: 'move', from: '/from/a.html', to: '/c.html' }])
      expect(await everywhere()).to.deep.equal(['/c.html 1', '/from/deep/b.html 1'])
    })

    it('entries are replaced when a move brings derived data', async () => {
      await done(site, [
        { op: 'move', from: '/from/a.html', to: '/c.html', derived: { profile: '{}' }, entries: [entry('2', 'z')] },
      ])
      expect(await everywhere()).to.deep.equal(['/from/deep/b.html 1'])
      expect(await found('z')).to.deep.equal(['/c.html 2'])
    })

    it('entries are copied with a file', async () => {
      await done(site, [{ op: 'copy', from: '/from/a.html', to: '/c.html', deep: false }])
      expect(await everywhere()).to.deep.equal(['/c.html 1', '/from/a.html 1', '/from/deep/b.html 1'])
      await done(site, [{ op: 'delete', path: '/from/a.html' }])
      expect(await everywhere()).to.deep.equal(['/c.html 1', '/from/deep/b.html 1'])
    })

    it('entries go with whole collections', async () => {
      await done(site, [{ op: 'move', from: '/from/', to: '/to/' }])
      expect(await everywhere()).to.deep.equal(['/to/a.html 1', '/to/deep/b.html 1'])
      await done(site, [{ op: 'copy', from: '/to/', to: '/copy/', deep: true }])
      expect(await found('x', 'y')).to.deep.equal(['/copy/deep/b.html 1', '/to/deep/b.html 1'])
      await done(site, [{ op: 'delete', path: '/to/' }])
      expect(await everywhere()).to.deep.equal(['/copy/a.html 1', '/copy/deep/b.html 1'])
      await done(site, [{ op: 'delete', path: '/' }])
      expect(await everywhere()).to.deep.equal([])
    })

    it('entries go with what is replaced', async () => {
      await done(site, [{ op: 'move', from: '/from/a.html', to: '/from/deep/b.html' }])
      expect(await everywhere()).to.deep.equal(['/from/deep/b.html 1'])
    })
  })

  describe('guards', () => {
    const guarded = (entries: Entry[], guards: Guard[], path = '/new.html') =>
      site.commit({ changes: [holding(path, ...entries)], guards })
    const single = (...any: string[][]): Guard => ({ any, expect: 'single' })
    const some = (...any: string[][]): Guard => ({ any, expect: 'some' })
    const none = (...any: string[][]): Guard => ({ any, expect: 'none' })

    beforeEach(async () => {
      await done(site, [holding('/old.html', entry('1', 'a', 'b'), entry('2', 'b'))])
    })

    for (const [name, entries, guard, holds] of [
      ['at most one, none there', [entry('1', 'n')], single(['n']), true],
      ['at most one, another there', [entry('1', 'a')], single(['a']), false],
      ['at most one, two in the same document', [entry('1', 'n'), entry('2', 'n')], single(['n']), false],
      ['at most one with both keys', [entry('1', 'b')], single(['a', 'b']), true],
      ['at most one with both keys, another there', [entry('1', 'b', 'a')], single(['a', 'b']), false],
      ['at most one of alternatives', [entry('1', 'n')], single(['a'], ['n']), false],
      ['some, there already', [], some(['a']), true],
      ['some, brought along', [entry('1', 'n')], some(['m'], ['n']), true],
      ['some, missing', [], some(['m'], ['n']), false],
      ['some, each key on another entry', [entry('1', 'n')], some(['a', 'n']), false],
      ['none, and none there', [], none(['m'], ['n']), true],
      ['none, one there', [], none(['m'], ['a']), false],
      ['none of no alternatives', [], none(), true],
      ['some of no alternatives', [], some(), false],
    ] as const) {
      it(`${name}: ${holds ? 'done' : 'refused'}`, async () => {
        const result = await guarded([...entries], [some(['b']), guard])
        expect(result).to.include(holds ? { ok: true } : { ok: false, reason: 'guard', guard: 1 })
        expect((await site.find('/new.html')) !== undefined).to.equal(holds)
        expect(await found('n')).to.have.length(
          holds ? entries.filter(({ keys }) => keys.includes('n' as never)).length : 0,
        )
      })
    }

    it('of 200, the first that does not hold is named', async () => {
      const guards = Array.from({ length: 200 }, (_, i) => (i === 130 || i === 135 ? some(['m']) : none([`free ${i}`])))
      expect(await guarded([], guards)).to.deep.equal({ ok: false, reason: 'guard', guard: 130 })
    })

    it('see the state after all changes: what a commit takes away is free', async () => {
      expect(await guarded([entry('1', 'a')], [single(['a'])], '/old.html')).to.include({ ok: true })
      const result = await site.commit({
        changes: [{ op: 'delete', path: '/old.html' }, holding('/new.html', entry('1', 'a'))],
        guards: [single(['a'])],
      })
      expect(result).to.include({ ok: true })
    })

    it('none since a version: what others have brought, changed, moved or copied since is not there yet', async () => {
      const own = [entry('1', 'a'), entry('2', 'z')]
      const changes: [what: string, change: Change][] = [
        ['brought', holding('/late.html', entry('1', 'z'))],
        ['changed', holding('/old.html', entry('1', 'z'))],
        ['moved', { op: 'move', from: '/old.html', to: '/late.html' }],
        ['moved with its folder', { op: 'move', from: '/f/', to: '/g/' }],
        ['copied', { op: 'copy', from: '/f/old.html', to: '/late.html', deep: false }],
        ['copied with its folder', { op: 'copy', from: '/f/', to: '/g/', deep: true }],
      ]
      for (const [what, change] of changes) {
        const olds = [holding('/old.html', entry('1', 'z')), holding('/f/old.html', entry('1', 'z'))]
        await done(site, [...olds, holding('/other.html', entry('1', 'y'))])
        const guards: Guard[] = [{ any: [['y'], ['z']], expect: { since: await site.version() } }]
        await done(site, [holding('/other.html', entry('1', 'a'))])
        expect(await guarded(own, guards), what).to.include({ ok: true })
        await done(site, [{ op: 'delete', path: '/new.html' }, change])
        expect(await guarded(own, guards), what).to.deep.equal({ ok: false, reason: 'guard', guard: 0 })
        const elsewhere = opened.store.site('example.net')
        expect(await elsewhere.commit({ changes: [holding('/new.html', ...own)], guards }), what).to.include({
          ok: true,
        })
        await done(site, [{ op: 'delete', path: '/' }])
      }
    })

    it('of 16 writers of the same value exactly one gets it, of 16 values all', async () => {
      const race = (key: (i: number) => string) =>
        Promise.all(
          Array.from({ length: 16 }, (_, i) =>
            guarded([entry('1', key(i))], [single([key(i)])], `/${key(i)}-${i}.html`),
          ),
        )
      expect((await race(() => 'same')).filter(({ ok }) => ok)).to.have.length(1)
      expect((await race(i => `own ${i}`)).filter(({ ok }) => ok)).to.have.length(16)
    })
  })

  describe('derived data of a resource that stays', () => {
    it('are rewritten within a commit, without a new version', async () => {
      await done(site, [put('/a.html', 'text', { derived: { one: '1', two: '2' }, entries: [entry('1', 'x')] })])
      const before = await there(site, '/a.html')
      const derive = { op: 'derive', path: '/a.html', expect: before.version, derived: { two: 'II' } } as const
      await done(site, [put('/b.html', 'other'), derive])
      expect(await there(site, '/a.html')).to.deep.equal(before)
      expect([await site.derived('/a.html', 'one'), await site.derived('/a.html', 'two')]).to.deep.equal(['1', 'II'])
      expect(await found('x')).to.deep.equal(['/a.html 1'])
      await done(site, [put('/a.html', 'newer')])
      expect(await site.commit({ changes: [derive] })).to.include({ ok: false, reason: 'version', path: '/a.html' })
    })
  })
}
