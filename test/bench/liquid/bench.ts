/** Templates: how long they take to render and to parse, and where the dialect differs from liquidjs as it comes. */

import { writeFileSync } from 'node:fs'
import { Liquid } from 'liquidjs'
import { Allowance } from '../../../pipeline/language/allowance.ts'
import { compileTemplate, renderTemplate } from '../../../pipeline/language/liquid/liquid.ts'
import type { Value } from '../../../pipeline/language/values.ts'
import type { Row } from '../support/table.ts'
import { CORPUS } from './corpus.ts'
import { differences, differenceTable } from './differences.ts'
import { SUITE, suiteDifferences, suiteTable } from './suite.ts'

export const LIQUID_HEAD: Row = ['Work', 'Dialect', 'liquidjs', 'Target']

const FIELDS = ['a', 'b', 'c', 'd', 'e', 'f']
const CELLS = FIELDS.map(name => `<td>{{ row.${name} }}</td>`).join('')
const ROWS = `{% for row in rows %}<tr>${CELLS}</tr>\n{% endfor %}`
const CONTEXT = { kind: 'html', element: 'tbody' } as const

const INTRODUCTION = `# Where the dialect differs from liquidjs

\`npm run bench -- liquid\` renders ${CORPUS.length} templates with liquidjs as it comes (output escaped) and with the dialect. These differ:

`

const SUITE_INTRODUCTION = `# Where the dialect differs from the suite of the package liquid

\`suite.json\` holds ${SUITE.length} cases of the tests that the npm package \`liquid\` 5.1.1 ships (MIT licence). \`npm run bench -- liquid\` runs them. These differ:

`

export async function benchLiquid(say: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = []
  for (const [count, runs, target] of [
    [20, 3_000, 'under 0.3 ms'],
    [1_000, 100, 'under 10 ms'],
  ] as const) {
    say(`${count} rows`)
    rows.push([`${count} rows of six fields`, await ours(count, runs), await stock(count, runs), target])
  }
  say('parsing')
  rows.push(['parsing 100 KB', ...parsing(), 'once'])
  rows.push(['finding it parsed already', again(), '', 'no second parse'])
  const list = await differences()
  rows.push([`${CORPUS.length} templates compared`, `${list.length} differ`, '', 'a reason for each'])
  const others = await suiteDifferences()
  rows.push([`${SUITE.length} cases of a public suite`, `${others.length} differ`, '', 'a reason for each'])
  if (process.argv.includes('--write')) {
    writeFileSync(new URL('differences.md', import.meta.url), INTRODUCTION + (await differenceTable()))
    writeFileSync(new URL('suite.md', import.meta.url), SUITE_INTRODUCTION + (await suiteTable()))
  }
  return rows
}

async function ours(count: number, runs: number): Promise<string> {
  const data: Value[] = Array.from({ length: count }, (_, i) => new Map(FIELDS.map(name => [name, `${name}<${i}>`])))
  const scope = {
    lookup: (name: string) => (name === 'rows' ? data : undefined),
    property: () => undefined,
    propertyNames: () => [],
    ns: 'https://ns.example',
    now: 0,
  }
  const template = compileTemplate(ROWS, CONTEXT)
  return timed(runs, () => renderTemplate(template, scope, new Allowance()))
}

async function stock(count: number, runs: number): Promise<string> {
  const engine = new Liquid({ outputEscape: 'escape', templates: {} })
  const template = engine.parse(ROWS)
  const rows = Array.from({ length: count }, (_, i) => Object.fromEntries(FIELDS.map(name => [name, `${name}<${i}>`])))
  return timed(runs, () => engine.render(template, { rows }))
}

async function timed(runs: number, work: () => unknown): Promise<string> {
  for (let i = 0; i < runs; i++) await work()
  const start = performance.now()
  for (let i = 0; i < runs; i++) await work()
  return `${((performance.now() - start) / runs).toFixed(3)} ms`
}

function large(): string {
  return '<p>{{ a.b | upcase }} text {% if x == 1 %}y{% endif %}</p>\n'.repeat(1_700)
}

function parsing(): [string, string] {
  const engine = new Liquid({ templates: {} })
  let start = performance.now()
  compileTemplate(large(), CONTEXT)
  const dialect = performance.now() - start
  start = performance.now()
  engine.parse(large())
  return [`${dialect.toFixed(1)} ms`, `${(performance.now() - start).toFixed(1)} ms`]
}

function again(): string {
  const source = large()
  compileTemplate(source, CONTEXT)
  const start = performance.now()
  compileTemplate(source, CONTEXT)
  return `${(performance.now() - start).toFixed(3)} ms`
}
