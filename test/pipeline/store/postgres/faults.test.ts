import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { afterEach, describe, it } from 'mocha'
import { StoreError } from '../../../../pipeline/store/errors.ts'
import { openPostgresStore } from '../../../../pipeline/store/postgres/store.ts'
import type { Store } from '../../../../pipeline/store/store.ts'
import { freePort } from '../../../support/ports.ts'
import { type Cluster, newCluster, sharedCluster } from '../../../support/postgres.ts'
import { type Relay, startRelay } from '../../../support/tcp-relay.ts'
import { done, put, there } from '../fixture.ts'
import { openEmpty } from './fixture.ts'
import { judge, startWriters, WRITERS, type Writers } from './writers.ts'

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise(resolve => setTimeout(resolve, 5))
}

describe('a database that fails among 16 writers', () => {
  const ends: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  async function cluster(settings: Record<string, string> = {}, from?: Cluster): Promise<Cluster> {
    const made = await newCluster(settings, from)
    ends.push(() => made.remove())
    await made.start()
    return made
  }

  async function relayTo({ port }: Cluster): Promise<Relay> {
    const relay = await startRelay(port)
    ends.push(() => relay.close())
    return relay
  }

  async function open(port: number): Promise<Store> {
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const store = await openPostgresStore({ url, schema: 'faults', shared: true })
    ends.push(() => store.close())
    return store
  }

  function writersOn(...stores: Store[]): Writers {
    const writers = startWriters(stores)
    ends.push(() => writers.end())
    return writers
  }

  /** Ends the writers and judges by a store that was opened afterwards. */
  async function sound(writers: Writers, port: number): Promise<void> {
    await writers.end()
    await judge((await open(port)).site('faults'), writers)
  }

  it('killed and started again: every acknowledged write is there', async () => {
    const database = await cluster()
    const [one, two] = [await open(database.port), await open(database.port)]
    const writers = writersOn(one, two)
    for (let round = 0; round < 2; round++) {
      await writers.untilMore(100)
      await database.stop('immediate')
      await writers.untilRefused(WRITERS)
      await until(() => one.isReachable?.() === false)
      await database.start()
    }
    await writers.untilMore(100)
    await until(() => one.isReachable?.() === true)
    await sound(writers, database.port)
  })

  it('HTTP-4 gone right behind a commit: what has arrived cannot be taken back, which fails no write', async () => {
    const database = await cluster()
    const store = await open(database.port)
    const bytes = Buffer.alloc(3_000_000, 'x')
    const staged = await store.stage(Readable.from([bytes]), { limit: 1e9 })
    await done(store.site('faults'), [{ op: 'put', path: '/large', kind: 'blob', content: { staged }, type: 'x/y' }])
    await database.stop('immediate')
    await staged.discard()
    await database.start()
    await until(() => store.isReachable?.() === true)
    expect((await there(store.site('faults'), '/large')).size).to.equal(bytes.length)
  })

  it('HTTP-172 away in the middle of a download: what has begun goes on, what has not is refused', async () => {
    const database = await sharedCluster()
    const relay = await relayTo(database)
    const store = await open(relay.port)
    const site = store.site('downloads')
    const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, i) => i % 251))
    const staged = await store.stage(Readable.from([bytes]), { limit: 1e9 })
    await done(site, [{ op: 'put', path: '/large', kind: 'blob', content: { staged }, type: 'x/y' }])
    const body = await site.body(await there(site, '/large'))
    if (body === undefined || !('blob' in body)) throw new Error('It is no blob')
    const [begun, fresh] = [await body.blob.open(), await body.blob.open()]
    const read = Buffer.alloc(bytes.length)
    const readOn = async (at: number) => at + (await begun.read(read.subarray(at), at))
    const first = await readOn(0)
    relay.pointTo(await freePort())
    relay.cut()
    await until(() => store.isReachable?.() === false)
    const refused = await fresh.read(Buffer.alloc(10), 0).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(StoreError).with.property('reason', 'busy')
    const goesOn = readOn(first)
    relay.pointTo(database.port)
    for (let at = await goesOn; at < bytes.length; ) at = await readOn(at)
    expect(read.equals(bytes)).to.equal(true)
  })

  it('HTTP-172 rights that were taken away, and a disk that fails, are told as that until they are back', async () => {
    const { store, raw, close } = await openEmpty()
    ends.push(close)
    const write = () => store.site('rights').commit({ changes: [put('/a.html', 'A')] })
    for (const code of ['42501', '58030']) {
      await raw(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END $$;
        CREATE TRIGGER refused BEFORE INSERT ON body EXECUTE FUNCTION refuse()`)
      const refused = await write().catch((error: unknown) => error)
      expect(refused, code).to.be.instanceOf(StoreError).with.property('reason', 'busy')
      expect(store.takesWrites?.()).to.equal(false)
      await raw('DROP FUNCTION refuse CASCADE')
      expect((await write()).ok).to.equal(true)
      expect(store.takesWrites?.()).to.equal(true)
    }
  })

  it('HTTP-172 hung under more reads than there are connections: all are told at once, and none is left that hangs', async () => {
    const relay = await relayTo(await sharedCluster())
    const store = await open(relay.port)
    const site = store.site('hung')
    await done(site, [put('/a.html', 'A')])
    relay.swallow('answers')
    const outcomes: string[] = []
    const reads = Array.from({ length: 12 }, () =>
      site.properties('/a.html').catch((error: StoreError) => outcomes.push(error.reason)),
    )
    await until(() => store.isReachable?.() === false)
    await Promise.race([Promise.all(reads), nextTurn()])
    expect(outcomes).to.deep.equal(reads.map(() => 'busy'))
    relay.swallow(undefined)
    await until(() => store.isReachable?.() === true)
    expect(await there(site, '/a.html')).to.include({ size: 1 })
  })

  it('connections cut in the middle of commits: what becomes of them is found out', async () => {
    const database = await cluster()
    const relay = await relayTo(database)
    const writers = writersOn(await open(relay.port), await open(relay.port))
    for (let round = 0; round < 10; round++) {
      await writers.untilMore(40)
      if (round % 2 === 0) relay.cut()
      else await database.run('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    }
    await writers.untilMore(100)
    await sound(writers, database.port)
  })

  for (const [name, times, outcome] of [
    ['once: what was not stored is tried again', 1, 'stored'],
    ['over and over: the writer is told, and nothing was stored', Number.POSITIVE_INFINITY, 'busy'],
  ] as const) {
    it(`a transaction given up while its process stands still, ${name}`, async () => {
      const database = await cluster()
      const site = (await open(database.port)).site('faults')
      let tried = 0
      const confirm = async () => {
        if (tried++ < times)
          await database.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ 'writer'")
      }
      const told = await site.commit({ changes: [put('/a.html', 'a')], events: [], confirm }).then(
        ({ ok }) => (ok ? 'stored' : 'refused'),
        ({ reason }: { reason: string }) => reason,
      )
      expect([told, tried]).to.deep.equal([outcome, 2])
      expect((await site.find('/a.html')) === undefined ? 'busy' : 'stored').to.equal(outcome)
    })
  }

  it('a commit that arrives behind its lost connection, late: what was refused is not stored', async () => {
    const database = await cluster()
    let isHeld = false
    const late: (() => void)[] = []
    const relay = createServer(client => {
      const service = connect(database.port, '127.0.0.1')
      client.on('data', bytes => {
        if (!isHeld) return service.write(bytes)
        isHeld = false
        late.push(() => service.end(bytes))
        return client.resetAndDestroy()
      })
      service.on('data', bytes => client.write(bytes))
      for (const socket of [client, service]) socket.on('error', () => undefined)
      client.on('close', () => late.length === 0 && service.destroy())
    })
    relay.listen(0, '127.0.0.1')
    await once(relay, 'listening')
    ends.push(async () => void relay.close())
    const site = (await open((relay.address() as AddressInfo).port)).site('faults')
    // One that is remembered is written with one call.
    for (const text of ['1', '2']) await done(site, [put('/a.html', text)])
    const { version } = await there(site, '/a.html')
    let tried = 0
    const confirm = async () => {
      if (++tried > 1) throw new StoreError('busy', 'It was lost meanwhile')
      isHeld = true
    }
    const told = await site.commit({ changes: [put('/a.html', '3')], events: [], confirm }).catch(error => error)
    expect([told.message, late.length]).to.deep.equal(['It was lost meanwhile', 1])
    for (const deliver of late) deliver()
    await new Promise(resolve => setTimeout(resolve, 200))
    expect(await there(site, '/a.html')).to.include({ version })
  })

  for (const direction of ['requests', 'answers'] as const) {
    it(`a network that loses ${direction}: nobody hangs, and nothing is lost`, async () => {
      const database = await cluster()
      const relay = await relayTo(database)
      const store = await open(relay.port)
      const writers = writersOn(store)
      await writers.untilMore(100)
      relay.swallow(direction)
      await writers.untilRefused(WRITERS)
      const read = await store
        .site('faults')
        .find('/0/0.html')
        .catch((error: unknown) => error)
      expect(read).to.include({ name: 'StoreError', reason: 'busy' })
      relay.swallow(undefined)
      relay.cut()
      await writers.untilMore(100)
      await sound(writers, database.port)
    })
  }

  it('read-only: writers are refused, readers go on', async () => {
    const database = await cluster()
    const store = await open(database.port)
    const writers = writersOn(store)
    await writers.untilMore(100)
    await database.run('ALTER SYSTEM SET default_transaction_read_only = on')
    await database.run('SELECT pg_reload_conf()')
    await writers.untilRefused(WRITERS)
    expect(new Set(writers.refused)).to.deep.equal(new Set(['busy']))
    expect(await store.site('faults').find('/0/0.html')).to.include({ path: '/0/0.html' })
    await database.run('ALTER SYSTEM RESET default_transaction_read_only')
    await database.run('SELECT pg_reload_conf()')
    await writers.untilMore(100)
    await sound(writers, database.port)
  })

  it('read-only: one call that is a whole transaction is known to have stored nothing', async () => {
    const database = await cluster()
    const site = (await open(database.port)).site('faults')
    for (const text of ['1', '2']) await done(site, [put('/a.html', text)])
    let tried = 0
    const confirm = async () => {
      tried++
      await database.run('ALTER SYSTEM SET default_transaction_read_only = on')
      await database.run('SELECT pg_reload_conf()')
      while ((await database.run('SHOW default_transaction_read_only')).rows[0]?.default_transaction_read_only !== 'on')
        await new Promise(resolve => setTimeout(resolve, 5))
    }
    const told = await site.commit({ changes: [put('/a.html', '3')], events: [], confirm }).catch(error => error)
    expect(told).to.include({ name: 'StoreError', reason: 'busy' })
    expect(tried).to.equal(1)
  })

  it('a replica that is promoted: what the old primary acknowledged is there', async () => {
    const primary = await cluster()
    const replica = await cluster({ synchronous_standby_names: '' }, primary)
    // From here on commits wait for the replica.
    await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await primary.run('SELECT pg_reload_conf()')
    const relay = await relayTo(primary)
    const [one, two] = [await open(relay.port), await open(relay.port)]
    const writers = writersOn(one, two)
    await writers.untilMore(100)
    await primary.stop('immediate')
    await replica.run('SELECT pg_promote(true)')
    relay.pointTo(replica.port)
    relay.cut()
    await writers.untilMore(100)
    await sound(writers, replica.port)
  })
})
