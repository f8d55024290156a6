/** Expressions, from loose to tight (SES-20, SES-21). */

import { constructionAt } from './parse-construction.ts'
import { identifierAt, namesAt, patternAt } from './parse-names.ts'
import { blockAt, keyAt, selectorAt, stringAt } from './parse-parts.ts'
import type { Scanner } from './scan.ts'
import { type Expression, type Infix, LEVELS, type Link, type Operator, RESERVED } from './syntax.ts'

const INTEGER_MAX = 9_223_372_036_854_775_807n
const NUMBER = /[0-9]+(\.[0-9]+)?/y
const MEMBER = /[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z_][A-Za-z0-9_]*)*/y
const OPERATOR = /<=>|[=!<>]=|&&|\|\||\?\?|[-+*/<>]/y

export function expressionAt(scanner: Scanner): Expression {
  const word = scanner.peekWord()
  switch (word) {
    case 'let': {
      scanner.takeWord('let')
      const pattern = patternAt(scanner)
      scanner.expect('=')
      const value = scanner.expression()
      scanner.expect(';')
      return { kind: 'let', pattern, value, body: scanner.expression() }
    }
    case 'return':
      scanner.takeWord('return')
      return { kind: 'return', value: startsExpression(scanner) ? scanner.expression() : undefined }
    case 'throw':
      scanner.takeWord('throw')
      return { kind: 'throw', value: scanner.expression() }
  }
  return lambdaAt(scanner, word) ?? ternaryAt(scanner)
}

/** Whether something stands here that an expression can begin with. */
function startsExpression(scanner: Scanner): boolean {
  const word = scanner.peekWord()
  if (word !== undefined) return word !== 'else' && word !== 'catch' && word !== 'isa'
  return scanner.peekMatch(/[0-9"'([{!-]|\$\{/y) !== undefined
}

function lambdaAt(scanner: Scanner, word: string | undefined): Expression | undefined {
  const start = scanner.at
  let parameters: string[]
  let rest: string | undefined
  if (word !== undefined) {
    if (RESERVED.has(word)) return undefined
    scanner.at += word.length
    if (!scanner.take('=>')) {
      scanner.at = start
      return undefined
    }
    parameters = [word]
  } else {
    if (scanner.text.charCodeAt(scanner.at) !== 0x28) return undefined
    if (!opensParameters(scanner)) return undefined
    scanner.expect('(')
    const found = namesAt(scanner, ')')
    parameters = found.names
    rest = found.rest
    scanner.expect('=>')
  }
  const isBlock = scanner.looksAt('{') && !opensDictionary(scanner)
  return {
    kind: 'lambda',
    parameters,
    rest,
    body: isBlock ? { kind: 'block', block: blockAt(scanner) } : scanner.expression(),
  }
}

/** Whether the bracket that stands here holds names alone and is followed by an arrow. */
function opensParameters(scanner: Scanner): boolean {
  const start = scanner.at
  scanner.expect('(')
  for (;;) {
    const word = scanner.peekWord()
    if (word !== undefined) scanner.at += word.length
    else if (!scanner.take(',') && !scanner.take('...')) break
  }
  const isLambda = scanner.take(')') && scanner.looksAt('=>')
  scanner.at = start
  return isLambda
}

/** SES-24: whether the brace that stands here is followed by a key and a colon. */
function opensDictionary(scanner: Scanner): boolean {
  const start = scanner.at
  scanner.expect('{')
  const isKey = keyAt(scanner) !== undefined
  scanner.at = start
  return isKey
}

function ternaryAt(scanner: Scanner): Expression {
  const test = operationsAt(scanner, 0)
  if (!scanner.looksAt('?') || scanner.looksAt('?.') || scanner.looksAt('??')) return test
  scanner.expect('?')
  const yes = scanner.nested(() => ternaryAt(scanner))
  scanner.expect(':')
  return { kind: 'choice', test, yes, no: scanner.nested(() => ternaryAt(scanner)) }
}

function operationsAt(scanner: Scanner, least: number): Expression {
  let left = unaryAt(scanner)
  const series = scanner.series<Infix>('operations')
  for (;;) {
    const operator = operatorAt(scanner)
    if (operator === undefined || LEVELS[operator] < least) break
    scanner.at += operator.length
    scanner.add(
      series,
      operator === 'isa'
        ? { operator, type: typeNameAt(scanner) }
        : { operator, right: operationsAt(scanner, LEVELS[operator] + 1) },
    )
  }
  let rest: Infix[] | undefined
  let strength = 0
  for (const operation of series.items) {
    const level = LEVELS[operation.operator]
    if (rest && strength === level) rest.push(operation)
    else {
      rest = [operation]
      strength = level
      left = { kind: 'operations', first: left, rest }
    }
  }
  return left
}

function operatorAt(scanner: Scanner): Operator | 'isa' | undefined {
  scanner.skipSpace()
  const code = scanner.text.charCodeAt(scanner.at)
  if (code === 0x69) return scanner.peekWord() === 'isa' ? 'isa' : undefined
  // Letters, digits and closing brackets begin no operator.
  if (code > 0x3f ? code !== 0x7c : code === 0x29 || code === 0x2c || code === 0x3b) return undefined
  return scanner.peekMatch(OPERATOR) as Operator | undefined
}

function typeNameAt(scanner: Scanner): string[] {
  const names = [identifierAt(scanner)]
  while (scanner.looksAt('.') && !scanner.looksAt('...') && !scanner.looksAt('.$')) {
    scanner.expect('.')
    const word = scanner.peekWord() ?? scanner.expected('a name')
    scanner.at += word.length
    names.push(word)
  }
  return names
}

function unaryAt(scanner: Scanner): Expression {
  scanner.skipSpace()
  const character = scanner.at < scanner.end ? scanner.text.charAt(scanner.at) : ''
  if (character !== '-' && (character !== '!' || scanner.looksAt('!='))) return postfixAt(scanner)
  scanner.at++
  return { kind: 'unary', operator: character, operand: scanner.nested(() => unaryAt(scanner)) }
}

function postfixAt(scanner: Scanner): Expression {
  const base = primaryAt(scanner)
  const links = scanner.series<Link>('links')
  for (let link = linkAt(scanner); link; link = linkAt(scanner)) scanner.add(links, link)
  return links.items.length === 0 ? base : { kind: 'chain', base, links: links.items }
}

function linkAt(scanner: Scanner): Link | undefined {
  if (scanner.take('[')) {
    const key = scanner.expression()
    scanner.expect(']')
    return { kind: 'index', key, optional: false }
  }
  const optional = scanner.take('?.')
  if (!optional && (!scanner.looksAt('.') || scanner.looksAt('...'))) return undefined
  if (!optional) scanner.expect('.')
  else if (scanner.take('[')) {
    const key = scanner.expression()
    scanner.expect(']')
    return { kind: 'index', key, optional }
  }
  if (scanner.looksAt('${')) {
    if (optional) scanner.fail('“?.” cannot stand before a selector')
    return { kind: 'select', literal: selectorAt(scanner) }
  }
  scanner.skipSpace()
  const name = scanner.takeMatch(MEMBER) ?? scanner.expected('the name of a member')
  if (!scanner.take('(')) return { kind: 'member', name, optional }
  return { kind: 'method', name, parameters: expressionsAt(scanner, ')'), optional }
}

/** Expressions between commas up to a closing bracket; lists alone may end in a comma. */
function expressionsAt(scanner: Scanner, close: ')' | ']'): Expression[] {
  const found = scanner.series<Expression>('expressions')
  while (!scanner.take(close)) {
    if (found.items.length > 0) {
      scanner.expect(',')
      if (close === ']' && scanner.take(close)) break
    }
    scanner.add(found, scanner.expression())
  }
  return found.items
}

function primaryAt(scanner: Scanner): Expression {
  const word = scanner.peekWord()
  if (word !== undefined) return wordAt(scanner, word)
  if (scanner.at >= scanner.end) return scanner.expected('an expression')
  switch (scanner.text.charAt(scanner.at)) {
    case '"':
    case "'":
      return stringAt(scanner) ?? scanner.expected('a string')
    case '(': {
      scanner.expect('(')
      const inside = scanner.expression()
      scanner.expect(')')
      return inside
    }
    case '[':
      scanner.expect('[')
      return { kind: 'list', items: expressionsAt(scanner, ']') }
    case '{':
      return dictionaryAt(scanner)
    case '$':
      if (!scanner.looksAt('${')) break
      return selectionAt(scanner)
  }
  return numberAt(scanner) ?? scanner.expected('an expression')
}

function wordAt(scanner: Scanner, word: string): Expression {
  switch (word) {
    case 'true':
    case 'false':
    case 'null':
      scanner.takeWord(word)
      return { kind: 'literal', value: word === 'null' ? null : word === 'true' }
    case 'new':
      return scanner.nested(() => constructionAt(scanner))
    case 'if':
      return ifAt(scanner)
    case 'try':
      return tryAt(scanner)
    case 'from': {
      const sources = sourcesAt(scanner)
      return { kind: 'from', sources, block: blockAt(scanner) }
    }
  }
  const name = identifierAt(scanner)
  if (!scanner.take('(')) return { kind: 'name', name }
  return { kind: 'call', name, parameters: expressionsAt(scanner, ')') }
}

function numberAt(scanner: Scanner): Expression | undefined {
  const start = scanner.at
  const first = scanner.text.charCodeAt(start)
  const digits = first >= 0x30 && first <= 0x39 ? scanner.takeMatch(NUMBER) : undefined
  if (digits === undefined) return undefined
  if (digits.includes('.')) {
    const value = Number(digits)
    return Number.isFinite(value) ? { kind: 'literal', value } : scanner.fail('the number is too large', start)
  }
  const significant = first === 0x30 ? digits.replace(/^0+(?=.)/, '') : digits
  const value = significant.length > 19 ? undefined : BigInt(significant)
  if (value === undefined || value > INTEGER_MAX) return scanner.fail(`an integer is at most ${INTEGER_MAX}`, start)
  return { kind: 'literal', value }
}

function dictionaryAt(scanner: Scanner): Expression {
  scanner.expect('{')
  const entries = scanner.series<{ key: string | Expression; value: Expression }>('entries')
  while (!scanner.take('}')) {
    if (entries.items.length > 0) {
      scanner.expect(',')
      if (scanner.take('}')) break
    }
    const isReserved = RESERVED.has(scanner.peekWord() ?? '')
    const key = keyAt(scanner) ?? scanner.expected(`a key${isReserved ? ' in quotes' : ''} and a colon`)
    scanner.add(entries, { key, value: scanner.expression() })
  }
  return { kind: 'dictionary', entries: entries.items }
}

function selectionAt(scanner: Scanner): Expression {
  const literal = selectorAt(scanner)
  const from = scanner.peekWord() === 'from' ? sourcesAt(scanner) : undefined
  return { kind: 'selector', literal, from }
}

/** SES-25: a comma goes on only before what can be nothing but a source. */
function sourcesAt(scanner: Scanner): Expression[] {
  scanner.takeWord('from')
  const sources = scanner.series<Expression>('sources')
  for (;;) {
    const start = scanner.at
    if (sources.items.length > 0) {
      if (!scanner.take(',')) return sources.items
      const word = scanner.peekWord()
      const isSource = word === 'self' || word === 'document' || word === 'prior'
      if (!isSource && !scanner.looksAt('"') && !scanner.looksAt("'")) {
        scanner.at = start
        return sources.items
      }
    }
    scanner.add(
      sources,
      scanner.nested(() => postfixAt(scanner)),
    )
  }
}

function ifAt(scanner: Scanner): Expression {
  const branches = scanner.series<Extract<Expression, { kind: 'if' }>['branches'][number]>('branches')
  while (branches.items.length === 0 || scanner.takeWord('else')) {
    if (!scanner.takeWord('if')) return { kind: 'if', branches: branches.items, otherwise: blockAt(scanner) }
    scanner.expect('(')
    const test = scanner.expression()
    scanner.expect(')')
    scanner.add(branches, { test, block: blockAt(scanner) })
  }
  return { kind: 'if', branches: branches.items, otherwise: undefined }
}

function tryAt(scanner: Scanner): Expression {
  scanner.takeWord('try')
  const block = blockAt(scanner)
  if (!scanner.takeWord('catch')) scanner.expected('“catch”')
  scanner.expect('(')
  const name = identifierAt(scanner)
  scanner.expect(')')
  return { kind: 'try', block, name, handler: blockAt(scanner) }
}
