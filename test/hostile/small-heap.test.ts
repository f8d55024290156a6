/** A server whose heap is small, and many who want what takes much of it at once. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { failureOf } from '../http/write-checks.ts'
import { NS } from '../support/content.ts'
import { client } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/process.ts'

/** Megabytes, of which modules take more than a third. */
const HEAP = 112

/** Documents that a page includes, and bytes of each: together with their copies they take a fifth of what is left. */
const PARTS = 12
const PART = 30_000

const VISITORS = 24

describe('a small heap', function () {
  this.timeout(180_000)
  let folder: string
  let server: ServerProcess

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'scriptorium-small-heap-'))
    const settings = { data: join(folder, 'data'), defaults: { defaultGet: 'allow' } }
    server = await startProcess(folder, settings, { NODE_OPTIONS: `--max-old-space-size=${HEAP}` })
    const password = /User editor, password (\S+)/.exec(server.everything())?.[1]
    const mount = /mount https?:\/\/[^:/]+:(\d+)/.exec(server.everything())?.[1]
    const put = client(Number(mount), { Authorization: `Basic ${btoa(`editor:${password}`)}` })
    const line = '<p class="a">Some <b>words</b> of a page</p>'
    const parts = Array.from({ length: PARTS }, (_, i) => `/part-${i}.html`)
    for (const path of parts) {
      const body = `<!doctype html><section>${line.repeat(PART / line.length)}</section>`
      expect((await put('PUT', path, { 'Content-Type': 'text/html' }, body)).status).to.equal(201)
    }
    const includes = parts.map(path => `<p:include selector="section" resource="${path}"/>`).join('')
    const page = `<!doctype html><html xmlns:p="${NS}/1.0"><body>${includes}</body></html>`
    expect((await put('PUT', '/page.html', { 'Content-Type': 'text/html' }, page)).status).to.equal(201)
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('HTTP-183 a page that fits once is put together for one visitor after the other', async () => {
    const send = client(server.port)
    // Each asks for another page, so that nobody gets an answer that was made for somebody else.
    const answers = await Promise.all(Array.from({ length: VISITORS }, (_, i) => send('GET', `/page.html?${i}`)))
    // On a machine that is slow enough, the time that a request has for it is over.
    const refused = answers.filter(({ status }) => status !== 200).map(failureOf)
    expect(refused.filter(failure => failure !== '503 BudgetExceeded')).to.deep.equal([])
    for (const { status, text } of answers) if (status === 200) expect(text.match(/<section>/g)?.length).to.equal(PARTS)
  })
})
