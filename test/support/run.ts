/**
 * `npm test`: types, lint and format, and beside them every test, subject by subject, in two processes more than there are
 * processors: half of them begin with tests that wait most of their time. Arguments choose test files instead, which one
 * process runs. `TEST_PROCESSES` sets another number of processes, `TEST_HEAP` the megabytes of heap that each file of
 * tests has, together with the servers that it starts.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import Mocha from 'mocha'
import { type Batch, batchesOf } from './batches.ts'
import { watchForHangs } from './hang-watch.ts'
import { provideNeeds } from './needs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const say = (line: string) => console.log(line)

/** Collects what a process says until it has ended. */
function saidBy(child: ChildProcess): string[] {
  const output: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', text => output.push(text))
  return output
}

/** Runs a program of the project's own packages and shows its output when it has ended. */
function passes(title: string, command: string, ...args: string[]): Promise<boolean> {
  return new Promise(finish => {
    const child = spawn(process.execPath, [join(root, 'node_modules', command), ...args], {
      cwd: root,
      // The types are checked by a program in Go, whose garbage then costs a fifth of its time less for 90 MB more.
      env: { ...process.env, GOGC: '400' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = saidBy(child)
    child.once('close', code => {
      say(`\n${title}${code === 0 ? '' : ' FAILED'}\n${output.join('')}`)
      finish(code === 0)
    })
  })
}

/** One after the other: both are begun beside tests. Of several checkers of types, each would check much again. */
async function checks(): Promise<boolean> {
  const types = await passes('Types', 'typescript/bin/tsc', '--noEmit', '--checkers', '1')
  return (await passes('Lint and format', '@biomejs/biome/bin/biome', 'check', '.')) && types
}

/**
 * Milliseconds after which a test counts as one that hangs. Tests wait for a state, never for a time, so that this bounds
 * no speed: it is ample for one that starts three processes on a thirtieth of a processor.
 */
const HANGS = 180_000

/**
 * What a run counted: how many tests did what, of those that failed the full titles with what went wrong, and the milliseconds
 * of each file.
 */
export interface Tally {
  passed: number
  pending: number
  failed: string[]
  times: [file: string, milliseconds: number][]
}

/** Files that a run of all tests names as those that took longest. */
const NAMED = 20

/** Says which files took longest, and how long all did: on one processor, a run without waits would take as long. */
function reportTimes(times: Tally['times']): void {
  const sorted = times.toSorted(([, one], [, other]) => other - one)
  for (const [file, milliseconds] of sorted.slice(0, NAMED)) say(`${(milliseconds / 1000).toFixed(1)} s ${file}`)
  say(
    `${(sorted.reduce((sum, [, milliseconds]) => sum + milliseconds, 0) / 1000).toFixed()} s in ${times.length} files`,
  )
}

function report({ passed, pending, failed }: Tally): boolean {
  say(`${passed} passed, ${failed.length} failed, ${pending} skipped`)
  return failed.length === 0 && pending === 0
}

/** How a failure begins and ends, in one line: between stands what an answer said. */
function shortened(error: unknown): string {
  const text = String(error).replaceAll(/\s+/g, ' ')
  return text.length <= 900 ? text : `${text.slice(0, 600)} … ${text.slice(-300)}`
}

/** Runs test files in this process. */
async function runHere(files: readonly string[]): Promise<Tally> {
  const mocha = new Mocha({ timeout: HANGS, slow: 500, reporter: process.env.CI ? 'dot' : 'spec', color: false })
  for (const file of files) mocha.addFile(file)
  await mocha.loadFilesAsync()
  const watch = watchForHangs()
  return new Promise(finish => {
    const failed: string[] = []
    const times = new Map<string, number>()
    const runner = mocha.run(() => {
      watch.over()
      finish({ passed: runner.stats?.passes ?? 0, pending: runner.stats?.pending ?? 0, failed, times: [...times] })
    })
    const addTime = (sign: 1 | -1) => (suite: Mocha.Suite) => {
      const file = relative(root, suite.file ?? '')
      if (suite.parent?.root) times.set(file, (times.get(file) ?? 0) + sign * performance.now())
    }
    runner.on('suite', addTime(-1)).on('suite end', addTime(1))
    for (const event of ['test', 'hook']) runner.on(event, (begun: Mocha.Runnable) => watch.begins(begun.fullTitle()))
    runner.on('fail', (test, error: unknown) => failed.push(`${test.fullTitle()}: ${shortened(error)}`))
  })
}

/** Megabytes; undefined where Node decides. */
const heap = process.env.TEST_HEAP

/** The environment of processes that run tests; programs that these start inherit it. */
const env =
  heap === undefined
    ? process.env
    : { ...process.env, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --max-old-space-size=${heap}` }

/**
 * What no small heap holds. No server is started in the first three, and the tests hold trees that a server would refuse, and
 * documents of jsdom; the documents of the last one are so large that a server with such a heap has to refuse them (HTTP-183).
 */
const LARGER = [
  'test/pipeline/tree/**',
  'test/pipeline/model/shapes-random.test.ts',
  'test/hostile/long-texts.test.ts',
  'test/http/hostile/large.test.ts',
]

/** What the processes of a run of all tests run. */
function allBatches(): Batch[] {
  if (heap === undefined) return batchesOf(globSync('test/**/*.test.ts', { cwd: root }))
  return batchesOf(globSync('test/**/*.test.ts', { cwd: root, exclude: LARGER }), true)
}

/** Runs test files in a process of their own and shows what it said when it has ended. */
function runApart(files: readonly string[], env: NodeJS.ProcessEnv): Promise<Tally> {
  return new Promise(finish => {
    const args = [...process.execArgv, fileURLToPath(import.meta.url), ...files]
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    const output = saidBy(child)
    let tally: Tally | undefined
    child.on('message', (message: Tally) => {
      tally = message
    })
    child.once('close', (code, signal) => {
      say(`\n${dirname(files[0] ?? '')}\n${output.join('')}`)
      const died = `${files.join(' ')} ended with ${signal ?? code}`
      if (tally === undefined || (code !== 0 && tally.failed.length + tally.pending === 0))
        finish({ passed: tally?.passed ?? 0, pending: tally?.pending ?? 0, failed: [died], times: [] })
      else finish(tally)
    })
  })
}

/** A folder for what is made once for all processes of a run; the accounts of programs read what is theirs in it. */
function folderOfRun(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scriptorium-run-'))
  chmodSync(folder, 0o711)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function runAll(processes: number): Promise<Tally> {
  const common = { ...env, TEST_RUN: folderOfRun() }
  const queue = allBatches()
  const all: Tally = { passed: 0, pending: 0, failed: [], times: [] }
  /** The longest that waits, or that works, while there is one of that kind. */
  const take = (kind: Batch['kind']): readonly string[] | undefined => {
    const at = queue.findIndex(batch => batch.kind === kind)
    return queue.splice(Math.max(at, 0), 1)[0]?.files
  }
  const takeTurns = async (_: unknown, place: number) => {
    const kind = place % 2 === 0 ? 'waits' : 'works'
    for (let files = take(kind); files !== undefined; files = take(kind)) {
      const { passed, pending, failed, times } = await runApart(files, common)
      all.times.push(...times)
      all.passed += passed
      all.pending += pending
      all.failed.push(...failed)
    }
  }
  await Promise.all(Array.from({ length: processes }, takeTurns))
  reportTimes(all.times)
  for (const title of all.failed) say(`FAILED ${title}`)
  return all
}

async function main(): Promise<boolean> {
  const chosen = process.argv.slice(2).map(file => resolve(file))
  if (process.send !== undefined) {
    const tally = await runHere(chosen)
    reportTimes(tally.times)
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
  const [checked, tally] = await Promise.all([
    checks(),
    runAll(Number(process.env.TEST_PROCESSES) || availableParallelism() + 2),
  ])
  if (!checked) say('FAILED types, or lint and format')
  return report(tally) && checked
}

process.exitCode = (await main()) ? 0 : 1
