/** How the launcher starts the program. */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'

const LAUNCHER = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

describe('the launcher', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-launch-'))
    writeFileSync(join(folder, 'told.ts'), 'console.log(JSON.stringify([process.execArgv, process.argv.slice(2)]))')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const CASES: [environment: string, options: string[], expected: string[]][] = [
    ['', [], []],
    ['', ['--max-old-space-size=64'], ['--max-old-space-size=64', '--max-semi-space-size=4']],
    ['--max-old-space-size=100', [], ['--max-semi-space-size=6']],
    ['--max_old_space_size=100', ['--max-old-space-size=512'], ['--max-old-space-size=512']],
    ['--max-old-space-size=64 --max-semi-space-size=8', [], []],
  ]
  for (const [environment, options, expected] of CASES)
    it(`HTTP-183 has a young generation that a heap has room for: ${[environment, ...options].join(' ')}`, async () => {
      const env = { ...process.env, NODE_OPTIONS: environment }
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [...options, LAUNCHER, '--run', join(folder, 'told.ts'), 'a', '--b'],
        { env },
      )
      expect(JSON.parse(stdout)).to.deep.equal([expected, ['a', '--b']])
    })
})
