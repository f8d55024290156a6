// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/** Expressions: steps a second, cached ones, queries over HTTP, and searches of a whole site. */

import { Allowance } from '../../../pipeline/language/allowance.ts'
import { compile, emptyHost, evaluate } from '../../../pipeline/language/sessel/sessel.ts'
import { page, put, rulesPage } from '../../support/content.ts'
import { client } from '../../support/http.ts'
import { startServer } from '../../support/server.ts'
import { figure, type Row } from '../support/table.ts'
import { fuzz } from './fuzz.ts'

export const SESSEL_HEAD: Row = ['Work', 'Result', 'Target']

const GENEROUS = { steps: 1e12, memory: 1e15, time: 1e9 }

/** Documents of the site that is searched. */
const DOCUMENTS = 10_000

/** @param say told what is being measured */
export async function benchSessel(say: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = []
  say('steps')
  rows.push(['recursive calls', `${figure(await stepsASecond())} million steps/s`, '5 million'])
  for (const program of ['1 + 2', '"abc".upper() + "d"', '{ a: 1, b: [1, 2, 3].map(x => x + 1) }'])
    rows.push([`\`${program}\`, cached`, `${figure(cached(program))} µs`, 'under 10 µs'])
  rows.push(['parsing 256 KiB', `${figure(parsing())} ms`, 'once'])
  say('queries')
  rows.push(...(await overHttp(say)))
  say('fuzzing for a minute')
  const { programs, slowest, grown } = await fuzz(60_000)
  rows.push(['random programs in a minute', `${figure(programs)}, none crashed or hung`, 'none'])
  rows.push(['the longest without a pause', `${figure(slowest)} ms`, 'under 50 ms'])
  rows.push(['memory that they left behind', `${figure(grown)} MiB`, 'no growth'])
  return rows
}

async function stepsASecond(): Promise<number> {
  const program = compile('let f = n => n < 2 ? n : f(n - 1) + f(n - 2); f(24)')
  let best = 0
  for (let run = 0; run < 5; run++) {
    const allowance = new Allowance(GENEROUS)
    const start = performance.now()
    await evaluate(program, emptyHost('x'), allowance)
    best = Math.max(best, allowance.stepsTaken / (performance.now() - start) / 1_000)
  }
  return best
}

function cached(text: string): number {
  const host = emptyHost('x')
  const run = (times: number) => {
    const start = performance.now()
    for (let i = 0; i < times; i++) evaluate(compile(text), host, new Allowance())
    return ((performance.now() - start) * 1_000) / times
  }
  run(20_000)
  return run(50_000)
}

function parsing(): number {
  const text = `[${'{ a: "x#{1}", b: [1, 2.5] }, '.repeat(8_500)}0]`
  const start = performance.now()
  compile(text)
  return performance.now() - start
}

async function overHttp(say: (line: string) => void): Promise<Row[]> {
  const server = await startServer({ settings: { log: { level: 'silent' } } })
  try {
    const list = Array.from(
      { length: 20 },
      (_, i) => `<tr class="row"><td>Row ${i}</td><td data-n="${i}">${'text '.repeat(40)}</td></tr>`,
    )
    await put(server, '/rules.html', rulesPage(['*', 'GET|QUERY', 'Allow', '/*']))
    await put(server, '/list.html', page(`<table>${list.join('')}</table>`))
    const http = client(server.port)
    const program = '${tr.row}.map(r => { name: r.${ td }.first().text(), n: r.${ [data-n] }.first().attr("data-n") })'
    const fragment = await persecond(() => http('GET', '/list.html', { Range: 'selector=tr.row:nth-child(5)' }))
    const query = await persecond(() => http('QUERY', '/list.html', { 'Content-Type': 'text/sessel' }, program))
    say(`${DOCUMENTS} documents`)
    for (let i = 0; i < DOCUMENTS; i++) {
      const item = i % 500 === 0 ? '<div itemscope itemtype="x:hit"><b itemprop="n">1</b></div>' : ''
      await put(server, `/d/${i}.html`, page(`<p class="c${i % 100}">x</p>${item}`))
    }
    const { mountUrl, user, password } = server
    const { port, pathname } = new URL(mountUrl)
    const mount = client(Number(port))
    const Authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    const search = (text: string) => () =>
      mount('QUERY', `${pathname === '/' ? '' : pathname}/`, { 'Content-Type': 'text/sessel', Authorization }, text)
    const searched = await milliseconds(search('@schema H url("x:hit"); H.search().count()'))
    const selected = await milliseconds(search('${[itemtype="x:hit"] b}.count()'))
    const nothing = await milliseconds(search('1'))
    return [
      ['QUERY of 20 rows as dictionaries', `${figure(query / fragment)} of a fragment GET`, 'at least 0.25'],
      [`\`Class.search\` in ${DOCUMENTS} documents, 20 hits`, `${figure(searched - nothing)} ms`, 'under 2 ms'],
      [`a selector over ${DOCUMENTS} documents, 20 hits`, `${figure(selected - nothing)} ms`, 'under 2 ms'],
    ]
  } finally {
    await server.close()
  }
}

async function persecond(ask: () => Promise<unknown>): Promise<number> {
  return 1_000 / (await milliseconds(ask))
}

/** The median of many, one after another. */
async function milliseconds(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 300; i++) {
    const start = performance.now()
    await ask()
    if (i >= 100) times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[100] ?? 0
}
