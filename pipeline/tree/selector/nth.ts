/** The `An+B` microsyntax of CSS Syntax Level 3 §6. */
import { SelectorError } from './error.ts'
import type { Nth } from './syntax.ts'
import type { Token } from './token.ts'

/**
 * Parses an `An+B` argument.
 *
 * @param tokens the argument's tokens
 * @param start index of the first token
 * @param end index behind the last token the argument may use
 * @returns the notation, and the index behind what was used of it (white space behind it included)
 * @throws SelectorError when there is none
 */
export function parseNth(tokens: readonly Token[], start: number, end: number): { nth: Nth; next: number } {
  let at = start
  const peek = () => (at < end ? tokens[at] : undefined)
  const skip = () => {
    while (peek()?.type === 'space') at++
  }
  const done = (a: number, b: number) => {
    skip()
    return { nth: { a, b }, next: at }
  }

  skip()
  const sign = peek()
  const plus = sign?.type === 'delim' && sign.value === '+'
  if (plus) at++
  const token = peek()
  at++
  if (!token) throw malformed()
  if (!plus && token.type === 'number' && token.isInteger) return done(0, Number(token.value))
  if (!plus && token.type === 'ident' && /^(even|odd)$/i.test(token.value))
    return done(2, /^odd$/i.test(token.value) ? 1 : 0)

  // What is left starts with a multiple of n: `n`, `-n`, `2n`, and perhaps all of B behind it in the same token (`2n-1`).
  let a: number
  let rest: string
  if (token.type === 'dimension' && !plus && token.isInteger && token.unit) {
    a = Number(token.value)
    rest = token.unit
  } else if (token.type === 'ident') {
    const negative = token.value.startsWith('-')
    if (plus && negative) throw malformed()
    a = negative ? -1 : 1
    rest = negative ? token.value.slice(1) : token.value
  } else throw malformed()

  if (/^n-\d+$/i.test(rest)) return done(a, Number(rest.slice(1)))
  if (/^n-$/i.test(rest)) {
    skip()
    return done(a, -unsigned(peek(), () => at++))
  }
  if (!/^n$/i.test(rest)) throw malformed()
  skip()
  const b = peek()
  if (b?.type === 'number' && b.isInteger && /^[+-]/.test(b.value)) {
    at++
    return done(a, Number(b.value))
  }
  if (b?.type === 'delim' && (b.value === '+' || b.value === '-')) {
    at++
    skip()
    const value = unsigned(peek(), () => at++)
    return done(a, b.value === '-' ? -value : value)
  }
  return done(a, 0)
}

function unsigned(token: Token | undefined, use: () => void): number {
  if (token?.type !== 'number' || !token.isInteger || !/^\d/.test(token.value)) throw malformed()
  use()
  return Number(token.value)
}

function malformed(): SelectorError {
  return new SelectorError('expected an index such as 2, odd or 2n+1')
}

/** Whether the 1-based `index` is `a·n + b` for some n ≥ 0. */
export function isNth({ a, b }: Nth, index: number): boolean {
  if (a === 0) return index === b
  const n = (index - b) / a
  return n >= 0 && Number.isInteger(n)
}
