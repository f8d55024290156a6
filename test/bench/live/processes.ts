/** Two processes against one: both share a Redis, and may use all cores together with the clients. */

import { page } from '../http/documents.ts'
import { readRate, writeRate } from '../support/load.ts'
import { install, LISTS } from './installation.ts'
import { type Deliveries, fanOut } from './streams.ts'

const CLIENTS = 16
const SECONDS = 2

/** What an installation does; per second. */
export interface Throughput {
  reads: number
  puts: number
  /** To one element each of several documents. */
  appends: number
  deliveries: Deliveries
}

/** @param workers processes that answer requests */
export async function throughput(workers: number): Promise<Throughput> {
  const { server, close } = await install({ workers, spread: true })
  const body = page(4096)
  const write = async (make: Parameters<typeof writeRate>[1]) => {
    const { perSecond, errors } = await writeRate(server.url, make, { clients: CLIENTS, seconds: SECONDS })
    if (errors > 0) throw new Error(`${errors} writes were refused`)
    return perSecond
  }
  try {
    return {
      reads: await readRate(`${server.url}/page.html`, {}, { seconds: SECONDS }),
      puts: await write(n => ({ method: 'PUT', path: `/new-${n}.html`, body })),
      appends: await write(n => ({
        method: 'POST',
        path: `/list-${n % LISTS}.html`,
        headers: { Range: 'selector=#list' },
        body: `<li id="a${n}">An entry of some length, as people write it</li>`,
      })),
      deliveries: await fanOut(server.url),
    }
  } finally {
    await close()
  }
}
