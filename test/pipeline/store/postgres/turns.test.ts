import { expect } from 'chai'
import { describe, it } from 'mocha'
import pg from 'pg'
import { clean, GRACE } from '../../../../pipeline/store/postgres/housekeeping/housekeeping.ts'
import { prepareRetention } from '../../../../pipeline/store/postgres/housekeeping/retention.ts'
import { sessionOn } from '../../../../pipeline/store/postgres/session.ts'
import { sharedCluster } from '../../../support/postgres.ts'
import { done, put } from '../fixture.ts'
import { outlasts } from '../outlasts.ts'
import { type OpenedSchema, openSchema, openSchemaWith } from './fixture.ts'

/** Whether somebody waits for the transaction that asks. */
const IS_WAITING = `SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid
  OR NOT granted AND relation = 'progress'::regclass`

describe('transactions of several processes', () => {
  it('whoever waits for its turn takes along what comes meanwhile', async () => {
    const opened = await openSchema({ shared: true })
    const raw = new pg.Client({ connectionString: opened.url })
    await raw.connect()
    try {
      const site = opened.store.site('a.example')
      const other = (await opened.another()).site('a.example')
      await done(site, [put('/first.html', 'x')])
      await done(other, [put('/of-another.html', 'x')])
      // Here it shows that there are others.
      await done(site, [put('/second.html', 'x')])

      await raw.query(`SET search_path = ${opened.schema}; BEGIN; SELECT FROM progress FOR UPDATE`)
      const commits = [done(site, [put('/0.html', 'x')])]
      while ((await raw.query(IS_WAITING)).rowCount === 0);
      for (let i = 1; i < 6; i++) commits.push(done(site, [put(`/${i}.html`, 'x')]))
      await raw.query('COMMIT')
      await Promise.all(commits)
      const { rows } = await raw.query('SELECT DISTINCT xmin FROM commit_log WHERE version > 3')
      expect(rows).to.have.length(1)
    } finally {
      await raw.end()
      await opened.close()
    }
  })

  it('HTTP-172 cleaning that waits for the turn of a commit holds no note that the commit changes', async () => {
    const opened = await openSchema({ shared: true })
    const [raw, cleaner] = [opened.url, opened.url].map(connectionString => new pg.Client({ connectionString }))
    if (!raw || !cleaner) throw new Error('there are two')
    await Promise.all([raw.connect(), cleaner.connect()])
    try {
      await raw.query(`SET search_path = ${opened.schema};
        INSERT INTO note (key, value, expires) VALUES ('k', 'v', 1);
        INSERT INTO blob (digest, upload, size, sha1, md5, unused) VALUES ('d', gen_random_uuid(), 1, '', '', 1)`)
      await raw.query('BEGIN; SELECT FROM progress FOR UPDATE')
      await cleaner.query(`SET search_path = ${opened.schema}`)
      const cleaned = clean(sessionOn(cleaner), prepareRetention(1), GRACE + 2)
      while ((await raw.query(IS_WAITING)).rowCount === 0);
      expect((await raw.query(`DELETE FROM note WHERE key = 'k'`)).rowCount).to.equal(1)
      await raw.query('COMMIT')
      expect(await cleaned).to.equal(false)
    } finally {
      await Promise.all([raw.end(), cleaner.end()])
      await opened.close()
    }
  })

  it('DAV-8 transactions that have begun are outlasted, also those of a process that has gone', async () => {
    const opened = await openSchema({ shared: true })
    const raw = new pg.Client({ connectionString: opened.url })
    await raw.connect()
    try {
      await done(opened.store.site('a.example'), [put('/first.html', 'x')])
      await raw.query(`SET search_path = ${opened.schema}; BEGIN; SELECT FROM progress FOR UPDATE`)
      await outlasts(opened.store, () => raw.query('COMMIT'))
      const { rows } = await raw.query('SELECT version FROM progress')
      expect(rows).to.deep.equal([{ version: '1' }])
      await done(opened.store.site('a.example'), [put('/second.html', 'x')])
    } finally {
      await raw.end()
      await opened.close()
    }
  })

  it('DAV-8 a transaction that is never over is not outlasted', async () => {
    const opened = await openSchema({ shared: true, lockWait: 100 })
    const raw = new pg.Client({ connectionString: opened.url })
    await raw.connect()
    try {
      await raw.query(`SET search_path = ${opened.schema}; BEGIN; SELECT FROM progress FOR UPDATE`)
      const refused = await opened.store.outlast?.().catch((error: unknown) => error)
      expect(refused).to.include({ reason: 'busy' })
    } finally {
      await raw.end()
      await opened.close()
    }
  })
})

describe('transactions in a database with defaults of its own', () => {
  async function openWith(name: string, value: string): Promise<OpenedSchema> {
    const { url } = await sharedCluster()
    const options = encodeURIComponent(`-c ${name}=${value.replaceAll(' ', '\\ ')}`)
    return openSchemaWith(() => ({ shared: true, url: `${url}?options=${options}` }))
  }

  for (const level of ['repeatable read', 'serializable'])
    it(`whoever waits for its turn sees what others have committed where the default is ${level}`, async () => {
      const opened = await openWith('default_transaction_isolation', level)
      const raw = new pg.Client({ connectionString: opened.url })
      await raw.connect()
      try {
        const site = opened.store.site('a.example')
        await done(site, [put('/first.html', 'x')])
        await raw.query(`SET search_path = ${opened.schema}; BEGIN; UPDATE progress SET last_id = last_id + 1`)
        const commit = site.commit({ changes: [put('/second.html', 'x')] })
        while ((await raw.query(IS_WAITING)).rowCount === 0);
        await raw.query('COMMIT')
        expect((await commit).ok).to.equal(true)
      } finally {
        await raw.end()
        await opened.close()
      }
    })

  for (const [level, wanted] of [
    ['off', 'on'],
    ['local', 'local'],
    ['remote_apply', 'remote_apply'],
  ] as const)
    it(`are on disk when they are answered where synchronous_commit is ${level}`, async () => {
      const opened = await openWith('synchronous_commit', level)
      try {
        await opened.raw(`CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF current_setting('synchronous_commit') <> '${wanted}' THEN RAISE 'not on disk'; END IF;
            RETURN NULL;
          END $$;
          CREATE TRIGGER see AFTER INSERT ON commit_log FOR EACH ROW EXECUTE FUNCTION see()`)
        const site = opened.store.site('a.example')
        await done(site, [put('/a.html', 'x')])
        await done(site, [put('/a.html', 'y')])
      } finally {
        await opened.close()
      }
    })
})
