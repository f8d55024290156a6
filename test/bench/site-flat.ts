/**
 * Whether requests get slower when a site grows: `node test/bench/site-flat.ts sqlite 20000 1000000`, or `postgres`. Two
 * servers with a site of each size, of which a thousand documents are in use, are asked by turns; shown is the processor time
 * of server and database for each request, which neighbours on the machine change less than any time on the clock.
 */

import { openPostgresStore } from '../../pipeline/store/postgres/store.ts'
import { openSqliteStore } from '../../pipeline/store/sqlite/store.ts'
import type { Cluster } from '../support/postgres.ts'
import { page } from './http/documents.ts'
import { basic } from './mount/servers.ts'
import { openWire, request, type Wire } from './mount/wire.ts'
import { ACCOUNT, type Installation, install } from './stores/installation.ts'
import { backendCpu, startDatabase } from './support/database.ts'
import { byCommits, byStatements, inUse, pathOf } from './support/growth.ts'

interface Subject {
  installation: Installation
  any: (i: number) => number
  folderOf: (i: number) => number
}

const CLIENTS = 16
const ROUNDS = 9
const body = page(4096)
const head = { 'Content-Type': 'text/html' }
const mounted = { Authorization: basic(ACCOUNT) }
const fresh = (i: number) => `/0/new-${i}.html`

/** Each kind of request, how many make a turn, and the ith of them. */
const WORK: readonly [name: string, times: number, ask: (of: Subject, i: number) => Buffer, face?: 'mount'][] = [
  ['GET of a document in use', 8000, ({ any }, i) => request('GET', pathOf(any(i)), {}, '')],
  ['PUT over one, 16 clients', 1600, ({ any }, i) => request('PUT', pathOf(any(i)), head, `${body}<!--${i}-->`)],
  ['PUT of a new one', 800, (_, i) => request('PUT', fresh(i), head, body)],
  ['DELETE of it', 800, (_, i) => request('DELETE', fresh(i), {}, '')],
  [
    'listing of 1,000',
    64,
    ({ folderOf }, i) => request('PROPFIND', `/${folderOf(i)}/`, { ...mounted, Depth: '1' }, ''),
    'mount',
  ],
]

/** @param turn of the same subject and work, so that no turn repeats what another has done */
async function repeat(of: Subject, turn: number, [name, times, ask, face]: (typeof WORK)[number]): Promise<void> {
  let next = turn * times
  const end = next + times
  const work = async (wire: Wire) => {
    while (next < end) {
      const { status, head } = await wire.ask(ask(of, next++))
      if (status >= 400) throw new Error(`${name} was refused: ${head}`)
    }
  }
  const [visitors = '', mount = ''] = of.installation.servers[0]?.urls ?? []
  const origins: string[] = face === 'mount' ? [mount] : Array.from({ length: CLIENTS }, () => visitors)
  // Connections would be closed while the other site is asked.
  const wires = await Promise.all(origins.map(openWire))
  await Promise.all(wires.map(work))
  for (const wire of wires) wire.close()
}

const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0

/** @param cpu milliseconds of servers and database so far */
async function compare(subjects: readonly Subject[], sizes: readonly number[], cpu: () => number): Promise<void> {
  console.log(`| Processor time of a request, µs | ${sizes.join(' | ')} | |`)
  console.log('|---|---|---|---|')
  const spent = new Map(WORK.map(([name]) => [name, subjects.map((): number[] => [])]))
  for (let round = 0; round < ROUNDS; round++)
    for (const turn of subjects.keys()) {
      // Whoever is first in a round is second in the next.
      const which = (turn + round) % subjects.length
      const subject = subjects[which] as Subject
      for (const work of WORK) {
        const before = cpu()
        await repeat(subject, round, work)
        // The first round warms up.
        if (round > 0) spent.get(work[0])?.[which]?.push(((cpu() - before) * 1000) / work[1])
      }
    }
  for (const [name, of] of spent) {
    const times = of.map(middle)
    const ratio = ((times.at(-1) ?? 0) / (times[0] ?? 1)).toFixed(2)
    console.log(`| ${name} | ${times.map(each => each.toFixed(0)).join(' | ')} | ${ratio} |`)
  }
}

async function subjectOf(kind: string, size: number, cluster: Cluster): Promise<Subject> {
  const schema = `of_${size}`
  const postgres = kind === 'sqlite' ? undefined : `${cluster.url}?search_path=${schema}`
  const installation = await install(1, postgres === undefined ? {} : { postgres }, async data => {
    const url = cluster.url
    const open = postgres === undefined ? openSqliteStore({ folder: data }) : openPostgresStore({ url, schema })
    const store = await open
    await (postgres === undefined ? byCommits : byStatements(cluster, schema))(store, 0, size)
    await store.close()
  })
  return { installation, ...inUse(size) }
}

const [kind = 'sqlite', ...given] = process.argv.slice(2)
const sizes = given.map(Number)
const cluster = await startDatabase()
const subjects: Subject[] = []
try {
  for (const size of sizes) subjects.push(await subjectOf(kind, size, cluster))
  const servers = subjects.flatMap(({ installation }) => installation.servers)
  await compare(subjects, sizes, () => {
    const ofServers = servers.reduce((sum, server) => sum + server.processorTime(), 0)
    return kind === 'sqlite' ? ofServers : ofServers + backendCpu(cluster)
  })
} finally {
  for (const { installation } of subjects) await installation.close()
  await cluster.remove()
}
