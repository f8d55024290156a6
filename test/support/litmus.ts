/** litmus, the protocol test suite for WebDAV servers: five suites against one collection. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './program.ts'

/** Suites with the number of their tests in litmus 0.13, in the order in which it runs them. */
export const SUITES = { basic: 16, copymove: 13, props: 30, locks: 41, http: 4 } as const

export type Suite = keyof typeof SUITES

export interface SuiteResult {
  /** Tests that were run; fewer than there are when the server broke the suite off. */
  run: number
  passed: number
  /** Lines of failures and warnings. */
  complaints: string[]
}

/** A place that litmus may fill. */
export interface Target {
  /** Address of a collection, with a slash at its end. */
  url: string
  user: string
  password: string
}

/** Runs one suite. A suite without a summary counts as one in which nothing passed. */
export async function litmus(suite: Suite, { url, user, password }: Target): Promise<SuiteResult> {
  // It leaves a log in its working directory.
  const cwd = await mkdtemp(join(tmpdir(), 'litmus-'))
  try {
    const { output } = await run('litmus', ['-k', url, user, password], { cwd, env: { TESTS: suite } })
    const [, tests = 0, passed = 0] = /of (\d+) tests run: (\d+) passed/.exec(output) ?? []
    const complaints = output.split('\n').filter(line => /FAIL|WARNING|SKIPPED/.test(line))
    return { run: Number(tests), passed: Number(passed), complaints }
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
