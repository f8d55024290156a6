/** `npm test`: types, lint and format, then every test. Arguments choose test files instead of all. */

import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
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

async function runTests(files: string[]): Promise<number> {
  const mocha = new Mocha({ timeout: HANGS, slow: 500, reporter: process.env.CI ? 'dot' : 'spec', color: false })
  for (const file of files) mocha.addFile(file)
  await mocha.loadFilesAsync()
  const watch = watchForHangs()
  return new Promise(finish => {
    const runner = mocha.run(failures => {
      watch.over()
      const { passes: passed = 0, pending = 0 } = runner.stats ?? {}
      say(`${passed} passed, ${failures} failed, ${pending} skipped`)
      finish(failures + pending)
    })
    for (const event of ['test', 'hook']) runner.on(event, (begun: Mocha.Runnable) => watch.begins(begun.fullTitle()))
  })
}

async function main(): Promise<number> {
  const missing = provideNeeds(say)
  if (missing !== undefined) {
    console.error(missing)
    return 1
  }
  const chosen = process.argv.slice(2)
  if (chosen.length === 0) {
    if (!passes('Types', 'typescript/bin/tsc', '--noEmit')) return 1
    if (!passes('Lint and format', '@biomejs/biome/bin/biome', 'check', '.')) return 1
    // The whole suite takes its time where a single file takes a look in passing.
    process.env.FUZZ_SECONDS ??= '30'
  }
  const files =
    chosen.length > 0
      ? chosen.map(file => resolve(file))
      : globSync('test/**/*.test.ts', { cwd: root })
          .sort()
          .map(file => join(root, file))
  return (await runTests(files)) === 0 ? 0 : 1
}

process.exitCode = await main()
