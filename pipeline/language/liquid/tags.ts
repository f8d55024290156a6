/** The tags of the dialect (LIQ-24); there are no others (LIQ-26). */

import type { Expression } from './expression.ts'
import { type ExpressionReader, Malformed } from './expression.ts'
import type { OpenBlock, Parsing } from './parse.ts'
import type { Located, Loop, Node, When } from './template.ts'

const OPENING = new Set(['if', 'unless', 'case', 'for', 'tablerow', 'capture'])
const DIVIDERS = new Set(['else', 'elsif', 'when'])

export function isOpening(name: string): boolean {
  return OPENING.has(name)
}

export function isDivider(name: string): boolean {
  return DIVIDERS.has(name)
}

/** @throws Malformed */
export function openBlock(tag: string, reader: ExpressionReader, { line }: Parsing): OpenBlock {
  const body: Node[] = []
  const open = (node: Node): OpenBlock => ({ tag, line, body, node, hasElse: false })
  switch (tag) {
    case 'if':
    case 'unless': {
      const test = { value: reader.whole(), line }
      return open({ kind: 'if', branches: [{ test, negated: tag === 'unless', body }] })
    }
    case 'case':
      return open({ kind: 'case', subject: { value: reader.whole(), line }, whens: [] })
    case 'capture': {
      const name = reader.name()
      if (name === '') throw new Malformed('capture needs a name.')
      reader.end()
      return open({ kind: 'capture', name, body })
    }
    default:
      return open({ kind: tag === 'for' ? 'for' : 'tablerow', loop: loopOf(tag, reader, line, body) })
  }
}

function loopOf(tag: string, reader: ExpressionReader, line: number, body: Node[]): Loop {
  const variable = reader.word()
  if (variable === '' || reader.word() !== 'in') throw new Malformed(`${tag} needs: a name, in, a collection.`)
  const start = reader.place
  const collection = { value: reader.value(), line }
  const loop: Loop = {
    variable,
    collection,
    register: `${variable}-${reader.since(start)}`,
    reversed: false,
    body,
    otherwise: [],
  }
  while (!reader.atEnd) {
    reader.pass(',')
    const name = reader.word()
    if (name === 'reversed' && tag === 'for') {
      loop.reversed = true
      continue
    }
    if (name !== 'limit' && name !== 'offset' && !(name === 'cols' && tag === 'tablerow')) {
      reader.end()
      throw new Malformed(`${tag} has no option ${name}.`)
    }
    if (!reader.pass(':')) throw new Malformed(`A colon is missing behind ${name}.`)
    const value: Located<Expression> = { value: reader.value(), line }
    if (name === 'limit') loop.limit = value
    else if (name === 'cols') loop.columns = value
    else loop.offset = isContinue(value.value) ? 'continue' : value
  }
  return loop
}

function isContinue(value: Expression): boolean {
  return value.kind === 'path' && value.root === 'continue' && value.keys.length === 0
}

/**
 * `else`, `elsif` and `when` begin another part of the innermost block.
 *
 * @throws Malformed
 */
export function divideBlock(name: string, reader: ExpressionReader, { blocks, line }: Parsing): void {
  const block = blocks.at(-1)
  if (!block) throw new Malformed(`${name} stands in no block.`)
  const { node } = block
  const body: Node[] = []
  if (block.hasElse) throw new Malformed(`${name} stands behind else.`)
  if (name === 'else') {
    reader.end()
    block.hasElse = true
  }
  if (node.kind === 'if' && name !== 'when') {
    const branch = name === 'else' ? {} : { test: { value: reader.whole(), line } }
    node.branches.push({ ...branch, negated: false, body })
  } else if (node.kind === 'case' && name !== 'elsif') {
    const when: When = name === 'else' ? { body } : { values: valuesOf(reader, line), body }
    node.whens.push(when)
  } else if (node.kind === 'for' && name === 'else') {
    block.node = { ...node, loop: { ...node.loop, otherwise: body } }
  } else throw new Malformed(`${name} does not belong in ${block.tag}.`)
  block.body = body
}

/** `a, b` or `a or b`. */
function valuesOf(reader: ExpressionReader, line: number): Located<Expression>[] {
  const values = [{ value: reader.value(), line }]
  while (!reader.atEnd) {
    if (!reader.pass(',') && reader.word() !== 'or') reader.end()
    values.push({ value: reader.value(), line })
  }
  return values
}

/** @throws Malformed when the end tag is not that of the innermost block */
export function closeBlock(name: string, reader: ExpressionReader, { blocks }: Parsing): void {
  const block = blocks.at(-1)
  if (block && name !== `end${block.tag}`) throw new Malformed(`${name} does not close ${block.tag}.`)
  reader.end()
  blocks.pop()
}

/** @throws Malformed */
export function plainTag(name: string, reader: ExpressionReader, { line }: Parsing): Node | undefined {
  switch (name) {
    case 'assign': {
      const variable = reader.word()
      if (variable === '' || !reader.pass('=')) throw new Malformed('assign needs: a name, =, a value.')
      return { kind: 'assign', name: variable, value: { value: reader.whole(), line } }
    }
    case 'echo':
      return reader.atEnd ? undefined : { kind: 'output', value: reader.whole() }
    case 'cycle':
      return cycle(reader)
    case 'increment':
    case 'decrement': {
      const variable = reader.word()
      if (variable === '') throw new Malformed(`${name} needs a name.`)
      reader.end()
      return { kind: 'count', name: variable, by: name === 'increment' ? 1n : -1n }
    }
    case 'break':
    case 'continue':
      reader.end()
      return { kind: name }
    default:
      throw new Malformed(name === '' ? 'A tag has no name.' : `There is no tag ${name}.`)
  }
}

function cycle(reader: ExpressionReader): Node {
  const start = reader.place
  const first = reader.value()
  const named = reader.pass(':')
  if (!named) reader.place = start
  const from = reader.place
  const values = [reader.filtered()]
  while (reader.pass(',')) values.push(reader.filtered())
  reader.end()
  return { kind: 'cycle', group: reader.since(from), name: named ? first : undefined, values }
}
