import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, type RuleLine, rulesPage } from '../../support/content.ts'
import { type Client, client, type Fields } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { selecting } from '../write-checks.ts'

/** More than any budget of composition would bear, in every field that can look something up. */
const MANY = 1_000
const X = `\${request.headers.x}`

const lines = (line: (i: number) => RuleLine) => rulesPage(...Array.from({ length: MANY }, (_, i) => line(i)))

const SHAPES: [name: string, rules: string][] = [
  ['as actors', lines(i => [`team-${i}-${X}`, '*', 'Allow', '/list.html'])],
  ['in resources', lines(i => ['*', '*', 'Allow', `/*${X}*${i}/*${X}.html`])],
  ['in selectors', lines(i => ['*', '*', 'Allow', '/list.html', `[data-${i}="${X}"] ${X} > li:not(.${X})`])],
  ['in selectors that deny', lines(i => ['*', 'PUT', 'Deny', '/list.html', `.c${i} > ${X}`])],
  [
    'in selectors that find nothing',
    lines(i => ['*', 'PUT', 'Deny', '/list.html', `.c${i} > \${request.nothing.${i}}`]),
  ],
  ['many in one field', lines(i => ['*', '*', 'Allow', `/${X.repeat(50)}${i}`, `li${`[a="${X}"]`.repeat(20)}`])],
  [
    'in costly selectors',
    lines(i => ['*', '*', 'Allow', '/list.html', `:is(ul, ol):has(~ ${X}, li + li) li:nth-child(${i}n + 1 of ${X})`]),
  ],
]
const VALUES: [name: string, value: string][] = [
  ['an ordinary one', 'li'],
  ['none', ''],
  ['a long one', 'a'.repeat(7_000)],
  ['one of pattern characters', '*?[{,}]\\'.repeat(400)],
  ['one of selector characters', '"] > *, :is('.repeat(400)],
]

describe('LOOK-8 rules with lookups cost nothing of the composition budget and never answer 503', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/list.html', page(`<ul>${'<li>x</li>'.repeat(200)}</ul>`))
  })
  after(() => server.close())

  const requests: [method: string, fields: Fields, statuses: number[]][] = [
    ['GET', {}, [200]],
    ['GET', selecting('li'), [206]],
    ['GET', { ...selecting('li'), Accept: 'multipart/mixed' }, [206]],
    ['PUT', selecting('li:last-child'), [401, 206]],
    ['OPTIONS', {}, [200]],
    ['OPTIONS', { Accept: 'multipart/mixed' }, [204, 207]],
  ]
  for (const [name, rules] of SHAPES) {
    it(`${MANY} rules with lookups ${name}`, async () => {
      await put(server, '/rules.html', rules)
      for (const [which, x] of VALUES) {
        for (const [method, fields, statuses] of requests) {
          const body = method === 'PUT' ? '<li>y</li>' : undefined
          const { status } = await http(method, '/list.html', { ...fields, X: x }, body)
          expect(statuses, `${method} with ${which}`).to.include(status)
        }
      }
    })
  }
})

describe('LOOK-3 RULE-13 lookups of fields that are called like something that every object has', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/list.html', page('<ul><li>x</li></ul>'))
  })
  after(() => server.close())

  const names = ['__proto__', 'constructor']
  for (const name of names)
    it(`find nothing: ${name}`, async () => {
      const found = `\${request.headers.${name}}`
      await put(
        server,
        '/rules.html',
        rulesPage(
          ['*', 'GET', 'Deny', `/list.html${found}x`],
          ['*', 'PUT', 'Allow', `/list.html${found}`],
          ['*', 'DELETE', 'Deny', '/list.html', `[x="${found}"]`],
        ),
      )
      for (const [method, fields, status] of [
        ['GET', {}, 200],
        ['PUT', {}, 200],
        ['DELETE', selecting('li'), 401],
        ['OPTIONS', { Accept: 'multipart/mixed' }, 207],
      ] as const)
        expect(await http(method, '/list.html', fields, method === 'PUT' ? page('<li>x</li>') : undefined)).to.include({
          status,
        })
    })
})
