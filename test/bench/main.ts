/** `npm run bench`: measures, prints tables, and with `--write` keeps them in README.md beside this file. */

import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { benchCompose, COMPOSE_HEAD } from './compose/bench.ts'
import { benchHttp, HEAD as HTTP_HEAD } from './http/bench.ts'
import { benchJavaScript, JAVASCRIPT_HEAD } from './javascript/bench.ts'
import { benchLiquid, LIQUID_HEAD } from './liquid/bench.ts'
import { benchLive, HEAD as LIVE_HEAD } from './live/bench.ts'
import { benchModel, MODEL_HEAD } from './model/bench.ts'
import { benchMount, MOUNT_HEAD } from './mount/bench.ts'
import { benchConformance, CONFORMANCE_HEAD } from './mount/conformance.ts'
import { benchReact, REACT_HEAD } from './react/bench.ts'
import { benchSessel, SESSEL_HEAD } from './sessel/bench.ts'
import { benchStores, STORES_HEAD } from './stores/bench.ts'
import { CORES, SHARES_CORES } from './support/process.ts'
import { type Row, table } from './support/table.ts'

const BENCHES: Record<string, { title: string; head: Row; run: (say: (line: string) => void) => Promise<Row[]> }> = {
  http: { title: 'The public surface', head: HTTP_HEAD, run: benchHttp },
  compose: { title: 'Composed pages', head: COMPOSE_HEAD, run: benchCompose },
  mount: { title: 'The mount', head: MOUNT_HEAD, run: benchMount },
  conformance: { title: 'Conformance of the mount', head: CONFORMANCE_HEAD, run: benchConformance },
  model: { title: 'Data models', head: MODEL_HEAD, run: benchModel },
  javascript: { title: 'Server-side JavaScript', head: JAVASCRIPT_HEAD, run: benchJavaScript },
  liquid: { title: 'Templates', head: LIQUID_HEAD, run: benchLiquid },
  sessel: { title: 'Expressions', head: SESSEL_HEAD, run: benchSessel },
  react: { title: 'Reactions', head: REACT_HEAD, run: benchReact },
  stores: { title: 'Stores', head: STORES_HEAD, run: benchStores },
  live: { title: 'Event streams', head: LIVE_HEAD, run: benchLive },
}

const USAGE = `npm run bench -- [benchmark ...] [--write]

Measures the benchmarks that are named, or all, and prints a table of each. It needs wrk; servers that are not installed
are left out. Nothing else should work on the machine meanwhile.

${Object.entries(BENCHES)
  .map(([name, { title }]) => `  ${name.padEnd(14)}${title}`)
  .join('\n')}

  --write       keeps the tables in test/bench/README.md
  --help        prints this

  BENCH_CORES=shared      server and clients share all cores, else each side has its own
  BENCH_LINES=a,b         of mount: rows by a part of their titles; of stores and live: parts by name
  BENCH_SERVERS=a,b       of mount: servers by the begin of their names
  BENCH_NODE_OPTIONS=...  options of Node for the server`

function readArguments() {
  try {
    const options = { write: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const read = readArguments()
if (typeof read === 'string') {
  console.error(`${read}\n\n${USAGE}`)
  process.exit(2)
}
const { values, positionals } = read
if (values.help) {
  console.log(USAGE)
  process.exit()
}
const chosen = positionals.length > 0 ? positionals : Object.keys(BENCHES)

for (const name of chosen) {
  const bench = BENCHES[name]
  if (!bench) {
    console.error(`There is no benchmark ${name}; there are ${Object.keys(BENCHES).join(', ')}.`)
    process.exitCode = 2
    break
  }
  console.log(`\n${bench.title}\n`)
  const rows = await bench.run(line => console.log(`  ${line}`))
  const text = table(bench.head, rows)
  console.log(`\n${text}\n`)
  if (values.write) keep(SHARES_CORES ? `${name} on shared cores` : name, `${machine()}\n\n${text}`)
}

function machine(): string {
  const [first] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${first?.model.trim()}), ${memory} GB, Linux ${release()}, Node ${process.versions.node}. ${CORES}`
}

/** Replaces one marked section of the README. */
function keep(name: string, text: string): void {
  const file = fileURLToPath(new URL('README.md', import.meta.url))
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const readme = readFileSync(file, 'utf8')
  const from = readme.indexOf(start)
  const to = readme.indexOf(end)
  if (from < 0 || to < 0) throw new Error(`README.md has no section ${name}`)
  writeFileSync(file, `${readme.slice(0, from + start.length)}\n${text}\n${readme.slice(to)}`)
}
