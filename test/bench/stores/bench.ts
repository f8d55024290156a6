/** What a server does on each kind of store, in turn and in one run, and what a request costs there. */

import { startRedis } from '../../pipeline/coordination/redis-server.ts'
import { page } from '../http/documents.ts'
import { openWire, request, type Wire } from '../mount/wire.ts'
import { databaseCpu, startDatabase } from '../support/database.ts'
import { type Call, readRate } from '../support/load.ts'
import { figure, type Row } from '../support/table.ts'
import { type Installation, install, LISTS, listOf } from './installation.ts'

export const STORES_HEAD: Row = [
  'Work',
  'SQLite',
  'PostgreSQL',
  'PostgreSQL + Redis',
  'two servers',
  'ratios',
  'target',
]

const CLIENTS = 16
const SECONDS = 2
/** An even number, so that each installation goes as often before the others as behind them. */
const ROUNDS = 4
/** Requests that each server has had before it is measured: until then its code is compiled again and again. */
const WARM = 1500
/** Seconds that this may take. */
const WARM_WAIT = 15

/** Names of the installations, in the order of the columns. */
const KINDS = ['sqlite', 'postgres', 'redis', 'two'] as const
type Kind = (typeof KINDS)[number]

interface Measured {
  /** Per second. */
  rate: number
  /** Microseconds of CPU of servers and database for each request. */
  cpu: number
}

/** @param least requests before it ends; 0 if not given @returns requests per second */
type Work = (urls: readonly string[], least?: number) => Promise<number>

const body = page(4096)
let written = 0

/** Reads of a page that is in memory, at all servers. */
const reads: Work = async urls => {
  const options = { connections: 32 / urls.length, seconds: SECONDS, warmUp: 0 }
  const rates = await Promise.all(urls.map(url => readRate(`${url}/page.html`, {}, options)))
  return rates.reduce((sum, rate) => sum + rate, 0)
}

/** Writes, one after the other to each server, by clients that cost little beside servers and database. */
function writes(make: (n: number) => Call): Work {
  return async (urls, least = 0) => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => Promise.all(urls.map(openWire))))
    const begun = performance.now()
    let [n, done] = [0, 0]
    const isOver = () => {
      const seconds = (performance.now() - begun) / 1000
      return seconds >= (done < least ? WARM_WAIT : SECONDS)
    }
    const write = async (wires: readonly Wire[]) => {
      while (!isOver()) {
        const { method, path, headers = {}, body = '' } = make(n)
        const answer = await wires[n++ % wires.length]?.ask(request(method, path, headers, body))
        if (answer === undefined || answer.status >= 400) throw new Error(`a write was refused: ${answer?.head}`)
        done++
      }
    }
    await Promise.all(clients.map(write))
    const seconds = (performance.now() - begun) / 1000
    for (const wire of clients.flat()) wire.close()
    return done / seconds
  }
}

const file = 'x'.repeat(4096)
const files = writes(() => ({ method: 'PUT', path: `/new-${written++}.txt`, body: file }))
const puts = writes(() => ({ method: 'PUT', path: `/new-${written++}.html`, body }))
const replacements = writes(n => ({
  method: 'PUT',
  path: `/old-${n % 500}.html`,
  body: `${body}<!-- ${written++} -->`,
}))
const appends = writes(n => ({
  method: 'POST',
  path: `/list-${listOf(n)}.html`,
  headers: { Range: 'selector=#list' },
  body: `<li id="a${written++}">An entry of some length, as people write it</li>`,
}))

/** Half of the values are above it, half below. */
function median(values: number[]): number {
  const sorted = values.sort((a, b) => a - b)
  const of = (at: number) => sorted[Math.floor(at)] ?? 0
  return (of((sorted.length - 1) / 2) + of(sorted.length / 2)) / 2
}

/** All rows; `BENCH_LINES` chooses among `reads`, `files`, `puts`, `replacements` and `appends`. */
export async function benchStores(say: (line: string) => void): Promise<Row[]> {
  const database = await startDatabase()
  const redis = await startRedis()
  // Installations that share one would take each other's news for their own.
  const another = await startRedis()
  const installed = new Map<Kind, Installation>()
  const schema = (name: string) => `${database.url}?search_path=${name}`
  const rows: Row[] = []
  const add = (row: Row) => {
    rows.push(row)
    say(row.filter(Boolean).join('  '))
  }

  async function measure(kind: Kind, work: Work, least = 0): Promise<Measured> {
    const servers = installed.get(kind)?.servers ?? []
    const spent = () => servers.reduce((sum, each) => sum + each.ticks() * 10, databaseCpu(database))
    const [before, begun] = [spent(), performance.now()]
    const rate = await work(
      servers.map(({ url }) => url),
      least * servers.length,
    )
    const requests = (rate * (performance.now() - begun)) / 1000
    return { rate, cpu: ((spent() - before) * 1000) / requests }
  }

  async function compare(work: Work): Promise<Record<Kind, Measured>> {
    const found = new Map(KINDS.map(kind => [kind, [] as Measured[]]))
    for (const kind of KINDS) await measure(kind, work, WARM)
    for (let round = 0; round < ROUNDS; round++) {
      for (const kind of round % 2 === 0 ? KINDS : KINDS.toReversed()) found.get(kind)?.push(await measure(kind, work))
    }
    const of = (kind: Kind): Measured => {
      const all = found.get(kind) ?? []
      return { rate: median(all.map(({ rate }) => rate)), cpu: median(all.map(({ cpu }) => cpu)) }
    }
    return { sqlite: of('sqlite'), postgres: of('postgres'), redis: of('redis'), two: of('two') }
  }

  async function row(title: string, work: Work, ratios: (of: Record<Kind, Measured>) => string, target: string) {
    const found = await compare(work)
    add([title, ...KINDS.map(kind => `${figure(found[kind].rate)}/s`), ratios(found), target])
    const share = (kind: Kind) => (found.sqlite.cpu / found[kind].cpu).toFixed(2)
    const costs = KINDS.map(kind => `${figure(found[kind].cpu)} µs`)
    add([`${title}: CPU of each`, ...costs, `${share('postgres')}, ${share('redis')}, ${share('two')}`, ''])
  }
  const ratio = (a: Measured, b: Measured) => (a.rate / b.rate).toFixed(2)

  try {
    installed.set('sqlite', await install(1))
    installed.set('postgres', await install(1, { postgres: schema('alone') }))
    installed.set('redis', await install(1, { postgres: schema('one'), redis: redis.url }))
    installed.set('two', await install(2, { postgres: schema('two'), redis: another.url }))
    const lines: Record<string, () => Promise<void>> = {
      reads: () =>
        row(
          'GET 6 KB page',
          reads,
          ({ sqlite, postgres, redis, two }) =>
            `${ratio(postgres, sqlite)}, ${ratio(redis, sqlite)}; two to one ${ratio(two, redis)}`,
          '>= 0.9, two to one >= 1.7 with 4 cores',
        ),
      files: () =>
        row(
          `PUT new 4 KB, ${CLIENTS} clients`,
          files,
          ({ sqlite, postgres, redis }) => `${ratio(postgres, sqlite)}, ${ratio(redis, sqlite)}`,
          '>= 0.5, > 2,500/s',
        ),
      puts: () =>
        row(
          `PUT new HTML of 4 KB, ${CLIENTS} clients`,
          puts,
          ({ sqlite, postgres, redis }) => `${ratio(postgres, sqlite)}, ${ratio(redis, sqlite)}`,
          '>= 0.5, > 2,500/s',
        ),
      replacements: () =>
        row(
          `PUT over HTML of 4 KB, ${CLIENTS} clients`,
          replacements,
          ({ sqlite, postgres, redis }) => `${ratio(postgres, sqlite)}, ${ratio(redis, sqlite)}`,
          '>= 0.5, > 2,500/s',
        ),
      appends: () =>
        row(
          `POST append to ${LISTS} documents, ${CLIENTS} clients`,
          appends,
          ({ sqlite, postgres, redis, two }) =>
            `${ratio(postgres, sqlite)}, ${ratio(redis, sqlite)}; two to one ${ratio(two, redis)}`,
          'two to one >= 1',
        ),
    }
    const chosen = process.env.BENCH_LINES?.split(',')
    for (const [name, run] of Object.entries(lines)) if (chosen?.includes(name) ?? true) await run()
    return rows
  } finally {
    for (const { close } of installed.values()) await close()
    await redis.stop()
    await another.stop()
    await database.remove()
  }
}
