import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { SERVER_PAGE_POLICY } from '../../../edge/security-headers.ts'
import { explainRequest } from '../../../pipeline/explain-request.ts'
import { isPinned } from '../../../pipeline/tree/pins.ts'
import { NS, page, put, putAll, rulesPage } from '../../support/content.ts'
import { type Client, client, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { turnsOf } from '../../support/turns.ts'

const PATH = '/-platform/explain'
const basic = (user: string) => ({ Authorization: `Basic ${Buffer.from(`${user}:pw`).toString('base64')}` })

describe('SEC-5 explaining rules on the mount', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    const credentials = [
      { user: 'whole', password: 'pw' },
      { user: 'reader', password: 'pw', write: false },
      { user: 'part', password: 'pw', scope: ['/blog/*'] },
    ]
    server = await startServer({ settings: { sites: [{ host: 'localhost', defaultGet: 'deny', credentials }] } })
    http = client(Number(new URL(server.mountUrl).port))
    const group = `<div itemscope itemtype="${NS}/Group"><meta itemprop="name" content="editors"><meta itemprop="member" content="alice@example.com"></div>`
    await putAll(server, {
      '/x.html': page('<ul id="todo"><li>a</li></ul><p>b</p>'),
      '/rules.html': rulesPage(
        ['*', 'PUT', 'Deny', '/x.html'],
        ['editors', 'PUT', 'Allow', '/x.html', '#todo li'],
        ['role:boss', 'PUT', 'Allow', '/*'],
        ['<b>&', 'PUT', 'Allow', '/x.html'],
        ['*', 'DELETE', 'Allow', '/*'],
        ['*', 'DELETE', 'Deny', '/x.html'],
      ).replace('</body>', `${group}</body>`),
      '/open.html': rulesPage(
        ['*', 'GET', 'Allow', '/open/*'],
        ['*', 'POST', 'Allow', '/open/*', '#in'],
        ['writers', 'POST', 'Allow', '/open/*'],
        ['*', 'GET', 'Deny', '/shut/*'],
        ['*', 'PUT', 'Allow', 'plan.html'],
        ['users', 'PUT', 'Allow', '/named/$' + '{username}/*'],
      ),
      '/open/index.html': page('open'),
      '/open/page.html': page('<p id="p">x</p>'),
      '/open/my page.html': page('x'),
    })
  })
  after(() => server.close())

  const ask = (query: string, fields: Record<string, string> = {}, user = 'whole'): Promise<Received> =>
    http('GET', `${PATH}${query}`, { Accept: 'application/json', ...basic(user), ...fields })

  const cases: [
    query: string,
    allowed: boolean,
    status: number | undefined,
    rules: [tier: number, action: string, why: string][],
  ][] = [
    ['?method=PUT&path=/x.html', false, 401, [[0, 'Deny', 'everybody; decides']]],
    ['?path=/x.html', false, 401, []],
    [
      '?method=DELETE&path=/x.html',
      false,
      401,
      [
        [0, 'Deny', 'everybody; decides'],
        [0, 'Allow', 'everybody; overruled by a Deny of its tier'],
      ],
    ],
    [
      '?as=alice@example.com&method=put&path=/x.html&selector=%23todo%20li',
      true,
      undefined,
      [
        [1, 'Allow', 'a member of the group editors in /rules.html; decides'],
        [0, 'Deny', 'everybody; outranked by a higher tier'],
      ],
    ],
    [
      '?as=alice@example.com&method=PUT&path=/x.html&selector=p',
      false,
      403,
      [
        [0, 'Deny', 'everybody; decides'],
        [1, 'Allow', 'a member of the group editors in /rules.html; not for this element'],
      ],
    ],
    [
      '?as=bob&role=boss,other&method=PUT&path=/x.html',
      true,
      undefined,
      [
        [1, 'Allow', 'the role boss; decides'],
        [0, 'Deny', 'everybody; outranked by a higher tier'],
      ],
    ],
    [
      '?as=bob&email=alice@example.com&method=PUT&path=/x.html&selector=li',
      true,
      undefined,
      [
        [1, 'Allow', 'a member of the group editors in /rules.html; decides'],
        [0, 'Deny', 'everybody; outranked by a higher tier'],
      ],
    ],
  ]
  for (const [query, allowed, status, rules] of cases) {
    it(query, async () => {
      const { status: answered, text, headers } = await ask(query)
      expect(answered).to.equal(200)
      expect(headers['content-type']).to.equal('application/json')
      expect(headers['cache-control']).to.equal('no-store')
      const answer = JSON.parse(text)
      expect([answer.allowed, answer.status]).to.deep.equal([allowed, status])
      expect(answer.rules.map((rule: Record<string, unknown>) => [rule.tier, rule.action, rule.why])).to.deep.equal(
        rules,
      )
    })
  }

  it('says the same as the public surface does', async () => {
    const visitor = client(server.port)
    for (const [method, fields] of [
      ['GET', {}],
      ['PUT', {}],
      ['PUT', { Range: 'selector=#todo li' }],
    ] as const) {
      const { status } = await visitor(method, '/x.html', fields, method === 'PUT' ? 'x' : undefined)
      const selector = 'Range' in fields ? '&selector=%23todo%20li' : ''
      const answer = JSON.parse((await ask(`?method=${method}&path=/x.html${selector}`)).text)
      expect([answer.allowed, answer.status], method).to.deep.equal([false, status])
    }
  })

  const more: [query: string, also: RegExp | undefined][] = [
    ['?method=MOVE&path=/x.html', /also takes DELETE for it and POST/],
    [
      '?as=u&role=boss&method=PUT&path=/rules.html&selector=[itemprop=action]',
      /configuration .* takes PUT for the whole/,
    ],
    [
      '?as=u&role=boss&method=DELETE&path=/rules.html&selector=div',
      /configuration .* takes PUT or DELETE for the whole/,
    ],
    [
      '?as=u&role=boss&method=DELETE&path=/rules.html&selector=[itemprop=action]',
      /Where it is part of an item, .* DELETE is not enough/,
    ],
    ['?as=u&role=boss&method=DELETE&path=/rules.html&selector=body', /configuration/],
    ['?as=u&role=boss&method=DELETE&path=/rules.html&selector=[itemprop=member]', undefined],
    ['?as=u&role=boss&method=GET&path=/rules.html&selector=div', undefined],
    ['?as=u&role=boss&method=PUT&path=/x.html&selector=li', undefined],
  ]
  for (const [query, also] of more) {
    it(`COMP-147 says what else it takes: ${query}`, async () => {
      const told = JSON.parse((await ask(query)).text).also
      if (also) expect(told).to.match(also)
      else expect(told).to.equal(undefined)
    })
  }

  const outcomes: [query: string, status: number | undefined, reason: RegExp][] = [
    ['?as=u&role=boss&method=PUT&path=/.platform/x', 403, /belongs to the server/],
    ['?as=u&role=boss&method=DELETE&path=/-platform/x', 403, /belongs to the server/],
    ['?path=/-platform/oidc/login', undefined, /belongs to the server/],
    ['?method=OPTIONS&path=/x.html', undefined, /never refused/],
    ['?method=DELETE&path=/nothing.html', 401, /allows it.* nothing is stored there, which is told only/],
    [
      '?as=u&role=boss&method=PUT&path=/x.html&selector=%23none',
      403,
      /allows it.* finds no element, which is told only/,
    ],
    ['?path=/open/x.html', undefined, /404/],
    ['?method=POST&path=/open/page.html&selector=%23none', 416, /finds no element, so the answer is 416/],
    ['?path=/open', undefined, /sent to \/open\//],
    ['?path=/open/my%2520page.html', undefined, /allows it/],
    ['?path=/open/my%20page.html', undefined, /allows it/],
    ['?path=/shut', 401, /denies it/],
  ]
  for (const [query, status, reason] of outcomes) {
    it(`tells the outcome: ${query}`, async () => {
      const answer = JSON.parse((await ask(query)).text)
      expect([answer.allowed, answer.status]).to.deep.equal([status === undefined, status])
      expect(answer.reason).to.match(reason)
    })
  }

  it('names the rules that nearly matched, and those that are not what they seem', async () => {
    const { missed, findings } = JSON.parse((await ask('?method=POST&path=/open/page.html')).text)
    expect(missed.map((rule: Record<string, unknown>) => [rule.actor, rule.method, rule.why])).to.deep.equal([
      ['*', 'GET', 'for other methods'],
      ['writers', 'POST', 'for others'],
      ['*', 'DELETE', 'for other methods'],
    ])
    expect(findings).to.have.length(1)
    expect(findings[0]).to.match(/^Rule 5 of \/open.html: .* slash/)
    const page = await ask('?method=POST&path=/open/page.html', { Accept: 'text/html' })
    expect(page.text).to.include('writers').and.include('Rule 5 of /open.html')
  })

  it('ACT-3 an address is no user name: says so where that would matter', async () => {
    const who = encodeURIComponent('ann@example.com')
    const asked = async (more: string) => JSON.parse((await ask(`?as=${who}&path=${more}`)).text)
    expect((await asked('/named/ann@example.com/x&method=PUT')).also).to.match(/user name is ann@example.com/)
    expect((await asked('/open/page.html')).also).to.equal(undefined)
  })

  it('is a page for browsers, with a form; what is asked is escaped', async () => {
    const empty = await ask('', { Accept: 'text/html' })
    expect(empty.status).to.equal(200)
    expect(empty.text).to.include('<form>').and.include('name="selector"')
    const { text, headers } = await ask(`?method=PUT&path=/x.html&as=${encodeURIComponent('<b>&')}`, { Accept: '*/*' })
    expect(headers['content-type']).to.equal('text/html; charset=utf-8')
    expect(headers['content-security-policy']).to.equal(SERVER_PAGE_POLICY)
    expect(text).to.include('&lt;b&gt;&amp;').and.include('the user name &lt;b&gt;&amp;; decides')
    expect(text).not.to.include('<b>&')
    expect(text).to.include('value="/x.html"')
  })

  it('MNT-1 wants credentials, and such as open the whole site', async () => {
    expect((await http('GET', `${PATH}?path=/x.html`)).status).to.equal(401)
    expect((await ask('?path=/x.html', {}, 'part')).status).to.equal(403)
    expect((await ask('?path=/x.html', {}, 'reader')).status).to.equal(200)
    expect(
      (await client(server.port)('GET', `${PATH}?path=/x.html`, basic('whole'))).status,
      'on the public side',
    ).to.equal(404)
  })

  it('SEC-12 others have their turn while an element is looked for in a long document, which stays as it is', async () => {
    const { site } = server
    await put(server, '/long.html', page(`<p>x</p>${'<ul><li>text <b>x</b></li><li>y</li></ul>'.repeat(10_000)}`))
    const about = (selector: string) => ({ method: 'GET', path: '/long.html', selector, roles: [] })
    const asking = (selector: string) => turnsOf(() => explainRequest(site, about(selector)))
    await asking('p')
    const atOnce = await asking('p')
    expect(await asking('li:has(b:contains("zz"))')).to.be.above(atOnce + 1)
    const tree = await site.parsed((await site.find('/long.html')) ?? expect.fail())
    expect(isPinned(tree)).to.equal(false)
    await explainRequest(site, about(':is(')).catch(() => undefined)
    expect(isPinned(tree)).to.equal(false)
  })

  it('questions that make no sense are 400, bad selectors 422', async () => {
    for (const query of [
      '',
      '?path=',
      '?path=x',
      '?path=/x&method=P%20T',
      '?path=/x&role=a',
      '?path=/x&email=a@b.example',
    ])
      expect((await ask(query)).status, query).to.equal(400)
    expect((await ask('?path=/x.html&selector=%5B')).status).to.equal(422)
    expect((await ask('?path=/x.html&selector=a&as=%00&method=PUT')).status).to.equal(200)
  })

  it('METH-5 nothing else is served or written there', async () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'MKCOL', 'LOCK', 'PROPPATCH'])
      expect((await http(method, PATH, basic('whole'), 'x')).status, method).to.equal(403)
    for (const path of [`${PATH}/`, `${PATH}/x`, '/-platform/explai', '/.platform/explain'])
      expect((await http('GET', path, basic('whole'))).status, path).to.equal(404)
    const { body, status } = await http('HEAD', `${PATH}?path=/x.html`, basic('whole'))
    expect([status, body.length]).to.deep.equal([200, 0])
  })
})
