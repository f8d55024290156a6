/**
 * What a write asks of database and Redis, and what it costs, with one server and with two on the same kind of installation:
 * `node server/launch.mjs --run test/bench/store-counts.ts`. `WORKS` (appends) chooses among `appends`, `one` (to one document) and `files`, `KINDS`
 * among `postgres`, `redis` and `two`; `COUNT` (3000) is the number of writes of a round, `CLIENTS` (16)
 * that of clients of each server, `ROUNDS` (3) how many count after the one that warms up. Counts do not depend on who else uses the machine.
 */

import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { openWire, request } from './mount/wire.ts'
import { EMPTY_LIST, type Installation, install, LISTS, listOf } from './stores/installation.ts'
import { databaseCpu, startDatabase } from './support/database.ts'
import type { Call } from './support/load.ts'

/** Of each server. */
const CLIENTS = Number(process.env.CLIENTS ?? 16)
const COUNT = Number(process.env.COUNT ?? 3000)
const ROUNDS = Number(process.env.ROUNDS ?? 3)
const file = 'x'.repeat(4096)
let written = 0

const append = (list: number): Call => ({
  method: 'POST',
  path: `/list-${list}.html`,
  headers: { Range: 'selector=#list' },
  body: `<li id="a${written++}">An entry of some length, as people write it</li>`,
})

const WORKS: Readonly<Record<string, (n: number) => Call>> = {
  appends: n => append(listOf(n)),
  one: () => append(0),
  files: () => ({ method: 'PUT', path: `/new-${written++}.txt`, body: file }),
}

/** Clients that write one after the other, each by way of all servers in turn. */
async function carryOut(urls: readonly string[], make: (n: number) => Call): Promise<void> {
  const clients = await Promise.all(
    Array.from({ length: CLIENTS * urls.length }, () => Promise.all(urls.map(openWire))),
  )
  let n = 0
  const client = async (wires: (typeof clients)[number]) => {
    while (n < COUNT) {
      const wire = wires[n % wires.length]
      const { method, path, headers = {}, body = '' } = make(n++)
      const answer = await wire?.ask(request(method, path, headers, body))
      if (answer === undefined || answer.status >= 400) throw new Error(`a write was refused: ${answer?.head}`)
    }
  }
  await Promise.all(clients.map(client))
  for (const wire of clients.flat()) wire.close()
}

/** Empties the lists, so that they are as long in every round. */
async function clear(url: string): Promise<void> {
  const wire = await openWire(url)
  for (let i = 0; i < LISTS; i++) await wire.ask(request('PUT', `/list-${i}.html`, {}, EMPTY_LIST))
  wire.close()
}

const chosen = (process.env.KINDS ?? 'redis,two').split(',')
const works = (process.env.WORKS ?? 'appends').split(',')
const database = await startDatabase({ shared_preload_libraries: 'pg_stat_statements' })
await database.run('CREATE EXTENSION pg_stat_statements')
const redises = new Map<string, TestRedis>()
const installed = new Map<string, Installation>()
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0

/** Milliseconds of CPU that a Redis has used. */
async function redisCpu({ admin }: TestRedis): Promise<number> {
  const text = await admin.info('cpu')
  const fields = ['used_cpu_sys', 'used_cpu_user'].map(name => new RegExp(`${name}:([\\d.]+)`).exec(text)?.[1])
  return fields.reduce((sum, field) => sum + Number(field) * 1000, 0)
}

/** Calls of each command that a Redis has had. */
async function commands({ admin }: TestRedis): Promise<Map<string, number>> {
  const text = await admin.info('commandstats')
  return new Map(Array.from(text.matchAll(/cmdstat_([^:]+):calls=(\d+)/g), ([, name = '', n]) => [name, Number(n)]))
}

try {
  for (const kind of chosen) {
    const postgres = `${database.url}?search_path=of_${kind}`
    if (kind === 'postgres') installed.set(kind, await install(1, { postgres }))
    else {
      const redis = await startRedis()
      redises.set(kind, redis)
      installed.set(kind, await install(kind === 'two' ? 2 : 1, { postgres, redis: redis.url }))
    }
  }
  for (const name of works) {
    const make = WORKS[name]
    if (make === undefined) throw new Error(`There is no work ${name}`)
    const found = new Map(chosen.map(kind => [kind, [] as number[][]]))
    for (let round = 0; round <= ROUNDS; round++) {
      for (const kind of chosen) {
        const { servers } = installed.get(kind) as Installation
        const redis = redises.get(kind)
        await clear(servers[0]?.url ?? '')
        if (round === ROUNDS) await database.run('SELECT pg_stat_statements_reset()')
        const before = redis && (await commands(redis))
        const spent = async () => [
          servers.reduce((sum, { processorTime }) => sum + processorTime(), 0),
          databaseCpu(database),
          redis ? await redisCpu(redis) : 0,
        ]
        const [was, begun] = [await spent(), performance.now()]
        await carryOut(
          servers.map(({ url }) => url),
          make,
        )
        const took = performance.now() - begun
        const costs = (await spent()).map((at, i) => ((at - (was[i] ?? 0)) * 1000) / COUNT)
        if (round > 0) found.get(kind)?.push([...costs, (COUNT * 1000) / took])
        if (round < ROUNDS) continue
        const per = (n: number) => (n / COUNT).toFixed(2)
        const { rows } = await database.run(
          'SELECT calls, rows, total_exec_time AS ms, query FROM pg_stat_statements ORDER BY calls DESC LIMIT 20',
        )
        console.log(`\n${name}, ${kind}: statements of each`)
        for (const { calls, rows: returned, ms, query } of rows)
          if (Number(calls) > COUNT / 200)
            console.log(
              `  ${per(Number(calls))}  ${((ms * 1000) / COUNT).toFixed(0)} µs  rows ${per(Number(returned))}  ${query.replace(/\s+/g, ' ').slice(0, 110)}`,
            )
        const after = redis && before ? await commands(redis) : new Map<string, number>()
        const used = Array.from(after, ([command, n]) => [command, (n - (before?.get(command) ?? 0)) / COUNT] as const)
        const told = used.filter(([, n]) => n > 0.005).map(([command, n]) => `${command} ${n.toFixed(2)}`)
        if (told.length > 0) console.log(`  Redis: ${told.join(', ')}`)
      }
    }
    console.log(
      `\n${name} (medians of ${ROUNDS} rounds of ${COUNT}): µs of servers, database and Redis; sum; per second`,
    )
    for (const [kind, rounds] of found) {
      const of = (at: number) => median(rounds.map(round => round[at] ?? 0))
      const costs = [of(0), of(1), of(2)]
      const sum = costs.reduce((a, b) => a + b, 0)
      console.log(`  ${kind}: ${costs.map(Math.round).join(', ')}; ${Math.round(sum)}; ${Math.round(of(3))}/s`)
    }
  }
} finally {
  for (const { close } of installed.values()) await close()
  for (const redis of redises.values()) await redis.stop()
  await database.remove()
}
