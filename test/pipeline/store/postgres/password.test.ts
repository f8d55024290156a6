import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { StoreError } from '../../../../pipeline/store/errors.ts'
import { openPostgresStore } from '../../../../pipeline/store/postgres/store.ts'
import { type Cluster, newCluster } from '../../../support/postgres.ts'
import { done, put } from '../fixture.ts'

describe('a database that asks for a password', () => {
  let cluster: Cluster
  let file: string
  before(async () => {
    cluster = await newCluster()
    await cluster.start()
    await cluster.run("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'the right one'")
    const access = join(cluster.folder, 'data', 'pg_hba.conf')
    await writeFile(access, `host all guarded all scram-sha-256\n${await readFile(access, 'utf8')}`)
    await cluster.run('SELECT pg_reload_conf()')
    file = join(cluster.folder, 'password')
  })
  after(() => cluster?.remove())

  const guarded = () => cluster.url.replace('postgres@', 'guarded@')
  const open = () => openPostgresStore({ url: guarded(), passwordFile: file, shared: true })

  it('gets the one that stands in a file, for writing, watching and reading', async () => {
    await writeFile(file, 'the right one\n')
    const store = await open()
    try {
      await done(store.site('example.org'), [put('/a', 'A')])
      expect((await store.site('example.org').find('/a'))?.size).to.equal(1)
    } finally {
      await store.close()
    }
  })

  it('HTTP-172 one that is replaced is awaited: what needs a new connection meanwhile is told to come again', async () => {
    await writeFile(file, 'the right one')
    const store = await open()
    const replace = (password: string) => cluster.run(`ALTER ROLE guarded PASSWORD '${password}'`)
    try {
      await done(store.site('example.org'), [put('/b', 'B')])
      await replace('a new one')
      // The one that watches stays.
      await cluster.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE usename = 'guarded' AND application_name NOT LIKE '%watch%'`)
      const refusals = [
        () => store.site('example.org').find('/b'),
        () => done(store.site('example.org'), [put('/c', 'C')]),
      ].map(attempt => attempt().catch((error: unknown) => error))
      for (const refused of await Promise.all(refusals))
        expect(refused).to.be.instanceOf(StoreError).with.property('reason', 'busy')
      await writeFile(file, 'a new one')
      await done(store.site('example.org'), [put('/c', 'C')])
      expect((await store.site('example.org').find('/b'))?.size).to.equal(1)
    } finally {
      await replace('the right one')
      await store.close()
    }
  })

  it('refuses another one', async () => {
    await writeFile(file, 'a wrong one')
    const refused = await open().catch((error: Error) => error)
    expect(refused).to.be.instanceOf(Error).with.property('message').that.includes('password authentication failed')
  })

  it('says so to whoever names none', async () => {
    const refused = await openPostgresStore({ url: guarded(), shared: true }).catch((error: Error) => error)
    expect(refused).to.be.instanceOf(Error)
    expect(refused).to.have.property('message').that.includes('it asks for a password; name its file with passwordFile')
  })
})
