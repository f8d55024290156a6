/** A server as operators run it: a process of its own, started by the launcher, ended by signals. */

import { type ChildProcess, spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const LAUNCHER = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

export interface ServerProcess {
  /** Port of the public surface. */
  port: number
  child: ChildProcess
  /** Everything that came on standard output so far. */
  output(): string
  /** Standard output and standard error together, for messages of tests. */
  everything(): string
  /** Exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Asks it to end, and waits until it has. */
  stop(signal?: NodeJS.Signals): Promise<number | string>
}

/**
 * Starts `scriptorium`, which serves where no command is named, and waits for the line that says it is ready.
 *
 * @param folder existing folder; the settings file is written into it
 * @param settings as a settings file has them; free ports unless they say something else
 * @param env variables of the environment besides those of this process: what the launcher would start a server again for
 *   is among them, unless it says undefined
 * @param descriptors that the system lets it have
 * @param begun is given the process before it is ready
 * @throws with the output, when it ends before it is ready
 */
export async function startProcess(
  folder: string,
  settings: Record<string, unknown>,
  env: Readonly<Record<string, string | undefined>> = {},
  descriptors?: number,
  begun?: (child: ChildProcess) => void,
): Promise<ServerProcess> {
  const file = join(folder, 'settings.json')
  await writeFile(
    file,
    JSON.stringify({ listen: { port: 0 }, mount: { port: 0 }, limits: { writesPerMinute: 0 }, ...settings }),
  )
  const command = [process.execPath, LAUNCHER, '--config', file]
  const [program = '', ...args] =
    descriptors === undefined ? command : ['sh', '-c', 'ulimit -n "$0" && exec "$@"', String(descriptors), ...command]
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, MALLOC_ARENA_MAX: '1', ...env },
  })
  begun?.(child)
  let output = ''
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  const ended = new Promise<number | string>(resolve => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  const ready = new Promise<number>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text
      const port = /^ready: site https?:\/\/[^:/]+:(\d+)\//m.exec(output)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    void ended.then(outcome =>
      reject(new Error(`the server ended with ${outcome} before it was ready:\n${output}${errors}`)),
    )
  })
  const port = await ready
  return {
    port,
    child,
    output: () => output,
    everything: () => output + errors,
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}
