import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { describe, it } from 'mocha'
import { type ForeignOptions, readForeign } from '../../../../pipeline/store/postgres/foreign.ts'
import type { News } from '../../../../pipeline/store/postgres/news.ts'
import type { Reads } from '../../../../pipeline/store/postgres/read/pool.ts'
import { openPostgresStore } from '../../../../pipeline/store/postgres/store.ts'
import { clockOfAnother, sharedQuestion, watchDatabase } from '../../../../pipeline/store/postgres/watch.ts'
import { eventually } from '../../../support/eventually.ts'
import { sharedCluster } from '../../../support/postgres.ts'

describe('the clock of the database', () => {
  let own = 0
  /** What an answer of so many milliseconds, which the other wrote in the middle, makes of a clock. */
  function ask(clock: ReturnType<typeof clockOfAnother>, ahead: number, took: number): number {
    const sent = own
    const said = sent + took / 2 + ahead
    own += took
    clock.heard(said, sent)
    return clock.now() - own
  }

  it('EVT-45 is known as well as the way there tells, and the better for every quick answer', () => {
    const clock = clockOfAnother(() => own)
    expect(ask(clock, 600_000, 100)).to.be.within(599_950, 600_050)
    expect(ask(clock, 600_000, 10)).to.be.within(599_995, 600_005)
    expect(ask(clock, 600_000, 1000)).to.be.within(599_995, 600_005)
    expect(ask(clock, -600_000, 10)).to.be.within(-600_005, -599_995)
  })

  it('EVT-45 stands still where answers do not prove it wrong', () => {
    const clock = clockOfAnother(() => own)
    const first = ask(clock, 0, 10)
    for (const took of [1, 50, 3]) expect(ask(clock, 0, took)).to.equal(first)
  })
})

describe('news of a database that goes away', () => {
  const CUT = new Error('Connection terminated')
  const LIFE = 'first'
  const followed = (reads: Reads, watch: ForeignOptions['watch'], isAlone = false) =>
    readForeign({ reads, watch, from: { version: 1, life: LIFE }, isAlone })

  /** @param isAway whether asking finds the database away */
  function between(isAway: boolean) {
    let since: number | undefined
    const rows = [{ entry: JSON.stringify([2, 's', '["/a"]', '[]', null, false]) }]
    let isCut = true
    let questions = 0
    const watch = {
      awaySince: () => since,
      life: () => LIFE,
      async news() {
        // It goes between the number of the last commit and the log.
        if (questions++ < 1 || !isAway) return { version: 2, life: LIFE, log: undefined }
        since = Date.now()
        throw CUT
      },
    }
    const reads = {
      async rows() {
        if (isCut) throw CUT
        return rows
      },
    } as unknown as Reads
    const back = () => {
      since = undefined
      questions = 0
      isCut = false
    }
    return { foreign: followed(reads, watch), back }
  }

  it('RULE-11 news that cannot be read are news still when it is back, and reads go on meanwhile', async () => {
    const { foreign, back } = between(true)
    expect(await foreign.waiting()).to.equal(true)
    expect(await foreign.read()).to.deep.equal({ version: 1, commits: [] })
    expect(await foreign.waiting()).to.equal(false)
    back()
    expect(await foreign.waiting()).to.equal(true)
    expect((await foreign.read()).commits?.map(({ paths }) => paths)).to.deep.equal([['/a']])
    expect(await foreign.waiting()).to.equal(false)
  })

  it('RULE-11 the log comes with the number of the last commit: who follows another asks once', async () => {
    let questions = 0
    const entry = (version: number, isOwn = false) => ({
      version,
      by: isOwn ? undefined : 'other',
      commit: isOwn ? undefined : { version, site: 's', paths: [`/${version}`], raised: [] },
    })
    const watch = {
      awaySince: () => undefined,
      life: () => LIFE,
      async news() {
        questions++
        return { version: 5, life: LIFE, log: [entry(2), entry(3, true), entry(4), entry(5)] }
      },
    }
    const reads = { rows: () => Promise.reject(CUT) } as unknown as Reads
    const foreign = followed(reads, watch)
    const asked = [foreign.waiting(), foreign.waiting()]
    // What this process commits meanwhile needs no telling.
    foreign.committed(1, 2)
    expect(await Promise.all(asked)).to.deep.equal([true, true])
    const { version, commits } = await foreign.read()
    expect([version, commits?.map(({ paths }) => paths)]).to.deep.equal([5, [['/4'], ['/5']]])
    expect(questions).to.equal(2)
    expect(await foreign.waiting()).to.equal(false)
  })

  /** The database after it was started again, or another one in its place: who has made the commits that it has from 5 on. */
  const LIVES: Readonly<Record<string, { log: Record<number, string>; isWhole?: true }>> = {
    'with all that was known': { log: { 5: 'other', 6: 'self', 7: 'other' }, isWhole: true },
    'with less than was known': { log: { 5: 'other' } },
    'with as much, by others': { log: { 5: 'other', 6: 'third' } },
    'with more, by others': { log: { 5: 'other', 6: 'third', 7: 'self' } },
    'with more, of which nobody knows': { log: { 7: 'other' } },
  }
  for (const isAlone of [false, true])
    for (const [what, { log, isWhole }] of Object.entries(LIVES))
      it(`RULE-11 a database in another life ${what} is told from one that was set back, ${isAlone ? 'alone' : 'beside others'}`, async () => {
        let life = LIFE
        let version = 5
        const watch = {
          awaySince: () => undefined,
          life: () => life,
          news: async () => ({ version, life, log: undefined }),
        }
        const reads = {
          row: async (_: string, at: number) => ({ by: log[at] === 'self' ? before : log[at] }),
          rows: async () => [{ entry: JSON.stringify([7, 's', '["/a"]', '[]', null, false, 'other']) }],
        } as unknown as Reads
        const from = { version: 5, life: LIFE, by: 'other' }
        const foreign = readForeign({ reads, watch, from, isAlone })
        const before = foreign.origin()
        foreign.committed(5, 6)
        version = 6
        expect(await foreign.waiting(), 'the same').to.equal(false)
        life = 'another'
        version = Number(Object.keys(log).at(-1))
        expect(foreign.life(), 'nothing is committed there before that is known').to.equal(LIFE)
        expect(await foreign.waiting()).to.equal(true)
        const { version: to, commits } = await foreign.read()
        expect([to, commits?.length]).to.deep.equal([version, isWhole ? 1 : undefined])
        expect([foreign.version(), foreign.newest(), foreign.life()]).to.deep.equal([version, version, life])
        expect(foreign.origin(), 'others tell its commits in one life from those in another').to.not.equal(before)
        expect(await foreign.waiting()).to.equal(false)
      })

  it('RULE-11 a database that was set back, and goes away while that is found out, is told from one that lives on', async () => {
    const watch = {
      awaySince: () => undefined,
      life: () => 'another',
      news: async () => ({ version: 3, life: 'another' }),
    }
    const [other, away] = [async () => ({ by: 'third' }), () => Promise.reject(CUT)]
    for (const answers of [[away], [other, away]]) {
      const reads = { row: () => (answers.shift() ?? other)() } as unknown as Reads
      const from = { version: 5, life: LIFE, by: 'other' }
      const foreign = readForeign({ reads, watch: watch as ForeignOptions['watch'], from, isAlone: false })
      expect(await foreign.read().catch((error: unknown) => error)).to.equal(CUT)
      expect(await foreign.waiting()).to.equal(true)
      expect(await foreign.read()).to.deep.equal({ version: 3, commits: undefined, isSetBack: true })
    }
  })

  it('RULE-11 where nobody knows what became of a commit of this process, it counts as that of another', async () => {
    let log: News['log']
    const watch = { awaySince: () => undefined, life: () => LIFE, news: async () => ({ version: 2, life: LIFE, log }) }
    const reads = { row: async () => ({ by: 'self' }) } as unknown as Reads
    const foreign = followed(reads, watch)
    const before = foreign.origin()
    // Its entry is of who asks, and was taken for known.
    log = [{ version: 2, by: undefined, commit: undefined }]
    expect(await foreign.waiting()).to.equal(true)
    expect((await foreign.read()).commits).to.deep.equal([])
    foreign.doubt(1)
    expect(await foreign.waiting()).to.equal(true)
    const commit = { version: 2, site: 's', paths: ['/a'], raised: [] }
    log = [{ version: 2, by: before, commit }]
    expect(await foreign.read()).to.deep.equal({ version: 2, commits: [commit] })
    expect(foreign.origin(), 'what comes late is told').to.not.equal(before)
    expect(await foreign.waiting()).to.equal(false)
  })

  it('RULE-11 nothing is forgiven while it answers', async () => {
    const { foreign, back } = between(false)
    expect(await foreign.read().catch((error: unknown) => error)).to.equal(CUT)
    back()
    expect((await foreign.read()).commits).to.have.length(1)
  })
})

describe('a question that many ask', () => {
  it('is put once for all who ask in one turn of the event loop, and once for all who ask until it is answered', async () => {
    const { promise: first, resolve: answer } = Promise.withResolvers<void>()
    let asked = 0
    const ask = sharedQuestion(async () => {
      const number = ++asked
      if (number === 1) await first
      return number
    })
    const all = [ask()]
    // Each connection has its microtasks carried out before the next one is read.
    for (let i = 0; i < 10; i++) await undefined
    all.push(ask())
    await setImmediate()
    await setImmediate()
    for (let i = 0; i < 3; i++) {
      all.push(ask())
      await setImmediate()
    }
    answer()
    expect(await Promise.all(all)).to.deep.equal([1, 1, 2, 2, 2])
  })
})

describe('the watch of a database', () => {
  it('leaves no connection behind that was being made when it was closed', async () => {
    const cluster = await sharedCluster()
    const schema = `watch_${Date.now()}`
    const address = { url: cluster.url, schema }
    const store = await openPostgresStore(address)
    const origin = `closing-${Date.now()}`
    try {
      const watch = watchDatabase(address, () => undefined, origin)
      const asked = watch.news().catch(String)
      await watch.close()
      expect(await asked).to.include('closed')
      await eventually(async () => {
        const name = `%${origin}%`
        const { rows } = await cluster.run(`SELECT pid FROM pg_stat_activity WHERE application_name LIKE '${name}'`)
        expect(rows).to.deep.equal([])
      })
    } finally {
      await store.close()
      await cluster.run(`DROP SCHEMA ${schema} CASCADE`)
    }
  })
})
