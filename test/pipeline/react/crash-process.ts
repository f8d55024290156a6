/** Starts a server in a process of its own that can be killed. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

const CHILD = new URL('crash-child.ts', import.meta.url).pathname
const LAUNCH = new URL('../../../server/launch.mjs', import.meta.url).pathname

export interface CrashProcess {
  origin: string
  kill(): Promise<void>
}

/** @param more as `crash-child.ts` takes them: folder of the data, address to call, address of Redis */
export async function startCrashProcess(...more: string[]): Promise<CrashProcess> {
  const child = spawn(process.execPath, [LAUNCH, '--run', CHILD, ...more], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [origin] = await once(lines, 'line')
  return {
    origin: String(origin),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
