import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { ruleSet } from '../../pipeline/access/rule-sets.ts'
import { page, putAll, type RuleLine, remove, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { selecting } from '../write-checks.ts'

const FILES = {
  '/d/page.html': page('<ul id="list"><li id="one" class="a">1</li></ul>'),
  '/d/index.html': page('<p id="mine">x</p>'),
  '/e/style.css': 'p{}',
}
const PATHS = ['/d/page.html', '/d/', '/d/index.html', '/d', '/e/style.css', '/e/']

const REQUESTS: [method: string, fields: Fields, body?: string][] = [
  ['GET', {}],
  ['HEAD', {}],
  ['GET', { 'If-None-Match': '*' }],
  ['GET', { 'If-Match': '"x"' }],
  ['GET', selecting('#list li')],
  ['GET', { ...selecting('li'), Accept: 'multipart/mixed' }],
  ['GET', { Accept: 'application/ld+json' }],
  ['GET', { Accept: 'text/event-stream' }],
  ['GET', { Range: 'bytes=0-3' }],
  ['QUERY', { 'Content-Type': 'text/css-selector' }, 'li'],
  ['QUERY', { 'Content-Type': 'text/sessel' }, '1'],
  ['PUT', selecting('#one'), '<li>x</li>'],
  ['PUT', { ...selecting('#one'), 'If-Match': '"x"' }, '<li>x</li>'],
  ['POST', selecting('#list'), '<li>x</li>'],
  ['POST', selecting('#one', 'before'), '<li>x</li>'],
  ['DELETE', selecting('#one')],
  ['DELETE', {}],
  ['MOVE', { Destination: '/elsewhere.html' }],
  ['MOVE', { ...selecting('#one'), Destination: '/d/page.html', 'Destination-Range': 'selector=#list' }],
  ['PATCH', {}, 'x'],
]

/** Everything of an answer but the time, and the session of whoever has none. */
function told({ status, headers, text }: Received): string {
  const { date: _, 'set-cookie': __, ...rest } = headers
  return JSON.stringify([status, rest, text], null, 1)
}

describe('answers to those who may not read', () => {
  /** Where the files are, and where nothing is. */
  let full: TestServer
  let empty: TestServer
  let http: Client[]

  before(async () => {
    full = await startServer()
    empty = await startServer()
    http = [client(full.port, { Host: 'localhost' }), client(empty.port, { Host: 'localhost' })]
  })
  after(async () => {
    await full?.close()
    await empty?.close()
  })

  it('DENY-4 ABS-1 to ABS-7 are the same to the byte, headers included, whether something is there or not', async () => {
    let refused = 0
    for (let seed = 1; seed <= 15; seed++) {
      const lines = ruleSet(seed).map(({ actors, methods, action, resources, selector }): RuleLine => {
        const line = [actors.join('|'), methods.join('|'), action, resources.join('|')] as const
        return selector === undefined ? line : [...line, selector]
      })
      // Somebody else is denied reading, so that there is something to hide.
      lines.push(['*', 'GET', 'Deny', ['/d/*', '/e/*', '/{d,e}/*'][seed % 3] ?? ''])
      const rules = rulesPage(...lines)
      await putAll(full, { ...FILES, '/rules.html': rules })
      await putAll(empty, { '/rules.html': rules })
      for (const path of PATHS) {
        const readable = (await http[0]?.('GET', path))?.status !== 401
        if (readable) continue
        for (const [method, fields, body] of REQUESTS) {
          const [here, nowhere] = await Promise.all(http.map(send => send(method, path, fields, body)))
          if (!here || !nowhere) throw new Error('no answer')
          const question = `${method} ${path} ${JSON.stringify(fields)} under ${JSON.stringify(lines)}`
          expect(nowhere.status, question).not.to.be.oneOf([404, 416, 301, 412, 304])
          if (here.status !== 401) continue
          refused++
          expect(told(nowhere), question).to.equal(told(here))
        }
        // What a permitted write has done is undone.
        await putAll(full, FILES)
        for (const left of ['/elsewhere.html', ...Object.keys(FILES)])
          if (await empty.site.find(left)) await remove(empty, left)
        if (await full.site.find('/elsewhere.html')) await remove(full, '/elsewhere.html')
      }
    }
    expect(refused).to.be.above(1_000)
  }).timeout(300_000)
})
