/** What a server takes in memory when many pages were saved and read, and after a while in which nobody asked for anything. */

import { setTimeout as wait } from 'node:timers/promises'
import type { MountServer } from './servers.ts'
import { openWire, request } from './wire.ts'
import { htmlPage, makeCollection } from './work.ts'

const PAGES = 40_000
const READ = 10_000

/** Milliseconds without requests: servers that give memory back do so within half a minute. */
const QUIET = 35_000

/** @returns MB before, after the work, and after the quiet time */
export async function memoryOfPages(server: MountServer): Promise<[number, number, number]> {
  const { url, authorization: Authorization } = server
  const before = await server.memory()
  await makeCollection(server, '/pages/')
  const headers = { Authorization, 'Content-Type': 'text/html' }
  const wires = await Promise.all(Array.from({ length: 16 }, () => openWire(url)))
  const all = async (count: number, make: (n: number) => Buffer) => {
    let n = 0
    await Promise.all(
      wires.map(async wire => {
        while (n < count) {
          const { status } = await wire.ask(make(n++))
          if (status >= 300) throw new Error(`a page was answered ${status}`)
        }
      }),
    )
  }
  await all(PAGES, n => request('PUT', `/pages/${n}.html`, headers, htmlPage(n)))
  await all(READ, n => request('GET', `/pages/${(n * 7) % PAGES}.html`, { Authorization }))
  for (const wire of wires) wire.close()
  const after = await server.memory()
  await wait(QUIET)
  return [before, after, await server.memory()]
}
