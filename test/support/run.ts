/**
 * `npm test`: types, lint and format, then every test, folder by folder, in one process more than there are processors: some
 * tests wait. Arguments choose test files instead, which one process runs. `TEST_PROCESSES` sets another number of processes.
 */

import { spawn, spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import Mocha from 'mocha'
import { watchForHangs } from './hang-watch.ts'
import { provideNeeds } from './needs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const say = (line: string) => console.log(line)

/** Runs a program of the project's own packages and shows its output. */
function passes(title: string, command: string, ...args: string[]): boolean {
  say(title)
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', command), ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  return status === 0
}

/**
 * Milliseconds after which a test counts as one that hangs. Tests wait for a state, never for a time, so that this bounds
 * no speed: it is ample for one that starts three processes on a tenth of a processor.
 */
const HANGS = 60_000

/** What a run counted: how many tests did what, and the full titles of those that failed. */
interface Tally {
  passed: number
  pending: number
  failed: string[]
}

function report({ passed, pending, failed }: Tally): boolean {
  say(`${passed} passed, ${failed.length} failed, ${pending} skipped`)
  return failed.length === 0 && pending === 0
}

/** Runs test files in this process. */
async function runHere(files: readonly string[]): Promise<Tally> {
  const mocha = new Mocha({ timeout: HANGS, slow: 500, reporter: process.env.CI ? 'dot' : 'spec', color: false })
  for (const file of files) mocha.addFile(file)
  await mocha.loadFilesAsync()
  const watch = watchForHangs()
  return new Promise(finish => {
    const failed: string[] = []
    const runner = mocha.run(() => {
      watch.over()
      finish({ passed: runner.stats?.passes ?? 0, pending: runner.stats?.pending ?? 0, failed })
    })
    for (const event of ['test', 'hook']) runner.on(event, (begun: Mocha.Runnable) => watch.begins(begun.fullTitle()))
    runner.on('fail', test => failed.push(test.fullTitle()))
  })
}

/** Folders whose tests take longest: begun first, so that no processor is idle while the last one ends. */
const LONG = ['pipeline/store/postgres', 'hostile', 'http/hostile', 'pipeline/language/javascript', 'cluster', 'mount']
/** How many files of one folder a process takes. */
const BATCH = 8

/** All test files, in batches of one folder each. */
function batches(): string[][] {
  const folders = new Map<string, string[]>()
  for (const file of globSync('test/**/*.test.ts', { cwd: root }).sort())
    folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file])
  const rank = (folder: string) => (LONG.indexOf(folder.slice('test/'.length)) + LONG.length + 1) % (LONG.length + 1)
  return [...folders.keys()]
    .sort((one, other) => rank(one) - rank(other))
    .flatMap(folder => {
      const files = folders.get(folder) ?? []
      const parts = Math.ceil(files.length / BATCH)
      return Array.from({ length: parts }, (_, part) => files.filter((_, index) => index % parts === part))
    })
}

/** Runs test files in a process of their own and shows what it said when it has ended. */
function runApart(files: readonly string[]): Promise<Tally> {
  return new Promise(finish => {
    const args = [...process.execArgv, fileURLToPath(import.meta.url), ...files]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    const output: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', text => output.push(text))
    let tally: Tally | undefined
    child.on('message', (message: Tally) => {
      tally = message
    })
    child.once('close', (code, signal) => {
      say(`\n${dirname(files[0] ?? '')}\n${output.join('')}`)
      const died = `${files.join(' ')} ended with ${signal ?? code}`
      if (tally === undefined || (code !== 0 && tally.failed.length + tally.pending === 0))
        finish({ passed: tally?.passed ?? 0, pending: tally?.pending ?? 0, failed: [died] })
      else finish(tally)
    })
  })
}

async function runAll(processes: number): Promise<Tally> {
  const queue = batches()
  const all: Tally = { passed: 0, pending: 0, failed: [] }
  const takeTurns = async () => {
    for (let files = queue.shift(); files !== undefined; files = queue.shift()) {
      const { passed, pending, failed } = await runApart(files)
      all.passed += passed
      all.pending += pending
      all.failed.push(...failed)
    }
  }
  await Promise.all(Array.from({ length: processes }, takeTurns))
  for (const title of all.failed) say(`FAILED ${title}`)
  return all
}

async function main(): Promise<boolean> {
  const chosen = process.argv.slice(2).map(file => resolve(file))
  if (process.send !== undefined) {
    const tally = await runHere(chosen)
    process.send(tally)
    process.disconnect()
    return report(tally)
  }
  const missing = provideNeeds(say)
  if (missing !== undefined) {
    console.error(missing)
    return false
  }
  if (chosen.length > 0) return report(await runHere(chosen))
  if (!passes('Types', 'typescript/bin/tsc', '--noEmit')) return false
  if (!passes('Lint and format', '@biomejs/biome/bin/biome', 'check', '.')) return false
  return report(await runAll(Number(process.env.TEST_PROCESSES) || availableParallelism() + 1))
}

process.exitCode = (await main()) ? 0 : 1
