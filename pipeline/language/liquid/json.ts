/** JSON text of values (LIQ-48). */

import { PIECE, piecesOf } from '../../tree/document.ts'
import type { ElementNode } from '../../tree/nodes.ts'
import { ElementValue } from '../values.ts'
import { FilterError } from './error.ts'
import type { Run } from './run.ts'
import { floatText, hashKeys, isHash, isList, Keyword, type LiquidValue, plain, Range } from './values.ts'
import { ready, type Work } from './work.ts'

/** Values inside values. */
const MAX_NESTING = 100

/** Values that are written in one step. */
const PER_STEP = 500

/**
 * @param indent blanks for each level; with 0 the text is compact
 * @throws FilterError when values are nested too deeply
 */
export function* writingJson(value: LiquidValue, indent: number, run: Run): Work<string> {
  let text = ''
  let count = 0
  const write = (piece: string): void => {
    run.allowance.take(piece.length)
    text += piece
  }
  /** Items that are being written: one that `itemref` makes a part of itself is left out there, as in JSON-LD (HTTP-72). */
  const open = new Set<ElementNode>()
  const isOpen = (value: LiquidValue): boolean => value instanceof ElementValue && open.has(value.node)
  const line = (depth: number): string => (indent === 0 ? '' : `\n${' '.repeat(indent * depth)}`)

  function* entries(pairs: Iterable<readonly [string, LiquidValue]>, depth: number): Work<void> {
    let separator = '{'
    for (const [key, entry] of pairs) {
      write(`${separator}${line(depth + 1)}${JSON.stringify(key)}:${indent === 0 ? '' : ' '}`)
      yield* writing(entry, depth + 1)
      separator = ','
    }
    write(separator === '{' ? '{}' : `${line(depth)}}`)
  }

  function* writing(written: LiquidValue, depth: number): Work<void> {
    if (depth > MAX_NESTING) throw new FilterError('json: values are nested too deeply.')
    run.step()
    if (++count % PER_STEP === 0) yield undefined
    const bare = plain(written)
    if (bare instanceof ElementValue) {
      const names = yield* ready(() => run.keysOf(bare))
      const pairs: [string, LiquidValue][] = []
      open.add(bare.node)
      for (const key of ['@id', '@type', ...names]) {
        const all = yield* ready(() => run.member(bare, key))
        const entry = isList(all) && all.some(isOpen) ? all.filter(each => !isOpen(each)) : all
        if (!isOpen(entry) && !(entry !== all && isList(entry) && entry.length === 0)) pairs.push([key, entry])
      }
      yield* entries(pairs, depth)
      open.delete(bare.node)
    } else if (isHash(bare)) {
      yield* entries(
        hashKeys(bare).map(key => [key, bare.get(key) ?? null] as const),
        depth,
      )
    } else if (isList(bare) || bare instanceof Range) {
      let separator = '['
      for (const element of isList(bare) ? bare : numbersOf(bare)) {
        write(separator + line(depth + 1))
        yield* writing(element, depth + 1)
        separator = ','
      }
      write(separator === '[' ? '[]' : `${line(depth)}]`)
    } else if (typeof bare === 'string' && bare.length > PIECE) yield* writingText(bare)
    else write(scalar(bare))
  }

  function* writingText(long: string): Work<void> {
    write('"')
    for (const piece of piecesOf(long)) {
      run.step(1 + (piece.length >> 7))
      write(JSON.stringify(piece).slice(1, -1))
      yield undefined
    }
    write('"')
  }

  yield* writing(value, 0)
  return text
}

function scalar(value: LiquidValue): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return floatText(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return value instanceof Keyword ? '""' : 'null'
  }
}

export function* numbersOf({ first, last }: Range): Generator<bigint, void, undefined> {
  for (let number = first; number <= last; number++) yield number
}
