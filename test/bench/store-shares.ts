/**
 * One, two and four servers on one PostgreSQL and one Redis, each with the same small share of a core, so that a machine with
 * two shows what more cores would give: `node test/bench/store-shares.ts 1 2 4`. Needs the rights of root. `SHARE` (0.05) is
 * the share of each server, `SECONDS` (10) how long each work lasts. Database, Redis and clients take what they need. All of them go
 * before what else runs on the machine: without that, four servers beside twenty other programs get no more than a part of
 * their shares, and what they do says nothing.
 */

import { startRedis } from '../pipeline/coordination/redis-server.ts'
import { page } from './http/documents.ts'
import { subscribeAll } from './live/subscriber.ts'
import { install, listOf } from './stores/installation.ts'
import { databaseCpu, startDatabase } from './support/database.ts'
import { type Call, readRate, writeRate } from './support/load.ts'
import type { ServerProcess } from './support/process.ts'
import { goFirst, limitShare } from './support/shares.ts'

const SHARE = Number(process.env.SHARE ?? 0.05)
const SECONDS = Number(process.env.SECONDS ?? 10)
/** Seconds of everything without limits before. */
const WARM_UP = 3
/** Clients of each server. */
const CLIENTS = 8
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

const WORKS = Object.fromEntries(Object.entries(ALL).filter(([name]) => CHOSEN?.includes(name) ?? true))

const endFirst = goFirst()
const database = await startDatabase()
const redis = await startRedis()
try {
  for (const count of process.argv.slice(2).map(Number)) {
    const installed = await install(count, { postgres: `${database.url}?search_path=of_${count}`, redis: redis.url })
    const { servers } = installed
    let ends: (() => void)[] = []
    try {
      for (const work of Object.values(WORKS)) await work(servers, WARM_UP)
      ends = servers.map(({ pid }) => limitShare(pid, SHARE))
      for (const [name, work] of Object.entries(WORKS)) {
        const spent = () => servers.reduce((sum, server) => sum + server.processorTime(), 0)
        const [own, others, begun] = [spent(), databaseCpu(database), performance.now()]
        const rate = await work(servers, SECONDS)
        const done = (rate * (performance.now() - begun)) / 1000
        const micro = (milliseconds: number) => `${((milliseconds * 1000) / done).toFixed(0)} µs`
        const used = ((spent() - own) / (performance.now() - begun) / count / SHARE).toFixed(2)
        console.log(
          `${count} servers, ${name}: ${rate.toFixed(0)}/s; each ${micro(spent() - own)} of the servers (${used} of their shares), ${micro(databaseCpu(database) - others)} of the database`,
        )
      }
    } finally {
      await installed.close()
      for (const end of ends) end()
    }
  }
} finally {
  await redis.stop()
  await database.remove()
  endFirst()
}
