import { expect } from 'chai'
import { after, before, describe, it } from 'mocha'
import { page, put, type RuleLine, rulesPage } from '../../support/content.ts'
import { type Client, client, type Received } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, selecting, textOf } from '../write-checks.ts'

const DOC = page('<ul id="l"><li id="a">a</li></ul><p id="p">p</p>')
const PATH = '/d.html'
const REFUSED = '401 /d.html'
const NO_MATCH = '416 SelectorNoMatch'
const UNREADABLE: RuleLine = ['*', 'GET', 'Deny', PATH]

type Method = 'PUT' | 'POST' | 'DELETE'
const METHODS: Method[] = ['PUT', 'POST', 'DELETE']

describe('absent or denied, on writes', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
    await put(server, PATH, DOC)
  })
  after(() => server.close())

  const rules = (...lines: RuleLine[]) => put(server, '/rules.html', rulesPage(...lines))
  const write = (method: string, selector: string, path = PATH, placement?: string) =>
    leavesAlone(server, [path], () => http(method, path, selecting(selector, placement), '<li>x</li>'))
  const comparable = ({ status, headers, text }: Received) => {
    const { date: _, 'set-cookie': __, ...rest } = headers
    return { status, rest, text }
  }

  for (const method of METHODS) {
    it(`ABS-2 ${method} by selector on a missing document: 404 with R, else refused`, async () => {
      await rules(['*', method, 'Allow', '/*'])
      expect(failureOf(await write(method, '#a', '/none.html'))).to.equal('404 NotFound')
      await rules(['*', method, 'Allow', '/*'], ['*', 'GET', 'Deny', '/none.html'])
      expect(failureOf(await write(method, '#a', '/none.html'))).to.equal('401 /none.html')
    })

    it(`ABS-3 HTTP-2 ${method}: where nothing could grant it, what exists makes no difference`, async () => {
      await rules()
      const [present, missing] = [await write(method, '#a'), await write(method, '#x')]
      expect(failureOf(present)).to.equal(REFUSED)
      expect(comparable(missing)).to.deep.equal(comparable(present))
      const other = await write(method, '#a', '/none.html')
      expect(failureOf(other)).to.equal('401 /none.html')
      expect(comparable(other).text.replaceAll('/none.html', PATH)).to.equal(present.text)
    })

    const rows: [name: string, lines: RuleLine[], outcome: string][] = [
      ['allowed for the page', [['*', method, 'Allow', PATH]], NO_MATCH],
      ['allowed for other elements', [['*', method, 'Allow', PATH, '#p']], NO_MATCH],
      ['(a) the page may not be read', [['*', method, 'Allow', PATH], UNREADABLE], REFUSED],
      [
        '(b) denied for the page',
        [
          ['*', method, 'Allow', PATH, '#x'],
          ['*', method, 'Deny', PATH],
        ],
        REFUSED,
      ],
      [
        '(b) a Deny for elements decides nothing here',
        [
          ['*', method, 'Allow', PATH],
          ['*', method, 'Deny', PATH, '#a'],
        ],
        NO_MATCH,
      ],
      ['(c) allowed for others only', [['users', method, 'Allow', PATH]], REFUSED],
      ['(c) allowed for another method', [['*', 'PATCH', 'Allow', PATH]], REFUSED],
      ['(c) allowed on another path', [['*', method, 'Allow', '/other.html']], REFUSED],
      ['(c) a lone Deny for elements', [['*', method, 'Deny', PATH, '#a']], REFUSED],
      ['everything allowed', [['*', '*', 'Allow', '/*']], NO_MATCH],
    ]
    for (const [name, lines, outcome] of rows) {
      it(`ABS-3 ${method} that matches nothing, ${name}: ${outcome}`, async () => {
        await rules(...lines)
        expect(failureOf(await write(method, '#x'))).to.equal(outcome)
      })
    }

    it(`ABS-3 ${method}: a denied element and none refuse alike`, async () => {
      await rules(['*', method, 'Allow', PATH, '#p'], UNREADABLE)
      const [present, missing] = [await write(method, '#a'), await write(method, '#x')]
      expect(failureOf(present)).to.equal(REFUSED)
      expect(comparable(missing)).to.deep.equal(comparable(present))
    })
  }

  for (const placement of ['before', 'after']) {
    it(`ABS-4 POST ${placement} a missing anchor is refused, also where everything is allowed`, async () => {
      for (const lines of [[['*', '*', 'Allow', '/*']], [['*', 'POST', 'Allow', PATH, '#l']]] as RuleLine[][]) {
        await rules(...lines)
        expect(failureOf(await write('POST', '#x', PATH, placement))).to.equal(REFUSED)
      }
    })

    it(`HTTP-95 POST ${placement} is decided on the parent of the anchor`, async () => {
      await rules(['*', 'POST', 'Allow', PATH, '#l'])
      await put(server, '/d2.html', DOC)
      await rules(['*', 'POST', 'Allow', '/d2.html', '#l'])
      expect((await http('POST', '/d2.html', selecting('#a', placement), '<li>x</li>')).status).to.equal(206)
      expect((await http('POST', '/d2.html', selecting('#l'), '<li>x</li>')).status).to.equal(206)
      expect(failureOf(await write('POST', '#l', '/d2.html', placement))).to.equal('401 /d2.html')
      expect(failureOf(await write('POST', '#a', '/d2.html'))).to.equal('401 /d2.html')
      await rules(['*', 'POST', 'Allow', '/d2.html', '#a'])
      expect(failureOf(await write('POST', '#a', '/d2.html', placement))).to.equal('401 /d2.html')
    })

    it(`HTTP-95 POST ${placement} the root is asked without a key: a rule for elements does not count`, async () => {
      await rules(['*', 'POST', 'Allow', PATH, '*'])
      expect(failureOf(await write('POST', 'html', PATH, placement))).to.equal(REFUSED)
      await rules(['*', 'POST', 'Allow', PATH])
      expect(failureOf(await write('POST', 'html', PATH, placement))).to.equal('400 InvalidPlacement')
    })
  }

  it('ABS-5 a permitted write succeeds on a page that the writer cannot read', async () => {
    await put(server, '/d3.html', DOC)
    await rules(['*', 'PUT|DELETE', 'Allow', '/d3.html', '#a'], ['*', 'GET', 'Deny', '/d3.html'])
    const answer = await http('PUT', '/d3.html', selecting('#a'), '<li id="a">A</li>')
    expect(answer.status).to.equal(206)
    expect(answer.text).to.equal('<li id="a">A</li>')
    expect((await http('DELETE', '/d3.html', selecting('#a'))).status).to.equal(204)
    expect(failureOf(await http('GET', '/d3.html'))).to.equal('401 /d3.html')
  })

  it('ABS-7 a whole DELETE of nothing: refused unless DELETE is permitted; then 404 with R, else refused', async () => {
    await rules()
    expect(failureOf(await http('DELETE', '/none.html'))).to.equal('401 /none.html')
    await rules(['*', 'DELETE', 'Allow', '/*'])
    expect(failureOf(await http('DELETE', '/none.html'))).to.equal('404 NotFound')
    await rules(['*', 'DELETE', 'Allow', '/*'], ['*', 'GET', 'Deny', '/none.html'])
    expect(failureOf(await http('DELETE', '/none.html'))).to.equal('401 /none.html')
  })

  it('ABS-7 with default-GET denying, absence is told to nobody who may not read', async () => {
    const closed = await startServer({ site: { defaultGet: 'deny' } })
    try {
      const ask = client(closed.port)
      await put(closed, PATH, DOC)
      await put(closed, '/rules.html', rulesPage(['*', 'PUT|POST|DELETE|MOVE', 'Allow', '/*']))
      for (const method of METHODS) {
        expect(failureOf(await ask(method, PATH, selecting('#x'), '<p>')), method).to.equal(REFUSED)
        expect(failureOf(await ask(method, '/none.html', selecting('#x'), '<p>')), method).to.equal('401 /none.html')
      }
      expect(failureOf(await ask('DELETE', '/none.html'))).to.equal('401 /none.html')
      expect(failureOf(await ask('MOVE', '/none.html', { Destination: '/x.html' }))).to.equal('401 /none.html')
      expect((await ask('PUT', PATH, selecting('#a'), '<li id="a">A</li>')).status).to.equal(206)
    } finally {
      await closed.close()
    }
  })

  it('drop box: strangers may put something in and see nothing else', async () => {
    await put(server, '/inbox.html', page('<ul id="in"><li>secret</li></ul><ul id="out"></ul>'))
    await rules(['*', 'GET', 'Deny', '/inbox.html'], ['*', 'POST', 'Allow', '/inbox.html', '#in'])
    const answer = await http('POST', '/inbox.html', selecting('#in'), '<li>mine</li>')
    expect(answer.status).to.equal(206)
    expect(answer.text).to.equal('<li>mine</li>')
    expect(await textOf(server, '/inbox.html')).to.include('<li>secret</li><li>mine</li></ul>')
    const refused = '401 /inbox.html'
    expect(failureOf(await http('GET', '/inbox.html'))).to.equal(refused)
    expect(failureOf(await http('GET', '/inbox.html', selecting('#in')))).to.equal(refused)
    expect(failureOf(await write('PUT', '#nothing', '/inbox.html'))).to.equal(refused)
    expect(failureOf(await write('PUT', '#in', '/inbox.html'))).to.equal(refused)
    expect(failureOf(await write('POST', '#nothing', '/inbox.html'))).to.equal(refused)
    expect(failureOf(await write('POST', '#out', '/inbox.html'))).to.equal(refused)
    expect(failureOf(await write('POST', 'body', '/inbox.html'))).to.equal(refused)
    expect(failureOf(await write('DELETE', '#in li', '/inbox.html'))).to.equal(refused)
  })

  it('a public list in a readable page (worked example)', async () => {
    await put(server, '/index.html', page('<ul id="todo"><li>Milk</li></ul>'))
    await rules(['*', 'PUT|DELETE', 'Allow', '/index.html', '#todo li'])
    const home = '401 /'
    expect((await http('PUT', '/', selecting('#todo > li:nth-child(1)'), '<li>Oats</li>')).status).to.equal(206)
    expect(failureOf(await http('PUT', '/', selecting('#todo'), '<ul></ul>'))).to.be.oneOf([home, '401 /index.html'])
    expect(failureOf(await http('PUT', '/index.html', {}, DOC))).to.equal('401 /index.html')
    expect(failureOf(await http('DELETE', '/', selecting('#todo li:nth-child(9)')))).to.equal(NO_MATCH)
    expect(await textOf(server, '/index.html')).to.include('<ul id="todo"><li>Oats</li></ul>')
  })

  it('KEY-1 KEY-5 being inside an element of the rule is not being that element; the first match decides', async () => {
    await put(server, '/k.html', page('<ul id="l"><li id="a"><b>x</b></li></ul><ol><li id="z">z</li></ol>'))
    await rules(['*', 'PUT', 'Allow', '/k.html', 'ul li'])
    expect(failureOf(await write('PUT', '#a b', '/k.html'))).to.equal('401 /k.html')
    expect(failureOf(await write('PUT', '#z', '/k.html'))).to.equal('401 /k.html')
    expect((await http('PUT', '/k.html', selecting('li'), '<li id="a">y</li>')).status).to.equal(206)
    await rules(['*', 'PUT', 'Allow', '/k.html', 'ol li'])
    expect(failureOf(await write('PUT', 'li', '/k.html'))).to.equal('401 /k.html')
  })

  it('DEC-2 a Deny for elements beats an Allow of the page, for these elements only', async () => {
    await put(server, '/k.html', DOC)
    await rules(['*', 'PUT', 'Allow', '/k.html'], ['*', 'PUT', 'Deny', '/k.html', '#a'])
    expect(failureOf(await write('PUT', '#a', '/k.html'))).to.equal('401 /k.html')
    expect((await http('PUT', '/k.html', selecting('#p'), '<p id="p">q</p>')).status).to.equal(206)
    await rules(['*', 'PUT', 'Deny', '/k.html'], ['*', 'PUT', 'Allow', '/k.html', '#a'])
    expect(failureOf(await write('PUT', '#a', '/k.html'))).to.equal('401 /k.html')
  })
})
