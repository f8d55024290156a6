import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { NS, page, put, type RuleLine, remove, ruleMarkup, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, selecting, textOf } from '../write-checks.ts'

const OPENING: RuleLine = ['*', 'PUT', 'Allow', '/t.html']
const RULE = ruleMarkup(OPENING)
/** Everything about the rules' own documents is allowed, nothing else. */
const ADMIN = rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/r/*'])
const EMPTY = page('<div id="rules"></div><div id="x"></div>')
const FULL = page(`<div id="rules">${RULE}</div>`)

describe('rules count from the next request on', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, '/admin.html', ADMIN)
    await put(server, '/t.html', page('t'))
  })
  after(() => server.close())
  beforeEach(async () => {
    for (const path of ['/r/rules.html', '/r/other.html', '/r/rules.xml', '/r/rules.txt', '/r/made'])
      if (await server.site.find(path)) await remove(server, path)
  })

  const isOpen = async () => {
    const { status } = await http('PUT', '/t.html', {}, page('t'))
    expect(status).to.be.oneOf([200, 401])
    return status === 200
  }
  const write = async (method: string, path: string, fields = {}, body?: string) => {
    const { status, text } = await http(method, path, fields, body)
    expect(status, text).to.be.oneOf([200, 201, 204, 206])
  }

  /** Raw rules by document, as a restart reads them, and as the site has them. Only the order of positions matters. */
  const unplaced = (name: string, value: unknown) => (name === 'position' ? undefined : value)
  const keptRules = async () => {
    const kept: Record<string, unknown> = {}
    for await (const { path, value } of server.site.store.allDerived('access')) kept[path] = JSON.parse(value, unplaced)
    return kept
  }
  const rulesInMemory = () => {
    const { rules } = server.site
    const raw = rules.documentsUnder('/').map(path => [path, rules.document(path)])
    return JSON.parse(JSON.stringify(Object.fromEntries(raw)), unplaced)
  }

  /** What happens to the rules, from a state to a state, and whether the page is open then. */
  const ways: [name: string, files: Record<string, string>, change: () => Promise<void>, open: boolean][] = [
    ['added by whole PUT', {}, () => write('PUT', '/r/rules.html', {}, FULL), true],
    ['added by a replacing PUT', { '/r/rules.html': EMPTY }, () => write('PUT', '/r/rules.html', {}, FULL), true],
    ['removed by whole PUT', { '/r/rules.html': FULL }, () => write('PUT', '/r/rules.html', {}, EMPTY), false],
    [
      'added by selector POST',
      { '/r/rules.html': EMPTY },
      () => write('POST', '/r/rules.html', selecting('#rules'), RULE),
      true,
    ],
    [
      'added by selector PUT',
      { '/r/rules.html': EMPTY },
      () => write('PUT', '/r/rules.html', selecting('#rules'), `<div>${RULE}</div>`),
      true,
    ],
    [
      'removed by selector DELETE',
      { '/r/rules.html': FULL },
      () => write('DELETE', '/r/rules.html', selecting('#rules > div')),
      false,
    ],
    [
      'removed with an ancestor',
      { '/r/rules.html': FULL },
      () => write('DELETE', '/r/rules.html', selecting('#rules')),
      false,
    ],
    [
      'replaced by selector PUT',
      { '/r/rules.html': FULL },
      () => write('PUT', '/r/rules.html', selecting('#rules > div'), '<p>none'),
      false,
    ],
    [
      'one method of a rule removed',
      { '/r/rules.html': FULL },
      () => write('DELETE', '/r/rules.html', selecting('[itemprop=method]')),
      false,
    ],
    [
      'its action turned',
      { '/r/rules.html': FULL },
      () => write('PUT', '/r/rules.html', selecting('[itemprop=action]'), '<meta itemprop=action content=deny>'),
      false,
    ],
    [
      'a value typed in',
      {
        '/r/rules.html': page(
          `<div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*"><meta itemprop="action" content="allow"><meta itemprop="resource" content="/t.html"><b itemprop="method">GET</b></div>`,
        ),
      },
      () => write('PUT', '/r/rules.html', selecting('b'), '<b itemprop="method">PUT</b>'),
      true,
    ],
    ['removed by DELETE of the document', { '/r/rules.html': FULL }, () => write('DELETE', '/r/rules.html'), false],
    [
      'moved with its document',
      { '/r/rules.html': FULL },
      () => write('MOVE', '/r/rules.html', { Destination: '/r/other.html' }),
      true,
    ],
    [
      'moved over a document with rules',
      { '/r/rules.html': FULL, '/r/other.html': rulesPage(['*', 'PUT', 'Deny', '/t.html']) },
      () => write('MOVE', '/r/rules.html', { Destination: '/r/other.html' }),
      true,
    ],
    [
      'covered by a document moved over it',
      { '/r/rules.html': FULL, '/r/other.html': EMPTY },
      () => write('MOVE', '/r/other.html', { Destination: '/r/rules.html' }),
      false,
    ],
    [
      'moved within its document',
      { '/r/rules.html': page(`<div id="rules">${RULE}</div><div id="x"></div>`) },
      () => write('MOVE', '/r/rules.html', moving('/r/rules.html', '#rules > div', '#x', 'append')),
      true,
    ],
    [
      'moved into a template',
      { '/r/rules.html': page(`<div id="rules">${RULE}</div><template></template>`) },
      () => write('MOVE', '/r/rules.html', moving('/r/rules.html', '#rules > div', 'template', 'append')),
      false,
    ],
    [
      'moved out of an item',
      {
        '/r/rules.html': page(
          `<div itemscope itemtype="${NS}/AuthorizationRule"><meta itemprop="actor" content="*"><meta itemprop="action" content="allow"><meta itemprop="resource" content="/t.html"></div><b itemprop="method">PUT</b>`,
        ),
      },
      () => write('MOVE', '/r/rules.html', moving('/r/rules.html', 'b', '[itemscope]', 'append')),
      true,
    ],
    ['stored as a blob', {}, () => write('PUT', '/r/rules.txt', {}, FULL), false],
    [
      'stored as a blob that becomes a document',
      { '/r/rules.txt': FULL },
      () => write('MOVE', '/r/rules.txt', { Destination: '/r/rules.html' }),
      true,
    ],
    [
      'in XML',
      {},
      () =>
        write(
          'PUT',
          '/r/rules.xml',
          {},
          `<r>${RULE.replaceAll(/<meta ([^>]*)>/g, '<m $1/>').replace('hidden itemscope', 'itemscope=""')}</r>`,
        ),
      true,
    ],
    [
      'in a document whose type is given',
      {},
      () => write('PUT', '/r/made', { 'Content-Type': 'text/html' }, FULL),
      true,
    ],
    [
      'in a document that becomes a blob',
      { '/r/rules.html': FULL },
      async () => {
        await write('MOVE', '/r/rules.html', { Destination: '/r/made' })
        await write('PUT', '/r/made', { 'Content-Type': 'text/plain' }, FULL)
      },
      false,
    ],
  ]
  for (const [name, files, change, open] of ways) {
    it(`RULE-11 ${name}: ${open ? 'open' : 'closed'}`, async () => {
      for (const [path, content] of Object.entries(files)) await put(server, path, content)
      await change()
      expect(await isOpen()).to.equal(open)
      expect(await keptRules(), 'what a restart would find').to.deep.equal(rulesInMemory())
    })
  }

  it('RULE-11 a generated document brings its rules, too', async () => {
    const answer = await http('POST', '/r/', { 'Content-Type': 'text/html' }, FULL)
    expect(answer.status).to.equal(201)
    expect(await isOpen()).to.equal(true)
    await write('DELETE', answer.headers.location ?? '')
    expect(await isOpen()).to.equal(false)
  })

  it('RULE-11 a Deny shuts as fast as an Allow opens, a hundred times in a row', async () => {
    const shut = rulesPage(['*', 'PUT', 'Deny', '/t.html'])
    for (let i = 0; i < 50; i++) {
      await write('PUT', '/r/rules.html', {}, FULL)
      expect(await isOpen(), String(i)).to.equal(true)
      await write('PUT', '/r/other.html', {}, shut)
      expect(await isOpen(), String(i)).to.equal(false)
      await write('DELETE', '/r/other.html')
    }
  })

  it('RULE-11 reads by default-GET end with the request that denies them, also kept answers', async () => {
    for (let i = 0; i < 4; i++) expect((await http('GET', '/t.html')).status).to.equal(200)
    await write('PUT', '/r/rules.html', {}, rulesPage(['*', 'GET', 'Deny', '/t.html']))
    expect(failureOf(await http('GET', '/t.html'))).to.equal('401 /t.html')
    expect(failureOf(await http('GET', '/t.html', selecting('body')))).to.equal('401 /t.html')
    await write('DELETE', '/r/rules.html')
    expect((await http('GET', '/t.html')).status).to.equal(200)
  })

  it('RULE-11 groups count at once, by the rules of others', async () => {
    // Nobody can be signed in here: what is looked at is the compiled group.
    await put(
      server,
      '/r/rules.html',
      page(
        `<div itemscope itemtype="${NS}/Group"><meta itemprop="name" content="g"><meta itemprop="member" content="a@b.example"></div>`,
      ),
    )
    expect(server.site.rules.groupsNamed('g').map(group => [...group.members])).to.deep.equal([['a@b.example']])
    await write('POST', '/r/rules.html', selecting('[itemscope]'), '<meta itemprop="member" content="c@d.example">')
    expect(server.site.rules.groupsNamed('g').map(group => [...group.members])).to.deep.equal([
      ['a@b.example', 'c@d.example'],
    ])
    await write('DELETE', '/r/rules.html', selecting('[itemprop=name]'))
    expect(server.site.rules.groupsNamed('g')).to.deep.equal([])
  })

  it('RULE-11 a rule that denies its own document', async () => {
    await write('PUT', '/r/rules.html', {}, rulesPage(['*', 'PUT', 'Deny', '/r/rules.html'], OPENING))
    expect(failureOf(await http('PUT', '/r/rules.html', {}, EMPTY))).to.equal('401 /r/rules.html')
    expect(await isOpen()).to.equal(true)
  })

  it('RULE-11 rules of a write that failed never count', async () => {
    await put(server, '/r/rules.html', EMPTY)
    await leavesAlone(server, ['/r/rules.html'], async () => {
      expect((await http('PUT', '/r/rules.html', { 'If-Match': '"x"' }, FULL)).status).to.equal(412)
      expect((await http('POST', '/r/rules.html', selecting('#none'), RULE)).status).to.equal(416)
      expect((await http('PUT', '/r/deep.html', {}, `${'<div>'.repeat(600)}${RULE}`)).status).to.equal(422)
    })
    expect(await isOpen()).to.equal(false)
    expect(await textOf(server, '/r/rules.html')).to.equal(EMPTY)
  })
})
