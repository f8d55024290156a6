import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { lockFolder } from '../../pipeline/store/sqlite/folder-lock.ts'
import { openSqliteStore } from '../../pipeline/store/sqlite/store.ts'
import { exportSite } from '../../pipeline/store/transfer.ts'
import { startProcess } from '../support/process.ts'

const LAUNCHER = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

/** Runs a command of the server to its end. */
function command(...words: string[]): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [LAUNCHER, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', more => {
      text += more
    })
  return new Promise(resolve => child.once('close', code => resolve({ code, text })))
}

describe('one data folder', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-folder-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  describe('two processes on it', () => {
    it('a second server and an import are refused, and told who has it; a killed server leaves it free', async () => {
      const data = join(folder, 'data')
      const server = await startProcess(folder, { data, sites: [{ host: 'localhost' }] })
      const config = join(folder, 'settings.json')
      mkdirSync(join(folder, 'files'))
      writeFileSync(join(folder, 'files', 'a.html'), '<p>x</p>')
      const second = await command('serve', '--config', config)
      const imported = await command('import', join(folder, 'files'), '--config', config)
      for (const { code, text } of [second, imported]) {
        expect(code, text).to.equal(1)
        expect(text).to.match(/The data folder .* is in use by "scriptorium serve" \(process \d+ on .*, since \d{4}-/)
        expect(text).not.to.match(/\n\s+at /)
      }
      await server.stop('SIGKILL')
      const again = await command('import', join(folder, 'files'), '--config', config)
      expect(again.code, again.text).to.equal(0)
    })

    it('those that share a redis share it with each other and with nobody else', () => {
      const one = lockFolder(folder, 'serve', true)
      const two = lockFolder(folder, 'serve', true)
      expect(() => lockFolder(folder, 'serve')).to.throw('is in use')
      expect(() => lockFolder(folder, 'import')).to.throw('is in use')
      one.release()
      two.release()
      lockFolder(folder, 'import').release()
    })
  })

  describe('readable by everybody', () => {
    it('is made for its owner alone', async () => {
      const data = join(folder, 'new')
      await (await openSqliteStore({ folder: data })).close()
      expect(statSync(data).mode & 0o777).to.equal(0o700)
      expect(statSync(join(data, 'store.sqlite')).mode & 0o777).to.equal(0o600)
    })

    it('holds nothing that others can read where it was open before', async () => {
      const data = join(folder, 'open')
      mkdirSync(data)
      chmodSync(data, 0o755)
      const files = join(folder, 'exported', 'files')
      const store = await openSqliteStore({ folder: data })
      const staged = await store.stage(Readable.from([Buffer.alloc(300_000, 'x')]), { limit: 1_000_000 })
      const put = { op: 'put', path: '/x.bin', kind: 'blob', type: 'text/plain', content: { staged } } as const
      expect((await store.site('a.example').commit({ changes: [put] })).ok).to.equal(true)
      await exportSite(store.site('a.example'), files)
      await store.close()
      expect(statSync(files).mode & 0o777).to.equal(0o700)
      const found = readdirSync(join(data, 'blobs'), { recursive: true, encoding: 'utf8' })
      expect(found.filter(name => name.length > 60)).to.have.length(1)
      for (const name of ['blobs', 'staging', ...found.map(each => join('blobs', each))])
        expect(statSync(join(data, name)).mode & 0o077, name).to.equal(0)
    })

    it('is told where it was opened, be it to a group', async () => {
      for (const mode of [0o755, 0o750, 0o701]) {
        chmodSync(folder, mode)
        const told: string[] = []
        await (await openSqliteStore({ folder, log: (level, message) => told.push(`${level} ${message}`) })).close()
        expect(told).to.have.length(1)
        expect(told[0]).to.match(/^warn Other users of this machine may read the data folder/)
      }
    })
  })
})
