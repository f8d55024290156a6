import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { describe, it } from 'mocha'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

describe('npm start', () => {
  it('a signal to npm alone ends the server, too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scriptorium-npm-'))
    const options = ['--port', '0', '--mount-port', '0', '--set', `data=${join(folder, 'data')}`]
    // A group of its own: whatever a failure leaves running can be ended.
    const npm = spawn('npm', ['start', '--', ...options], {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      let ready = false
      // Every process that npm started has this end of its output: it closes when the last of them is gone.
      for await (const line of createInterface(npm.stdout)) {
        if (!line.startsWith('ready:')) continue
        ready = true
        npm.kill('SIGTERM')
      }
      expect(ready).to.equal(true)
    } finally {
      try {
        if (npm.pid !== undefined) process.kill(-npm.pid, 'SIGKILL')
      } catch {
        // Nobody is left.
      }
      await rm(folder, { recursive: true, force: true })
    }
  })
})
