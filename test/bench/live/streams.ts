/** What is measured on streams: how soon many subscribers hear of a write, whether each does, and what idle ones cost. */

import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { once } from '../support/load.ts'
import type { ServerProcess } from '../support/process.ts'
import { subscribeAll } from './subscriber.ts'

export const SUBSCRIBERS = 200
export const WRITES = 100
/** Milliseconds between writes. */
export const EVERY = 20
export const IDLE = 2000

const append = (path: string, id: string) => ({
  method: 'POST',
  path,
  headers: { Range: 'selector=#list' },
  body: `<li id="${id}">An entry of some length, as people write it</li>`,
})

export interface Deliveries {
  /** Milliseconds from sending a write to each delivery, ascending. */
  times: number[]
  lost: number
  doubled: number
  /** Milliseconds that the answers to the writes took, ascending. */
  answers: number[]
}

/** Writes at a steady pace, and accounts for every delivery to every subscriber. */
export async function fanOut(base: string): Promise<Deliveries> {
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
  const ascending = (values: number[]) => values.sort((a, b) => a - b)
  return { times: ascending(times), lost, doubled, answers: ascending(answers) }
}

/** Many streams that wait. @returns MB of resident memory for each, and how many heard of a write in the end */
export async function idle(server: ServerProcess): Promise<{ each: number; alive: number }> {
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

/** @param times ascending */
export function at(times: number[], share: number): number {
  return times[Math.floor((times.length - 1) * share)] ?? 0
}
