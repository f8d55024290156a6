/** Text to syntax tree (SES-20 to SES-28): recursive descent without a separate lexer. */

import { SesselSyntaxError } from './failure.ts'
import { constructionAt } from './parse-construction.ts'
import { blockAt, selectorAt, stringAt } from './parse-parts.ts'
import { MAX_SOURCE, Scanner, Unreadable } from './scan.ts'
import {
  type Declaration,
  type Expression,
  LEVELS,
  type Link,
  type Operation,
  type Operator,
  type Pattern,
  type Program,
  positionAt,
  RESERVED,
  type Statement,
  type Step,
} from './syntax.ts'

const INTEGER_MAX = 9_223_372_036_854_775_807n
const NUMBER = /[0-9]+(\.[0-9]+)?/y
const MEMBER = /[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z_][A-Za-z0-9_]*)*/y
const OPERATOR = /<=>|[=!<>]=|&&|\|\||\?\?|[-+*/<>]/y

/**
 * Parses a program.
 *
 * @param text at most 256 KiB of UTF-8
 * @throws SesselSyntaxError with the position of the first thing that does not belong (SES-28)
 */
export function parse(text: string): Program {
  const scanner = new Scanner(text)
  try {
    return programAt(scanner)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    throw new SesselSyntaxError(error.message, positionAt(text, error.at))
  }
}

function programAt(scanner: Scanner): Program {
  if (Buffer.byteLength(scanner.text) > MAX_SOURCE) scanner.fail(`a program has at most ${MAX_SOURCE / 1024} KiB`)
  const declarations: Declaration[] = []
  for (let found = declarationAt(scanner); found; found = declarationAt(scanner)) declarations.push(found)
  const statements = statementsAt(scanner)
  scanner.skipSpace()
  if (scanner.at < scanner.end) {
    if (scanner.looksAt('@')) scanner.fail('declarations stand before all statements')
    scanner.expected('a statement')
  }
  return { declarations, body: { statements } }
}

function declarationAt(scanner: Scanner): Declaration | undefined {
  const start = scanner.at
  if (!scanner.take('@')) return undefined
  const word = scanner.peekWord()
  if (word !== 'schema' && word !== 'namespace') return scanner.fail('expected “@schema” or “@namespace”', start)
  scanner.takeWord(word)
  const name = identifierAt(scanner)
  if (!scanner.takeWord('url')) scanner.expected('“url(…)”')
  scanner.expect('(')
  scanner.skipSpace()
  const url = stringAt(scanner)
  if (url?.kind !== 'literal' || typeof url.value !== 'string') return scanner.expected('a string')
  scanner.expect(')')
  scanner.take(';')
  return { kind: word, name, url: url.value }
}

/** Statements up to what no statement begins with. */
export function statementsAt(scanner: Scanner): Statement[] {
  const statements: Statement[] = []
  for (;;) {
    scanner.skipSpace()
    const next = scanner.at < scanner.end ? scanner.text.charAt(scanner.at) : ''
    if (next === '' || next === '}' || next === '@') return statements
    statements.push(statementAt(scanner))
    scanner.take(';')
  }
}

function statementAt(scanner: Scanner): Statement {
  if (scanner.takeWord('let')) {
    const pattern = patternAt(scanner)
    scanner.expect('=')
    return { kind: 'define', pattern, value: expressionAt(scanner) }
  }
  const start = scanner.at
  const left = expressionAt(scanner)
  if (!scanner.looksAt('=') || scanner.looksAt('==') || scanner.looksAt('=>')) return left
  if (left.kind === 'name') return scanner.fail('“=” assigns to members alone: use “let” to name a value')
  const steps = left.kind === 'chain' && left.base.kind === 'name' ? assignable(left.links) : undefined
  if (left.kind !== 'chain' || left.base.kind !== 'name' || !steps)
    return scanner.fail('this cannot be assigned to', start)
  scanner.expect('=')
  return { kind: 'assign', target: left.base.name, steps, value: expressionAt(scanner) }
}

function assignable(links: readonly Link[]): Step[] | undefined {
  const steps: Step[] = []
  for (const link of links) {
    if (link.kind === 'select' || link.kind === 'method' || link.optional) return undefined
    steps.push(link.kind === 'member' ? { kind: 'member', name: link.name } : { kind: 'index', key: link.key })
  }
  return steps
}

function patternAt(scanner: Scanner): Pattern {
  if (scanner.take('{')) {
    const fields: { key: string; name: string }[] = []
    while (!scanner.take('}')) {
      const key = identifierAt(scanner)
      fields.push({ key, name: scanner.take(':') ? identifierAt(scanner) : key })
      if (scanner.take(',')) continue
      scanner.expect('}')
      break
    }
    return { kind: 'fields', fields }
  }
  if (scanner.take('[')) return { kind: 'items', ...namesAt(scanner, ']') }
  return { kind: 'name', name: identifierAt(scanner) }
}

/** Names with at most one rest, at the end (SES-27). */
function namesAt(scanner: Scanner, close: ')' | ']'): { names: string[]; rest: string | undefined } {
  const names: string[] = []
  let rest: string | undefined
  while (!scanner.take(close)) {
    if (rest !== undefined) scanner.fail('a rest stands last, and there is one')
    if (scanner.take('...')) rest = identifierAt(scanner)
    else names.push(identifierAt(scanner))
    if (scanner.take(close)) break
    scanner.expect(',')
    // Only patterns may end in a comma.
    if (close === ')' && scanner.looksAt(close)) scanner.expected('a name')
  }
  return { names, rest }
}

export function identifierAt(scanner: Scanner): string {
  const word = scanner.peekWord()
  if (word === undefined) return scanner.expected('a name')
  if (RESERVED.has(word)) return scanner.fail(`“${word}” is reserved and cannot be a name`)
  scanner.at += word.length
  return word
}

export function expressionAt(scanner: Scanner): Expression {
  return scanner.nested(() => wholeExpression(scanner))
}

function wholeExpression(scanner: Scanner): Expression {
  const word = scanner.peekWord()
  switch (word) {
    case 'let': {
      scanner.takeWord('let')
      const pattern = patternAt(scanner)
      scanner.expect('=')
      const value = expressionAt(scanner)
      scanner.expect(';')
      return { kind: 'let', pattern, value, body: expressionAt(scanner) }
    }
    case 'return':
      scanner.takeWord('return')
      return { kind: 'return', value: startsExpression(scanner) ? expressionAt(scanner) : undefined }
    case 'throw':
      scanner.takeWord('throw')
      return { kind: 'throw', value: expressionAt(scanner) }
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
    body: isBlock ? { kind: 'block', block: blockAt(scanner) } : expressionAt(scanner),
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

/** A key with its colon, if one stands here. */
export function keyAt(scanner: Scanner): string | Expression | undefined {
  const start = scanner.at
  const word = scanner.peekWord()
  const key = word === undefined ? stringAt(scanner) : RESERVED.has(word) ? undefined : word
  if (word !== undefined) scanner.at += word.length
  if (key !== undefined && scanner.take(':')) return key
  scanner.at = start
  return undefined
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
  let rest: Operation[] | undefined
  let strength = 0
  for (;;) {
    const operator = operatorAt(scanner)
    if (operator === undefined || LEVELS[operator] < least) return left
    scanner.at += operator.length
    const level = LEVELS[operator]
    const operation: Operation =
      operator === 'isa'
        ? { operator, type: typeNameAt(scanner) }
        : { operator, right: operationsAt(scanner, level + 1) }
    if (rest && strength === level) rest.push(operation)
    else {
      rest = [operation]
      strength = level
      left = { kind: 'operations', first: left, rest }
    }
  }
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

export function postfixAt(scanner: Scanner): Expression {
  const base = primaryAt(scanner)
  const links: Link[] = []
  for (let link = linkAt(scanner); link; link = linkAt(scanner)) links.push(link)
  return links.length === 0 ? base : { kind: 'chain', base, links }
}

function linkAt(scanner: Scanner): Link | undefined {
  if (scanner.take('[')) {
    const key = expressionAt(scanner)
    scanner.expect(']')
    return { kind: 'index', key, optional: false }
  }
  const optional = scanner.take('?.')
  if (!optional && (!scanner.looksAt('.') || scanner.looksAt('...'))) return undefined
  if (!optional) scanner.expect('.')
  else if (scanner.take('[')) {
    const key = expressionAt(scanner)
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

/** Expressions between commas up to a closing bracket. */
function expressionsAt(scanner: Scanner, close: ')' | ']'): Expression[] {
  const found: Expression[] = []
  if (scanner.take(close)) return found
  for (;;) {
    found.push(expressionAt(scanner))
    if (scanner.take(close)) return found
    scanner.expect(',')
    // Only lists may end in a comma.
    if (close === ']' && scanner.take(close)) return found
  }
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
      const inside = expressionAt(scanner)
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
  const entries: { key: string | Expression; value: Expression }[] = []
  while (!scanner.take('}')) {
    const key = keyAt(scanner) ?? scanner.expected('a key and a colon')
    entries.push({ key, value: expressionAt(scanner) })
    if (scanner.take(',')) continue
    scanner.expect('}')
    break
  }
  return { kind: 'dictionary', entries }
}

function selectionAt(scanner: Scanner): Expression {
  const literal = selectorAt(scanner)
  const from = scanner.peekWord() === 'from' ? sourcesAt(scanner) : undefined
  return { kind: 'selector', literal, from }
}

/** SES-25: a comma goes on only before what can be nothing but a source. */
function sourcesAt(scanner: Scanner): Expression[] {
  scanner.takeWord('from')
  const sources = [scanner.nested(() => postfixAt(scanner))]
  for (;;) {
    const start = scanner.at
    if (!scanner.take(',')) return sources
    const word = scanner.peekWord()
    const isSource = word === 'self' || word === 'document' || word === 'prior'
    if (!isSource && !scanner.looksAt('"') && !scanner.looksAt("'")) {
      scanner.at = start
      return sources
    }
    sources.push(scanner.nested(() => postfixAt(scanner)))
  }
}

function ifAt(scanner: Scanner): Expression {
  const branches: Extract<Expression, { kind: 'if' }>['branches'] = []
  while (scanner.takeWord('if')) {
    scanner.expect('(')
    const test = expressionAt(scanner)
    scanner.expect(')')
    branches.push({ test, block: blockAt(scanner) })
    if (!scanner.takeWord('else')) return { kind: 'if', branches, otherwise: undefined }
  }
  return { kind: 'if', branches, otherwise: blockAt(scanner) }
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
