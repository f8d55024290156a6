/** Event streams: how soon many subscribers hear of a write, whether each of them does, and what idle ones cost. */

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { OPEN_RULES } from '../http/documents.ts'
import { once } from '../support/load.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'
import { figure, type Row } from '../support/table.ts'
import { subscribeAll } from './subscriber.ts'

export const HEAD: Row = ['Work', 'Scriptorium', 'target']

const SUBSCRIBERS = 200
const WRITES = 100
const EVERY = 20
const IDLE = 2000

const LIST = '<!doctype html><title>List</title><ul id="list"></ul>'

async function prepare(folder: string): Promise<ServerProcess> {
  const site = join(folder, 'site')
  await mkdir(site)
  const files = { 'rules.html': OPEN_RULES, 'live.html': LIST, 'quiet.html': LIST, 'alone.html': LIST }
  for (const [name, text] of Object.entries(files)) await writeFile(join(site, name), text)
  const settings = join(folder, 'settings.json')
  const events = { streamsPerAddress: 100_000, streamsPerSite: 100_000 }
  const sites = [{ host: '*', name: 'localhost', events }]
  await writeFile(
    settings,
    JSON.stringify({ data: join(folder, 'data'), listen: { port: 0 }, mount: { port: 0 }, sites }),
  )
  const imported = ['server/launch.mjs', 'import', '-c', settings, '--site', 'localhost', site]
  const { status, stderr } = spawnSync(process.execPath, imported, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  // As `npm start` does it.
  return startProcess([process.execPath, '--max-semi-space-size=4', 'server/launch.mjs', 'serve', '-c', settings])
}

const append = (path: string, id: string) => ({
  method: 'POST',
  path,
  headers: { Range: 'selector=#list' },
  body: `<li id="${id}">An entry of some length, as people write it</li>`,
})

/** Writes at a steady pace. @returns milliseconds from sending a write to each delivery, and what was lost or doubled */
async function fanOut(base: string): Promise<{ times: number[]; lost: number; doubled: number; answers: number[] }> {
  const subscribers = await subscribeAll(base, () => '/live.html', SUBSCRIBERS)
  const sent: number[] = []
  const times: number[] = []
  const seen = subscribers.map(() => new Map<number, number>())
  for (const [i, subscriber] of subscribers.entries()) {
    let rest = ''
    subscriber.onText(text => {
      const now = performance.now()
      const events = (rest + text).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const number = /<li id="w(\d+)">/.exec(event)?.[1]
        if (number === undefined) continue
        const write = Number(number)
        seen[i]?.set(write, (seen[i]?.get(write) ?? 0) + 1)
        times.push(now - (sent[write] ?? Number.NaN))
      }
    })
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const answers: number[] = []
  const writes: Promise<unknown>[] = []
  const start = performance.now()
  for (let n = 0; n < WRITES; n++) {
    await pause(Math.max(0, start + n * EVERY - performance.now()))
    sent[n] = performance.now()
    const at = performance.now()
    writes.push(
      once(base, agent, append('/live.html', `w${n}`)).then(status => {
        if (status !== 206) throw new Error(`a write was answered ${status}`)
        answers.push(performance.now() - at)
      }),
    )
  }
  await Promise.all(writes)
  const complete = () => seen.every(writes => writes.size === WRITES)
  for (let wait = 0; wait < 100 && !complete(); wait++) await pause(20)
  const lost = seen.reduce((sum, writes) => sum + WRITES - writes.size, 0)
  const doubled = seen.reduce((sum, writes) => sum + [...writes.values()].filter(count => count > 1).length, 0)
  for (const subscriber of subscribers) subscriber.close()
  agent.destroy()
  return { times, lost, doubled, answers }
}

/** Many streams that wait. @returns MB of resident memory for each, and how many heard of a write in the end */
async function idle(server: ServerProcess): Promise<{ each: number; alive: number }> {
  const agent = new Agent({ keepAlive: true })
  await once(server.url, agent, append('/quiet.html', 'first'))
  // What a first round allocates for good is not what a stream costs.
  for (const subscriber of await subscribeAll(server.url, () => '/quiet.html', 200)) subscriber.close()
  await pause(500)
  const before = server.memory()
  const subscribers = await subscribeAll(server.url, () => '/quiet.html', IDLE)
  await pause(21_000)
  const each = (server.memory() - before) / IDLE
  const alive = subscribers.map(() => false)
  for (const [i, subscriber] of subscribers.entries())
    subscriber.onText(text => {
      if (text.includes('id="last"')) alive[i] = true
    })
  await once(server.url, agent, append('/quiet.html', 'last'))
  for (let wait = 0; wait < 100 && !alive.every(Boolean); wait++) await pause(20)
  for (const subscriber of subscribers) subscriber.close()
  agent.destroy()
  return { each, alive: alive.filter(Boolean).length }
}

function at(times: number[], share: number): number {
  return times[Math.floor((times.length - 1) * share)] ?? 0
}

/** All rows. */
export async function benchLive(say: (line: string) => void): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  const rows: Row[] = []
  const add = (row: Row) => {
    rows.push(row)
    say(row.filter(Boolean).join('  '))
  }
  const server = await prepare(folder)
  try {
    const { each, alive } = await idle(server)
    add([`memory of an idle stream, ${figure(IDLE)} of them`, `${figure(each * 1024)} KB`, '< 40 KB'])
    add(['idle streams that hear of a write after a keepalive', `${alive} of ${IDLE}`, `${IDLE} of ${IDLE}`])
    const { times, lost, doubled, answers } = await fanOut(server.url)
    times.sort((a, b) => a - b)
    answers.sort((a, b) => a - b)
    const title = `${SUBSCRIBERS} subscribers, ${WRITES} writes at ${1000 / EVERY}/s`
    add([`${title}: from write to delivery, p50`, `${figure(at(times, 0.5))} ms`, ''])
    add([`${title}: p99`, `${figure(at(times, 0.99))} ms`, '< 25 ms'])
    add([`${title}: answer of the write itself, p50`, `${figure(at(answers, 0.5))} ms`, ''])
    add([
      `${title}: deliveries`,
      `${times.length} (${lost} lost, ${doubled} doubled)`,
      `${SUBSCRIBERS * WRITES} (0, 0)`,
    ])
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return rows
}
