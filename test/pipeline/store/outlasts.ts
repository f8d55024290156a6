/** What both stores must do for a lock that waits for transactions which have begun (DAV-8). */

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Store } from '../../../pipeline/store/store.ts'

/**
 * Makes sure that a store waits as long as another process is in a transaction.
 *
 * @param release ends that transaction
 */
export async function outlasts(store: Store, release: () => unknown): Promise<void> {
  let isOver = false
  const outlasting = store.outlast?.().then(() => {
    isOver = true
  })
  expect(outlasting).not.to.equal(undefined)
  await sleep(200)
  expect(isOver).to.equal(false)
  await release()
  await outlasting
  expect(isOver).to.equal(true)
}
