/** Random syntax trees, such as a parser gives them. */

import fc from 'fast-check'
import {
  type Block,
  type Embedded,
  type Expression,
  type Infix,
  LEVELS,
  type Modifier,
  type Operator,
  type Pattern,
  type Program,
  type SelectorLiteral,
  type Statement,
} from '../../../../pipeline/language/sessel/syntax.ts'
import { printExpression } from './print.ts'

type Arbitrary<T> = fc.Arbitrary<T>

const name = fc.constantFrom('a', 'b', 'f', 'x1', '_y', 'self', 'document', 'request', 'isabel', 'lettuce', 'News')
const member = fc.constantFrom('name', 'is-open', 'new', 'from', 'a_b', 'in-days')
const text = fc.string({
  unit: fc.constantFrom('a', ' ', '"', "'", '\\', '#', '{', '}', '\n', '\t', '\r', '$', 'é', '🍵', '/', '*', ':'),
  maxLength: 6,
})
const rest = fc.option(name, { nil: undefined })

const literal: Arbitrary<Expression> = fc
  .oneof(
    fc.constantFrom(null, true, false),
    fc.bigInt(0n, 9_223_372_036_854_775_807n),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e300 }).map(value => Math.abs(value)),
    text,
  )
  .map(value => ({ kind: 'literal', value }))

const plainName: Arbitrary<Expression> = name.map(each => ({ kind: 'name', name: each }))

const pattern: Arbitrary<Pattern> = fc.oneof(
  name.map((each): Pattern => ({ kind: 'name', name: each })),
  fc.array(fc.record({ key: name, name }), { maxLength: 3 }).map((fields): Pattern => ({ kind: 'fields', fields })),
  fc.record({ kind: fc.constant('items' as const), names: fc.array(name, { maxLength: 2 }), rest }),
)

const OPERATORS = Object.keys(LEVELS).filter(each => each !== 'isa') as Operator[]

/** Operations of one level, as a parser has them in one list. */
function operations(expression: Arbitrary<Expression>): Arbitrary<Expression> {
  const operation = fc.oneof(
    fc.record({ operator: fc.constantFrom(...OPERATORS), right: expression }),
    fc.record({ operator: fc.constant('isa' as const), type: fc.array(name, { minLength: 1, maxLength: 2 }) }),
  )
  return fc.tuple(expression, fc.array(operation, { minLength: 1, maxLength: 3 })).map(([first, all]) => {
    const level = all[0] && LEVELS[all[0].operator]
    const rest: Infix[] = all.filter(each => LEVELS[each.operator] === level)
    return { kind: 'operations', first, rest }
  })
}

/** Text of an embedded value, as it is read: brackets tell values from words and numbers of CSS. */
function embedded(expression: Expression): Embedded {
  const plain = printExpression(expression)
  if (expression.kind === 'name') return { text: plain, expression, names: [plain] }
  const isLiteral = /^(?:["']|[-+.]?[0-9]|-?[A-Za-z_][A-Za-z0-9_-]*$)/.test(plain)
  return { text: isLiteral ? `(${plain})` : plain, expression, names: [] }
}

/** What stands in selectors holds no strings with values in them: their quotes would end the literal (SES-15). */
const simple: Arbitrary<Expression> = fc.letrec<{ simple: Expression }>(tie => ({
  simple: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    plainName,
    fc.bigInt(0n, 99n).map((value): Expression => ({ kind: 'literal', value })),
    fc.constantFrom('a', ']', ')', '}', '').map((value): Expression => ({ kind: 'literal', value })),
    fc.tuple(plainName, member).map(
      ([base, each]): Expression => ({
        kind: 'chain',
        base,
        links: [{ kind: 'member', name: each, optional: false }],
      }),
    ),
    fc
      .tuple(tie('simple'), tie('simple'))
      .map(([test, yes]): Expression => ({ kind: 'choice', test, yes, no: { kind: 'name', name: 'b' } })),
    operations(tie('simple')),
  ),
})).simple

const selector: Arbitrary<SelectorLiteral> = fc
  .array(
    fc.oneof(
      fc.constantFrom<(string | Embedded)[]>(['li'], ['.a'], ['#b'], ['[c="d"]'], [":contains('e')"], [':not(p > q)']),
      simple.map(each => ['[data-x=', embedded(each), ']']),
      simple.map(each => ['[data-x^=', embedded(each), 'i]']),
      simple.map(each => [':contains(', embedded(each), ')']),
      simple.map(each => [':equals(', embedded(each), ', i)']),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map(compounds => {
    const parts: (string | Embedded)[] = []
    for (const part of compounds.flatMap((each, at) => (at === 0 ? each : [' ', ...each]))) {
      const last = parts.at(-1)
      if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
      else parts.push(part)
    }
    return { parts }
  })

const modifier: Arbitrary<Modifier> = fc.oneof(
  fc.record({ kind: fc.constantFrom('class' as const, 'id' as const), name: fc.constantFrom('a', '-b', 'c_d-2') }),
  fc.record({
    kind: fc.constant('attribute' as const),
    prefix: fc.constantFrom(undefined, 'x'),
    name: fc.constantFrom('title', 'data-a', 'a:b'),
    value: fc.option(simple.map(embedded), { nil: undefined }),
  }),
)

interface Trees {
  expression: Expression
  block: Block
  statement: Statement
}

const { statement } = fc.letrec<Trees>((tie: fc.LetrecTypedTie<Trees>) => {
  const inner = tie('expression')
  const block = tie('block')
  const list = fc.array(inner, { maxLength: 3 })
  const optional = fc.boolean()
  const links = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('member' as const), name: member, optional }),
      fc.record({ kind: fc.constant('method' as const), name: member, parameters: list, optional }),
      fc.record({ kind: fc.constant('index' as const), key: inner, optional }),
      fc.record({ kind: fc.constant('select' as const), literal: selector }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  /** SES-25: only these are sources behind a comma. */
  const another = fc.oneof(
    fc.constantFrom('self', 'document', 'prior').map((each): Expression => ({ kind: 'name', name: each })),
    text.map((value): Expression => ({ kind: 'literal', value })),
  )
  const sources = fc.tuple(inner, fc.array(another, { maxLength: 2 })).map(([first, more]) => [first, ...more])
  const template = fc
    .tuple(text, fc.array(fc.tuple(inner, text), { minLength: 1, maxLength: 2 }))
    .map(([first, more]): Expression => {
      const parts = [first, ...more.flat()].filter(part => part !== '')
      return { kind: 'template', parts }
    })
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('member' as const), name: member }),
      fc.record({ kind: fc.constant('index' as const), key: inner }),
    ),
    { minLength: 1, maxLength: 2 },
  )
  const key: Arbitrary<string | Expression> = fc.oneof(
    name,
    template,
    text.map((value): Expression => ({ kind: 'literal', value })),
  )
  return {
    expression: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      literal,
      plainName,
      template,
      list.map((items): Expression => ({ kind: 'list', items })),
      fc
        .array(fc.record({ key, value: inner }), { maxLength: 2 })
        .map((entries): Expression => ({ kind: 'dictionary', entries })),
      fc.record({
        kind: fc.constant('unary' as const),
        operator: fc.constantFrom('!' as const, '-' as const),
        operand: inner,
      }),
      operations(inner),
      fc.record({ kind: fc.constant('choice' as const), test: inner, yes: inner, no: inner }),
      fc.record({
        kind: fc.constant('lambda' as const),
        parameters: fc.array(name, { maxLength: 2 }),
        rest,
        body: fc.oneof(inner, fc.record({ kind: fc.constant('block' as const), block })),
      }),
      fc.record({ kind: fc.constant('let' as const), pattern, value: inner, body: inner }),
      fc.record({ kind: fc.constant('return' as const), value: fc.option(inner, { nil: undefined }) }),
      fc.record({ kind: fc.constant('throw' as const), value: inner }),
      fc.record({
        kind: fc.constant('if' as const),
        branches: fc.array(fc.record({ test: inner, block }), { minLength: 1, maxLength: 2 }),
        otherwise: fc.option(block, { nil: undefined }),
      }),
      fc.record({ kind: fc.constant('try' as const), block, name, handler: block }),
      fc.record({ kind: fc.constant('call' as const), name, parameters: list }),
      fc.record({ kind: fc.constant('chain' as const), base: inner, links }),
      fc.record({
        kind: fc.constant('selector' as const),
        literal: selector,
        from: fc.option(sources, { nil: undefined }),
      }),
      fc.record({ kind: fc.constant('from' as const), sources, block }),
      fc.record({
        kind: fc.constant('construct' as const),
        prefix: fc.constantFrom(undefined, 'svg'),
        name: fc.constantFrom('div', 'my-part', 'h1'),
        modifiers: fc.array(modifier, { maxLength: 2 }),
        items: fc.option(
          fc.array(fc.record({ key: fc.option(fc.oneof(name, text), { nil: undefined }), value: inner }), {
            maxLength: 2,
          }),
          { nil: undefined },
        ),
      }),
    ),
    statement: fc.oneof(
      inner,
      fc.record({ kind: fc.constant('define' as const), pattern, value: inner }),
      fc.record({ kind: fc.constant('assign' as const), target: name, steps, value: inner }),
    ),
    block: fc.array(tie('statement'), { maxLength: 2 }).map(statements => ({ statements })),
  }
})

export const anyProgram: Arbitrary<Program> = fc
  .tuple(
    fc.array(fc.record({ kind: fc.constantFrom('schema' as const, 'namespace' as const), name, url: text }), {
      maxLength: 2,
    }),
    fc.array(statement, { maxLength: 3 }),
  )
  .map(([declarations, statements]) => ({ declarations, body: { statements } }))
