/** How the dialect differs from liquidjs as it comes, over a corpus of templates, with the rule that wants each difference. */

import { Liquid } from 'liquidjs'
import { Allowance } from '../../../pipeline/language/allowance.ts'
import { compileTemplate, renderTemplate } from '../../../pipeline/language/liquid/liquid.ts'
import type { Value } from '../../../pipeline/language/values.ts'
import { CORPUS, DATA } from './corpus.ts'
import { REASONS } from './reasons.ts'

export interface Difference {
  template: string
  stock: string
  ours: string
  /** The rule and why; undefined when nobody has said. */
  reason: string | undefined
}

export async function differences(): Promise<Difference[]> {
  const engine = new Liquid({ templates: {}, outputEscape: 'escape', timezoneOffset: 0 })
  const found: Difference[] = []
  for (const template of CORPUS) {
    const [stock, ours] = [
      await shown(() => engine.parseAndRender(template, structuredClone(DATA))),
      await inDialect(template, DATA, 'div'),
    ]
    if (stock === ours) continue
    const reason = REASONS.find(({ concerns }) => concerns(template, stock, ours))?.reason
    found.push({ template, stock, ours, reason })
  }
  return found
}

async function shown(render: () => Promise<string>): Promise<string> {
  try {
    const text = await render()
    return text.includes('itemprop="kind"') ? '(local error)' : text
  } catch {
    return '(error)'
  }
}

/**
 * What the dialect makes of a template; a failure is named in parentheses.
 *
 * @param data JSON: numbers are Integers where they are whole
 * @param element what the template is the content of
 */
export function inDialect(template: string, data: Record<string, unknown>, element: string): Promise<string> {
  const scope = {
    lookup: (name: string) => (Object.hasOwn(data, name) ? asValue(data[name]) : undefined),
    property: () => undefined,
    propertyNames: () => [],
    ns: 'https://ns.example',
    now: 0,
  }
  return shown(async () => renderTemplate(compileTemplate(template, { kind: 'html', element }), scope, new Allowance()))
}

function asValue(data: unknown): Value {
  if (typeof data === 'number') return Number.isInteger(data) ? BigInt(data) : data
  if (typeof data === 'string' || typeof data === 'boolean' || data === null) return data
  if (Array.isArray(data)) return data.map(asValue)
  return new Map(Object.entries(data as object).map(([key, value]) => [key, asValue(value)]))
}

/** The list as Markdown: a row for each difference. */
export async function differenceTable(): Promise<string> {
  const code = (text: string): string =>
    `\`${text.replaceAll('\n', '⏎').replaceAll('|', '\\|').replaceAll('`', "'") || ' '}\``
  const rows = (await differences()).map(
    ({ template, stock, ours, reason }) => `| ${code(template)} | ${code(stock)} | ${code(ours)} | ${reason ?? '?'} |`,
  )
  return ['| Template | liquidjs | Dialect | Why |', '|---|---|---|---|', ...rows, ''].join('\n')
}
