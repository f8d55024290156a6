/** Lines about requests: written without pino's help, they must be what pino writes. */

import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { type LoggedRequest, logRequest } from '../../../server/finished-requests.ts'
import { createLog } from '../../../server/log.ts'

const REQUEST: LoggedRequest = {
  face: 'public',
  host: 'localhost:8080',
  method: 'GET',
  url: '/',
  status: 200,
  milliseconds: 0.12345,
}

describe('lines about requests', () => {
  let folder: string
  let count = 0
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'log-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** What is written to a log, as text, when the log says that it was. */
  async function written(
    level: 'info' | 'warn',
    run: (log: ReturnType<typeof createLog>) => void,
    format: 'json' | 'text' = 'json',
  ): Promise<string> {
    const file = join(folder, `${++count}.log`)
    const log = createLog({ level, format }, openSync(file, 'w'))
    run(log)
    await new Promise(resolve => setImmediate(resolve))
    await new Promise(resolve => log.flush(resolve))
    return readFileSync(file, 'utf8')
  }

  const ODD: [name: string, request: Partial<LoggedRequest>][] = [
    ['a plain request', {}],
    ['an empty host', { host: '' }],
    ['quotes, backslashes and control characters', { url: '/"\\\u0001\u007f\t', host: 'a"b\\c' }],
    ['characters of other scripts', { url: '/ü\u{1f600}x\u2028' }],
    ['whole milliseconds', { milliseconds: 12 }],
    ['a long time', { milliseconds: 123456789.987 }],
    ['no time at all', { milliseconds: 0.0004 }],
    ['a failure on the mount', { face: 'mount', method: 'PROPFIND', status: 503 }],
  ]
  for (const [name, odd] of ODD)
    it(`are the same as pino's: ${name}`, async () => {
      const request = { ...REQUEST, ...odd }
      const text = await written('info', log => {
        logRequest(log, request)
      })
      const { face, host, method, url, status, milliseconds } = request
      const ms = Math.round(milliseconds * 100) / 100
      const other = await written('info', log => log.info({ face, host, method, path: url, status, ms }, 'request'))
      const untimed = (line: string) => line.replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, '"time":""')
      expect(untimed(text)).to.equal(untimed(other))
      expect(untimed(text)).not.to.equal(text)
    })

  it('for people are one line each, whatever somebody else has written', async () => {
    const hostile = 'a\r\n12:00:00.000 removed user=admin\u001b[2J\u0085\u2028b'
    const text = await written('info', log => log.info({ user: hostile, list: [hostile] }, `said ${hostile}`), 'text')
    expect(text.match(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g)).to.deep.equal(['\n'])
    expect(text).to.include('user=a\\u000d\\u000a12:00:00.000 removed user=admin\\u001b[2J')
  })

  it('of JSON tell a terminal nothing either, and say the same', async () => {
    const hostile = 'a\u001b[2J\u007f\u0085\u009b2J\u2028b'
    const text = await written('info', log => {
      logRequest(log, { ...REQUEST, by: { selector: hostile } })
      log.info({ user: hostile }, 'said')
    })
    expect(text.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/g)).to.equal(null)
    const lines = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as { selector?: string; user?: string })
    expect(lines.map(({ selector, user }) => selector ?? user)).to.deep.equal([hostile, hostile])
  })

  for (const format of ['text', 'json'] as const)
    it(`stand in the order in which they were written, whatever somebody else has put in: ${format}`, async () => {
      const hostile = '#a\u202e402\u2066b\u061c\u200e\u200f\u2029'
      const text = await written(
        'info',
        log => {
          logRequest(log, { ...REQUEST, by: { selector: hostile } })
          log.info({ user: hostile }, 'said')
        },
        format,
      )
      expect(text.match(/[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g)).to.equal(null)
      expect(text.split('#a\\u202e402\\u2066b\\u061c\\u200e\\u200f\\u2029')).to.have.length(3)
    })

  it('leave out queries, which may hold secrets', async () => {
    const text = await written('info', log => logRequest(log, { ...REQUEST, url: '/a?token=secret?x' }))
    expect(JSON.parse(text)).to.include({ path: '/a' })
    expect(text).not.to.contain('secret')
  })

  it('SEC-12 tell as much of a host and of a path as one has', async () => {
    const long = { ...REQUEST, host: 'h'.repeat(20_000), url: `/${'p'.repeat(60_000)}?${'q'.repeat(60_000)}` }
    const { host, path } = JSON.parse(await written('info', log => logRequest(log, long)))
    expect([host.length, path.length]).to.deep.equal([300, 4096])
  })

  it('come in order, each once, however many there are', async () => {
    const text = await written('info', log => {
      for (let i = 0; i < 1000; i++) logRequest(log, { ...REQUEST, url: `/${i}` })
    })
    const paths = text
      .trimEnd()
      .split('\n')
      .map(line => (JSON.parse(line) as { path: string }).path)
    expect(paths).to.deep.equal(Array.from({ length: 1000 }, (_, i) => `/${i}`))
  })

  it('are not written where the level says so', async () => {
    expect(await written('warn', log => logRequest(log, REQUEST))).to.equal('')
  })
})
