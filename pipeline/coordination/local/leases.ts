/** Write leases of a single process: a queue per path, first come first served. */

import { type Leases, LeaseTimeout, touches } from '../leases.ts'

interface Waiter {
  grant: () => void
}

/** One path that is held. */
interface Lane {
  site: string
  path: string
  waiting: Waiter[]
  /** To be called when the present holder has finished. */
  watching: (() => void)[]
}

/**
 * @param options.patience milliseconds a writer waits for its turn before it is told to come again
 */
export function localLeases(options: { patience?: number } = {}): Leases {
  const patience = options.patience ?? 10_000
  /** Present while the path is held. */
  const lanes = new Map<string, Lane>()

  async function acquire(key: string, site: string, path: string): Promise<void> {
    const lane = lanes.get(key)
    if (!lane) {
      lanes.set(key, { site, path, waiting: [], watching: [] })
      return
    }
    const queue = lane.waiting
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        const at = queue.indexOf(waiter)
        if (at >= 0) queue.splice(at, 1)
        reject(new LeaseTimeout(path))
      }, patience)
      const waiter: Waiter = {
        grant: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      queue.push(waiter)
    })
  }

  function release(key: string): void {
    const lane = lanes.get(key)
    if (!lane) return
    if (lane.watching.length > 0) for (const finished of lane.watching.splice(0)) finished()
    const next = lane.waiting.shift()
    if (next) next.grant()
    else lanes.delete(key)
  }

  return {
    async hold(site, paths, work) {
      // Ascending order, so that two writers of the same paths can never wait for each other.
      const wanted = paths.length === 1 ? paths : [...new Set(paths)].sort()
      const held: string[] = []
      try {
        for (const path of wanted) {
          const key = `${site}\n${path}`
          await acquire(key, site, path)
          held.push(key)
        }
        return await work()
      } finally {
        for (const key of held.reverse()) release(key)
      }
    },
    confirm: () => true,
    async outlast(site, path) {
      const held = Array.from(lanes.values()).filter(lane => lane.site === site && touches(lane.path, path))
      await Promise.all(held.map(lane => new Promise<void>(resolve => lane.watching.push(resolve))))
    },
  }
}
