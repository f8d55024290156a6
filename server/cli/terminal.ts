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

/** What a terminal would act on; names of files and sites may hold it. */
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g

/** Writes one line. */
export function line(output: Output, text: string): void {
  const shown = text.replace(CONTROLS, each => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`)
  output.write(`${shown}\n`)
}
