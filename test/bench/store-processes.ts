/**
 * Processes that write to and read from one PostgreSQL: `node test/bench/store-processes.ts 1 2 4`. Each has writers of its
 * own that save documents of 4 KB with an event, and then as many readers. CPU says what a commit costs, whoever else uses
 * the machine.
 */

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openPostgresStore } from '../../pipeline/store/postgres/store.ts'
import type { Cluster } from '../support/postgres.ts'
import { databaseCpu, startDatabase } from './support/database.ts'

const WRITERS = 8
const SECONDS = 5
const DOCUMENTS = 1000
const page = Buffer.alloc(4096, 'a')

interface Counted {
  done: number
  /** Milliseconds of CPU of the process. */
  cpu: number
}

async function work(url: string, name: string): Promise<void> {
  const store = await openPostgresStore({ url, schema: 'bench', shared: true })
  const site = store.site('bench')
  async function count(once: (i: number) => Promise<unknown>): Promise<Counted> {
    let done = 0
    const until = performance.now() + SECONDS * 1000
    const before = process.cpuUsage()
    const one = async (writer: number) => {
      for (let i = writer; performance.now() < until; i += WRITERS) {
        await once(i % DOCUMENTS)
        done++
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => one(writer)))
    const { user, system } = process.cpuUsage(before)
    return { done, cpu: (user + system) / 1000 }
  }
  const pathOf = (i: number) => `/${name}/${i}.html`
  const write = (i: number) =>
    site.commit({
      changes: [{ op: 'put', path: pathOf(i), kind: 'document', content: { bytes: page }, type: 'text/html' }],
      events: [{ path: pathOf(i), payload: 'x'.repeat(300) }],
    })
  for (let i = 0; i < WRITERS; i++) await write(i)
  process.on('message', async (what: string) => {
    if (what === 'write') process.send?.(await count(write))
    else if (what === 'read') process.send?.(await count(i => site.find(pathOf(i))))
    else {
      await store.close()
      process.disconnect()
    }
  })
  process.send?.('ready')
}

async function measure(count: number, cluster: Cluster): Promise<void> {
  const { url } = cluster
  const children = Array.from({ length: count }, (_, i) =>
    fork(fileURLToPath(import.meta.url), ['work', url, `of-${count}-${i}`]),
  )
  const all = <T>() =>
    Promise.all(children.map(child => new Promise<T>(resolve => child.once('message', resolve as never))))
  await all()
  // The first round warms up: programs are compiled and statements planned in every process.
  for (const [round, what] of ['write', 'write', 'read', 'read'].entries()) {
    const before = databaseCpu(cluster)
    const answers = all<Counted>()
    for (const child of children) child.send(what)
    const counted = await answers
    const done = counted.reduce((sum, each) => sum + each.done, 0)
    const own = counted.reduce((sum, each) => sum + each.cpu, 0)
    const database = databaseCpu(cluster) - before
    if (round % 2 === 0) continue
    const micro = (milliseconds: number) => `${((milliseconds * 1000) / done).toFixed(0)} µs`
    console.log(
      `${count} processes, ${what}: ${(done / SECONDS).toFixed(0)}/s; of each ${micro(own)} of CPU here, ${micro(database)} in the database`,
    )
  }
  const ended = children.map(child => new Promise(resolve => child.once('exit', resolve)))
  for (const child of children) child.send('end')
  await Promise.all(ended)
}

if (process.argv[2] === 'work') await work(process.argv[3] ?? '', process.argv[4] ?? '')
else {
  const cluster = await startDatabase()
  try {
    for (const count of process.argv.slice(2)) await measure(Number(count), cluster)
  } finally {
    await cluster.remove()
  }
}
