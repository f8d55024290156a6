/**
 * One, two and four servers on one PostgreSQL and one Redis, each with the same small share of a core, so that a machine with
 * two shows what more cores would give: `node test/bench/store-shares.ts 1 2 4`. Needs the rights of root. `SHARE` (0.05) is
 * the share of each server, given out in portions of `PORTION` (1000) microseconds; `SECONDS` (10) is how long each work lasts,
 * `ROUNDS` (1) how often the installations do it by turns, `CLIENTS` (8) the number of clients of each server. Database, Redis and
 * clients take what they need. All of them go before what else runs on the machine: without that, four servers beside twenty other
 * programs get no more than a part of their shares, and what they do says nothing.
 */

import { startRedis, type TestRedis } from '../pipeline/coordination/redis-server.ts'
import { page } from './http/documents.ts'
import { subscribeAll } from './live/subscriber.ts'
import { EMPTY_LIST, type Installation, install, LISTS, listOf } from './stores/installation.ts'
import { databaseCpu, startDatabase } from './support/database.ts'
import { type Call, readRate, writeRate } from './support/load.ts'
import { type ServerProcess, spreadOut } from './support/process.ts'
import { goFirst, limitShare } from './support/shares.ts'

const SHARE = Number(process.env.SHARE ?? 0.05)
const SECONDS = Number(process.env.SECONDS ?? 10)
const ROUNDS = Number(process.env.ROUNDS ?? 1)
const PORTION = Number(process.env.PORTION ?? 1000)
/** Seconds of everything without limits before. */
const WARM_UP = 3
/** Of each server. */
const CLIENTS = Number(process.env.CLIENTS ?? 8)
const SUBSCRIBERS = 40

/** Names of works, or all of them. */
const CHOSEN = process.env.BENCH_LINES?.split(',')

/** What was done, for each second. */
type Work = (servers: readonly ServerProcess[], seconds: number) => Promise<number>

const body = page(4096)
let written = 0

const reads: Work = async (servers, seconds) => {
  const options = { connections: CLIENTS, seconds, warmUp: 0 }
  const rates = await Promise.all(servers.map(({ url }) => readRate(`${url}/page.html`, {}, options)))
  return rates.reduce((sum, rate) => sum + rate, 0)
}

const writes =
  (make: () => Call, clients?: number): Work =>
  async (servers, seconds) => {
    const call = (n: number): Call => {
      const made = make()
      return { ...made, path: (servers[n % servers.length]?.url ?? '') + made.path }
    }
    const options = { clients: clients ?? CLIENTS * servers.length, seconds, warmUp: 0 }
    const { perSecond, errors } = await writeRate('', call, options)
    if (errors > 0) console.error(`${errors} writes were refused`)
    return perSecond
  }

const append = (list: number): Call => ({
  method: 'POST',
  path: `/list-${list}.html`,
  headers: { Range: 'selector=#list' },
  body: `<li id="s${written++}">An entry of some length, as people write it</li>`,
})

/** Subscribers of all servers to one page, which two clients write to: deliveries. */
const deliveries: Work = async (servers, seconds) => {
  let heard = 0
  const each = Math.ceil(SUBSCRIBERS / servers.length)
  const subscribed = await Promise.all(servers.map(({ url }) => subscribeAll(url, () => '/list-1.html', each)))
  for (const subscriber of subscribed.flat())
    subscriber.onText(text => {
      heard += text.split('<li id="s').length - 1
    })
  await writes(() => append(1), 2)(servers, seconds)
  for (const subscriber of subscribed.flat()) subscriber.close()
  return heard / seconds
}

const ALL: Readonly<Record<string, Work>> = {
  reads,
  puts: writes(() => ({ method: 'PUT', path: `/new-${written++}.html`, body })),
  'appends to 20 documents': writes(() => append(listOf(written))),
  'appends to one document': writes(() => append(0)),
  deliveries,
}

/** Empties the lists, so that they are as long in every round. */
async function clear(url: string): Promise<void> {
  for (let i = 0; i < LISTS; i++) await fetch(`${url}/list-${i}.html`, { method: 'PUT', body: EMPTY_LIST })
}

const WORKS = Object.fromEntries(Object.entries(ALL).filter(([name]) => CHOSEN?.includes(name) ?? true))

const counts = process.argv.slice(2).map(Number)
const endFirst = goFirst()
const database = await startDatabase()
const redises: TestRedis[] = []
const installed: Installation[] = []
const ends: (() => void)[] = []
const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0

/** What a round of a work came to: rate, and processor time in µs of the servers and of the database for each. */
interface Round {
  rate: number
  servers: number
  database: number
  used: number
}

async function measure(work: Work, servers: readonly ServerProcess[]): Promise<Round> {
  const spent = () => servers.reduce((sum, server) => sum + server.processorTime(), 0)
  const [own, others, begun] = [spent(), databaseCpu(database), performance.now()]
  const rate = await work(servers, SECONDS)
  const took = performance.now() - begun
  const each = (milliseconds: number) => (milliseconds * 1e6) / (rate * took)
  return {
    rate,
    servers: each(spent() - own),
    database: each(databaseCpu(database) - others),
    used: (spent() - own) / took / servers.length / SHARE,
  }
}

try {
  for (const [i, count] of counts.entries()) {
    const redis = await startRedis()
    redises.push(redis)
    installed.push(await install(count, { postgres: `${database.url}?search_path=of_${i}`, redis: redis.url }))
  }
  // A server that moves between cores finds nothing in their caches, and one that has both counts for more than it is.
  for (const { servers } of installed) spreadOut(servers)
  for (const { servers } of installed) for (const work of Object.values(WORKS)) await work(servers, WARM_UP)
  for (const { servers } of installed) for (const { pid } of servers) ends.push(limitShare(pid, SHARE, PORTION))
  for (const [name, work] of Object.entries(WORKS)) {
    const found = counts.map((): Round[] => [])
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, { servers }] of installed.entries()) {
        await clear(servers[0]?.url ?? '')
        found[i]?.push(await measure(work, servers))
      }
    }
    for (const [i, rounds] of found.entries()) {
      const of = (what: keyof Round) => median(rounds.map(round => round[what]))
      const rates = rounds.map(({ rate }) => rate.toFixed(0)).join(', ')
      const beside = rounds.map(({ rate }, n) => rate / (found[0]?.[n]?.rate ?? rate))
      console.log(
        `${counts[i]} servers, ${name}: ${rates}/s, ${median(beside).toFixed(2)} times the first; each ${of('servers').toFixed(0)} µs of the servers (${of('used').toFixed(2)} of their shares), ${of('database').toFixed(0)} µs of the database`,
      )
    }
  }
} finally {
  for (const { close } of installed) await close()
  for (const end of ends) end()
  for (const redis of redises) await redis.stop()
  await database.remove()
  endFirst()
}
