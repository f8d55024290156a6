/** Write leases of a single process: a queue per path, first come first served. */

import { type Leases, LeaseTimeout } from '../leases.ts'

interface Waiter {
  grant: () => void
}

/**
 * @param options.patience milliseconds a writer waits for its turn before it is told to come again
 */
export function localLeases(options: { patience?: number } = {}): Leases {
  const patience = options.patience ?? 10_000
  /** Present while the path is held; the array holds those who wait. */
  const queues = new Map<string, Waiter[]>()

  async function acquire(key: string, path: string): Promise<void> {
    const queue = queues.get(key)
    if (!queue) {
      queues.set(key, [])
      return
    }
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
    const next = queues.get(key)?.shift()
    if (next) next.grant()
    else queues.delete(key)
  }

  return {
    async hold(site, paths, work) {
      // Ascending order, so that two writers of the same paths can never wait for each other.
      const wanted = paths.length === 1 ? paths : [...new Set(paths)].sort()
      const held: string[] = []
      try {
        for (const path of wanted) {
          const key = `${site}\n${path}`
          await acquire(key, path)
          held.push(key)
        }
        return await work()
      } finally {
        for (const key of held.reverse()) release(key)
      }
    },
  }
}
