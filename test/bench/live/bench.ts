/** Event streams, locks and processes that share their work, as rows of one table. */

import { figure, type Row } from '../support/table.ts'
import { install } from './installation.ts'
import { CLIENTS, localCycles, mountCycles, redisCycles } from './locks.ts'
import { throughput } from './processes.ts'
import { at, type Deliveries, EVERY, fanOut, IDLE, idle, SUBSCRIBERS, WRITES } from './streams.ts'

export const HEAD: Row = ['Work', 'Scriptorium', 'target']

/** All rows; `BENCH_LINES` chooses parts: `streams`, `locks`, `processes`. */
export async function benchLive(say: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = []
  const add = (row: Row) => {
    rows.push(row)
    say(row.filter(Boolean).join('  '))
  }
  const chosen = process.env.BENCH_LINES?.split(',')
  for (const [name, run] of Object.entries({ streams, locks, processes }))
    if (chosen === undefined || chosen.includes(name)) await run(add)
  return rows
}

type Add = (row: Row) => void

async function streams(add: Add): Promise<void> {
  const { server, close } = await install()
  try {
    const { each, alive } = await idle(server)
    add([`memory of an idle stream, ${figure(IDLE)} of them`, `${figure(each * 1024)} KB`, '< 40 KB'])
    add(['idle streams that hear of a write after a keepalive', `${alive} of ${IDLE}`, `${IDLE} of ${IDLE}`])
    const deliveries = await fanOut(server.url)
    const title = `${SUBSCRIBERS} subscribers, ${WRITES} writes at ${1000 / EVERY}/s`
    add([`${title}: from write to delivery, p50`, `${figure(at(deliveries.times, 0.5))} ms`, ''])
    add([`${title}: p99`, `${figure(at(deliveries.times, 0.99))} ms`, '< 25 ms'])
    add([`${title}: answer of the write itself, p50`, `${figure(at(deliveries.answers, 0.5))} ms`, ''])
    add([`${title}: deliveries`, account(deliveries), `${SUBSCRIBERS * WRITES} (0, 0)`])
  } finally {
    await close()
  }
}

function account({ times, lost, doubled }: Deliveries): string {
  return `${times.length} (${lost} lost, ${doubled} doubled)`
}

async function locks(add: Add): Promise<void> {
  const rates = (values: readonly number[]) => values.map(value => `${figure(value)}/s`).join(', ')
  const title = (keeper: string) => `locks taken and ended, ${keeper}: 1 client, ${CLIENTS} clients`
  add([title('in the process, journaled'), rates(await localCycles()), ''])
  add([title('in Redis'), rates(await redisCycles()), ''])
  const wire = (keeper: string) => `LOCK and UNLOCK on the mount, ${CLIENTS} clients, ${keeper}`
  add([wire('locks in the process'), rates([await mountCycles({ redis: false })]), '> 500/s'])
  add([wire('locks in Redis'), rates([await mountCycles({ redis: true })]), '> 500/s'])
}

async function processes(add: Add): Promise<void> {
  const one = await throughput(1)
  const two = await throughput(2)
  const compare = (title: string, of: 'reads' | 'puts' | 'appends') =>
    add([
      `one process and two, all cores: ${title}`,
      `${figure(one[of])}/s, ${figure(two[of])}/s (${figure(two[of] / one[of])})`,
      '',
    ])
  compare('GET 6 KB page', 'reads')
  compare('PUT new 4 KB, 16 clients', 'puts')
  compare('POST append to 20 documents, 16 clients', 'appends')
  const p99 = ({ times }: Deliveries) => `${figure(at(times, 0.99))} ms`
  add([
    `one process and two, all cores: delivery to ${SUBSCRIBERS} subscribers, p99`,
    `${p99(one.deliveries)}, ${p99(two.deliveries)}`,
    '',
  ])
  add([
    `two processes: deliveries to ${SUBSCRIBERS} subscribers`,
    account(two.deliveries),
    `${SUBSCRIBERS * WRITES} (0, 0)`,
  ])
}
