/** Measures the embedded store: `node test/pipeline/store/measure.ts`. Figures are medians of three rounds on a fresh store. */

import { Readable } from 'node:stream'
import type { Change } from '../../../pipeline/store/commit.ts'
import { done, openTemporary, put, putBlob } from './fixture.ts'

const ROUNDS = 3
const WRITES = 4000
const page = Buffer.alloc(4096, 'a')
const board = 'b'.repeat(1_126_400)

const opened = await openTemporary()
const { store } = opened
const site = store.site('example.org')
const figures = new Map<string, number[]>()

const at = (sorted: number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
const note = (name: string, value: number) => figures.set(name, [...(figures.get(name) ?? []), value])

/** Milliseconds that some work takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Durable puts of 4 KB with an event each from several writers. */
async function writers(name: string, count: number, folder: string): Promise<void> {
  let next = 0
  const latencies: number[] = []
  const writer = async () => {
    for (let i = next++; i < WRITES; i = next++) {
      const path = `${folder}/${i % 50}/${i}.txt`
      const commit = { changes: [putBlob(path, page)], events: [{ path, payload: 'x'.repeat(300) }] }
      latencies.push(await timed(() => done(site, commit)))
    }
  }
  const total = await timed(() => Promise.all(Array.from({ length: count }, writer)))
  latencies.sort((a, b) => a - b)
  note(`${name}, /s`, (WRITES / total) * 1000)
  note(`${name}, p50 ms`, at(latencies, 0.5))
  note(`${name}, p99 ms`, at(latencies, 0.99))
}

async function repeat(name: string, times: number, work: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < times; i++) note(name, await timed(() => work(i)))
}

for (let round = 0; round < ROUNDS; round++) {
  for (const count of [1, 16, 32]) {
    await writers(`put new 4 KB, ${count} in flight`, count, `/${round}-${count}`)
    await writers(`put over 4 KB, ${count} in flight`, count, `/${round}-${count}`)
  }
  const members = Array.from({ length: 1000 }, (_, i) => `/list${round}/${i}.html`)
  await done(site, [...members.map(path => put(path, page.toString(), { derived: { profile: path } }))])
  await repeat('list 1,000, ms', 50, () => site.list(`/list${round}/`))
  await repeat('find 1,000, ms', 20, () => Promise.all(members.map(path => site.find(path))))
  await repeat('put 1.1 MB, ms', 20, () => done(site, [put('/board.html', board)]))
  const [from, to] = [`/list${round}/`, `/copy${round}/`]
  const steps: [string, Change][] = [
    ['copy', { op: 'copy', from, to, deep: true }],
    ['move', { op: 'move', from: to, to: `/moved${round}/` }],
    ['delete', { op: 'delete', path: `/moved${round}/` }],
  ]
  for (const [name, change] of steps) await repeat(`${name} of 1,000, ms`, 1, () => done(site, [change]))
  const chunk = Buffer.alloc(65_536, round)
  const body = () => Readable.from(Array.from({ length: 3200 }, () => chunk))
  const total = await timed(async () => (await store.stage(body(), { limit: 2 ** 40 })).discard())
  note('stage 200 MiB, MiB/s', (200 / total) * 1000)
}

for (const [name, values] of figures) {
  const median = at(
    values.sort((a, b) => a - b),
    0.5,
  )
  console.log(name.padEnd(36), median >= 100 ? median.toFixed(0) : median.toFixed(2))
}
await opened.close()
