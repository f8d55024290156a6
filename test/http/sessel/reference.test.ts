/** The examples of the reference's chapter, on a real server, as they are written. */

import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { NS, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const CHAPTER = readFileSync(new URL('../../../docs/reference/sessel.md', import.meta.url), 'utf8')
const blocks = (language: string) =>
  [...CHAPTER.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, text = '']) => (name === language ? [text] : []))
/** A program is every line up to the one with its answer, which is a comment of it. */
const EXAMPLES = blocks('js').flatMap(block =>
  [...block.matchAll(/(.*?)^\/\/ → ([^\n]*)$/gms)].map(([program, , answer = '']) => ({
    program: program.trim(),
    answer,
  })),
)

describe('Examples of the chapter on expressions', () => {
  let server: TestServer
  let http: Client
  let mount: Client
  before(async () => {
    server = await startServer()
    http = client(server.port)
    const Authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    mount = client(Number(new URL(server.mountUrl).port), { Authorization })
    await putAll(server, {
      '/shop.html': blocks('html')[0] ?? '',
      '/rules.html': rulesPage(['*', 'QUERY', 'Allow', '/shop.html']),
    })
  })
  after(() => server.close())

  it('SES-1 nothing of them is left out', () => {
    expect(EXAMPLES.length).to.be.at.least(18)
    expect(blocks('js').every(block => block.trimEnd().split('\n').at(-1)?.startsWith('// →'))).to.equal(true)
  })

  for (const { program, answer } of EXAMPLES)
    it(`SES-231 ${JSON.stringify(program)}`, async () => {
      for (const face of [http, mount]) {
        const text = program.replaceAll('{ns}', NS)
        const got = await face('QUERY', '/shop.html', { 'Content-Type': 'text/sessel' }, text)
        expect([got.status, got.text]).to.deep.equal([answer.startsWith('<') ? 206 : 200, answer])
      }
    })
})
