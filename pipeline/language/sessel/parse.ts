/** Text to syntax tree (SES-20 to SES-28): recursive descent without a separate lexer. */

import { atOnce, type Steps } from '../../tree/steps.ts'
import { SesselSyntaxError } from './failure.ts'
import { expressionAt } from './parse-expression.ts'
import { identifierAt, patternAt } from './parse-names.ts'
import { stringAt } from './parse-parts.ts'
import { type Grammar, MAX_SOURCE, Pause, Scanner, Unreadable } from './scan.ts'
import { type Declaration, type Link, type Program, positionAt, type Statement, type Step } from './syntax.ts'

/** What parts of the grammar contain each other by. */
const GRAMMAR: Grammar = { expression: expressionAt, statements: statementsAt }

/**
 * Parses a program.
 *
 * @param text at most 256 KiB of UTF-8
 * @throws SesselSyntaxError with the position of the first thing that does not belong (SES-28)
 */
export function parse(text: string): Program {
  return atOnce(parsing(text))
}

/** `parse` in steps: a long text is read again from its start behind each pause, but what was read before is known. */
export function* parsing(text: string): Steps<Program> {
  const scanner = new Scanner(text, GRAMMAR)
  for (;;) {
    try {
      return programAt(scanner)
    } catch (error) {
      if (error instanceof Unreadable) throw new SesselSyntaxError(error.message, positionAt(text, error.at))
      if (!(error instanceof Pause)) throw error
    }
    yield
    scanner.restart()
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
function statementsAt(scanner: Scanner): Statement[] {
  const statements = scanner.series<Statement>('statements')
  for (;;) {
    scanner.skipSpace()
    const next = scanner.at < scanner.end ? scanner.text.charAt(scanner.at) : ''
    if (next === '' || next === '}' || next === '@') return statements.items
    const statement = statementAt(scanner)
    scanner.take(';')
    scanner.add(statements, statement)
  }
}

function statementAt(scanner: Scanner): Statement {
  if (scanner.takeWord('let')) {
    const pattern = patternAt(scanner)
    scanner.expect('=')
    return { kind: 'define', pattern, value: expressionAt(scanner) }
  }
  const start = scanner.at
  const left = scanner.expression()
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
