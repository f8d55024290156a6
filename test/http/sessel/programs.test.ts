import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { NS, page, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { LAB } from './lab.ts'
import { INSTANCES, SCHEMAS } from './schemas.ts'

interface Case {
  rule: string
  program: string
  status: number
  /** The whole body of an answer with 200 or 206, a part of any other. */
  body: string
}

/** `# RULE` names the rule of the lines below it: `program ⇒ status body`, where `⏎` stands for a line break. */
function casesIn(file: string): Case[] {
  const cases: Case[] = []
  let rule = ''
  for (const line of readFileSync(new URL(file, import.meta.url), 'utf8').split('\n')) {
    if (line.startsWith('# ')) rule = line.slice(2)
    else if (line.trim() !== '') {
      const [, program = '', status, body = ''] = /^(.*) ⇒ (\d{3}) ?(.*)$/.exec(line) ?? []
      if (status === undefined) throw new Error(`${file}: no case: ${line}`)
      cases.push({ rule, program: program.replaceAll('⏎', '\n').replaceAll('{ns}', NS), status: Number(status), body })
    }
  }
  return cases
}

const SITES: [file: string, about: string, files: Record<string, string>][] = [
  ['programs.txt', 'values and elements', { '/lab.html': LAB }],
  ['schema-programs.txt', 'schemas', { '/lab.html': INSTANCES, '/schemas.html': page(SCHEMAS) }],
]

for (const [file, about, files] of SITES)
  describe(`Programs and their answers: ${about}`, () => {
    let server: TestServer
    let http: Client
    before(async () => {
      server = await startServer()
      http = client(server.port)
      await putAll(server, {
        '/private.html': page('<h1>Secret</h1>'),
        '/shop.html': page('<h1>Shop</h1>'),
        '/rules.html': rulesPage(['*', 'QUERY', 'Allow', '/lab.html']),
        ...files,
      })
    })
    after(() => server.close())

    for (const { rule, program, status, body } of casesIn(file))
      it(`${rule} ${JSON.stringify(program)}: ${status} ${body}`, async () => {
        const got = await http('QUERY', '/lab.html', { 'Content-Type': 'text/sessel' }, program)
        expect({ status: got.status, text: got.text }).to.deep.include({ status })
        if (status === 200 || status === 206) expect(got.text).to.equal(body)
        else expect(got.text).to.include(body)
        expect(got.headers['content-type']).to.match(status === 200 ? /^application\/sessel\+json$/ : /^text\/html/)
      })
  })
