// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** The text of a parsed program: what the parser is judged by (SES-20 to SES-28). */

import { textForm } from '../../../../pipeline/language/sessel/sessel.ts'
import {
  type Block,
  type Embedded,
  type Expression,
  LEVELS,
  type Link,
  type Modifier,
  type Pattern,
  type Program,
  RESERVED,
  type SelectorLiteral,
  type Statement,
} from '../../../../pipeline/language/sessel/syntax.ts'

/** Strengths of what stands somewhere: the operators have those of `LEVELS` in between. */
const ANY = -2
const CHOICE = -1
const UNARY = 6
const POSTFIX = 7
const PRIMARY = 8

export interface PrintOptions {
  /** Brackets around everything that can have them, in place of those that are needed. */
  isBracketed?: boolean
}

export function print({ declarations, body }: Program, options: PrintOptions = {}): string {
  const written = new Printer(options)
  const before = declarations.map(({ kind, name, url }) => `@${kind} ${name} url(${quoted(url)});\n`)
  return `${before.join('')}${written.statements(body)}`
}

export function printExpression(expression: Expression, options: PrintOptions = {}): string {
  return new Printer(options).at(expression, ANY)
}

export function quoted(text: string): string {
  return `"${escaped(text)}"`
}

function escaped(text: string): string {
  return text
    .replace(/["\\#]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\r', '\\r')
}

/** How strongly an expression holds together. */
function strengthOf(expression: Expression): number {
  switch (expression.kind) {
    case 'lambda':
    case 'let':
    case 'return':
    case 'throw':
      return ANY
    case 'choice':
      return CHOICE
    case 'operations':
      return LEVELS[expression.rest[0]?.operator ?? '*']
    case 'unary':
      return UNARY
    case 'chain':
      return POSTFIX
    case 'selector':
      // A comma behind its sources would belong to them.
      return expression.from ? ANY : PRIMARY
    case 'construct':
      // Links and braces behind it would belong to it.
      return expression.items ? PRIMARY : UNARY
  }
  return PRIMARY
}

class Printer {
  readonly #isBracketed: boolean

  constructor({ isBracketed = false }: PrintOptions) {
    this.#isBracketed = isBracketed
  }

  /** An expression where nothing may stand that is weaker than `least`. */
  at(expression: Expression, least: number): string {
    const text = this.#bare(expression)
    return this.#isBracketed || strengthOf(expression) < least ? `(${text})` : text
  }

  statements({ statements }: Block): string {
    return statements.map(each => `${this.#statement(each)};`).join(' ')
  }

  #statement(statement: Statement): string {
    switch (statement.kind) {
      case 'define':
        return `let ${pattern(statement.pattern)} = ${this.at(statement.value, ANY)}`
      case 'assign': {
        const steps = statement.steps.map(step =>
          step.kind === 'member' ? `.${step.name}` : `[${this.at(step.key, ANY)}]`,
        )
        return `${statement.target}${steps.join('')} = ${this.at(statement.value, ANY)}`
      }
      case 'let':
        return `(${this.#bare(statement)})`
    }
    return this.at(statement, ANY)
  }

  #block(block: Block): string {
    return `{ ${this.statements(block)} }`
  }

  #list(expressions: readonly Expression[]): string {
    return expressions.map(each => this.#item(each)).join(', ')
  }

  /** An expression before a comma. */
  #item(expression: Expression): string {
    const text = this.at(expression, ANY)
    return endsInSources(expression) && !this.#isBracketed ? `(${text})` : text
  }

  #bare(expression: Expression): string {
    switch (expression.kind) {
      case 'literal':
        return literal(expression.value)
      case 'template': {
        const parts = expression.parts.map(part =>
          typeof part === 'string' ? escaped(part) : `#{${this.at(part, ANY)}}`,
        )
        return `"${parts.join('')}"`
      }
      case 'name':
        return expression.name
      case 'list':
        return `[${this.#list(expression.items)}]`
      case 'dictionary': {
        const entries = expression.entries.map(({ key, value }) => {
          const name = typeof key === 'string' ? key : this.#bare(key)
          return `${name}: ${this.#item(value)}`
        })
        return `{${entries.join(', ')}}`
      }
      case 'unary':
        return `${expression.operator}${this.at(expression.operand, UNARY)}`
      case 'operations': {
        const level = strengthOf(expression)
        const rest = expression.rest.map(each =>
          each.operator === 'isa' ? `isa ${each.type.join('.')}` : `${each.operator} ${this.at(each.right, level + 1)}`,
        )
        return `${this.at(expression.first, level + 1)} ${rest.join(' ')}`
      }
      case 'choice': {
        const { test, yes, no } = expression
        return `${this.at(test, 0)} ? ${this.at(yes, CHOICE)} : ${this.at(no, CHOICE)}`
      }
      case 'lambda':
        return this.#lambda(expression)
      case 'let':
        return `let ${pattern(expression.pattern)} = ${this.at(expression.value, ANY)}; ${this.at(expression.body, ANY)}`
      case 'return':
        return expression.value ? `return ${this.at(expression.value, ANY)}` : 'return'
      case 'throw':
        return `throw ${this.at(expression.value, ANY)}`
      case 'if': {
        const branches = expression.branches.map(
          ({ test, block }) => `if (${this.at(test, ANY)}) ${this.#block(block)}`,
        )
        return [...branches, ...(expression.otherwise ? [this.#block(expression.otherwise)] : [])].join(' else ')
      }
      case 'try':
        return `try ${this.#block(expression.block)} catch (${expression.name}) ${this.#block(expression.handler)}`
      case 'call':
        return `${expression.name}(${this.#list(expression.parameters)})`
      case 'chain':
        return `${this.at(expression.base, PRIMARY)}${expression.links.map(each => this.#link(each)).join('')}`
      case 'selector':
        return `${this.#selector(expression.literal)}${expression.from ? ` from ${this.#sources(expression.from)}` : ''}`
      case 'from':
        return `from ${this.#sources(expression.sources)} ${this.#block(expression.block)}`
      case 'construct': {
        const { prefix, name, modifiers, items } = expression
        const content = items?.map(
          ({ key, value }) => `${key === undefined ? '' : `${keyText(key)}: `}${this.#item(value)}`,
        )
        const tag = prefix === undefined ? name : `${prefix}|${name}`
        return `new ${tag}${modifiers.map(each => this.#modifier(each)).join('')}${content ? ` {${content.join(', ')}}` : ''}`
      }
    }
  }

  #lambda({ parameters, rest, body }: Extract<Expression, { kind: 'lambda' }>): string {
    const names = [...parameters, ...(rest === undefined ? [] : [`...${rest}`])]
    if (body.kind === 'block') return `(${names.join(', ')}) => ${this.#block(body.block)}`
    const text = this.at(body, ANY)
    // An empty dictionary would be a block.
    return `(${names.join(', ')}) => ${text.startsWith('{}') ? `(${text})` : text}`
  }

  /** Sources behind the first have to be told from what follows a comma: they stand without brackets. */
  #sources(sources: readonly Expression[]): string {
    return sources.map((each, at) => (at === 0 ? this.at(each, POSTFIX) : this.#bare(each))).join(', ')
  }

  #link(link: Link): string {
    switch (link.kind) {
      case 'member':
        return `${link.optional ? '?.' : '.'}${link.name}`
      case 'method':
        return `${link.optional ? '?.' : '.'}${link.name}(${this.#list(link.parameters)})`
      case 'index':
        return `${link.optional ? '?.' : ''}[${this.at(link.key, ANY)}]`
      case 'select':
        return `.${this.#selector(link.literal)}`
    }
  }

  #selector({ parts }: SelectorLiteral): string {
    const written = parts.map((part, at) => {
      if (typeof part !== 'string') return this.embedded(part)
      // A flag behind a value.
      return at > 0 && /^[a-z]/i.test(part) ? ` ${part}` : part
    })
    return `\${${written.join('')}}`
  }

  embedded({ text, expression, names }: Embedded): string {
    if (!expression || names.length > 0) return text
    const plain = this.at(expression, ANY)
    // Without brackets these would be literal text of the selector.
    return /^(?:["']|[-+.]?[0-9]|-?[A-Za-z_][A-Za-z0-9_-]*$)/.test(plain) ? `(${plain})` : plain
  }

  #modifier(modifier: Modifier): string {
    if (modifier.kind !== 'attribute') return `${modifier.kind === 'class' ? '.' : '#'}${modifier.name}`
    const { prefix, name, value } = modifier
    const written = prefix === undefined ? name : `${prefix}|${name}`
    return value ? `[${written}=${this.embedded(value)}]` : `[${written}]`
  }
}

/** Whether an expression ends in what goes on behind a comma. */
function endsInSources(expression: Expression): boolean {
  switch (expression.kind) {
    case 'selector':
      return expression.from !== undefined
    case 'lambda':
      return expression.body.kind !== 'block' && endsInSources(expression.body)
    case 'let':
      return endsInSources(expression.body)
    case 'return':
      return expression.value !== undefined && endsInSources(expression.value)
    case 'throw':
      return endsInSources(expression.value)
  }
  return false
}

function literal(value: null | boolean | bigint | number | string): string {
  if (typeof value === 'string') return quoted(value)
  const text = value === null ? 'null' : textForm(value, () => undefined)
  return typeof value === 'number' && !text.includes('.') ? `${text}.0` : text
}

function keyText(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) && !RESERVED.has(key) ? key : quoted(key)
}

function pattern(given: Pattern): string {
  switch (given.kind) {
    case 'name':
      return given.name
    case 'fields':
      return `{ ${given.fields.map(({ key, name }) => (key === name ? key : `${key}: ${name}`)).join(', ')} }`
    case 'items':
      return `[${[...given.names, ...(given.rest === undefined ? [] : [`...${given.rest}`])].join(', ')}]`
  }
}
