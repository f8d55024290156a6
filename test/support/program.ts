/** Programs of the system that a test drives: run beside the server in this process, so never synchronously. */

import { spawn } from 'node:child_process'

export interface Ran {
  /** Exit code; -1 when it was ended because its time was over. */
  code: number
  /** Standard output and standard error in the order in which they came. */
  output: string
}

export interface RunOptions {
  cwd?: string
  /** What it reads from standard input; nothing without. */
  input?: string
  env?: Readonly<Record<string, string>>
  /** Milliseconds until it is ended. */
  timeout?: number
}

/**
 * Runs a program to its end.
 *
 * @throws when it cannot be started
 */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { cwd, input, env, timeout = 60_000 } = options
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, LC_ALL: 'C.UTF-8', ...env } })
    let output = ''
    let late = false
    const timer = setTimeout(() => {
      late = true
      child.kill('SIGKILL')
    }, timeout)
    child.stdout.setEncoding('utf8').on('data', text => (output += text))
    child.stderr.setEncoding('utf8').on('data', text => (output += text))
    child.once('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', code => {
      clearTimeout(timer)
      resolve({ code: late ? -1 : (code ?? -1), output })
    })
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** Runs a program that must succeed. @returns its output */
export async function succeed(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, output } = await run(command, args, options)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`)
  return output
}
