import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { describe, it } from 'mocha'

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('../../server/after-install.mjs', import.meta.url))

/** What `npm ci` says in the end on another Node or system. */
async function said(version: string, platform: string): Promise<string> {
  const pretended = `Object.defineProperty(process, 'platform', { value: '${platform}' })`
  const preload = `--import=data:text/javascript,${encodeURIComponent(pretended)}`
  const env = { ...process.env, npm_config_user_agent: `npm/11.19.1 node/v${version} ${platform} x64` }
  const { stdout } = await run(process.execPath, [preload, PROGRAM], { env })
  return stdout
}

describe('Installing', () => {
  const CASES: [version: string, platform: string, expected: RegExp][] = [
    ['20.20.2', 'linux', /^The warnings about engines are fine: .* not on 20\.20\.2\.\n$/],
    ['22.1.0', 'win32', /^The warnings about engines are fine/],
    ['24.14.9', 'linux', /^The warnings about engines are fine/],
    ['22.1.0', 'darwin', /^Scriptorium needs Node 24\.15 or newer, and this is 22\.1\.0/],
    ['24.15.0', 'linux', /^$/],
    ['25.0.0', 'darwin', /^$/],
  ]
  for (const [version, platform, expected] of CASES)
    it(`tells on Node ${version} and ${platform} whether warnings about engines are fine`, async () => {
      expect(await said(version, platform)).to.match(expected)
    })
})
