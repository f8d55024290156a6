/**
 * The test suite of the npm package `liquid` 5.1.1 (MIT licence, a port of the original in Ruby), the only public one that
 * a package of the registry ships: each rendering and each call of a filter in it, with what it expects. Calls were
 * written as templates; cases that hand over functions, promises or files are left out.
 */

import { readFileSync } from 'node:fs'
import { inDialect } from './differences.ts'

interface SuiteCase {
  /** Where the suite has it. */
  from: string
  template: string
  data: Record<string, unknown>
  /** A pattern stands between slashes. */
  expected: string
}

export interface SuiteDifference extends SuiteCase {
  ours: string
  reason: string | undefined
}

export const SUITE = JSON.parse(readFileSync(new URL('./suite.json', import.meta.url), 'utf8')) as readonly SuiteCase[]

/** Why the dialect gives something else; the first pattern that a template matches says it. */
const REASONS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/ifchanged|doesNotExist| is | isnt /, 'LIQ-26, LIQ-28, LIQ-63: not a tag, operator or filter of the dialect.'],
  [/increment|decrement/, 'LIQ-10: counters are names of their own, and found last.'],
  [/baz bar/, 'LIQ-64: a malformed expression fails the page, no text of the error stands in it.'],
  [/empty/, 'LIQ-20: nil is not empty; it is blank.'],
  [/upcase/, 'LIQ-19: a hash is JSON as text.'],
  [/\| map \|/, 'LIQ-38: a missing argument is an error of the expression.'],
  [/\| date/, 'LIQ-44: dates are ISO, Unix seconds or `now`; the default form is the ISO day.'],
  [/dividedBy/, 'LIQ-63: filters have one name, in the original spelling.'],
  [/round/, 'LIQ-19: a Float prints as few digits as say it.'],
  [/^\{\{ \}\}$/, 'LIQ-64: an output without an expression is malformed.'],
]

/** Cases whose result in the dialect is not the one that the suite expects. */
export async function suiteDifferences(): Promise<SuiteDifference[]> {
  const found: SuiteDifference[] = []
  for (const each of SUITE) {
    // In a script nothing is escaped: the suite's engine does not escape at all.
    const ours = await inDialect(each.template, each.data, 'script')
    const pattern = /^\/(.*)\/$/.exec(each.expected)?.[1]
    if (pattern === undefined ? ours === each.expected : new RegExp(pattern).test(ours)) continue
    found.push({ ...each, ours, reason: REASONS.find(([matched]) => matched.test(each.template))?.[1] })
  }
  return found
}

/** The list as Markdown. */
export async function suiteTable(): Promise<string> {
  const code = (text: string): string => `\`${text.replaceAll('|', '\\|') || ' '}\``
  const rows = (await suiteDifferences()).map(
    ({ template, data, expected, ours, reason }) =>
      `| ${code(template)} | ${code(JSON.stringify(data))} | ${code(expected)} | ${code(ours)} | ${reason ?? '?'} |`,
  )
  return ['| Template | Data | The suite | Dialect | Why |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}
