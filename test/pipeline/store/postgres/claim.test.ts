import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import pg from 'pg'
import type { Use } from '../../../../pipeline/store/postgres/claim.ts'
import { openPostgresStore } from '../../../../pipeline/store/postgres/store.ts'
import type { Store } from '../../../../pipeline/store/store.ts'
import { type Cluster, newCluster, sharedCluster } from '../../../support/postgres.ts'
import { done, put } from '../fixture.ts'

describe('a database that several processes want', () => {
  let cluster: Cluster
  const ends: (() => Promise<void>)[] = []
  let schema = ''
  beforeEach(async () => {
    cluster = await sharedCluster()
    schema = `claim_${ends.length}_${Date.now()}`
    ends.push(async () => void (await cluster.run(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)))
  })
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  async function open(use?: Use): Promise<Store> {
    const store = await openPostgresStore({ url: cluster.url, schema, ...(use && { use }) })
    ends.push(() => store.close())
    return store
  }
  const refusal = (use: Use) => open(use).then(String, String)

  it('one without Redis has it alone, until it ends', async () => {
    const first = await open('alone')
    expect(await refusal('alone')).to.match(/is taken: another process uses it; .* need redis/)
    expect(await refusal('together')).to.match(/is taken: a process without redis uses it/)
    await open()
    await first.close()
    await open('alone')
  })

  it('those with Redis share it, and nobody else writes meanwhile', async () => {
    const stores = [await open('together'), await open('together')]
    expect(await refusal('alone')).to.include('is taken')
    for (const store of stores) await store.close()
    await open('alone')
  })

  it('schemas of one database are installations of their own', async () => {
    await open('alone')
    const other = await openPostgresStore({ url: cluster.url, schema: `${schema}_other`, use: 'alone' })
    await other.close()
    await cluster.run(`DROP SCHEMA ${schema}_other CASCADE`)
  })

  it('who was cut off comes back although the database has not noticed', async () => {
    const store = await open('alone')
    const lock = `720311, hashtext('${schema}')`
    const { rows } = await cluster.run(
      `SELECT pid, application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND classid = 720311 AND objid = hashtext('${schema}')::bit(32)::bigint::oid`,
    )
    // A connection of the same process, as the database has it, that keeps the claim when the process makes a new one.
    const stale = new pg.Client({ connectionString: cluster.url, application_name: rows[0]?.name })
    const ended = new Promise(resolve => stale.once('end', resolve))
    stale.on('error', () => undefined)
    await stale.connect()
    const held = stale.query(`SELECT pg_advisory_lock(${lock})`)
    await cluster.run(`SELECT pg_terminate_backend(${rows[0]?.pid})`)
    await held
    await ended
    while (store.isReachable?.() !== true) await new Promise(resolve => setTimeout(resolve, 20))
    await done(store.site('a.example'), [put('/a.html', 'A')])
    expect(await refusal('alone')).to.include('is taken')
  })

  it('of several hosts the one is used that is no replica, wherever it stands', async () => {
    const replica = await newCluster({}, cluster)
    ends.push(() => replica.remove())
    await replica.start()
    const hosts = [replica.url, cluster.url]
    for (const [url = '', ...others] of [hosts, [...hosts].reverse()]) {
      const store = await openPostgresStore({ url, others, schema })
      await done(store.site('a.example'), [put(`/${url.length}${others.length}.html`, url)])
      await store.close()
    }
    const alone = await openPostgresStore({ url: replica.url, others: [replica.url], schema }).then(String, String)
    expect(alone).to.include('all hosts that answer are replicas')
  })
})
