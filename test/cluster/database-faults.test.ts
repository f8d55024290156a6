import { chownSync, statSync } from 'node:fs'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page } from '../support/content.ts'
import type { Cluster as Database } from '../support/postgres.ts'
import { type SmallDisk, smallDisk } from '../support/small-disk.ts'
import { faults, HANGS, isAway } from './faults.ts'
import { at, type Node } from './installation.ts'
import { ENOUGH, readAgain, readsOn } from './writers.ts'

/** A small disk, where this user may mount one. */
function mountedDisk(): SmallDisk | undefined {
  try {
    return smallDisk(32)
  } catch {
    return undefined
  }
}

const [OK, LIMITED] = ['{"status":"ok"}', '{"status":"limited","missing":["writes"]}']
const ready = async ({ http }: Node) => (await http('GET', '/-platform/health/ready')).text

describe('two servers on a database that fails among 16 writers', function () {
  this.timeout(HANGS)
  const shared = faults(after)
  const { atEnd, startDatabase, startPair, install, begin } = faults()
  /** What all faults go through that leave it whole. */
  let database: Database
  let nodes: Node[]
  before(async () => {
    database = await shared.startDatabase()
    nodes = (await shared.install({ postgres: database.url })).nodes
  })

  it('HTTP-4 killed and started again: what was acknowledged is everywhere, and streams are complete', async () => {
    const writers = await begin(nodes)
    for (let round = 0; round < 2; round++) {
      await database.stop('immediate')
      await isAway(writers, nodes)
      await database.start()
      await writers.untilMore(ENOUGH)
      await readAgain(nodes)
    }
    await writers.judge()
  })

  it('HTTP-4 connections that the database cuts', async () => {
    const writers = await begin(nodes)
    for (let round = 0; round < 5; round++) {
      await writers.untilMore(15)
      await database.run('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    }
    await writers.untilMore(ENOUGH)
    await writers.judge()
  })

  it('HTTP-4 that stands still and answers nothing: writers are refused, readers served, and it goes on', async () => {
    const writers = await begin(nodes)
    for (let round = 0; round < 2; round++) {
      const resume = database.hang()
      try {
        await writers.untilRefused(1)
        for (const node of nodes) await readsOn(node)
      } finally {
        resume()
      }
      await writers.untilMore(ENOUGH)
      await readAgain(nodes)
    }
    await writers.judge()
  })

  it('HTTP-4 fail-over to a replica that was promoted: what the old primary acknowledged is there', async () => {
    const { primary, replica, url } = await startPair()
    const { nodes } = await install({
      postgres: url,
    })
    const writers = await begin(nodes)
    await primary.stop('immediate')
    await isAway(writers, nodes)
    await replica.run('SELECT pg_promote(true)')
    await writers.untilMore(ENOUGH)
    await writers.judge()
  })

  it('HTTP-4 a database that takes reads alone: writers are refused, readers served', async () => {
    const writers = await begin(nodes, database)
    await database.run('ALTER SYSTEM SET default_transaction_read_only = on')
    await database.run('SELECT pg_reload_conf()')
    await writers.untilRefused(2)
    for (const node of nodes) await readsOn(node)
    expect((await at({ nodes }, 0).http('GET', '/rules.html')).status).to.equal(200)
    expect(await Promise.all(nodes.map(ready))).to.deep.equal(nodes.map(() => LIMITED))
    await database.run('ALTER SYSTEM RESET default_transaction_read_only')
    await database.run('SELECT pg_reload_conf()')
    await writers.untilMore(ENOUGH)
    expect(await Promise.all(nodes.map(ready))).to.deep.equal(nodes.map(() => OK))
    await writers.judge()
  })

  /** A database whose tables are where there is no room, or that says so. */
  async function withoutRoom(): Promise<{ database: Database; fill(): Promise<void>; empty(): Promise<void> }> {
    const database = await startDatabase()
    const disk = mountedDisk()
    if (disk === undefined) {
      const trigger = 'CREATE TRIGGER full BEFORE INSERT ON body EXECUTE FUNCTION full()'
      await database.run(`CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$`)
      const run = (sql: string) => async () => void (await database.run(sql))
      return { database, fill: run(trigger), empty: run('DROP TRIGGER full ON body') }
    }
    atEnd(async () => {
      await database.stop('immediate')
      disk.end()
    })
    const { uid, gid } = statSync(database.folder)
    chownSync(disk.folder, uid, gid)
    await database.run(`CREATE TABLESPACE small LOCATION '${disk.folder}'`)
    await database.run('ALTER DATABASE postgres SET default_tablespace = small')
    return { database, fill: async () => disk.fill(), empty: async () => disk.empty() }
  }

  it('HTTP-172 no room in the database: writers are told so, readers served, and it goes on when there is some', async () => {
    const { database, fill, empty } = await withoutRoom()
    const { nodes } = await install({ postgres: database.url })
    const writers = await begin(nodes, database)
    await fill()
    await writers.untilRefused(2)
    for (const node of nodes) {
      await readsOn(node)
      expect((await node.http('GET', '/rules.html')).status).to.equal(200)
    }
    const told = await at({ nodes }, 0).dav('PUT', '/large.html', {}, page('x'.repeat(200_000)))
    expect(told.status, told.text).to.equal(507)
    expect(await ready(at({ nodes }, 0))).to.equal(LIMITED)
    await empty()
    await writers.untilMore(ENOUGH)
    expect(await Promise.all(nodes.map(ready))).to.deep.equal(nodes.map(() => OK))
    expect(writers.refused.some(({ headers }) => headers['retry-after'] === '60')).to.equal(true)
    await writers.judge()
  })
})
