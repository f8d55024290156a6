/** When a process looks at its settings and certificates again: SIGHUP. */

import { closeSync, openSync } from 'node:fs'

/** Whether SIGHUP says that the terminal has gone which the server was started in. */
export function hasLostTerminal(): boolean {
  if (process.platform === 'win32') return true
  if (!process.stdout.isTTY) return false
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return false
  } catch {
    return true
  }
}

/**
 * Listens from now on. What is asked for before there is anything to do is done then: the settings that a server starts with
 * were read before. One after the other, so that what was read last counts in the end.
 *
 * @returns takes what is to be done whenever the process is asked
 */
export function listenForReload(): (work: () => Promise<void> | void) => void {
  let work: (() => Promise<void> | void) | undefined
  let isWorking = false
  let isAsked = false

  async function goOn(): Promise<void> {
    if (isWorking || !work) return
    isWorking = true
    try {
      while (isAsked) {
        isAsked = false
        await work()
      }
    } finally {
      isWorking = false
    }
  }

  process.on('SIGHUP', () => {
    if (hasLostTerminal()) return
    isAsked = true
    void goOn()
  })
  return given => {
    work = given
    void goOn()
  }
}
