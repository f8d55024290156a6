/** Names and patterns of names, as `let` and lambdas bind them (SES-20, SES-27). */

import type { Scanner } from './scan.ts'
import { type Pattern, RESERVED } from './syntax.ts'

export function identifierAt(scanner: Scanner): string {
  const word = scanner.peekWord()
  if (word === undefined) return scanner.expected('a name')
  if (RESERVED.has(word)) return scanner.fail(`“${word}” is reserved and cannot be a name`)
  scanner.at += word.length
  return word
}

export function patternAt(scanner: Scanner): Pattern {
  if (scanner.take('{')) {
    const fields = scanner.series<{ key: string; name: string }>('fields')
    while (!scanner.take('}')) {
      if (fields.items.length > 0) {
        scanner.expect(',')
        if (scanner.take('}')) break
      }
      const key = identifierAt(scanner)
      scanner.add(fields, { key, name: scanner.take(':') ? identifierAt(scanner) : key })
    }
    return { kind: 'fields', fields: fields.items }
  }
  if (scanner.take('[')) return { kind: 'items', ...namesAt(scanner, ']') }
  return { kind: 'name', name: identifierAt(scanner) }
}

/** Names with at most one rest, at the end (SES-27). */
export function namesAt(scanner: Scanner, close: ')' | ']'): { names: string[]; rest: string | undefined } {
  const names = scanner.series<string>('names')
  let rest: string | undefined
  while (!scanner.take(close)) {
    if (names.items.length > 0 || rest !== undefined) {
      scanner.expect(',')
      // Only patterns may end in a comma.
      if (close === ']' && scanner.take(close)) break
    }
    if (rest !== undefined) scanner.fail('a rest stands last, and there is one')
    if (scanner.take('...')) rest = identifierAt(scanner)
    else scanner.add(names, identifierAt(scanner))
  }
  return { names: names.items, rest }
}
