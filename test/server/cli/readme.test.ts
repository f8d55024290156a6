import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { explainRequest } from '../../../pipeline/explain-request.ts'
import { client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { scriptorium } from './terminal.ts'

/** What the README shows of authorization, on the demo site. */
describe('README: who may do what', () => {
  let server: TestServer
  let section: string

  before(async () => {
    server = await startServer({ demo: true })
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8')
    section = readme.split('\n## Who may do what\n')[1]?.split('\n## ')[0] ?? ''
  })
  after(() => server.close())

  it('SEC-5 the command answers what it shows', async () => {
    const [, command = '', answer = ''] =
      /```sh\nnpm run --silent scriptorium -- ([^\n]+)\n```\n```\n([\s\S]*?)```/.exec(section) ?? []
    const { output } = await scriptorium(command.split(' '), {
      commands: { explain: async (_, question) => explainRequest(server.site, question) },
    })
    expect(output).to.equal(answer)
  })

  for (const method of ['BREW', 'PROPFIND', 'LOCK', 'PATCH'])
    it(`SEC-5 HTTP-115 what it says of ${method} is what the server answers`, async () => {
      const { status } = await client(server.port)(method, '/index.html')
      const { errors, output, code } = await scriptorium(['explain', method, '/index.html'], {
        commands: { explain: async (_, question) => explainRequest(server.site, question) },
      })
      expect(code, errors).to.equal(1)
      expect(output).to.match(
        new RegExp(`^${method} /index\\.html by an anonymous visitor is refused with ${status}\\.`),
      )
    })

  it('SEC-5 the mount answers where it says', async () => {
    const path = /localhost:8081(\/-platform\/explain)/.exec(section)?.[1] ?? ''
    const authorization = `Basic ${Buffer.from(`${server.user}:${server.password}`).toString('base64')}`
    const answer = await client(Number(new URL(server.mountUrl).port))('GET', path, { authorization })
    expect([answer.status, answer.text.includes('Who may do what')]).to.deep.equal([200, true])
  })

  it('the pages that it names are closed to strangers, and the rules are open', async () => {
    const http = client(server.port)
    for (const [path, status] of [
      ['/members/', 401],
      ['/editors/', 401],
      ['/rules.html', 200],
    ] as const)
      expect((await http('GET', path)).status, path).to.equal(status)
  })
})
