/** Programs of the system that a test drives: run beside the server in this process, so never synchronously. */

import { spawn } from 'node:child_process'

export interface Ran {
  /** Exit code; -1 when a signal ended it, or its time was over. */
  code: number
  /** Standard output and standard error in the order in which they came, and which signal ended it. */
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
    const timer = setTimeout(() => {
      output += `\nout of time after ${timeout} ms`
      child.kill('SIGKILL')
    }, timeout)
    child.stdout.setEncoding('utf8').on('data', text => (output += text))
    child.stderr.setEncoding('utf8').on('data', text => (output += text))
    child.once('error', error => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code: code ?? -1, output: signal === null ? output : `${output}\nended by ${signal}` })
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
