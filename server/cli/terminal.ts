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

/** What would end a line, or show what follows in another order. */
const BREAKS = /[\n\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** What of these JSON has in its texts as it is. */
const PLAIN_IN_JSON = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Writes a text, and ends its line. */
export function line(output: Output, text: string): void {
  const shown = text.replace(CONTROLS, code)
  output.write(`${shown}\n`)
}

/** Writes one entry of a list, which stays one line whatever names are in it. */
export function entry(output: Output, text: string): void {
  line(output, text.replace(BREAKS, code))
}

/** Writes JSON, which says the same to a program, whatever is in its texts. */
export function json(output: Output, text: string): void {
  output.write(`${text.replace(PLAIN_IN_JSON, escaped)}\n`)
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

function code(character: string): string {
  const digits = character.charCodeAt(0).toString(16)
  return digits.length > 2 ? `\\u${digits.padStart(4, '0')}` : `\\x${digits.padStart(2, '0')}`
}
