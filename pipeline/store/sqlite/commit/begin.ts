/**
 * The beginning of a write transaction while other processes write as well. SQLite's own waiting sleeps for longer than
 * most transactions last, so that two busy processes would spend their time asleep; here it is looked for more often.
 */

import { type Database, reasonOf } from '../database.ts'

/** Milliseconds between two attempts: at first, and at most. */
const NAP = { least: 0.1, most: 2 }

/**
 * @param database a connection for writing; it waits as long as its timeout says
 * @returns begins a transaction that writes, or throws the database's error when others do not come to an end
 */
export function prepareBeginning(database: Database): { run(): void } {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const patience = database.prepare<{ timeout: number }>('PRAGMA busy_timeout').get()?.timeout ?? 0
  const clock = new Int32Array(new SharedArrayBuffer(4))

  function untilFree(): void {
    const deadline = performance.now() + patience
    for (let nap = NAP.least; ; nap = Math.min(nap * 1.5, NAP.most)) {
      try {
        begin.run()
        return
      } catch (error) {
        if (reasonOf(error) !== 'busy' || performance.now() >= deadline) throw error
        Atomics.wait(clock, 0, 0, nap)
      }
    }
  }

  return {
    run() {
      database.exec('PRAGMA busy_timeout = 0')
      try {
        untilFree()
      } finally {
        database.exec(`PRAGMA busy_timeout = ${patience}`)
      }
    },
  }
}
