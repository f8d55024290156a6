// biome-ignore-all lint/suspicious/noTemplateCurlyInString: selector literals of programs look like templates
import { expect } from 'chai'
import { explainRequest } from '../../../pipeline/explain-request.ts'
import { NS, page, put, putAll, rulesPage } from '../../support/content.ts'
import { startServer, type TestServer } from '../../support/server.ts'

const GROUP = 'https://club.example/Club'

const schema = (program: string) =>
  page(`<div itemscope itemtype="${NS}/Schema"><meta itemprop="type" content="${GROUP}"><meta itemprop="parent" content="${NS}/Group">
<div itemprop="property" itemscope itemtype="${NS}/Method"><meta itemprop="name" content="includes">
<div itemprop="parameter" itemscope itemtype="${NS}/Parameter"><meta itemprop="name" content="email"></div>
<div itemprop="implementation" itemscope itemtype="${NS}/Sessel"><script itemprop="source" type="text/sessel">${program}</script></div></div></div>`)

describe('Groups that decide by an expression', () => {
  let server: TestServer
  const may = async (email: string) =>
    (
      await explainRequest(server.site, {
        method: 'GET',
        path: '/club.html',
        user: 'u',
        email,
        roles: [],
        selector: undefined,
      })
    ).allowed

  before(async () => {
    server = await startServer({ site: { defaultGet: 'deny' } })
    await putAll(server, {
      '/club.html': page('<h1>Club</h1>'),
      '/list.html': page('<ul><li class="guest">eve@x.example</li></ul>'),
      '/schema.html': schema('email.endsWith("@club.example")'),
      '/groups.html': page(
        `<div itemscope itemtype="${GROUP}"><meta itemprop="name" content="club"><meta itemprop="member" content="ann@x.example"></div>`,
      ),
      '/rules.html': rulesPage(['club', 'GET', 'Allow', '/club.html']),
    })
  })
  after(() => server.close())

  for (const [program, finding] of [
    ['1 == 2', 'its includes does not answer with true'],
    ['throw "no luck"', 'no luck'],
    ['1 +', 'its includes has failed: line 1'],
  ] as const)
    it(`GRP-5 RULE-13 an explanation tells why a group has said no: ${program}`, async () => {
      await put(server, '/schema.html', schema(program))
      const asked = { method: 'GET', path: '/club.html', user: 'u', roles: [], selector: undefined }
      const { findings = [] } = await explainRequest(server.site, { ...asked, email: 'bob@x.example' })
      expect(findings.filter(each => each.startsWith('The group club of /groups.html'))).to.have.length(1)
      expect(findings.join()).to.include(finding)
    })

  for (const [program, members, others] of [
    ['email.endsWith("@club.example")', ['a@club.example'], ['a@other.example', 'ann@x.example']],
    ['self.member == email', ['ann@x.example'], ['bob@x.example']],
    ['(${.guest} from "/list.html").any(g => g.text() == email)', ['eve@x.example'], ['ann@x.example']],
    ['null', [], ['ann@x.example']],
    ['1 / 0', [], ['ann@x.example']],
    ['1 +', [], ['ann@x.example']],
    ['throw "no"', [], ['ann@x.example']],
    ['let f = n => n == 0 ? 1 : f(n - 1) + f(n - 1); f(60)', [], ['ann@x.example']],
    ['"yes"', ['ann@x.example', 'bob@x.example'], []],
  ] as const)
    it(`SES-2 SES-214 includes: ${program}`, async () => {
      await put(server, '/schema.html', schema(program))
      for (const email of members) expect(await may(email), email).to.equal(true)
      for (const email of others) expect(await may(email), email).to.equal(false)
    })
})
