/** Whether a program may name something by where it stands itself (SES-125, SES-181). In doubt it does. */

import type { Steps } from '../../tree/steps.ts'
import { SesselSyntaxError } from './failure.ts'
import { parsing } from './parse.ts'
import type { Expression, Link, Pattern, Program, Statement } from './syntax.ts'

/**
 * What every program has that names anything by a path: a source, which a number may stand before, an import, or a method of
 * what other code has imported and left in `Context`.
 */
const MAY_NAME = /@|from|\b(?:GET|PUT|DELETE|execute)\b/

/** Members of the platform interface, and what a selector looks by, with the place of the path among their parameters. */
const PATH_AT: ReadonlyMap<string, number> = new Map([
  ['GET', 0],
  ['PUT', 1],
  ['DELETE', 0],
  ['execute', 0],
])

/** Nodes that are looked at in one step. */
const IN_A_STEP = 500

/**
 * @param source of the program
 * @param ns namespace of the installation
 */
export function* namesRelatively(source: string, ns: string): Steps<boolean> {
  if (!MAY_NAME.test(source)) return false
  let program: Program
  try {
    program = yield* parsing(source)
  } catch (error) {
    if (error instanceof SesselSyntaxError) return true
    throw error
  }
  const { declarations, body } = program
  // Where a selector that is a value looks is said elsewhere.
  if (declarations.some(({ name, url }) => name === 'self' || url === `${ns}/Selector`)) return true
  const platform = new Set(declarations.filter(({ url }) => url === `${ns}/1.0`).map(({ name }) => name))
  const open: unknown[] = [body]
  for (let seen = 1; open.length > 0; seen++) {
    if (seen % IN_A_STEP === 0) yield
    const node = open.pop()
    if (typeof node !== 'object' || node === null) continue
    const links = 'kind' in node ? callOf(node as Expression, platform) : undefined
    if ('kind' in node && isRelative(node as Expression | Statement | Link, platform)) return true
    for (const part of links ?? Object.values(node)) open.push(part)
  }
  return false
}

/** A use of the platform interface that is nothing but a call of one of its members. */
function callOf(node: Expression, platform: ReadonlySet<string>): Link[] | undefined {
  if (node.kind !== 'chain' || node.base.kind !== 'name' || !platform.has(node.base.name)) return undefined
  const [first] = node.links
  return first?.kind === 'method' && PATH_AT.has(first.name) ? node.links : undefined
}

/** Whether a node names something relatively, or is what code elsewhere can do so by. */
function isRelative(node: Expression | Statement | Link, platform: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'selector':
      return node.from?.every(isAbsoluteSource) === false
    case 'from':
      return !node.sources.every(isAbsoluteSource)
    case 'method':
      return namesPath(node)
    case 'name':
    case 'call':
    case 'construct':
      return platform.has(node.name)
    case 'define':
    case 'let':
      return namesIn(node.pattern).includes('self')
    case 'lambda':
      return [...node.parameters, node.rest].includes('self')
    case 'try':
      return node.name === 'self'
  }
  return false
}

function namesPath({ name, parameters }: Extract<Link, { kind: 'method' }>): boolean {
  const at = PATH_AT.get(name)
  if (at === undefined) return false
  const path = parameters[at]
  // Without a source a selector looks at `self`.
  return name === 'execute' ? path !== undefined && !isAbsoluteSource(path) : !isAbsolute(path)
}

function namesIn(pattern: Pattern): (string | undefined)[] {
  if (pattern.kind === 'name') return [pattern.name]
  return pattern.kind === 'fields' ? pattern.fields.map(({ name }) => name) : [...pattern.names, pattern.rest]
}

/** `self` is no text: what is bound to that name otherwise was looked for. */
function isAbsoluteSource(source: Expression): boolean {
  if (source.kind === 'list') return source.items.every(isAbsoluteSource)
  return (source.kind === 'name' && source.name === 'self') || isAbsolute(source)
}

/** Whether a value is surely a text that begins with a slash, where it is a text. */
function isAbsolute(value: Expression | undefined): boolean {
  switch (value?.kind) {
    case 'literal':
      return typeof value.value === 'string' && value.value.startsWith('/')
    case 'template': {
      const [first] = value.parts
      return typeof first === 'string' && first.startsWith('/')
    }
    case 'operations':
      return isAbsolute(value.first) && value.rest.every(({ operator }) => operator === '+')
  }
  return false
}
