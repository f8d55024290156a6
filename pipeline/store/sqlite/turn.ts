/**
 * Until when a commit may have its turn. What it confirms, it confirms before the writing thread has it, and the process may
 * stand still in between, for longer than a lease lives. So the thread looks at the clock inside its transaction, in which
 * nobody else writes; whoever has outlasted the leases of others waits for a turn of its own, behind every transaction that
 * had begun by then (DAV-8).
 */

import { CONFIRMED } from '../commit.ts'
import { StoreError } from '../errors.ts'

/** Times that a commit is confirmed before its writer is told to come again. */
const ATTEMPTS = 10

/** Milliseconds by a clock that always grows, and is the same in all threads. */
export function steadyNow(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** @throws StoreError `late` where the turn of a commit has come too late; to be asked inside its transaction */
export function refuseLate(until: number | undefined): void {
  if (until !== undefined && steadyNow() >= until) throw new StoreError('late', 'The turn of a commit came too late')
}

/**
 * Confirms a commit and hands it over, anew whenever its turn came too late.
 *
 * @throws what `confirm` and `submit` throw; StoreError `busy` where it never came in time
 */
export async function inTime<Result>(
  confirm: () => undefined | Promise<void>,
  submit: (until: number) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const until = steadyNow() + CONFIRMED
    const confirmed = confirm()
    if (confirmed !== undefined) await confirmed
    try {
      return await submit(until)
    } catch (error) {
      if (!(error instanceof StoreError && error.reason === 'late')) throw error
      if (attempt === ATTEMPTS) throw new StoreError('busy', 'Commits wait too long for their turn', { cause: error })
    }
  }
}
