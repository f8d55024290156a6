import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { run } from '../support/program.ts'

const LAUNCH = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

describe('a start that cannot succeed', () => {
  let folder: string
  let isMounted = false

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-start-'))
    writeFileSync(join(folder, 'file'), 'x')
    writeFileSync(join(folder, 'bad.yaml'), 'sites: [\n  - host: a\n bad: : :\n')
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    // An administrator may write wherever the file system takes it.
    if (process.getuid?.() === 0) {
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', closed], { stdio: 'ignore' })
        isMounted = true
      } catch {
        // Without the right to mount, the folder is left out below.
      }
    } else chmodSync(closed, 0o500)
  })
  after(() => {
    if (isMounted) execFileSync('umount', ['-l', join(folder, 'closed')])
    else chmodSync(join(folder, 'closed'), 0o700)
    rmSync(folder, { recursive: true, force: true })
  })

  const start = (args: readonly string[]) => run(process.execPath, [LAUNCH, 'serve', ...args])
  const data = (path: string) => [
    '--set=listen.port=0',
    '--set=mount.port=0',
    '--data',
    path.startsWith('/') ? path : join(folder, path),
  ]
  const cases: [what: string, args: () => string[], says: RegExp, needsClosed?: boolean][] = [
    ['a data folder that is a file', () => data('file'), /^scriptorium: \S+file is a file, and must be a folder$/],
    ['a data folder below a file', () => data('file/below'), /^scriptorium: \S+ is a file, and must be a folder$/],
    [
      'a data folder below /proc',
      () => data('/proc/nothing'),
      /^scriptorium: no folder can be made at \/proc\/nothing$/,
    ],
    ['a read-only data folder', () => data('closed'), /^scriptorium: no permission to (use|write to) \S.*$/, true],
    ['a data folder in a read-only one', () => data('closed/x'), /^scriptorium: no permission to use \S+$/, true],
    [
      'bad YAML',
      () => ['--config', join(folder, 'bad.yaml')],
      /^scriptorium: .*\n\s+\S+bad\.yaml:2:\d+: not valid YAML.*$/,
    ],
  ]
  for (const [what, args, says, needsClosed] of cases)
    it(`HTTP-172 ${what} is told in a sentence, and the process ends`, async function () {
      if (needsClosed && process.getuid?.() === 0 && !isMounted) this.skip()
      const { code, output } = await start(args())
      expect(output.trimEnd()).to.match(says)
      expect(code).to.be.oneOf([1, 2])
    }).timeout(60_000)
})
