/** A terminal for tests: what is typed goes in, what is written comes out as text. */

import { PassThrough, Writable } from 'node:stream'
import { run } from '../../../server/cli/cli.ts'
import type { Commands } from '../../../server/cli/commands.ts'
import type { Terminal } from '../../../server/cli/terminal.ts'

export interface Result {
  code: number
  output: string
  errors: string
}

export interface Situation {
  commands?: Partial<Commands>
  /** What standard input holds, in the pieces in which it comes. */
  input?: (string | Buffer)[]
  /** Standard input and standard error are a terminal. */
  interactive?: boolean
  env?: Record<string, string>
  cwd?: string
}

/** Runs a command line as a user would, with stand-ins for the work behind it. */
export async function scriptorium(argv: string[], situation: Situation = {}): Promise<Result> {
  const [output, errors] = [collector(), collector(situation.interactive)]
  const terminal: Terminal = {
    input: keyboard(situation),
    output: output.stream,
    errors: errors.stream,
    env: situation.env ?? {},
    cwd: situation.cwd ?? '/srv',
  }
  const code = await run(argv, { ...nothing, ...situation.commands }, terminal)
  return { code, output: output.text(), errors: errors.text() }
}

/** A stream that remembers what was written. */
export function collector(isTTY = false): { stream: Writable & { isTTY: boolean }; text: () => string } {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream: Object.assign(stream, { isTTY }), text: () => Buffer.concat(chunks).toString() }
}

function keyboard({ input = [], interactive }: Situation): Terminal['input'] {
  const keys = new PassThrough()
  for (const piece of input) keys.write(piece)
  keys.end()
  return interactive ? Object.assign(keys, { isTTY: true, setRawMode: () => keys }) : keys
}

function unexpected(): never {
  throw new Error('This command should not have run.')
}

const nothing: Commands = {
  serve: unexpected,
  check: unexpected,
  export: unexpected,
  import: unexpected,
  explain: unexpected,
  reactions: unexpected,
  outbound: unexpected,
  query: unexpected,
  stored: async () => [],
  sites: unexpected,
  backup: unexpected,
  restore: unexpected,
  migrate: unexpected,
  moveBlobs: unexpected,
  checkSaved: unexpected,
  askHealth: unexpected,
}
