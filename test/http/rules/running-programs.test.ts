// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, putAll, type RuleLine, remove, rulesPage } from '../../support/content.ts'
import { client, connect, type Received, requestBytes } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const OPEN: RuleLine = ['*', 'GET|QUERY', 'Allow', '/*']

describe('Programs that visitors send', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
  })
  after(() => server.close())

  const SECRET = page('<p class="shut">SECRET</p>')
  const CASES: [what: string, rules: RuleLine[], path: string, expected: (answer: Received) => void][] = [
    ['whoever may not send any more', [], '/page.html', ({ status }) => expect(status).to.equal(401)],
    ['whoever may not send any more to a folder', [], '/', ({ status }) => expect(status).to.equal(401)],
    [
      'whoever may not read an element any more',
      [OPEN, ['*', 'GET', 'Deny', '/*', '.shut']],
      '/page.html',
      ({ status, text }) => expect([status, text]).to.deep.equal([200, '[]']),
    ],
    [
      'whoever may not read a document of a folder any more',
      [OPEN, ['*', 'GET', 'Deny', '/page.html']],
      '/',
      ({ status, text }) => expect([status, text]).to.deep.equal([200, '[]']),
    ],
    [
      'whoever may read no document of a folder any more',
      [['*', 'QUERY', 'Allow', '/*']],
      '/',
      ({ status }) => expect(status).to.equal(401),
    ],
  ]
  const SEND = ['the program is on its way', 'it runs'] as const
  for (const moment of SEND)
    for (const [what, rules, path, expected] of CASES)
      it(`RULE-11 SES-127 ${what} while ${moment} reads nothing that was written since`, async () => {
        await putAll(server, {
          '/rules.html': rulesPage(OPEN),
          '/page.html': page('<p class="shut">old</p>'),
          '/other.html': page('<b>1</b>'),
        })
        const change = async () => {
          await put(server, '/rules.html', rulesPage(...rules))
          await put(server, '/page.html', SECRET)
        }
        const program = '${.shut}.map(p => p.text())'
        const type = { 'Content-Type': 'text/sessel' }
        let answer: Received
        if (moment === 'it runs') {
          const { site } = server
          const { documentsWith, findParsed } = site
          const changing = async () => {
            Object.assign(site, { documentsWith, findParsed })
            await change()
          }
          site.documentsWith = async (...asked) => {
            await changing()
            return documentsWith.apply(site, asked)
          }
          site.findParsed = async (...asked) => {
            await changing()
            return findParsed.apply(site, asked)
          }
          answer = await client(server)('QUERY', path, type, program)
        } else {
          const connection = await connect(server)
          const whole = Buffer.from(requestBytes('QUERY', path, type, program, server))
          connection.send(whole.subarray(0, whole.length - 4))
          // Once it is asked for, the request has passed its first gates.
          while ((await client(server)('GET', '/other.html')).status !== 200);
          await new Promise(resolve => setTimeout(resolve, 50))
          await change()
          connection.send(whole.subarray(whole.length - 4))
          answer = await connection.receive()
          connection.close()
        }
        expect(answer.text).to.not.include('SECRET')
        expected(answer)
        await remove(server, '/page.html')
      })
})
