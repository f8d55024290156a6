/** Reads a password: from a terminal without showing it, twice; from a pipe up to the end of its first line. */

import type { Input, Output, Terminal } from './terminal.ts'

/** Nobody gave a usable password; the message says why. */
export class NoPassword extends Error {}

const LONGEST = 1024

/** Reads a new password. @throws NoPassword */
export async function readPassword({ input, errors }: Pick<Terminal, 'input' | 'errors'>): Promise<string> {
  if (input.isTTY !== true || input.setRawMode === undefined) return usable(await firstLine(input))
  const keys = keyStrokes(input)
  input.setRawMode(true)
  try {
    const password = usable(await typed('Password: ', keys, errors))
    if ((await typed('Once more: ', keys, errors)) !== password) throw new NoPassword('The two are not the same.')
    return password
  } finally {
    input.setRawMode(false)
    await keys.return(undefined)
  }
}

function usable(password: string): string {
  if (password === '') throw new NoPassword('The password is empty.')
  if (password.length > LONGEST) throw new NoPassword(`The password is longer than ${LONGEST} characters.`)
  return password
}

async function firstLine(input: Input): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of input) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    if (text.includes('\n') || text.length > 4 * LONGEST) break
  }
  return (text.split('\n', 1)[0] ?? '').replace(/\r$/, '')
}

async function* keyStrokes(input: Input): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  for await (const chunk of input) {
    yield* typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
  }
}

async function typed(prompt: string, keys: AsyncGenerator<string, void>, output: Output): Promise<string> {
  output.write(prompt)
  const password: string[] = []
  try {
    for (;;) {
      const { value: key, done } = await keys.next()
      if (done || key === '\r' || key === '\n' || key === '\u0004') return password.join('')
      if (key === '\u0003') throw new NoPassword('Stopped.')
      if (key === '\u007f' || key === '\b') password.pop()
      else if (key === '\u0015') password.length = 0
      else if (key !== undefined && key >= ' ') password.push(key)
    }
  } finally {
    output.write('\n')
  }
}
