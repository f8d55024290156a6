import { expect } from 'chai'
import { describe, it } from 'mocha'
import type { Change } from '../../../../pipeline/store/commit.ts'
import type { SiteStore, Store } from '../../../../pipeline/store/store.ts'
import { sharedCluster } from '../../../support/postgres.ts'
import { done, put } from '../fixture.ts'
import { openSchema } from './fixture.ts'

/** A document with everything that hangs on documents. */
const rich = (path: string): Change =>
  put(path, path, { derived: { x: path }, entries: [{ item: '1', keys: [path, 'all'] }] })

async function drain(of: AsyncIterable<unknown>): Promise<void> {
  for await (const _each of of);
}

/** Work whose costs may depend on what it touches, never on how much stands besides. */
const WORK: Readonly<Record<string, (site: SiteStore, store: Store) => Promise<unknown>>> = {
  'a new document': site => done(site, [rich('/small/new.html')]),
  'a document over another': site => done(site, [rich('/small/1.html')]),
  'a document with events': site =>
    site.commit({ changes: [rich('/small/1.html')], events: [{ path: '/small/1.html', payload: 'x' }] }),
  'a deletion': site => done(site, [{ op: 'delete', path: '/small/2.html' }]),
  properties: site =>
    done(site, [
      { op: 'describe', path: '/small/1.html', set: [{ namespace: 'n', name: 'p', value: 'v' }], remove: [] },
    ]),
  'a move': site => done(site, [{ op: 'move', from: '/small/3.html', to: '/small/moved.html' }]),
  'a copied folder': site => done(site, [{ op: 'copy', from: '/small/', to: '/copied/', deep: true }]),
  'a moved folder': site => done(site, [{ op: 'move', from: '/copied/', to: '/small/deep/' }]),
  'a deleted folder': site => done(site, [{ op: 'delete', path: '/small/deep/' }]),
  'a guard': site =>
    site.commit({ changes: [rich('/small/1.html')], guards: [{ any: [['/small/1.html']], expect: 'single' }] }),
  'look-ups': async site => {
    const found = await site.find('/small/1.html')
    if (found) await site.body(found)
    await site.lookup(['/small/1.html'])
    await site.derived('/small/1.html', 'x')
    await site.properties('/small/1.html')
  },
  'look-ups of several at once': async site => {
    await Promise.all(['/small/1.html', '/small/none.html', '/small/4.html'].map(path => site.find(path)))
  },
  'a listing': async site => {
    await site.list('/small/')
    await site.propertiesBetween('/small/1.html', '/small/4.html')
    await drain(site.walk('/small/', { collections: true }))
  },
}

/** Questions to the index that name keys which all documents carry. */
const QUESTIONS: typeof WORK = {
  'a key that one document has, and one that all have': site => site.lookup(['all', '/small/1.html']),
  'a key that some documents have, and one that all have': site => site.lookup(['all', 'some']),
  'the first of those that have a key': site => site.lookup(['all'], 20),
  'a guard of several keys': site =>
    site.commit({ changes: [rich('/small/1.html')], guards: [{ any: [['all', '/small/1.html']], expect: 'single' }] }),
}

describe('the steps of a store in PostgreSQL', () => {
  /**
   * Rows that each piece of work reads beside so many documents.
   *
   * @param isCounted whether the database has counted its rows; it has not counted those of a new site
   */
  async function rowsRead(others: number, works = WORK, isCounted = false): Promise<Record<string, number>> {
    const cluster = await sharedCluster()
    const opened = await openSchema()
    await cluster.run(
      ['resource', 'body', 'derived', 'entry', 'entry_text', 'property', 'event', 'site']
        .map(table => `ALTER TABLE ${opened.schema}.${table} SET (autovacuum_enabled = off)`)
        .join('; '),
    )
    const counted: Record<string, number> = {}
    /** A connection says what it has read when it ends. */
    async function read(): Promise<number> {
      await opened.store.close()
      const { rows } = await cluster.run(
        `SELECT sum(coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::int AS count
         FROM pg_stat_user_tables WHERE schemaname = '${opened.schema}' AND relname <> 'progress'`,
      )
      await opened.reopen()
      return rows[0]?.count ?? 0
    }
    try {
      const site = () => opened.store.site('a.example')
      await done(
        site(),
        Array.from({ length: 6 }, (_, i) => rich(`/small/${i}.html`)),
      )
      for (let from = 0; from < others; from += 100)
        await done(site(), {
          changes: Array.from({ length: 100 }, (_, i) => rich(`/others/${from + i}.html`)),
          events: Array.from({ length: 100 }, (_, i) => ({ path: `/others/${from + i}.html`, payload: 'x' })),
        })
      // Last of all, so that whoever goes through the others first reads many.
      await done(
        site(),
        Array.from({ length: 80 }, (_, i) => {
          const path = `/some/${i}.html`
          return put(path, path, { entries: [{ item: '1', keys: [path, 'all', 'some'] }] })
        }),
      )
      await cluster.run(
        `SET search_path = ${opened.schema};
         INSERT INTO dropped (site, path, ms, seq) SELECT site, path, ms, seq FROM event; ANALYZE event, dropped`,
      )
      if (isCounted) await cluster.run(`ANALYZE ${opened.schema}.entry, ${opened.schema}.resource`)
      for (const [name, work] of Object.entries(works)) {
        const before = await read()
        await work(site(), opened.store)
        counted[name] = (await read()) - before
      }
      return counted
    } finally {
      await opened.close()
    }
  }

  it('no work depends on how many documents there are besides', async () => {
    const [few, many] = [await rowsRead(100), await rowsRead(2000)]
    for (const [name, count] of Object.entries(many)) expect(count, name).to.be.at.most((few[name] ?? 0) + 20)
  })

  it('no question to the index goes through what all documents have, whatever the database knows of them', async () => {
    const [few, many] = [await rowsRead(600, QUESTIONS, true), await rowsRead(6000, QUESTIONS, true)]
    for (const [name, count] of Object.entries(many)) expect(count, name).to.be.at.most((few[name] ?? 0) + 20)
  })

  it('SEC-12 listings that are too large for one answer take two connections, however many ask for them', async () => {
    const opened = await openSchema()
    try {
      const site = opened.store.site('a.example')
      await done(site, [put('/d/0', 'x')])
      await opened.raw(`INSERT INTO resource SELECT site, folder, n::text, 1000 + n, kind, version, digest, size, type, language,
        created, modified, shown, same_second, properties, members, body, blob, unlisted
        FROM resource, generate_series(1, 4500) n WHERE name = '0'`)
      const sockets = () => process.getActiveResourcesInfo().filter(resource => resource === 'TCPSocketWrap').length
      const before = sockets()
      const counts: number[] = []
      const timer = setInterval(() => counts.push(sockets() - before), 2)
      const listings = await Promise.all(Array.from({ length: 12 }, () => site.list('/d/')))
      clearInterval(timer)
      expect(listings.map(members => members.length)).to.deep.equal(Array(12).fill(4501))
      // Those of the pool for short reads count as well.
      expect(Math.max(...counts)).to.be.within(1, 6)
    } finally {
      await opened.close()
    }
  })

  it('EVT-46 SEC-12 events of a tree share the texts that they tell with its documents, however often it moves', async () => {
    const cluster = await sharedCluster()
    const opened = await openSchema()
    try {
      const site = opened.store.site('a.example')
      const texts = ['x'.repeat(33), 'x'.repeat(100), 'é'.repeat(50), 'x'.repeat(101)]
      await done(
        site,
        texts.map((text, i) => put(`/a/${i}`, text)),
      )
      const tell = { gone: { around: ['', ''] }, come: { around: ['', '', '', ''] }, largestBody: 100 } as const
      await done(site, [{ op: 'move', from: '/a/', to: '/b/', tell }])
      for (const [i, text] of texts.entries())
        expect((await site.events(`/b/${i}`)).at(-1)?.payload.endsWith(text), text).to.equal(i < 3)
      const { rows } = await cluster.run(`SELECT max(octet_length(payload))::int AS count FROM ${opened.schema}.event`)
      expect(rows[0]?.count).to.be.below(60)
    } finally {
      await opened.close()
    }
  })
})
