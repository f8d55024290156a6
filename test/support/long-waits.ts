/** How long something takes for those whose time is limited, whatever the machine has to do besides. */

import type { Leases } from '../../pipeline/coordination/leases.ts'
import { worked } from './cost.ts'

/** Runs something while each lease seems to have been waited for. @param milliseconds for how long */
export async function waitingFor(leases: Leases, milliseconds: number, run: () => Promise<void>): Promise<void> {
  const [{ hold }, { now }] = [leases, performance]
  let waited = 0
  performance.now = () => now.call(performance) + waited
  leases.hold = (name, paths, work) =>
    hold(name, paths, newest => {
      waited += milliseconds
      return work(newest)
    })
  try {
    await run()
  } finally {
    Object.assign(leases, { hold })
    performance.now = now
  }
}

/** Runs something that waits for nothing while time is what this thread works: what others do on the machine does not count. */
export async function byWork<T>(run: () => Promise<T>): Promise<T> {
  const { now } = performance
  const begun = now.call(performance) - worked()
  performance.now = () => begun + worked()
  try {
    return await run()
  } finally {
    performance.now = now
  }
}
