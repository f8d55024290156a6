/** 64 authors at once who read, list, save, lock, rename and delete; every answer is checked. */

import { lockinfo } from '../../mount/replays/requests.ts'
import { openWire, request, type Wire } from './wire.ts'
import type { Target } from './work.ts'

const CLIENTS = 64
const SHARED = 48
const SIZE = 4096

export interface Mixed {
  perSecond: number
  /** Answers that no client can work with, and broken connections. */
  errors: number
  /** Reads in which two versions of a file were mixed. */
  torn: number
  /** Milliseconds within which 99 of 100 requests were answered. */
  p99: number
}

/** Files of one letter: any mixture of two versions shows. */
const VERSIONS = Array.from({ length: 26 }, (_, i) => Buffer.alloc(SIZE, 97 + i))
const version = (n: number) => VERSIONS[n % VERSIONS.length] ?? Buffer.alloc(0)

/** @param target with an empty collection `/mixed/` */
export async function mixed({ url, authorization: Authorization }: Target, seconds = 10): Promise<Mixed> {
  const result = { errors: 0, torn: 0 }
  let done = 0
  const times: number[] = []
  const first = await openWire(url)
  for (let i = 0; i < SHARED; i++)
    await first.ask(request('PUT', `/mixed/${i}.txt`, { Authorization, 'Content-Type': 'text/plain' }, version(0)))
  first.close()

  const session = async (client: number, until: number) => {
    let wire: Wire = await openWire(url)
    const ask = async (expected: readonly number[], ...made: Parameters<typeof request>) => {
      try {
        const began = performance.now()
        const answer = await wire.ask(request(...made))
        times.push(performance.now() - began)
        if (expected.includes(answer.status)) done++
        else result.errors++
        return answer
      } catch {
        result.errors++
        wire.close()
        wire = await reopened(url)
        return undefined
      }
    }
    // A generator of its own for each client, so that every server gets the same requests.
    let state = client * 7919 + 1
    const random = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
      return Math.floor((state / 0x80000000) * below)
    }
    const plain = { Authorization, Host: new URL(url).host }
    const text = { ...plain, 'Content-Type': 'text/plain' }
    for (let i = 0; performance.now() < until; i++) {
      const shared = `/mixed/${random(SHARED)}.txt`
      const own = `/mixed/own-${client}.txt`
      const dice = random(100)
      if (dice < 55) {
        const content = (await ask([200], 'GET', shared, plain))?.content
        if (content && !content.equals(version((content[0] ?? 0) - 97))) result.torn++
      } else if (dice < 75) await ask([207], 'PROPFIND', shared, { ...plain, Depth: '0' })
      else if (dice < 80) await ask([207], 'PROPFIND', '/mixed/', { ...plain, Depth: '1' })
      else if (dice < 94) await ask([200, 201, 204], 'PUT', shared, text, version(i + client))
      else if (dice < 97) {
        await ask([200, 201, 204], 'PUT', own, text, version(i))
        await ask([201, 204], 'MOVE', own, {
          ...plain,
          Destination: `${url}/mixed/moved-${client}.txt`,
          Overwrite: 'T',
        })
        await ask([200, 204], 'DELETE', `/mixed/moved-${client}.txt`, plain)
      } else {
        await ask([200, 201, 204], 'PUT', own, text, version(i))
        const locked = await ask([200], 'LOCK', own, { ...plain, Depth: '0', Timeout: 'Second-60' }, lockinfo('bench'))
        const token = /\r\nlock-token: *<([^>\r]+)>/i.exec(locked?.head ?? '')?.[1] ?? 'none'
        await ask([200, 204], 'PUT', own, { ...text, If: `(<${token}>)` }, version(i))
        await ask([204], 'UNLOCK', own, { ...plain, 'Lock-Token': `<${token}>` })
      }
    }
    wire.close()
  }

  const start = performance.now()
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => session(client, start + seconds * 1000)))
  const perSecond = done / ((performance.now() - start) / 1000)
  times.sort((a, b) => a - b)
  return { perSecond, ...result, p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN }
}

/** A server that died may come back. */
async function reopened(url: string): Promise<Wire> {
  for (;;) {
    try {
      return await openWire(url)
    } catch {
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }
}
