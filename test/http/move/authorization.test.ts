import { expect } from 'chai'
import { after, before, beforeEach, describe, it } from 'mocha'
import { page, put, type RuleLine, rulesPage } from '../../support/content.ts'
import { type Client, client } from '../../support/http.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { failureOf, leavesAlone, moving, textOf } from '../write-checks.ts'

const BOARD = page(
  '<section class="lane" id="todo"><p class="card" id="a">a</p><p class="card" id="b">b</p></section>' +
    '<section class="lane" id="done"><p class="card" id="c">c</p></section><section id="archive"></section>',
)
const PATH = '/board.html'
const REFUSED = '401 /board.html'
const NO_MATCH = '416 SelectorNoMatch'

const MOVE: RuleLine = ['*', 'MOVE', 'Allow', PATH]
const TAKE: RuleLine = ['*', 'DELETE', 'Allow', PATH, '.card']
const DROP: RuleLine = ['*', 'POST', 'Allow', PATH, '.lane']
const UNREADABLE: RuleLine = ['*', 'GET', 'Deny', PATH]

type Place = [source: string, anchor: string, placement: string]

const INTO_LANE: Place = ['#a', '#done', 'append']
const BESIDE_CARD: Place = ['#a', '#c', 'before']

/** Rules, a move and what becomes of it: `moved`, or the failure. */
const CASES: [name: string, rules: RuleLine[], place: Place, outcome: string][] = [
  ['AMV-1 all three permits', [MOVE, TAKE, DROP], INTO_LANE, 'moved'],
  ['AMV-2 one rule POST on .lane covers moves between cards', [MOVE, TAKE, DROP], BESIDE_CARD, 'moved'],
  ['AMV-1 after a card', [MOVE, TAKE, DROP], ['#a', '#c', 'after'], 'moved'],
  ['AMV-1 prepend', [MOVE, TAKE, DROP], ['#a', '#done', 'prepend'], 'moved'],
  ['AMV-2 MOVE alone', [MOVE], INTO_LANE, REFUSED],
  ['AMV-2 DELETE and POST without MOVE', [TAKE, DROP], INTO_LANE, REFUSED],
  ['AMV-1 without DELETE', [MOVE, DROP], INTO_LANE, REFUSED],
  ['AMV-1 without POST', [MOVE, TAKE], INTO_LANE, REFUSED],
  ['AMV-1 nothing at all, although everybody may read', [], INTO_LANE, REFUSED],
  ['AMV-1 the anchor of append is no lane', [MOVE, TAKE, DROP], ['#a', '#archive', 'append'], REFUSED],
  ['AMV-1 beside a lane is in the body', [MOVE, TAKE, DROP], ['#a', '#done', 'after'], REFUSED],
  [
    'AMV-1 POST on the card itself does not count beside it',
    [MOVE, TAKE, ['*', 'POST', 'Allow', PATH, '.card']],
    BESIDE_CARD,
    REFUSED,
  ],
  ['AMV-1 the source is no card', [MOVE, TAKE, DROP], ['#archive', '#done', 'append'], REFUSED],
  ['AMV-1 DELETE of the source is denied', [MOVE, TAKE, DROP, ['*', 'DELETE', 'Deny', PATH, '#a']], INTO_LANE, REFUSED],
  ['AMV-1 POST at the anchor is denied', [MOVE, TAKE, DROP, ['*', 'POST', 'Deny', PATH, '#done']], INTO_LANE, REFUSED],
  ['AMV-1 a Deny of MOVE for the page', [MOVE, TAKE, DROP, ['*', 'MOVE', 'Deny', PATH]], INTO_LANE, REFUSED],
  [
    'RULE-9 a Deny of MOVE with a selector is for the page',
    [MOVE, TAKE, DROP, ['*', 'MOVE', 'Deny', PATH, '#zz']],
    INTO_LANE,
    REFUSED,
  ],
  [
    'RULE-9 an Allow of MOVE with a selector counts as absent',
    [['*', 'MOVE|DELETE|POST', 'Allow', PATH, '*']],
    INTO_LANE,
    REFUSED,
  ],
  ['KEY-7 * without selector covers everything', [['*', '*', 'Allow', PATH]], INTO_LANE, 'moved'],
  ['KEY-4 permits of the page', [['*', 'MOVE|DELETE|POST', 'Allow', PATH]], ['#a', '#archive', 'append'], 'moved'],
  ['HTTP-107 permits for other paths', [['*', '*', 'Allow', '/other.html']], INTO_LANE, REFUSED],
  ['ABS-5 a page that may not be read', [MOVE, TAKE, DROP, UNREADABLE], INTO_LANE, 'moved'],

  ['AMV-4 missing source, DELETE may be granted', [MOVE, TAKE], ['#x', '#done', 'append'], NO_MATCH],
  ['AMV-4 missing source, nothing grants DELETE', [MOVE, DROP], ['#x', '#done', 'append'], REFUSED],
  [
    'AMV-4 missing source, DELETE denied for the page',
    [MOVE, TAKE, DROP, ['*', 'DELETE', 'Deny', PATH]],
    ['#x', '#done', 'append'],
    REFUSED,
  ],
  ['AMV-4 missing source, page unreadable', [MOVE, TAKE, DROP, UNREADABLE], ['#x', '#done', 'append'], REFUSED],
  ['AMV-4 missing source, no MOVE', [TAKE, DROP], ['#x', '#done', 'append'], REFUSED],
  ['AMV-4 missing anchor, POST may be granted', [MOVE, TAKE, DROP], ['#a', '#x', 'append'], NO_MATCH],
  ['AMV-4 missing anchor, also before', [MOVE, TAKE, DROP], ['#a', '#x', 'before'], NO_MATCH],
  ['AMV-4 missing anchor, also after', [MOVE, TAKE, DROP], ['#a', '#x', 'after'], NO_MATCH],
  ['AMV-4 missing anchor, nothing grants POST', [MOVE, TAKE], ['#a', '#x', 'append'], REFUSED],
  [
    'AMV-4 missing anchor, POST denied for the page',
    [MOVE, TAKE, DROP, ['*', 'POST', 'Deny', PATH]],
    ['#a', '#x', 'before'],
    REFUSED,
  ],
  ['AMV-4 missing anchor, page unreadable', [MOVE, TAKE, DROP, UNREADABLE], ['#a', '#x', 'append'], REFUSED],
  ['AMV-4 both missing: the source is told', [MOVE, TAKE], ['#x', '#y', 'append'], NO_MATCH],
  ['AMV-4 both missing, nothing grants DELETE', [MOVE, DROP], ['#x', '#y', 'append'], REFUSED],
]

describe('authorization of element moves', () => {
  let server: TestServer
  let http: Client

  before(async () => {
    server = await startServer()
    http = client(server.port)
  })
  after(() => server.close())
  beforeEach(() => put(server, PATH, BOARD))

  for (const [name, rules, [source, anchor, placement], outcome] of CASES) {
    it(`${name}: ${outcome}`, async () => {
      await put(server, '/rules.html', rulesPage(...rules))
      const move = () => http('MOVE', PATH, moving(PATH, source, anchor, placement))
      if (outcome === 'moved') {
        expect((await move()).status).to.equal(204)
        expect(await textOf(server, PATH)).not.to.equal(BOARD)
      } else expect(failureOf(await leavesAlone(server, [PATH], move))).to.equal(outcome)
    })
  }

  it('HTTP-107 never by default-GET, whatever it says', async () => {
    await put(server, '/rules.html', rulesPage(['*', 'GET', 'Allow', '/*']))
    expect(failureOf(await http('MOVE', PATH, moving(PATH, ...INTO_LANE)))).to.equal(REFUSED)
    expect(failureOf(await http('MOVE', PATH, { Destination: '/x.html' }))).to.equal(REFUSED)
  })

  it('AMV-4 incomplete headers are 422 before any rule', async () => {
    await put(server, '/rules.html', rulesPage(['*', '*', 'Deny', '/*']))
    for (const fields of [{ Range: 'selector=#a' }, { Range: 'selector=#a', Destination: PATH }, {}]) {
      expect(failureOf(await http('MOVE', PATH, fields))).to.equal('422 MoveMissingHeaders')
    }
  })

  it('HTTP-107 AMV-4 a missing document: 404 with permission to read, else refused', async () => {
    const move = () => http('MOVE', '/none.html', moving('/none.html', '#a', '#b', 'append'))
    await put(server, '/rules.html', rulesPage(['*', 'MOVE', 'Allow', '/*']))
    expect(failureOf(await move())).to.equal('404 NotFound')
    await put(server, '/rules.html', rulesPage(['*', 'MOVE', 'Allow', '/*'], ['*', 'GET', 'Deny', '/none.html']))
    expect(failureOf(await move())).to.equal('401 /none.html')
    await put(server, '/rules.html', rulesPage(['*', 'DELETE|POST', 'Allow', '/*']))
    expect(failureOf(await move())).to.equal('401 /none.html')
  })

  it('AMV-3 a whole move asks MOVE on both paths, and a Deny on either refuses', async () => {
    const whole = (from: string, to: string) => http('MOVE', from, { Destination: to })
    await put(server, '/rules.html', rulesPage(['*', 'MOVE', 'Allow', '/in/*|/board.html']))
    expect(failureOf(await whole(PATH, '/out.html'))).to.equal('401 /out.html')
    expect((await whole(PATH, '/in/x.html')).status).to.equal(204)
    expect(failureOf(await whole('/in/x.html', '/out.html'))).to.equal('401 /out.html')
    expect((await whole('/in/x.html', PATH)).status).to.equal(204)
    await put(server, '/rules.html', rulesPage(['*', 'PUT|DELETE|POST', 'Allow', '/*']))
    expect(failureOf(await whole(PATH, '/out.html'))).to.equal('401 /board.html')
  })
})
