/** The way of a PUT through the house, by the files whose functions run (docs/architecture.md). */

import { Session } from 'node:inspector/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, rulesPage } from '../support/content.ts'
import { type Client, client } from '../support/http.ts'
import { startServer, type TestServer } from '../support/server.ts'

const ROOT = new URL('../../', import.meta.url).href
const SOURCES = /^(server|dav|edge|pipeline|config)\//

/** Requests that are looked at: what runs by the clock is not in all of them. */
const LOOKED_AT = 5

/** Files that a PUT passes at most. */
const MOST = 52

/** What a document that declares nothing must not wake: code, the data model, composition, reactions. */
const ASLEEP =
  /^pipeline\/(evaluation|language\/(sessel|javascript|liquid)|compose|model\/(?!registry)|explain-request|react\/(?!declared\/reactions))/

describe('The way of a PUT', () => {
  let server: TestServer
  let http: Client
  const session = new Session()

  before(async () => {
    // One process with the embedded store, whatever the tests around it use.
    server = await startServer({ settings: { redis: undefined, postgres: undefined } })
    http = client(server.port)
    await put(server, '/rules.html', rulesPage(['*', 'PUT', 'Allow', '/*']))
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  })
  after(async () => {
    await session.post('Profiler.stopPreciseCoverage')
    session.disconnect()
    await server.close()
  })

  /** Files in which a function has run since it was asked last; the text of a file around its functions is none. */
  async function filesRun(): Promise<Set<string>> {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const run = result.filter(({ functions }) =>
      functions.some(({ ranges: [range] }) => range && range.count > 0 && range.startOffset > 0),
    )
    return new Set(run.map(({ url }) => url.replace(ROOT, '')).filter(path => SOURCES.test(path)))
  }

  it(`passes ${MOST} files at most, and leaves asleep what a plain document does not need`, async () => {
    const write = (i: number) => http('PUT', '/way.html', { 'Content-Type': 'text/html' }, page(`<p>${i}</p>`))
    for (let i = 0; i < 10; i++) expect((await write(i)).status).to.be.oneOf([200, 201])
    let way: Set<string> | undefined
    for (let i = 0; i < LOOKED_AT; i++) {
      await filesRun()
      await write(100 + i)
      const run = await filesRun()
      way = new Set([...(way ?? run)].filter(file => run.has(file)))
    }
    const passed = [...(way ?? [])].sort()
    expect(passed).to.include('pipeline/write/document.ts')
    expect(passed.filter(file => ASLEEP.test(file))).to.deep.equal([])
    expect(passed.length, passed.join('\n')).to.be.at.most(MOST)
  })
})
