import { expect } from 'chai'
import { describe, it } from 'mocha'
import type pg from 'pg'
import { DERIVATION, OUTDATED } from '../../../../pipeline/store/derivation.ts'
import { checkDatabase } from '../../../../pipeline/store/postgres/check.ts'
import { MIGRATIONS, prepareTables } from '../../../../pipeline/store/postgres/schema.ts'
import { openPostgresStore } from '../../../../pipeline/store/postgres/store.ts'
import { sharedCluster } from '../../../support/postgres.ts'
import { done, put, putBlob, textAt } from '../fixture.ts'
import {
  asBefore,
  isBoundNoted,
  isCdataNoted,
  NOTED_BEFORE,
  NOTED_BY_THIRD,
  putBound,
  putCdata,
} from '../release-before.ts'

describe('PostgreSQL store: tables of earlier releases', () => {
  /** Tables of a format, with nothing in them. */
  async function tablesOf(
    format: number,
  ): Promise<{ url: string; schema: string; run(sql: string): Promise<unknown> }> {
    const cluster = await sharedCluster()
    const schema = `format_${process.pid}_${format}`
    const steps = MIGRATIONS.slice(0, format).join(';')
    const run = (sql: string) => cluster.run(`SET search_path = ${schema}; ${sql}`)
    await cluster.run(`CREATE SCHEMA ${schema}`)
    await run(`${steps}; CREATE TABLE format (number int NOT NULL); INSERT INTO format VALUES (${format})`)
    return { url: cluster.url, schema, run }
  }

  for (const format of MIGRATIONS.keys())
    if (format > 0)
      it(`of format ${format} are brought forward, once, and are used`, async () => {
        const { url, schema, run } = await tablesOf(format)
        const stores = await Promise.all([1, 2].map(() => openPostgresStore({ url, schema, shared: true })))
        const [site, other] = stores.map(store => store.site('a.example'))
        try {
          if (!site || !other) throw new Error('there are two')
          await done(site, [put('/a.html', 'A'), putBlob('/large', Buffer.alloc(700_000, 'x'))])
          expect(await textAt(other, '/a.html')).to.equal('A')
          await done(other, [put('/a.html', 'B'), { op: 'copy', from: '/large', to: '/copy', deep: false }])
          expect(await textAt(site, '/a.html')).to.equal('B')
          // What servers of releases before write while the roll lasts is noted (RULE-11).
          for (const derivation of Array(DERIVATION).keys()) {
            await run(asBefore('a.html', { profile: '{}' }, derivation))
            expect(await site.derived('/a.html', OUTDATED), String(derivation)).to.equal('1')
            await done(site, [put('/a.html', 'C', { derived: { profile: '{}' } })])
            expect(await site.derived('/a.html', OUTDATED), String(derivation)).to.equal(undefined)
          }
        } finally {
          for (const store of stores) await store.close()
        }
        expect((await checkDatabase({ url, schema }, {})).problems).to.deep.equal([])
        await run(`DO $$ BEGIN ASSERT (SELECT array_agg(number) FROM format) = '{${MIGRATIONS.length}}'; END $$`)
        await run(`DROP SCHEMA ${schema} CASCADE`)
      })

  it('RULE-11 of tables of format 6 those documents are noted that may be read otherwise since', async () => {
    const { url, schema, run } = await tablesOf(MIGRATIONS.length)
    const open = () => openPostgresStore({ url, schema, shared: true })
    const before = await open()
    await putCdata(before.site('a.example'))
    await before.close()
    await run(`${NOTED_BEFORE}; UPDATE format SET number = 6`)
    const store = await open()
    await isCdataNoted(store.site('a.example')).finally(() => store.close())
    await run(`DROP SCHEMA ${schema} CASCADE`)
  })

  it('RULE-11 of tables of format 7 those documents are noted that may have other values since', async () => {
    const { url, schema, run } = await tablesOf(MIGRATIONS.length)
    const open = () => openPostgresStore({ url, schema, shared: true })
    const before = await open()
    await putBound(before.site('a.example'))
    await before.close()
    await run(`${NOTED_BY_THIRD}; UPDATE format SET number = 7`)
    const store = await open()
    await isBoundNoted(store.site('a.example')).finally(() => store.close())
    await run(`DROP SCHEMA ${schema} CASCADE`)
  })

  it('are brought forward however long that takes, and waited for where another process does it', async () => {
    const hurried: string[] = []
    const answers: [RegExp, object][] = [
      [/server_encoding/, { server_encoding: 'UTF8' }],
      [/to_regclass/, { known: true }],
      [/SELECT number/, { number: MIGRATIONS.length - 2 }],
    ]
    const client = {
      query: async (asked: string | (pg.QueryConfig & { query_timeout?: number })) => {
        const { text, query_timeout = 0 } = typeof asked === 'string' ? { text: asked } : asked
        if (query_timeout < 86_400_000) hurried.push(text)
        return { rows: answers.flatMap(([known, row]) => (known.test(text) ? [row] : [])) }
      },
    }
    await prepareTables(client as unknown as pg.ClientBase, { url: '' })
    expect(hurried).to.include('SET statement_timeout = 0').and.include('COMMIT')
    for (const text of MIGRATIONS.slice(-2)) expect(hurried).to.not.include(text)
    expect(hurried.join()).to.not.include('pg_advisory_lock')
  })

  it('HTTP-172 of a newer release are refused in a sentence, and stay as they are', async () => {
    const { url, schema, run } = await tablesOf(MIGRATIONS.length)
    await run('UPDATE format SET number = number + 1')
    const refused = await openPostgresStore({ url, schema, shared: true }).catch((error: Error) => error)
    expect(refused).to.be.instanceOf(Error).with.property('name', 'Unusable')
    const newer = `it has format ${MIGRATIONS.length + 1}, this release knows up to ${MIGRATIONS.length}`
    expect(refused).to.have.property('message').that.includes(newer)
    await run(`DROP SCHEMA ${schema} CASCADE`)
  })
})
