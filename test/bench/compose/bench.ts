/** Composed pages: kept answers, first compositions, and both while the site is written to. */

import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPEN_RULES } from '../http/documents.ts'
import { once, readRate, writeRate } from '../support/load.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'
import { figure, type Row } from '../support/table.ts'

export const COMPOSE_HEAD: Row = ['Work', 'composed', 'plain', 'ratio', 'target']

const NS = 'https://platform.example/ns'
const PREFIXES = `xmlns:p="${NS}/1.0" xmlns:r="${NS}/Binding/CSS" xmlns:t="urn:bench:Say"`
const SERVE = [process.execPath, '--max-semi-space-size=8', 'server/launch.mjs', 'serve', '-c']

const html = (body: string, attributes = '') =>
  `<!doctype html><html ${attributes}><head><title>t</title></head><body>${body}</body></html>`

/** Two includes, a binding of 20 items, and a method: about 5 KB. */
const PAGE = html(
  `<p:include selector="#nav" resource="/parts.html"/><ul r:posts=".post" p:template="text/liquid">{% for p in posts %}<li><b>{{ p.title }}</b> {{ p.text }}</li>{% endfor %}</ul><t:say/>${'<p>A line of the page.</p>'.repeat(40)}<p:include selector="#foot" resource="/parts.html"/>`,
  PREFIXES,
)
const parts = (word: string) =>
  html(
    `<nav id="nav">${word}${'<a href="/">link</a>'.repeat(20)}</nav><footer id="foot">${'<p>foot</p>'.repeat(20)}</footer>`,
  )
const SCHEMA = html(
  `<div hidden itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="urn:bench:Say"><div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="say"><div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">new p { "hello" }</script></div></div></div>`,
)

async function store(server: ServerProcess, agent: Agent, path: string, body: string): Promise<void> {
  await once(server.url, agent, { method: 'PUT', path, headers: { 'Content-Type': 'text/html' }, body })
}

/**
 * Puts the pages, and what they are made of, into a fresh data folder.
 *
 * @param others further documents, which no page reads
 */
async function importSite(folder: string, settings: string, others = 0): Promise<void> {
  const site = join(folder, 'site')
  await mkdir(site)
  const post = (i: number) =>
    html(
      `<article class="post" itemscope itemtype="urn:bench:Post"><h2 itemprop="title">Post ${i}</h2><p itemprop="text">${'text '.repeat(20)}</p></article>`,
    )
  const files: Record<string, string> = {
    'rules.html': OPEN_RULES,
    'schema.html': SCHEMA,
    'parts.html': parts('v'),
    'page.html': PAGE,
    'plain.html': html('<p>A line of the page.</p>'.repeat(200)),
    'named.html': html('<p>A line of the page.</p>'.repeat(200), 'xmlns:og="http://ogp.me/ns#"'),
    'one.html': html('<ul id="list"></ul>'),
  }
  for (let i = 0; i < 20; i++) files[`post-${i}.html`] = post(i)
  for (let i = 0; i < 5; i++)
    files[`through-${i}.html`] = html('<p:include selector="#list" resource="/one.html"/>', PREFIXES)
  for (let i = 0; i < others; i++) files[`other-${i}.html`] = html(`<p class="other">${i}</p>`)
  for (const [name, text] of Object.entries(files)) await writeFile(join(site, name), text)
  const { status, stderr } = spawnSync(
    process.execPath,
    ['server/launch.mjs', 'import', '-c', settings, '--site', 'localhost', site],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
}

/** Reads while somebody writes so many times a second. */
async function during<T>(
  read: () => Promise<T>,
  perSecond: number,
  write: (n: number) => Promise<unknown>,
): Promise<T> {
  let n = 0
  let running = Promise.resolve<unknown>(undefined)
  const timer = setInterval(() => {
    running = running.then(() => write(n++))
  }, 1000 / perSecond)
  try {
    return await read()
  } finally {
    clearInterval(timer)
    await running
  }
}

/** A server with the site of the bench, as one visitor asks it. */
async function withSite<T>(others: number, measure: (at: Running) => Promise<T>) {
  const folder = await mkdtemp(join(tmpdir(), 'scriptorium-bench-'))
  const agent = new Agent({ keepAlive: true })
  const settings = join(folder, 'settings.json')
  const file = {
    data: join(folder, 'data'),
    listen: { port: 0 },
    mount: { port: 0 },
    sites: [{ host: '*', name: 'localhost' }],
  }
  await writeFile(settings, JSON.stringify(file))
  await importSite(folder, settings, others)
  const server = await startProcess([...SERVE, settings])
  try {
    const { headers } = await fetch(`${server.url}/plain.html`)
    return await measure({ server, agent, Cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' })
  } finally {
    agent.destroy()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Running = { server: ServerProcess; agent: Agent; Cookie: string }

/** Every request asks for a page that nobody has asked for before. */
let asked = 0

/**
 * First compositions on several sites, in rounds that begin with each in turn: all have run for as long.
 *
 * @returns of each a figure in milliseconds, with those of the processor
 */
async function anew(sites: readonly Running[]): Promise<string[]> {
  const next = (Cookie: string) => () => ({ method: 'GET', path: `/page.html?${asked++}`, headers: { Cookie } })
  const measured = sites.map(site => ({ site, medians: [] as number[], tails: [] as number[], ticks: 0, requests: 0 }))
  for (let round = -2; round < ROUNDS; round++)
    for (const each of round % 2 === 0 ? measured : [...measured].reverse()) {
      const { server, Cookie } = each.site
      const before = server.ticks()
      const seconds = round < 0 ? WARM_UP : 1
      const rate = await writeRate(server.url, next(Cookie), { clients: 1, seconds, warmUp: 0 })
      if (round < 0) continue
      each.ticks += server.ticks() - before
      each.requests += Math.round(rate.perSecond * seconds)
      each.medians.push(rate.median)
      each.tails.push(rate.p99)
    }
  const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0
  return measured.map(({ medians, tails, ticks, requests }) => {
    const processor = figure((ticks * TICK) / requests)
    return `${figure(middle(medians))} ms (p99 ${figure(middle(tails))}, processor ${processor})`
  })
}

/** Milliseconds of a clock tick of Linux. */
const TICK = 10
const ROUNDS = 6
/** Seconds until the code of a server is compiled. */
const WARM_UP = 3

export async function benchCompose(say: (line: string) => void): Promise<Row[]> {
  const rows: Row[] = []
  const add = (row: Row) => {
    rows.push(row)
    say(row.filter(Boolean).join('  '))
  }
  await withSite(0, async at => {
    const { server, agent, Cookie } = at
    const { url } = server
    const rate = (path: string) => readRate(url + path, { Cookie })
    // What a server answers for the first time is slower than what it has answered for a while.
    for (const path of ['/plain.html', '/named.html', '/page.html']) await rate(path)
    const compare = (what: string, composed: number, other: number, target: string) =>
      add([what, `${figure(composed)}/s`, `${figure(other)}/s`, (composed / other).toFixed(2), target])
    /** A row beside the same server's plain page, before and after. */
    const besidePlain = async (what: string, target: string, composed: () => Promise<number>) => {
      const before = await rate('/plain.html')
      const measured = await composed()
      compare(what, measured, (before + (await rate('/plain.html'))) / 2, target)
      return measured
    }
    // Foreign namespaces make no page a composed one.
    await besidePlain('GET of a plain page that names a foreign namespace', '1', () => rate('/named.html'))
    const kept = await besidePlain('GET, nothing changed since', '>= 0.6', () => rate('/page.html'))
    await besidePlain('while an origin is written 5 times a second', '>= 5,000/s', () =>
      during(
        () => rate('/page.html'),
        5,
        n => store(server, agent, '/parts.html', parts(`v${n}`)),
      ),
    )
    const beside = await during(
      () => rate('/page.html'),
      50,
      n => store(server, agent, '/other.html', html(`<p>${n}</p>`)),
    )
    compare('while other documents are written 50 times a second', beside, kept, '>= 0.8')
    const append = (path: string) => ({
      method: 'POST',
      path,
      headers: { Range: 'selector=#list' },
      body: '<li>Entry</li>',
    })
    const emptied = () => store(server, agent, '/one.html', html('<ul id="list"></ul>'))
    const appending = async (path: (i: number) => string) => {
      await emptied()
      return (await writeRate(url, i => append(path(i)), { clients: 16 })).perSecond
    }
    const ways = [() => '/one.html', (i: number) => `/through-${i % 5}.html`]
    const [direct = [], through = []]: number[][] = [[], []]
    for (const [round, way] of [...ways, ...ways.toReversed(), ...ways].entries()) {
      const measured = await appending(way)
      // The first round of both is none: code is compiled.
      if (round >= 2) (way === ways[0] ? direct : through).push(measured)
    }
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
    compare('POST append through 5 pages into one origin, 16 clients', mean(through), mean(direct), '>= 0.5')
  })
  await withSite(0, small =>
    withSite(10_000, async large => {
      const [alone = '', among = ''] = await anew([small, large])
      add(['composed anew each time', alone, '', '', '< 1.5 ms'])
      add(['composed anew, with 10,000 other documents', among, '', '', 'the same'])
    }),
  )
  return rows
}
