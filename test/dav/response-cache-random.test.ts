/** Whatever authors do, in whatever order: what is repeated from memory is what the application would say. */

import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put } from '../support/content.ts'
import type { Received } from '../support/http.ts'
import { type Authors, lockInfo, startMount } from './locks/locking.ts'
import { propertyUpdate, propfindBody } from './wire.ts'

/** Sequences of steps; more of them where somebody looks for faults. */
const RUNS = process.env.FUZZ ? 8 : 2
const STEPS = 40

const FILES = ['/r/a.txt', '/r/b.html', '/r/sub/c.txt', '/r/sub/d.html', '/r/~$w.docx', '/r/._m', '/docs/e.txt']
const COLLECTIONS = ['/r/', '/r/sub/', '/docs/', '/']
const QUESTION = propfindBody('getcontentlength', 'getetag', 'getlastmodified', '{urn:x}color')

/** Fields that leave a request to the application without changing its answer. */
const TO_APPLICATION = { 'If-Unmodified-Since': 'Fri, 31 Dec 2100 23:59:59 GMT' }

/** Everything but what differs from moment to moment. */
function told({ status, lines, text }: Received): string {
  const fields = lines.filter(([name]) => name !== 'Date').map(([name, value]) => `${name}: ${value}`)
  return [status, ...fields.sort(), text].join('\n')
}

describe('repeated reads among writes', () => {
  let mount: Authors
  before(async () => {
    mount = await startMount()
  })
  after(() => mount.server.close())

  /**
   * Looks, and then past the memory. What was answered at the step before is kept until now, so that a look is the second one
   * wherever nothing has changed.
   */
  async function compare(
    author: Authors['ann'],
    method: string,
    path: string,
    Depth: string,
    step: string,
  ): Promise<void> {
    const body = method === 'PROPFIND' ? QUESTION : undefined
    const ask = (more = {}) => author(method, path, { Depth, ...more }, body)
    const repeated = await ask()
    const application = await ask(TO_APPLICATION)
    expect(told(repeated), `${step}, then ${method} ${path}`).to.equal(told(application))
    const tag = application.headers.etag
    if (tag === undefined || application.status >= 300) return
    const unchanged = await ask({ 'If-None-Match': tag })
    expect(unchanged.status, `${step}, then ${method} ${path} with its tag`).to.equal(304)
  }

  for (let run = 0; run < RUNS; run++)
    it(`DAV-40 DAV-50 are never stale: ${run}`, async function () {
      this.timeout(300_000)
      let state = run * 7919 + 17
      const random = (below: number) => {
        state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
        return Math.floor((state / 0x80000000) * below)
      }
      const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T
      const tokens: [path: string, token: string][] = []
      const { ann } = mount
      const acts: (() => Promise<string>)[] = [
        async () => {
          const path = pick(FILES)
          await ann('PUT', path, {}, path.endsWith('html') ? page(`<p>${random(9)}</p>`) : 'x'.repeat(random(9)))
          return `PUT ${path}`
        },
        async () => {
          const path = pick(FILES.filter(name => name.endsWith('html')))
          await ann('PUT', path, {}, '')
          return `draft ${path}`
        },
        async () => {
          const path = pick([...FILES, '/r/sub/'])
          await ann('DELETE', path)
          return `DELETE ${path}`
        },
        async () => {
          const [method, from, to] = [pick(['MOVE', 'COPY']), pick([...FILES, '/r/sub/']), pick([...FILES, '/r/sub2/'])]
          await ann(method, from, { Destination: to })
          return `${method} ${from} to ${to}`
        },
        async () => {
          const path = pick([...FILES, ...COLLECTIONS])
          await ann(
            'PROPPATCH',
            path,
            {},
            propertyUpdate(['{urn:x}color', String(random(9))], ['lastmodified', `${1773480413 + random(9)}`]),
          )
          return `PROPPATCH ${path}`
        },
        async () => {
          const path = pick([...FILES, '/r/', '/r/sub/'])
          const { headers } = await ann('LOCK', path, { Depth: pick(['0', 'infinity']) }, lockInfo('shared'))
          if (headers['lock-token']) tokens.push([path, headers['lock-token']])
          return `LOCK ${path}`
        },
        async () => {
          const [path, token] = tokens.pop() ?? ['/r/', '<none>']
          await ann('UNLOCK', path, { 'Lock-Token': token })
          return `UNLOCK ${path}`
        },
        async () => {
          await put(mount.server, '/r/b.html', page(`<p>operator ${random(9)}</p>`))
          return 'the operator writes'
        },
      ]
      for (let i = 0; i < STEPS; i++) {
        const step = `step ${i}: ${await pick(acts)()}`
        // In turn: what is kept for one of them has to fit after the steps until the next look, too.
        const author = i % 2 === 0 ? ann : mount.dora
        for (const path of FILES) {
          await compare(author, 'GET', path, '0', step)
          await compare(author, 'PROPFIND', path, '0', step)
        }
        for (const path of COLLECTIONS)
          for (const depth of ['0', '1']) await compare(author, 'PROPFIND', path, depth, step)
      }
      for (const [path, token] of tokens) await ann('UNLOCK', path, { 'Lock-Token': token })
    })
})
