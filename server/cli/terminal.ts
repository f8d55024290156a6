/** Where the command line reads and writes; a value, so that tests can stand in for a terminal. */

import type { Readable, Writable } from 'node:stream'

/** The two members of a terminal's input that a password without echo needs. */
export type Input = Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown }

export type Output = Writable & { isTTY?: boolean }

export interface Terminal {
  input: Input
  /** Results. */
  output: Output
  /** Messages and progress. */
  errors: Output
  env: Record<string, string | undefined>
  cwd: string
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return {
    input: process.stdin,
    output: process.stdout,
    errors: process.stderr,
    env: process.env,
    cwd: process.cwd(),
  }
}

/** Writes one line. */
export function line(output: Output, text: string): void {
  output.write(`${text}\n`)
}
