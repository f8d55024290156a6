import { expect } from 'chai'
import fc from 'fast-check'
import type { Temporal } from 'temporal-polyfill'
import { temporal } from '../../../../pipeline/language/sessel/temporal-value.ts'
import { became } from './site.ts'

const MAX = 9_223_372_036_854_775_807n
const integer = fc.oneof(fc.bigInt(-MAX, MAX), fc.bigInt(-10n, 10n), fc.constantFrom(MAX, -MAX, 0n, 1n, -1n))
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'B', ' ', '-', 'é', 'e\u0301', '🍵', '\ud83c', 'ß', ',') })
const place = fc.integer({ min: -8, max: 8 })

/** A text as a literal. */
function literal(value: string): string {
  return `"${value.replace(/["\\#]/g, '\\$&')}"`
}

const written = (value: bigint) => (value < 0n ? `(0 - ${-value})` : String(value))

async function holds(program: string, expected: string): Promise<void> {
  expect(await became(program), program).to.equal(expected)
}

const RUNS = { numRuns: 150 }

describe('Sessel, by properties', () => {
  it('SES-51 integers are exact, or overflow', async () => {
    const operators = [
      ['+', (a: bigint, b: bigint) => a + b],
      ['-', (a: bigint, b: bigint) => a - b],
      ['*', (a: bigint, b: bigint) => a * b],
      ['/', (a: bigint, b: bigint) => (b === 0n ? undefined : a / b)],
    ] as const
    await fc.assert(
      fc.asyncProperty(integer, integer, fc.constantFrom(...operators), async (a, b, [operator, calculate]) => {
        const result = calculate(a, b)
        const found = await became(`${written(a)} ${operator} ${written(b)}`)
        if (result === undefined) expect(found).to.equal('!RuntimeError: division by zero')
        else if (BigInt.asIntN(64, result) !== result) expect(found).to.equal('!RuntimeError: integer overflow')
        else expect(found).to.equal(String(result))
      }),
      RUNS,
    )
  })

  it('SES-64 SES-232 floats read back as they were', async () => {
    await fc.assert(
      fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), async value => {
        const digits = await became(`"#{x}"`.replace('x', floatProgram(value)))
        expect(Object.is(Number(JSON.parse(digits)), value)).to.equal(true)
        expect(digits).not.to.match(/[eE]/)
        expect(Object.is(Number(await became(floatProgram(value))), value)).to.equal(true)
      }),
      RUNS,
    )
  })

  it('SES-75 strings go by code point', async () => {
    await fc.assert(
      fc.asyncProperty(text, place, place, async (value, from, to) => {
        const points = [...value]
        await holds(`${literal(value)}.count()`, String(points.length))
        await holds(`${literal(value)}.slice(${from}, ${to}) == ${literal(points.slice(from, to).join(''))}`, 'true')
        await holds(`${literal(value)}.split("").count()`, String(points.length))
        await holds(`${literal(value)}.split("").join("") == ${literal(value)}`, 'true')
      }),
      RUNS,
    )
  })

  it('SES-75 parts of strings are those of the host', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, text, async (value, part, other) => {
        await holds(`${literal(value)}.contains(${literal(part)})`, String(value.includes(part)))
        if (part === '') return
        const replaced = value.split(part).join(other)
        await holds(`${literal(value)}.replace(${literal(part)}, ${literal(other)}) == ${literal(replaced)}`, 'true')
        await holds(`${literal(value)}.split(${literal(part)}).count()`, String(value.split(part).length))
      }),
      RUNS,
    )
  })

  it('SES-53 strings are ordered by code point', async () => {
    const order = (a: string, b: string) => {
      const [x, y] = [a, b].map(each => Array.from(each, point => point.codePointAt(0) ?? 0))
      for (let at = 0; ; at++) {
        const [left, right] = [x?.[at], y?.[at]]
        if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? -1 : 1
        if (left !== right) return left < right ? -1 : 1
      }
    }
    await fc.assert(
      fc.asyncProperty(text, text, async (a, b) => {
        await holds(`${literal(a)} <=> ${literal(b)}`, String(order(a, b)))
      }),
      RUNS,
    )
  })

  it('SES-80 lists do what those of the host do', async () => {
    const list = fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(list, place, place, async (values, from, to) => {
        const program = `[${values.join(', ')}]`
        const json = (result: unknown) => JSON.stringify(result)
        await holds(`${program}.map(x => x * 2)`, json(values.map(x => x * 2 + 0)))
        await holds(`${program}.filter(x => x > 0)`, json(values.filter(x => x > 0)))
        await holds(`${program}.slice(${from}, ${to})`, json(values.slice(from, to)))
        await holds(`${program}.at(${from})`, json(values.at(from) ?? null))
        await holds(`${program}.sort()`, json(values.toSorted((a, b) => a - b)))
        await holds(`${program}.sort((a, b) => b - a)`, json(values.toSorted((a, b) => b - a)))
        await holds(`${program}.reverse()`, json(values.toReversed()))
        await holds(`${program}.sum()`, json(values.reduce((a, b) => a + b, 0)))
        await holds(`${program}.unique()`, json([...new Set(values)]))
        await holds(`${program}.reduce(100, (a, x) => a - x)`, json(values.reduce((a, x) => a - x, 100)))
        await holds(
          `${program}.takeWhile(x => x < 3)`,
          json(
            values.slice(
              0,
              Math.max(
                0,
                [...values, 9].findIndex(x => x >= 3),
              ),
            ),
          ),
        )
        await holds(`${program}.any(x => x == 1)`, json(values.includes(1)))
        await holds(`${program}.max()`, json(values.length === 0 ? null : Math.max(...values)))
      }),
      { numRuns: 60 },
    )
  })

  it('SES-82 sorting is stable', async () => {
    const list = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(list, async keys => {
        const items = keys.map((key, at) => ({ key, at }))
        const sorted = items.toSorted((a, b) => a.key - b.key).map(({ at }) => at)
        const program = `[${items.map(({ key, at }) => `{ k: ${key}, at: ${at} }`).join(', ')}]`
        await holds(`${program}.sort(d => d.k).map(d => d.at)`, JSON.stringify(sorted))
      }),
      { numRuns: 60 },
    )
  })

  it('SES-192 SES-193 dates are those of the library', async () => {
    const date = fc.record({
      year: fc.integer({ min: 1600, max: 2400 }),
      month: fc.integer({ min: 1, max: 12 }),
      day: fc.integer({ min: 1, max: 28 }),
    })
    const span = fc.record({ months: fc.integer({ min: 0, max: 40 }), days: fc.integer({ min: 0, max: 400 }) })
    await fc.assert(
      fc.asyncProperty(date, date, span, async (a, b, { months, days }) => {
        const { PlainDate } = temporal()
        const [x, y] = [PlainDate.from(a), PlainDate.from(b)]
        const own = (each: Temporal.PlainDate) => `Temporal.PlainDate.from("${each}")`
        const added = x.add({ months, days })
        await holds(`${own(x)}.add({ months: ${months}, days: ${days} })`, `"${added}"`)
        await holds(`${own(x)}.until(${own(y)})`, `"${x.until(y)}"`)
        await holds(`${own(x)} < ${own(y)}`, String(PlainDate.compare(x, y) < 0))
      }),
      { numRuns: 60 },
    )
  })

  it('SES-28 text is a program or is refused with its place', async () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '(',
      ')',
      '[',
      ']',
      '"',
      "'",
      '${',
      '#{',
      '=>',
      'new a',
      'let ',
      ';',
      '.',
      '?.',
      '1',
      'a',
      '|',
      '@',
      '\n',
      '🍵',
      ' ',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 30 }), async parts => {
        const found = await became(parts.join(''))
        if (found.startsWith('!parse')) expect(found).to.match(/^!parse: line \d+, column \d+: ./)
      }),
      { numRuns: 1_000 },
    )
  })
})

/** A program that gives a float whose digits need an exponent. */
function floatProgram(value: number): string {
  const [digits = '0', power = '0'] = Math.abs(value).toExponential().split('e')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const [whole = '0', fraction = ''] = digits.split('.')
  const exponent = Number(power)
  const plain =
    exponent >= 0
      ? `${(whole + fraction).padEnd(exponent + 1, '0').slice(0, exponent + 1)}.${(whole + fraction).slice(exponent + 1) || '0'}`
      : `0.${'0'.repeat(-exponent - 1)}${whole}${fraction}`
  return `(${sign}${plain})`
}
