import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { afterEach, beforeEach, describe, it } from 'mocha'
import { type LogOutputOptions, logOutput } from '../../server/log-output.ts'
import { eventually } from '../support/eventually.ts'
import { connect, requestBytes } from '../support/http.ts'
import { freePort } from '../support/ports.ts'

const LAUNCHER = fileURLToPath(new URL('../../server/launch.mjs', import.meta.url))

describe('a full disk under standard output', () => {
  let folder: string
  let port: number
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-output-'))
    port = await freePort()
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  async function started(output: number | 'pipe'): Promise<{ child: ChildProcess; ended: Promise<unknown> }> {
    const file = join(folder, 'settings.json')
    const settings = { listen: { port }, mount: { port: 0 }, sites: [{ host: 'localhost' }] }
    writeFileSync(file, JSON.stringify({ data: join(folder, 'data'), log: { format: 'json' }, ...settings }))
    const child = spawn(process.execPath, [LAUNCHER, 'serve', '--config', file], {
      stdio: ['ignore', output, 'ignore'],
    })
    const ended = new Promise(resolve => child.once('exit', (code, signal) => resolve(code ?? signal)))
    await eventually(async () => (await connect(port)).close())
    return { child, ended }
  }

  /** Requests on one connection, each of which writes a line of some 2 kB. */
  async function ask(count: number): Promise<void> {
    const connection = await connect(port)
    for (let i = 0; i < count; i++) {
      connection.send(requestBytes('GET', `/${'x'.repeat(200)}/${'y'.repeat(1_800)}`))
      expect((await connection.receive()).status).to.be.oneOf([404, 414])
    }
    connection.close()
  }

  it('costs log lines: requests are answered, and the server ends when it is told to', async () => {
    const full = openSync('/dev/full', 'w')
    const { child, ended } = await started(full)
    closeSync(full)
    await ask(200)
    child.kill('SIGTERM')
    expect(await ended).to.equal(0)
  })

  it('as does a reader who stops reading; when it goes on, so does the log', async () => {
    const { child, ended } = await started('pipe')
    child.stdout?.pause()
    await ask(900)
    let text = ''
    child.stdout?.setEncoding('utf8').on('data', more => {
      text += more
    })
    child.stdout?.resume()
    await eventually(() => expect(text).to.include('log lines were lost'))
    await ask(1)
    child.kill('SIGTERM')
    expect(await ended).to.equal(0)
    for (const line of text.split('\n').filter(line => line.startsWith('{'))) JSON.parse(line)
  })

  it('costs no line while there is room, and goes on by itself when there is again', async () => {
    const seen: string[] = []
    let full = true
    const write = ((_descriptor: number, bytes: Buffer, _from: number, length: number, _at: null, done: Done) => {
      if (full) return void setImmediate(() => done(new Error('ENOSPC'), 0))
      seen.push(bytes.toString('utf8', 0, Math.min(length, 7)))
      setImmediate(() => done(null, Math.min(length, 7)))
    }) as unknown as LogOutputOptions['write']
    type Done = (error: Error | null, written: number) => void
    const output = logOutput(1, { minLength: 0, maxWrite: 100, ...(write && { write }) })
    output.write('first line\n')
    await new Promise<void>(resolve => output.flush(resolve))
    expect(seen).to.deep.equal([])
    full = false
    output.write('second\n')
    await eventually(() => expect(seen.join('')).to.equal('first line\nsecond\n'))
    full = true
    for (let i = 0; i < 300; i++) output.write(`${'x'.repeat(9_999)}\n`)
    full = false
    await eventually(() => expect(seen.join('')).to.match(/"lost":1\d\d,"msg":"log lines were lost"/))
  })
})
