// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
/**
 * Programs that mean harm, beside visitors: how much of a program's work is done in one turn of the event loop, and how many
 * such turns a visitor waits. Both are shares, so they are the same on a slow or busy machine.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { page, put, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

/** Microseconds of work in a turn from which on it counts as one of the program's. */
const LONG = 3_000

/** Turns of the program between a visitor's question and the answer: connecting, asking and answering take one each. */
const MOST_WAITED = 8

/** `least`: visitors that have their answers while the program runs. */
const HOSTILE: readonly [name: string, program: string, expected: RegExp, least: number][] = [
  ['calls that double', 'let f = n => n == 0 ? 1 : f(n - 1) + f(n - 1); f(60)', /^503/, 1],
  ['calls without end', 'let f = n => f(n + 1); f(0)', /^500/, 1],
  ['itself', 'let o = { n: 1 }; let f = x => x.map(y => f([y])); f([o])', /^500/, 1],
  [
    'strings that double',
    'let r = n => n == 0 ? [0] : [r(n - 1), r(n - 1)].flatten(); let f = (s, n) => n == 0 ? s : f(s + s, n - 1); r(9).map(x => f("ab#{x}", 19).count())',
    /^503/,
    1,
  ],
  [
    'strings that are searched',
    'let r = n => n == 0 ? [0] : [r(n - 1), r(n - 1)].flatten(); let f = (s, n) => n == 0 ? s : f(s + s, n - 1); let s = f("a", 18); r(10).map(x => s.replace("aa", "b#{x}").count())',
    /^503/,
    3,
  ],
  [
    'a pattern that tries everything',
    'let r = n => n == 0 ? [0] : [r(n - 1), r(n - 1)].flatten(); let f = (s, n) => n == 0 ? s : f(s + s, n - 1); let s = f("a", 14); r(10).map(x => (s + "#{x}b").matches("(a+)+(a|aa)+$"))',
    /^503/,
    10,
  ],
  [
    'a large pattern in a long text',
    'let f = (s, n) => n == 0 ? s : f(s + s, n - 1); ("c" + f("ab", 12)).matches("(?:a|b|ab|ba){1,100}c$")',
    /^200 false/,
    3,
  ],
  [
    'a list of lists',
    'let f = (l, n) => n == 0 ? l : f([l, l].flatten(), n - 1); let l = f([3, 1, 2], 14); [1,2,3,4,5,6].map(x => l.sort(y => 0 - y).unique().count())',
    /^503/,
    3,
  ],
  [
    'elements in elements',
    'let f = (e, n) => n == 0 ? e : f(new div { e.clone(), e.clone() }, n - 1); f(new p { "x" }, 20).text().count()',
    /^503/,
    2,
  ],
  [
    'selectors with much to look at',
    'let r = n => n == 0 ? [0] : [r(n - 1), r(n - 1)].flatten(); r(12).map(x => (${:is(p, li):not(:has(b)) ~ li:nth-last-child(2n + 1 of :not(p))} from self).count()).sum()',
    /^503/,
    3,
  ],
]

const REFUSED: readonly [name: string, program: string][] = [
  ['brackets', '('.repeat(100_000)],
  ['lists', '['.repeat(600).concat(']'.repeat(600)).repeat(100)],
  ['selectors in selectors', '${a[b='.repeat(2_000)],
  ['garbage', '${"#{=>[|@;'.repeat(20_000)],
]

describe('Hostile programs and other visitors', () => {
  let server: TestServer
  let send: Client

  before(async () => {
    server = await startServer({ site: { defaultGet: 'allow' } })
    send = client(server)
    await put(server, '/page.html', page(`<ul>${'<li>a<p>b</p></li>'.repeat(200)}</ul>`))
    await put(server, '/small.html', page('<p>small</p>'))
    await put(server, '/rules.html', rulesPage(['*', '*', 'Allow', '/*']))
  })
  after(() => server.close())

  const query = (program: string) => send('QUERY', '/page.html', { 'Content-Type': 'text/sessel' }, program)

  /** Runs a program while a visitor asks for one page after the other. */
  async function beside(program: string) {
    let isRunning = true
    const turns: number[] = []
    let long = 0
    const watching = (async () => {
      let before = process.threadCpuUsage()
      while (isRunning) {
        await turn()
        const { user, system } = process.threadCpuUsage(before)
        before = process.threadCpuUsage()
        turns.push(user + system)
        if (user + system > LONG) long++
      }
    })()
    const waits: number[] = []
    const visiting = (async () => {
      while (isRunning) {
        const begun = long
        expect((await send('GET', '/small.html')).status).to.equal(200)
        waits.push(long - begun)
      }
    })()
    const { status, text } = await query(program)
    isRunning = false
    await Promise.all([watching, visiting])
    return { outcome: `${status} ${text}`, turns, waits }
  }

  for (const [name, program, expected, least] of HOSTILE)
    it(`SES-213 HTTP-172 visitors go on beside ${name}`, async () => {
      const { outcome, turns, waits } = await beside(program)
      expect(outcome).to.match(expected)
      expect(waits.length, 'visitors').to.be.at.least(least)
      expect(Math.max(...waits), 'turns that a visitor waits').to.be.at.most(MOST_WAITED)
      // Programs that are over soon may be done in one turn.
      if (least > 1) expect(Math.max(...turns) / sum(turns), 'share of one turn').to.be.below(0.5)
    })

  for (const [name, program] of REFUSED)
    it(`SES-28 visitors go on beside what is no program: ${name}`, async () => {
      const { outcome, waits } = await beside(program)
      expect(outcome).to.match(/^400/)
      expect(Math.max(...waits), 'turns that a visitor waits').to.be.at.most(MOST_WAITED)
    })
})

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0)
}
