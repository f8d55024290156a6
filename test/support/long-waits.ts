/** Writers that wait for each other for long, without a test that does. */

import type { Leases } from '../../pipeline/coordination/leases.ts'

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
