/** What a script costs, from the request thread and back; and the DOM beside one that a library keeps. */

import { JSDOM } from 'jsdom'
import { Allowance } from '../../../pipeline/language/allowance.ts'
import {
  createJavaScript,
  type JavaScript,
  type ScriptJob,
  type ScriptOutcome,
} from '../../../pipeline/language/javascript/javascript.ts'
import { ElementValue } from '../../../pipeline/language/values.ts'
import { parseDocument } from '../../../pipeline/tree/document.ts'
import { isElement } from '../../../pipeline/tree/nodes.ts'
import type { Row } from '../support/table.ts'

export const JAVASCRIPT_HEAD: Row = ['A script', 'here', 'wanted']

const RUNS = 400

const JOB: ScriptJob = {
  site: 'bench.example',
  ns: 'https://platform.example/ns',
  place: 'method',
  source: 'export default (a, b) => a + b',
  arguments: [1n, 2n],
}

/** A page of 8 KB with 50 rows. */
const ROWS = Array.from(
  { length: 50 },
  (_, i) =>
    `<tr id="r${i}" class="row ${i % 2 ? 'odd' : 'even'}"><td>Name ${i}</td><td class="price">${i * 3}</td><td>A note on number ${i}, somewhat long</td></tr>`,
).join('\n')
const PAGE = `<!doctype html><html><head><title>Rows</title></head><body><main><table><tbody>${ROWS}</tbody></table></main></body></html>`

/** About 25 operations: searches, walks, reads, and a list that is built. */
const OPERATIONS = `
  const rows = document.querySelectorAll('tr.odd')
  const first = document.getElementById('r7')
  let sum = 0
  for (let i = 0; i < 5; i++) sum += Number(rows[i].querySelector('.price').textContent)
  const list = document.createElement('ul')
  for (let i = 0; i < 3; i++) {
    const item = document.createElement('li')
    item.textContent = rows[i].firstElementChild.textContent
    item.className = 'made'
    list.append(item)
  }
  return list.outerHTML + first.getAttribute('class') + sum`

const ample = () => new Allowance({ steps: 1_000_000_000, time: 600_000 })

function median(values: number[]): number {
  const sorted = values.sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

async function timed(work: () => unknown, runs = RUNS): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < runs; i++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return median(times)
}

function resultOf(outcome: ScriptOutcome | undefined): unknown {
  if (!outcome || !('value' in outcome)) throw new Error(`A script failed: ${JSON.stringify(outcome)}`)
  return outcome.value
}

async function perSecond(javascript: JavaScript): Promise<number> {
  const total = 4_000
  let begun = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      while (begun++ < total) resultOf(await javascript.evaluate(JOB, ample()))
    }),
  )
  return (total / (performance.now() - start)) * 1_000
}

export async function benchJavaScript(say: (line: string) => void): Promise<Row[]> {
  const document = parseDocument('html', PAGE)
  const javascript = createJavaScript({ workers: 2 })
  const ms = (value: number) => `${value.toFixed(2)} ms`
  try {
    say('starting a worker')
    const start = performance.now()
    resultOf(await javascript.evaluate(JOB, ample()))
    const first = performance.now() - start
    for (let i = 0; i < 300; i++) await javascript.evaluate(JOB, ample())
    say('small modules')
    const small = await timed(() => javascript.evaluate(JOB, ample()))
    const many = await perSecond(javascript)
    say('the DOM')
    const source = `export default () => {${OPERATIONS}}`
    const stored: ScriptJob = { ...JOB, source, document: { document, version: 'bench 1' } }
    const made: ScriptJob = { ...JOB, source, document: { document } }
    const expected = resultOf(await javascript.evaluate(stored, ample()))
    const byVersion = await timed(() => javascript.evaluate(stored, ample()))
    const byTree = await timed(() => javascript.evaluate(made, ample()))
    const { window } = new JSDOM('')
    const operations = new Function('document', OPERATIONS)
    const parser = new window.DOMParser()
    if (operations(parser.parseFromString(PAGE, 'text/html')) !== expected)
      throw new Error('jsdom gives something else')
    const inJsdom = await timed(() => operations(parser.parseFromString(PAGE, 'text/html')), 100)
    const kept = parser.parseFromString(PAGE, 'text/html')
    const onKept = await timed(() => operations(kept), 100)
    say('batches')
    const values = Array.from(
      { length: 100 },
      (_, i): ScriptJob => ({ ...JOB, place: 'read', source: 'export default v => v + "!"', arguments: [`v${i}`] }),
    )
    const batch = await timed(() => javascript.batch(values, ample()), 30)
    const host = document.root.childNodes.find(isElement)
    const expression: ScriptJob = {
      ...JOB,
      place: 'expression',
      source: '[10, 20, 30].reduce((a, b) => a + b, total)',
      context: new Map([['total', 1n]]),
      this: host ? new ElementValue(host) : null,
    }
    const bound = await timed(() => javascript.evaluate(expression, ample()))
    return [
      ['the first, which starts a thread', ms(first), ''],
      ['a small module, warm', ms(small), 'below 0.50 ms'],
      ['32 at a time on two threads', `${many.toFixed(0)}/s`, 'at least 2,500/s'],
      ['an expression of a page', ms(bound), ''],
      ['25 operations on 8 KB, stored document', ms(byVersion), 'below 2.00 ms'],
      ['25 operations on 8 KB, tree sent along', ms(byTree), 'below 2.00 ms'],
      ['the same in jsdom, without any sandbox, parsed anew', ms(inJsdom), ''],
      ['the same in jsdom, on a kept document', ms(onKept), ''],
      ['100 values in one message', ms(batch), ''],
    ]
  } finally {
    await javascript.close()
  }
}
